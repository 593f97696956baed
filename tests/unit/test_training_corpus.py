"""What the training corpus claims can be checked: ids exist, and evidence stands in the article."""

import json
from pathlib import Path
from typing import Any

import pytest

import deskhand
from deskhand.knowledge.article_ids import article_ids

ANSWERS = Path(__file__).parents[2] / "training" / "answers"
INBOX = ANSWERS.with_name("inbox")
DESK = Path(deskhand.__file__).parent / "desks" / "inbox"
LANGUAGES = {"cs", "de", "en", "es", "fr", "pl"}


def lines(name: str) -> list[dict[str, Any]]:
    written: list[dict[str, Any]] = []
    for file in sorted(ANSWERS.glob(f"*/{name}.jsonl")):
        for line in file.read_text(encoding="utf-8").splitlines():
            written.append(json.loads(line))
    return written


@pytest.fixture(scope="module")
def articles() -> dict[tuple[str, str], dict[str, Any]]:
    return {(article["company"], article["id"]): article for article in lines("articles")}


Articles = dict[tuple[str, str], dict[str, Any]]


def test_an_articles_id_stands_for_one_article(articles: Articles) -> None:
    assert len(articles) == len(lines("articles")) == 3_792
    assert {article["language"] for article in articles.values()} == LANGUAGES


def test_an_answered_ask_names_its_article_and_the_words_that_answer(articles: Articles) -> None:
    answered = [ask for ask in lines("asks") if ask["article"]]
    assert len(answered) == 9_249
    for ask in answered:
        article = articles[ask["company"], ask["article"]]
        assert ask["evidence"] in article["text"], ask["ask"]
        for other in ask["also"] or []:
            assert (ask["company"], other) in articles, ask["ask"]


def test_an_unanswered_ask_names_the_article_that_it_sounds_like(articles: Articles) -> None:
    unanswered = [ask for ask in lines("asks") if not ask["article"]]
    assert len(unanswered) == 7_171
    for ask in unanswered:
        assert (ask["company"], ask["near"]) in articles, ask["ask"]
        assert not ask["evidence"], ask["ask"]


def test_the_asks_of_a_mail_stand_in_it(articles: Articles) -> None:
    mails = lines("mails")
    assert len(mails) == 150
    for mail in mails:
        for ask in mail["asks"]:
            assert ask["ask"] in mail["body"], ask["ask"]
            assert ask["article"] is None or (mail["company"], ask["article"]) in articles


# --- the inbox desk's


def test_the_asks_of_a_mail_to_the_inbox_desk_stand_in_it() -> None:
    known = article_ids(DESK) or frozenset()
    files = sorted(INBOX.glob("*_mails.jsonl"))
    assert len(files) == 4
    for file in files:
        mails = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
        assert len(mails) == 120
        for ask in [(mail, ask) for mail in mails for ask in mail["asks"]]:
            assert ask[1]["text"] in ask[0]["body"]
            assert ask[1]["article"] is None or ask[1]["article"] in known
