"""Replies without an LLM: every sentence is a template of ours, a quote, a literal fact or the
desk's own words."""

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deskhand.brain import replies
from deskhand.brain.replies import (
    LANGUAGES,
    AnsweredAsks,
    ArticleQuote,
    ReplyParts,
    compose,
    facts_in,
    greeted_name,
    reply_language,
    shortened_quote,
    tone_of,
)

TONES = ("professional", "empathetic", "friendly")
ARTICLE = "You may send it back within 30 days.\n\n- Pack it.\n- Hand it in at any post office."
QUOTE = ArticleQuote("Returns", ARTICLE, "Returns › How [returns-1]", "en")


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("tone", TONES)
def test_a_reply_greets_quotes_cites_and_closes_in_the_customers_language(
    language: str, tone: str
) -> None:
    text = compose(
        ReplyParts(answers=[AnsweredAsks((), QUOTE)]),
        language=language,
        tone=tone,
        name="Ann Nová",
        signature="Your shop",
    )
    texts = replies._texts()[language]
    words = texts["tones"][tone]
    first, *middle, last = text.split("\n\n")
    assert first in (words["greeting"].format(name="Ann Nová"), words["greeting"])
    assert middle[0] == words["opening"]
    assert last == f"{words['closing']}\nYour shop"
    assert "> You may send it back within 30 days." in text
    assert "Returns › How [returns-1]" in text
    assert ("en" if language == "en" else texts["languages"]["en"]) in text


def test_tones_and_languages_are_complete_and_differ() -> None:
    texts = replies._texts()
    assert tuple(texts) == LANGUAGES
    for known in texts.values():
        assert set(known["tones"]) == set(TONES)
        assert len({tuple(words.values()) for words in known["tones"].values()}) == 3
        assert set(known["languages"]) >= {*LANGUAGES, "other"}


def test_an_article_in_another_language_is_introduced_as_such() -> None:
    czech = compose(ReplyParts(answers=[AnsweredAsks((), QUOTE)]), language="cs")
    assert "Jeho jazyk je angličtina:" in czech
    assert "> You may send it back within 30 days." in czech
    english = compose(ReplyParts(answers=[AnsweredAsks((), QUOTE)]), language="en")
    assert "written in" not in english
    japanese = compose(
        ReplyParts(answers=[AnsweredAsks((), ArticleQuote("T", "x", "T", "ja"))]), language="en"
    )
    assert "written in another language" in japanese


def test_with_nothing_to_say_a_colleague_is_announced_and_only_then() -> None:
    colleague = replies._texts()["en"]["hand_over"]
    assert colleague in compose(ReplyParts(), language="en")
    assert colleague not in compose(ReplyParts(facts=[("status", "sent")]), language="en")


def test_facts_and_questions_stand_as_they_are() -> None:
    parts = ReplyParts(
        facts=[("status", "on its way")],
        questions=["Which order is it?"],
        statements=["It is P-1."],
    )
    lines = compose(parts, language="en").splitlines()
    assert {"- status: on its way", "- Which order is it?", "It is P-1."} <= set(lines)


# --- nothing else is said

words = st.text(st.characters(blacklist_categories=("Cs", "Cc")), min_size=1, max_size=40)


@given(
    st.sampled_from(LANGUAGES),
    st.sampled_from(TONES),
    st.text(max_size=30),
    st.lists(
        st.builds(ArticleQuote, words, words, words, st.sampled_from([None, "en", "cs", "xx"])),
        max_size=2,
    ),
    st.lists(st.tuples(words, words), max_size=3),
)
def test_every_line_is_a_template_or_verbatim_from_a_source(
    language: str, tone: str, name: str, quotes: list[ArticleQuote], facts: list[tuple[str, str]]
) -> None:
    answers = [AnsweredAsks((), quote) for quote in quotes]
    parts = ReplyParts(answers=answers, facts=facts)
    text = compose(parts, language=language, tone=tone, name=name)
    texts = replies._texts()[language]
    for quote in quotes:
        text = text.replace(
            "\n".join(f"> {line}".rstrip() for line in quote.text.splitlines()), "", 1
        )
        text = text.replace(texts["source"].format(source=quote.source), "", 1)
        for called in texts["languages"].values():
            for key in ("quote", "quote_other"):
                text = text.replace(texts[key].format(title=quote.title, language=called), "", 1)
    for field, value in facts:
        text = text.replace(f"- {texts['fact'].format(field=field, value=value)}", "", 1)
    known = {texts["facts"], texts["hand_over"], *texts["tones"][tone].values()}
    known.add(texts["tones"][tone]["greeting"].format(name=" ".join(name.split())))
    assert {line for line in re.split(r"\n+", text) if line.strip()} <= known


# --- the parts


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("Ann", "Ann"),
        ("  Jan  Novák ", "Jan Novák"),
        ("Mary-Jane O'Neil Jr.", "Mary-Jane O'Neil Jr."),
        ("ann@example.com", ""),
        ("Ann, your refund of 500 EUR is approved", ""),
        ("Visit evil.example/x", ""),
        ("A" * 51, ""),
        ("{title}", ""),
        ("", ""),
        ("😀", ""),
    ],
)
def test_only_what_looks_like_a_name_is_greeted(name: str, shown: str) -> None:
    assert greeted_name(name) == shown


@pytest.mark.parametrize(
    ("code", "desk", "language"),
    [
        ("cs", ["en", "cs"], "cs"),
        ("pl", ["en", "cs"], "en"),
        ("pl", ["pl", "cs"], "cs"),
        ("de-AT", ["en", "de-AT"], "de"),
        (None, ["fr"], "fr"),
        ("ja", ["ja"], "en"),
        ("cs", ["en"], "en"),
    ],
)
def test_the_customers_language_if_the_desk_answers_in_it(
    code: str | None, desk: list[str], language: str
) -> None:
    assert reply_language(code, desk) == language


def test_unknown_tones_are_professional() -> None:
    assert [tone_of(tone) for tone in (None, "apologetic", "Friendly ", "sarcastic")] == [
        "professional",
        "empathetic",
        "friendly",
        "professional",
    ]


def test_a_long_quote_ends_with_a_whole_sentence_and_shows_that_it_was_cut() -> None:
    text = "First sentence. Second sentence! " + "word " * 300
    assert shortened_quote(text, 60) == "First sentence. Second sentence!\n[…]"
    assert shortened_quote("x" * 100, 60) == "x" * 60 + "\n[…]"
    assert shortened_quote(" short ") == "short"


@pytest.mark.parametrize(
    ("data", "only", "facts"),
    [
        ({"status": "sent", "day_of": 3, "x": None}, None, [("status", "sent"), ("day of", "3")]),
        ({"b": 1, "a": True}, ["a", "b"], [("a", "true"), ("b", "1")]),
        ({"secret": "s", "a": {"b": [1, 2]}}, ["a.b"], [("a.b", "1, 2")]),
        ({"items": [{"a": 1}], "text": "two\nlines"}, None, [("text", "two lines")]),
        ("plain", None, []),
        (None, None, []),
    ],
)
def test_a_tools_result_is_told_literally(
    data: Any, only: list[str] | None, facts: list[tuple[str, str]]
) -> None:
    assert facts_in(data, only) == facts
