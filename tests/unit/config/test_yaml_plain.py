"""The reader of everyday YAML reads it as the reader of all YAML does, or leaves it alone."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deskhand.config.yaml_any import read_any_yaml
from deskhand.config.yaml_plain import read_plain_yaml
from deskhand.errors import ConfigError

ROOT = Path(__file__).parents[3]
SHIPPED = sorted((ROOT / "src" / "deskhand").rglob("*.yaml"))
LINES = sorted({line for path in SHIPPED for line in path.read_text().splitlines()})
SIGNS = [*":-?,[]{}#&*!|>'\"%@` \n", "- ", ": ", "? ", "&a ", "*a", "<<: *a", "|\n", ">-\n  x\n"]
WORDS = ["null", "~", "yes", "010", "1_0", "1e3", "0x1f", ".5", "-1", "2024-01-01", "=", "a:b", "é"]
PIECES = [
    *SIGNS,
    *WORDS,
    "{a: 1}",
    "[a, {b: c}]",
    "{a}",
    "{a:}",
    "[a: b]",
    '"\\/"',
    "\n---\n",
    "\t",
]


def as_the_other_reads(text: str) -> object:
    try:
        return read_any_yaml(Path("desk.yaml"), text)
    except ConfigError as error:
        return str(error)


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_every_shipped_file_is_plain_and_read_alike(path: Path) -> None:
    text = path.read_text()
    assert read_plain_yaml(text) == read_any_yaml(path, text)


@pytest.mark.parametrize(
    "text",
    [
        "a: 1\na: 2",
        "a: [1",
        "a:\n\tb: 1",
        "a: <<",
        "a: !x 1",
        "a: &b [*b]",
        "a: &b:c d",
        "a: *unknown",
        "2024-01-01: a",
        "1: a",
        "? {a: b}\n: c",
        "a: 010",
        "a: 1e3",
        "a: |#b\n",
        "a: ['b':, c]",
        "a: b\n---\nc: d",
        "%YAML 1.1\n---\na: yes",
        "a: 'b\u2028c'",
        "a: |\n \n  b\n",
        "- a",
        "",
        "a: " + "[" * 70 + "]" * 70,
        "a: " + "- " * 100_000,
        "? " * 100_000,
    ],
)
def test_what_the_two_could_read_differently_is_left_to_the_other(text: str) -> None:
    assert read_plain_yaml(text) is None


def test_what_an_alias_repeats_is_a_copy_with_the_lines_of_the_original() -> None:
    text = "a: &a\n  b: [1, 2]\nc: *a\nd:\n  - *a\n"
    read = read_plain_yaml(text)
    assert read is not None
    data, lines = read
    assert lines["d", 0, "b", 1] == 2
    assert read == as_the_other_reads(text)
    data["a"]["b"].append(3)
    assert data["c"] == {"b": [1, 2]}


@settings(max_examples=300)
@given(
    st.lists(st.sampled_from(LINES), min_size=1, max_size=6),
    st.lists(st.tuples(st.integers(0, 400), st.sampled_from(PIECES)), max_size=4),
)
def test_any_text_is_read_alike_or_left_alone(
    lines: list[str], pieces: list[tuple[int, str]]
) -> None:
    text = "\n".join(lines)
    for place, piece in pieces:
        text = text[:place] + piece + text[place:]
    read = read_plain_yaml(text)
    assert read is None or read == as_the_other_reads(text)
