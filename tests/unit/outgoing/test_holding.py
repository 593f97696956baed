"""A reply that only says that a colleague will answer is told from an answer."""

import pytest

from deskhand.brain.replies import LANGUAGES, AnsweredAsks, ArticleQuote, ReplyParts, compose
from deskhand.outgoing.holding import is_holding_reply

REGARDS = "\n\nYour parcel shop"


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("tone", ["professional", "empathetic", "friendly"])
def test_our_own_holding_texts_are_recognised(language: str, tone: str) -> None:
    text = compose(ReplyParts(), language=language, tone=tone, name="Ann", signature="Acme")
    assert is_holding_reply(text, language)


@pytest.mark.parametrize(
    "text",
    [
        "Hello Ann,\n\nthank you for writing. A colleague will answer you today.",
        "Thank you. We'll get back to you within 24 hours.",
        "Our team is looking into it and will be in touch.",
        "Děkujeme za zprávu. Ozveme se Vám do 24 hodin.",
        "Vielen Dank. Wir melden uns innerhalb von 24 Stunden bei Ihnen.",
    ],
)
def test_a_promise_to_answer_is_no_answer(text: str) -> None:
    assert is_holding_reply(text + REGARDS)


@pytest.mark.parametrize(
    "text",
    [
        "Your parcel P-1002 was delivered on Monday.",
        "Please contact our team at the counter.",
        "Which parcel is it about? A colleague will answer you then.",
        "A colleague will answer you.\n\n> You may send it back within 30 days.",
        "A colleague will call you. " + "The parcel left our warehouse on Monday. " * 10,
    ],
)
def test_an_answer_or_a_question_is_none(text: str) -> None:
    assert not is_holding_reply(text + REGARDS)


def test_a_quoted_article_is_an_answer() -> None:
    quote = ArticleQuote("Returns", "You may send it back within 30 days.", "returns.md", "en")
    parts = ReplyParts(answers=[AnsweredAsks((), quote)])
    assert not is_holding_reply(compose(parts, language="en"), "en")
