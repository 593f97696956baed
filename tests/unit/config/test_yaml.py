"""Reading YAML: plain data, lines for everything, and clear words for whatever is wrong."""

from pathlib import Path

import pytest

from deskhand.config.yaml import YamlFile, read_yaml
from deskhand.errors import ConfigError


def read(folder: Path, text: str | bytes) -> YamlFile:
    path = folder / "desk.yaml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_yaml(path)


def refuse(folder: Path, text: str | bytes) -> ConfigError:
    with pytest.raises(ConfigError) as caught:
        read(folder, text)
    assert caught.value.file == folder / "desk.yaml"
    assert caught.value.fix
    return caught.value


def test_values_are_plain_python(tmp_path: Path) -> None:
    text = "a: 25_000_000\nb: 1.5\nc: [no, true, ~]\nd: 2024-01-01\ne: {f: 'x'}\n"
    data = read(tmp_path, text).data
    assert data == {
        "a": 25_000_000,
        "b": 1.5,
        "c": ["no", True, None],
        "d": "2024-01-01",
        "e": {"f": "x"},
    }
    assert [type(value) for value in data.values()] == [int, float, list, str, dict]


def test_every_key_and_item_has_its_line(tmp_path: Path) -> None:
    file = read(tmp_path, "# note\na:\n  b: 1\n  c:\n    - x\n    - {d: 2}\n")
    assert file.line(()) == 1
    assert file.line(("a",)) == 2
    assert file.line(("a", "b")) == 3
    assert file.line(("a", "c", 1, "d")) == 6


def test_the_line_of_something_missing_is_that_of_its_surroundings(tmp_path: Path) -> None:
    file = read(tmp_path, "a:\n  b: 1\n")
    assert file.line(("a", "absent")) == 1
    assert file.line(("a", "some-tag", "b")) == 2


def test_a_byte_order_mark_and_windows_line_ends_are_fine(tmp_path: Path) -> None:
    file = read(tmp_path, b"\xef\xbb\xbfa: 1\r\nb: 2\r\n")
    assert file.data == {"a": 1, "b": 2}
    assert file.line(("b",)) == 2


def test_anchors_and_merges_work_and_own_keys_win(tmp_path: Path) -> None:
    text = "a: &a {x: 1, y: 2}\nb: &b {y: 3, z: 4}\nc:\n  <<: [*a, *b]\n  z: 5\nd: {<<: *a}\n"
    data = read(tmp_path, text).data
    assert data["c"] == {"x": 1, "y": 2, "z": 5}
    assert data["d"] == {"x": 1, "y": 2}


@pytest.mark.parametrize(
    ("text", "line", "problem", "fix"),
    [
        (
            "a: 1\nb: 2\na: 3\n",
            3,
            "the key `a` is here twice; it was first written on line 1",
            "keep one",
        ),
        ("a:\n  b: 1\n  b: 2\n", 3, "`b` is here twice", "keep one"),
        ("a:\n\tb: 1\n", 2, "tab", "spaces"),
        ("a: 1\nb: [1, 2\n", 2, "not YAML", "bracket"),
        ("a: 1\nb: c: d\n", 2, "not YAML", "quotes"),
        ("a: @x\n", 1, "not YAML", "quotes"),
        ("a: 'x\n", 1, "not YAML", "quotes"),
        ("a: *nobody\n", 1, "nobody", "define"),
        ("a: 1\n---\nb: 2\n", 2, "another document", "one document"),
        ("a: 1\nb: \x07\n", 2, "U+0007", "delete"),
        ("a: !python/object:os.system x\n", 1, "tag", "remove"),
        ("a: !!int x\n", 1, "no int", "quotes"),
        ("a: " + "9" * 5000, 1, "no int", "quotes"),
        ("1: x\n", 1, "1 is not text", '"1"'),
        ("? [a]\n: 1\n", 1, "a key must be text", "name: value"),
        ("- a\n- b\n", 1, "not a mapping", "desk: my-desk"),
        ("just words\n", 1, "not a mapping", "desk: my-desk"),
        ("", 1, "empty", "desk: my-desk"),
        ("# only a comment\n", 1, "empty", "desk: my-desk"),
        ("a: &a {<<: *a}\n", 1, "refers to itself", "remove"),
        ("a: {<<: 3}\n", 1, "needs a mapping", "name of a mapping"),
    ],
)
def test_what_is_wrong_is_said_with_line_and_fix(
    tmp_path: Path, text: str, line: int, problem: str, fix: str
) -> None:
    error = refuse(tmp_path, text)
    assert (error.line, problem in error.problem, fix in str(error.fix)) == (line, True, True), str(
        error
    )


def test_invalid_utf8_names_byte_and_line(tmp_path: Path) -> None:
    error = refuse(tmp_path, b"a: 1\nb: caf\xe9\n")
    assert error.line == 2
    assert "byte 11 (0xe9)" in error.problem
    assert "UTF-8" in str(error.fix)


def test_a_huge_file_is_refused_unread(tmp_path: Path) -> None:
    assert "larger than 5 MB" in refuse(tmp_path, b"a: " + b"x" * 5_000_001).problem


@pytest.mark.parametrize(
    ("first", "repeated"), [("[x, x, x, x, x, x, x, x, x, x]", "[{}]"), ("{x: 1}", "{{<<: [{}]}}")]
)
def test_an_alias_bomb_is_refused(tmp_path: Path, first: str, repeated: str) -> None:
    levels = [f"l0: &l0 {first}"]
    levels += [
        f"l{n}: &l{n} " + repeated.format(", ".join([f"*l{n - 1}"] * 10)) for n in range(1, 12)
    ]
    assert "aliases" in refuse(tmp_path, "\n".join(levels)).problem


def test_an_alias_to_itself_and_deep_nesting_are_refused(tmp_path: Path) -> None:
    assert "nested" in refuse(tmp_path, "a: &a [*a]\n").problem
    assert "nested" in refuse(tmp_path, "a: " + "[" * 3000 + "]" * 3000).problem


def test_a_missing_file_and_a_folder_are_refused(tmp_path: Path) -> None:
    for path, word in ((tmp_path / "absent.yaml", "no such file"), (tmp_path, "cannot be read")):
        with pytest.raises(ConfigError) as caught:
            read_yaml(path)
        assert word in caught.value.problem
