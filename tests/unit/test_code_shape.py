"""The code stays easy to read: one thing a statement, short files, a name for one thing only."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "deskhand"
FOLDERS = ("src", "tests", "bench", "scripts")

LONGEST_FILE = 400
SMALL_FILE = 40
MOST_SMALL_FILES = 40
"""Modules of at most 40 lines; a small one is fine where it has a reason of its own."""

_CROWDING = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.IfExp)
_BLOCKS = (ast.stmt, ast.ExceptHandler, ast.match_case)


def source_files(folder: Path) -> list[Path]:
    return sorted(file for file in folder.rglob("*.py") if "__pycache__" not in file.parts)


def lines_of(file: Path) -> int:
    return len(file.read_text(encoding="utf-8").splitlines())


def crowded_statements(tree: ast.AST) -> Iterator[ast.stmt]:
    """The statements that hold more than one comprehension or conditional expression."""
    for statement in ast.walk(tree):
        if isinstance(statement, ast.stmt) and _crowding_in(statement) > 1:
            yield statement


def _crowding_in(statement: ast.stmt) -> int:
    """How many a statement holds itself; the statements of its body count alone."""
    count = 0
    left = [node for node in ast.iter_child_nodes(statement) if not isinstance(node, _BLOCKS)]
    while left:
        node = left.pop()
        count += isinstance(node, _CROWDING)
        left += [child for child in ast.iter_child_nodes(node) if not isinstance(child, ast.stmt)]
    return count


@pytest.mark.parametrize("folder", FOLDERS)
def test_a_statement_has_one_comprehension_or_conditional_expression_at_most(folder: str) -> None:
    crowded: list[str] = []
    for file in source_files(ROOT / folder):
        tree = ast.parse(file.read_text(encoding="utf-8"))
        for statement in crowded_statements(tree):
            crowded.append(f"{file.relative_to(ROOT)}:{statement.lineno}")

    assert crowded == []


@pytest.mark.parametrize(
    ("source", "crowded"),
    [
        ("names = [a.name for a in b]", False),
        ("names = [a.name if a else '' for a in b]", True),
        ("both = any(a for a in b) and any(c for c in d)", True),
        ("for a in [b for b in c]:\n    d = 1 if a else 2", False),
        ("call(lambda a: [b for b in a], 1 if c else 2)", True),
    ],
)
def test_what_counts_as_crowded(source: str, crowded: bool) -> None:
    assert bool(list(crowded_statements(ast.parse(source)))) is crowded


def test_no_file_is_longer_than_can_be_kept_in_mind() -> None:
    lengths = {str(file.relative_to(ROOT)): lines_of(file) for file in source_files(PACKAGE)}

    assert {file: lines for file, lines in lengths.items() if lines > LONGEST_FILE} == {}


def test_few_modules_are_tiny() -> None:
    modules = [
        file
        for file in source_files(PACKAGE)
        if file.name != "__init__.py" and "migrations" not in file.parts
    ]
    small = [str(file.relative_to(PACKAGE)) for file in modules if lines_of(file) <= SMALL_FILE]

    assert len(small) < MOST_SMALL_FILES, small


@pytest.mark.parametrize("name", ["Case", "Finding", "Place", "Router", "Rule"])
def test_a_word_that_could_mean_many_things_names_one_class_at_most(name: str) -> None:
    """Elsewhere it is qualified: GateRule, PolicyRule, RecurrenceRule."""
    declared = [file for file in source_files(PACKAGE) if _declares(file, name)]

    assert len(declared) <= 1, declared


def _declares(file: Path, name: str) -> bool:
    written = re.compile(rf"^class {name}\b", re.MULTILINE)
    return written.search(file.read_text(encoding="utf-8")) is not None


@pytest.mark.parametrize("name", ["files.py", "reading.py", "words.py"])
def test_a_file_name_says_what_it_holds(name: str) -> None:
    assert [file for file in source_files(PACKAGE) if file.name == name] == []
