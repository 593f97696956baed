"""A desk's intents as written: YAML and CSV, and what is said about mistakes in them."""

from pathlib import Path

import pytest

from deskhand.errors import ConfigErrors
from deskhand.language.intent_examples import IntentExamples, load_intents, read_questions


def written(folder: Path, **files: str) -> Path:
    for name, text in files.items():
        path = folder / name.replace("__", "/").replace("_csv", ".csv").replace("_yaml", ".yaml")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


def test_all_files_of_a_desk_are_one(tmp_path: Path) -> None:
    written(
        tmp_path,
        intents_yaml=(
            "intents:\n  refund:\n    description: Money back\n    examples: [I want my money"
            " back]\nout_of_scope: [Tell me a joke]\n"
        ),
        intents__more_yaml="intents:\n  hours: [When are you open?]\n",
        intents__list_csv='text,label\n"Money, please",refund\nWhat is love?,\n',
        intents__notes_txt="not read",
    )
    found = load_intents(tmp_path)
    assert found.examples == [
        ("I want my money back", "refund"),
        ("Money, please", "refund"),
        ("When are you open?", "hours"),
    ]
    assert found.descriptions == {"refund": "Money back"}
    assert found.out_of_scope == ["Tell me a joke", "What is love?"]
    assert found.labels == ["hours", "refund"]


def test_a_desk_without_intents_has_none(tmp_path: Path) -> None:
    assert load_intents(tmp_path) == IntentExamples()
    assert not load_intents(tmp_path)


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("intent:\n  a: [b]\n", 1, "did you mean `intents`"),
        ("intents:\n  a:\n    exampels: [b]\n", 3, "did you mean `examples`"),
        ("intents:\n  a:\n    examples:\n      - fine\n      - 12\n", 5, "not a text: 12"),
        ("intents:\n  a:\n    examples: fine\n", 3, "no list of texts"),
        ("intents:\n  a:\n    description: [x]\n", 3, "a description is a text"),
        ("intents:\n  a:\n    examples: []\n", 2, "neither examples nor a description"),
        ("intents:\n  a: 3\n", 2, "holds nothing"),
        ("intents: [a]\n", 1, "no mapping"),
    ],
)
def test_a_mistake_in_yaml_is_told_with_its_line(
    tmp_path: Path, text: str, line: int, said: str
) -> None:
    written(tmp_path, intents_yaml=text)
    with pytest.raises(ConfigErrors) as caught:
        load_intents(tmp_path)
    assert f"intents.yaml:{line}: " in str(caught.value)
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("question,intent\na,b\n", 1, "`text,label`"),
        ("text,label\na,b\n,c\n", 3, "no text"),
        ("text,label\na,b,c\n", 2, "more values than columns"),
        ('text,label\n"a"b,c\n', 2, "not CSV"),
        ("", 1, "`text,label`"),
    ],
)
def test_a_mistake_in_csv_is_told_with_its_line(
    tmp_path: Path, text: str, line: int, said: str
) -> None:
    written(tmp_path, intents__list_csv=text)
    with pytest.raises(ConfigErrors) as caught:
        load_intents(tmp_path)
    assert f"list.csv:{line}: " in str(caught.value)
    assert said in str(caught.value)


def test_questions_to_test_with(tmp_path: Path) -> None:
    path = written(tmp_path, q_csv="label,text\nrefund,Money!\n,Hm?\n") / "q.csv"
    assert read_questions(path) == [("Money!", "refund"), ("Hm?", None)]
