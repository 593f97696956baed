"""The code stays easy to read: one thing a statement, short files, a name for one thing only."""

import ast
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "deskhand"
FOLDERS = ("src", "tests", "bench", "scripts")

LONGEST_FILE = 400
ONE_SCREEN = 60
MOST_PARAMETERS = 4
SMALL_FILE = 40
MOST_SMALL_FILES = 40
"""Modules of at most 40 lines; a small one is fine where it has a reason of its own."""

RIDDLES = frozenset({"one", "found", "known", "told"})
"""Names that say how a value came about, not what it is. A name outlasts its line."""

NAMED_TWICE = {
    "GateAnswer": "the port, and the gate's own answer that fits it",
    "Part": "of a message's asks, and of a sentence about meeting times",
    "TicketView": "a kept choice of tickets, and what the API shows of a ticket",
}
"""Public classes that share a name, each with what they stand for."""

_PUBLIC_CLASS = re.compile(r"^class ([^\W_]\w*)", re.MULTILINE)
_CROWDING = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.IfExp)
_CLAUSES = (ast.ExceptHandler, ast.match_case)


def source_files(folder: Path) -> list[Path]:
    return sorted(file for file in folder.rglob("*.py") if "__pycache__" not in file.parts)


def tree_of(file: Path) -> ast.Module:
    return ast.parse(file.read_text(encoding="utf-8"))


class Reading(NamedTuple):
    """What is wrong with a file, line by line."""

    crowded: list[int]
    riddles: list[str]
    """Of the package alone."""


@cache
def reading_of(file: Path) -> Reading:
    """A file is parsed once for the tests that ask, and its tree is not kept."""
    tree = tree_of(file)
    crowded = [statement.lineno for statement in crowded_statements(tree)]
    return Reading(crowded, list(riddles_in(tree)) if PACKAGE in file.parents else [])


def lines_of(file: Path) -> int:
    return len(file.read_text(encoding="utf-8").splitlines())


def crowded_statements(tree: ast.AST) -> list[ast.stmt]:
    """The statements that hold more than one comprehension or conditional expression.

    What a statement holds itself counts; the statements of its body count alone.
    """
    counts: Counter[ast.stmt] = Counter()
    left: list[tuple[ast.AST, ast.stmt | None]] = [(tree, None)]
    while left:
        node, holder = left.pop()
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.stmt):
                left.append((child, child))
            elif isinstance(child, _CLAUSES):
                left.append((child, None))
            elif child._fields:  # `Load` and `Store` hold nothing
                left.append((child, holder))
                if holder is not None and isinstance(child, _CROWDING):
                    counts[holder] += 1
    return [statement for statement, count in counts.items() if count > 1]


@pytest.mark.parametrize("folder", FOLDERS)
def test_a_statement_has_one_comprehension_or_conditional_expression_at_most(folder: str) -> None:
    crowded: list[str] = []
    for file in source_files(ROOT / folder):
        crowded += [f"{file.relative_to(ROOT)}:{line}" for line in reading_of(file).crowded]

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
    assert bool(crowded_statements(ast.parse(source))) is crowded


def test_no_file_is_longer_than_can_be_kept_in_mind() -> None:
    lengths = {str(file.relative_to(ROOT)): lines_of(file) for file in source_files(PACKAGE)}

    assert {file: lines for file, lines in lengths.items() if lines > LONGEST_FILE} == {}


def test_a_desk_is_opened_on_one_screen() -> None:
    """What `open_desk` enters and in which order it is left again can be seen at once."""
    tree = ast.parse((PACKAGE / "wiring" / "serving.py").read_text(encoding="utf-8"))
    opens = next(node for node in tree.body if getattr(node, "name", "") == "open_desk")

    assert (opens.end_lineno or 0) - opens.lineno + 1 < ONE_SCREEN


def test_outputs_are_walked_backwards_in_one_place() -> None:
    """Everybody else asks `Understanding`, so that all go by the same values."""
    walks = re.compile(r"reversed\([^\n]*outputs")
    walking = [file for file in source_files(PACKAGE) if walks.search(file.read_text("utf-8"))]

    assert [file.name for file in walking if file.name != "understanding.py"] == []


def test_what_differs_between_databases_is_asked_of_the_database() -> None:
    asked = re.compile(r"isinstance\([^)]*(?:Sqlite|Postgres)")
    rooms = [PACKAGE / room for room in ("wiring", "cli", "engine", "web")]
    files = [file for room in rooms for file in source_files(room)]

    assert [str(file) for file in files if asked.search(file.read_text(encoding="utf-8"))] == []


def test_how_a_reply_leaves_is_told_in_few_words() -> None:
    """Its functions take four parameters at most, beside `self`."""
    wide: list[str] = []
    for file in source_files(PACKAGE / "agents" / "replying"):
        for node in ast.walk(tree_of(file)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                names = _parameters(node.args)
                wide += [f"{file.name}: {node.name}"] if len(names) > MOST_PARAMETERS else []

    assert wide == []


def _parameters(arguments: ast.arguments) -> list[str]:
    each = (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
    return [argument.arg for argument in each if argument.arg not in ("self", "cls")]


def test_few_modules_are_tiny() -> None:
    modules = [
        file
        for file in source_files(PACKAGE)
        if file.name != "__init__.py" and "migrations" not in file.parts
    ]
    small = [str(file.relative_to(PACKAGE)) for file in modules if lines_of(file) <= SMALL_FILE]

    assert len(small) < MOST_SMALL_FILES, small


def test_a_class_name_stands_for_one_thing() -> None:
    """Where two things share a word, both are qualified: GateRule, PolicyRule, RecurrenceRule."""
    declared: dict[str, list[str]] = defaultdict(list)
    for file in source_files(PACKAGE):
        for name in _PUBLIC_CLASS.findall(file.read_text(encoding="utf-8")):
            declared[name].append(str(file.relative_to(PACKAGE)))
    several = {name: files for name, files in declared.items() if len(files) > 1}

    assert {name: files for name, files in several.items() if name not in NAMED_TWICE} == {}
    assert NAMED_TWICE.keys() <= several.keys(), "what is no exception any more is not listed"


@pytest.mark.parametrize("name", ["files.py", "reading.py", "words.py"])
def test_a_file_name_says_what_it_holds(name: str) -> None:
    assert [file for file in source_files(PACKAGE) if file.name == name] == []


def riddles_in(tree: ast.AST) -> Iterator[str]:
    """Where a function, a module or a loop binds one of these names; fields of classes may."""
    nodes = list(ast.walk(tree))
    fields = {field for node in nodes for field in _fields_of(node)}
    for node in nodes:
        name = _bound_by(node) or ""
        if node not in fields and name.lstrip("_") in RIDDLES:
            yield f"{getattr(node, 'lineno', 0)}: {name}"


def _fields_of(node: ast.AST) -> Iterator[ast.AST]:
    """The names that a class gives to its fields and methods."""
    if not isinstance(node, ast.ClassDef):
        return
    for statement in node.body:
        yield statement
        if isinstance(statement, ast.Assign):
            yield from statement.targets
        elif isinstance(statement, ast.AnnAssign):
            yield statement.target


def _bound_by(node: ast.AST) -> str | None:
    match node:
        case ast.Name(id=name, ctx=ast.Store()):
            return name
        case ast.arg(arg=name) | ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
            return name
        case ast.MatchAs(name=name) | ast.MatchStar(name=name) | ast.ExceptHandler(name=name):
            return name
        case ast.alias(name=name, asname=other):
            return other or name
    return None


def test_a_name_says_what_it_holds() -> None:
    riddles: list[str] = []
    for file in source_files(PACKAGE):
        name = file.relative_to(PACKAGE)
        riddles += [f"{name}:{riddle}" for riddle in reading_of(file).riddles]

    assert riddles == []


@pytest.mark.parametrize(
    ("source", "riddles"),
    [
        ("found = 1", ["1: found"]),
        ("for one in []:\n    pass", ["1: one"]),
        ("a = [b for known, b in c]", ["1: known"]),
        ("a = sorted(b, key=lambda one: one.at)", ["1: one"]),
        ("def told(told):\n    pass", ["1: told", "1: told"]),
        ("async def _found():\n    pass", ["1: _found"]),
        ("if (found := a):\n    pass", ["1: found"]),
        ("with a as found:\n    pass", ["1: found"]),
        ("from a import found", ["1: found"]),
        ("class A:\n    known: int\n    told = 1\n    def one(self): ...", []),
        ("class A:\n    def a(self):\n        self.known = 1", []),
        ("a.told(found=known)", []),
    ],
)
def test_what_counts_as_a_riddle(source: str, riddles: list[str]) -> None:
    assert list(riddles_in(ast.parse(source))) == riddles
