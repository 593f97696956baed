"""How far two days or times of a reply lie apart: a second reader may settle that."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from deskhand.outgoing.grounding import check_grounding
from deskhand.outgoing.grounds import Grounds
from deskhand.outgoing.quoted_sources import Quote, SourceText, ToolSource
from deskhand.outgoing.sentences import answers_joined

THURSDAY = datetime(2026, 11, 19, 9, 30, tzinfo=UTC)
RULES = SourceText(
    "rules",
    "Unused goods can be returned within 30 days. Goods in stock arrive within ten working days. A"
    " chair has a five-year warranty. A link is valid for one hour. The programme takes 25 minutes."
    " The shop is open Monday to Friday, 9:00 to 17:00, on Saturdays 8-12. Orders are kept for ten"
    " years.",
)
ORDER = ToolSource(
    "find_order",
    {"order": "A-1", "ordered": "2026-11-09", "valid_until": "2026-12-18"},
    {"order": "A-1"},
)


def held(message: str, reply: str, **more: Any) -> list[str]:
    """What stays unbacked although the reader confirms every sentence."""
    quotes = [Quote(RULES.id, RULES.text)]
    grounds = Grounds(quotes, [RULES], results=[ORDER], message=message, now=THURSDAY, **more)
    sentences = frozenset(reply[start:end].strip() for start, end in answers_joined(reply))
    claims = check_grounding(reply, replace(grounds, confirmed=sentences)).unbacked
    return [claim.text for claim in claims]


@pytest.mark.parametrize(
    ("message", "reply"),
    [
        ("Till when?", "It is valid until 18 December, so you have a good four weeks left."),
        ("Till when?", "It is valid until 18 December, which is in 29 days."),
        ("Till when?", "Gültig bis 18. Dezember, Sie haben also noch gut vier Wochen."),
        ("Till when?", "Platí do 18. prosince, máte tedy ještě něco přes čtyři týdny."),
        ("Till when?", "Vale hasta el 18 de diciembre, o sea, algo más de cuatro semanas."),
        ("And mine?", "Ordered on Monday, 9 November, that is eight working days ago."),
        ("I got it last Thursday.", "Last Thursday was only a week ago."),
        ("Bought on 3 December 2026?", "On 3 December it is just two weeks from now."),
        ("Bought in 2018.", "One from 2018 is kept until 2028, so it goes in about two years."),
        ("Bought in 2014.", "The ten years ended two years ago for one of 2014."),
        ("It is from Feb 2021.", "It was covered until February 2026, so about nine months ago."),
        ("May I come on Friday at four?", "At 4 pm you have an hour left, we close at 17:00."),
        ("I am free at half past four.", "We close at 17:00, so you have half an hour."),
        ("I am free at 16:45.", "We close at 17:00, a quarter of an hour later."),
        ("Bin um halb fünf da.", "Wir schließen um 17:00 Uhr, es bleibt eine halbe Stunde."),
        ("It came at 14:05, now it is 15:20.", "It was valid for an hour, till 15 minutes ago."),
        ("On Saturday?", "On Saturdays we are open for four hours, from 8 to 12."),
        ("How long?", "They arrive within ten working days, so after two weeks at most."),
    ],
)
def test_a_span_between_days_or_times_may_be_settled(message: str, reply: str) -> None:
    assert held(message, reply, sums=("2018 + 10 = 2028",)) == []


@pytest.mark.parametrize(
    ("message", "reply", "span"),
    [
        ("Till when?", "It is valid until 18 December, so you have six weeks left.", "six weeks"),
        ("Till when?", "It is valid until 18 December, just under four weeks.", "four weeks"),
        ("Till when?", "It is valid until 18 December, which is in 30 weeks.", "30 weeks"),
        ("Till when?", "You can return it within four weeks, by 18 December.", "four weeks"),
        ("I got it on 3 June.", "The warranty of 3 June lasts six months.", "six months"),
        ("Sent at 9:00, now 11:00.", "The link of 9:00 is valid for two hours.", "two hours"),
        (
            "It is 10:00, guests at 10:40.",
            "The programme takes 40 minutes, to 10:40.",
            "40 minutes",
        ),
        ("How long?", "Gönnen Sie sich dafür eine Viertelstunde.", "eine Viertelstunde"),
        ("How long?", "It takes three quarters of an hour.", "three quarters of an hour"),
        ("I got it last Thursday.", "Last Thursday was nine days ago.", "nine days"),
    ],
)
def test_a_term_or_another_span_waits(message: str, reply: str, span: str) -> None:
    assert span in held(message, reply)


def test_a_span_counts_on_the_day_of_the_reading_alone() -> None:
    reply = "It is valid until 18 December, so you have a good four weeks left."

    assert held("Till when?", reply, read_on=THURSDAY.date()) == []
    assert held("Till when?", reply, read_on=datetime(2026, 11, 17, tzinfo=UTC).date()) != []
