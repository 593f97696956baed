"""What the training corpus claims can be checked: ids exist, and evidence stands in the article."""

import json
from pathlib import Path
from typing import Any

import pytest

ANSWERS = Path(__file__).parents[2] / "training" / "answers"
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
    assert len(articles) == len(lines("articles")) == 1230
    assert {article["language"] for article in articles.values()} == LANGUAGES


def test_an_answered_ask_names_its_article_and_the_words_that_answer(articles: Articles) -> None:
    answered = [ask for ask in lines("asks") if ask["article"]]
    assert len(answered) == 3180
    for ask in answered:
        article = articles[ask["company"], ask["article"]]
        assert ask["evidence"] in article["text"], ask["ask"]
        for other in ask["also"] or []:
            assert (ask["company"], other) in articles, ask["ask"]


def test_an_unanswered_ask_names_the_article_that_it_sounds_like(articles: Articles) -> None:
    unanswered = [ask for ask in lines("asks") if not ask["article"]]
    assert len(unanswered) == 1950
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
