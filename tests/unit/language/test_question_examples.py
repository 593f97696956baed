"""The questions a desk's articles answer are read from its files, and slips are told."""

from pathlib import Path

import pytest

from deskhand.errors import ConfigErrors
from deskhand.language.question_examples import load_questions


def written(folder: Path, text: str) -> Path:
    (folder / "questions").mkdir()
    (folder / "questions" / "en.yaml").write_text(text, encoding="utf-8")
    return folder


def test_answered_and_unanswered_questions_are_labelled(tmp_path: Path) -> None:
    folder = written(
        tmp_path,
        "answers:\n  refunds: [When do I get my money back?]\n"
        "unanswered:\n  refunds: [Do you refund customs?]\n",
    )
    questions = load_questions(folder)
    assert questions.labelled == [
        ("When do I get my money back?", "refunds"),
        ("Do you refund customs?", "?refunds"),
    ]
    assert questions.articles == {"refunds"}


def test_a_desk_without_questions_has_none(tmp_path: Path) -> None:
    assert load_questions(tmp_path).labelled == []


def test_everything_wrong_is_told_with_its_line(tmp_path: Path) -> None:
    folder = written(tmp_path, "answer:\n  refunds: [x]\nanswers:\n  refunds: yes\n  b: [1]\n")
    with pytest.raises(ConfigErrors) as told:
        load_questions(folder)
    text = str(told.value)
    assert "unknown key `answer`" in text
    assert "`refunds` has no list of questions" in text
    assert "a question must be text" in text


def test_an_article_that_does_not_exist_is_told_with_its_place(tmp_path: Path) -> None:
    folder = written(
        tmp_path,
        "answers:\n  refund: [When do I get my money back?]\n  refunds.en: [How long?]\n"
        "unanswered:\n  zebra: [Do you sell zebras?]\n",
    )
    with pytest.raises(ConfigErrors) as told:
        load_questions(folder, {"refunds", "delivery"})
    text = str(told.value)
    assert "en.yaml:2" in text
    assert "there is no article `refund` in knowledge/" in text
    assert "`refunds`?" in text
    assert "write the id of the original: `refunds`" in text
    assert "there is no article `zebra`" in text
