"""Days and times of a reply that follow from known ones: a second reader may settle those."""

from dataclasses import replace
from datetime import UTC, date, datetime
from typing import Any

import pytest

from deskhand.language.slots.date_relative import workdays_away
from deskhand.outgoing.grounding import check_grounding
from deskhand.outgoing.grounds import Grounds
from deskhand.outgoing.quoted_sources import Quote, SourceText, ToolSource
from deskhand.outgoing.sentences import answers_joined

THURSDAY = datetime(2026, 11, 19, 9, 30, tzinfo=UTC)
RULES = SourceText(
    "rules",
    "A chair can be tried for 14 days. A delivery can be moved free of charge until noon of the day"
    " before. Production begins three working days after the order. A contract is cancelled 30 days"
    " before it ends; it runs for two years. Faults are dealt with on the next working day. The"
    " showroom is open Monday to Friday, 9:00 to 17:00.",
)


def grounds(message: str, **more: Any) -> Grounds:
    quotes = [Quote(RULES.id, RULES.text)]
    return Grounds(quotes, [RULES], message=message, now=THURSDAY, **more)


def held(reply: str, rests_on: Grounds) -> list[str]:
    """What stays unbacked although the reader confirms every sentence."""
    sentences = frozenset(reply[start:end].strip() for start, end in answers_joined(reply))
    confirmed = replace(rests_on, confirmed=sentences)
    return [claim.text for claim in check_grounding(reply, confirmed).unbacked]


@pytest.mark.parametrize(
    ("message", "reply"),
    [
        ("My chair came on 10 November.", "You have until Tuesday, 24 November."),
        ("My chair came on Tuesday last week.", "You have until 24 November."),
        ("The delivery is on 2 December.", "Move it by noon on 1 December."),
        ("It comes on Friday.", "Move it by 12:00 today, Thursday."),
        ("I ordered it yesterday.", "It begins on Monday, 23 November."),
        ("I ordered it today.", "It begins on Tuesday, 24 November."),
        ("The contract ends on 15 January 2027.", "Cancel it by 16 December 2026."),
        ("It began on 3 February 2026.", "It runs until 3 February 2028."),
        ("The machine is broken.", "Somebody comes tomorrow, Friday 20 November."),
        ("May I come tomorrow?", "Yes, tomorrow and on Monday from 9:00."),
        ("When can I come?", "Any day from Thursday to Friday, from 9:00."),
        ("I finish at 16:45 and need 10 minutes.", "You would be there at 16:55, so you make it."),
        ("Bought on 2 November, received on the 9th.", "It came on 9 November: until 23 November."),
        ("The delivery is on Monday 23 November.", "Write to us by Friday, 20 November, please."),
        ("Meine Lieferung kommt am Freitag.", "Verschieben können Sie bis heute, 12 Uhr."),
        ("Objednal jsem včera.", "Výroba začíná v pondělí 23. listopadu."),
        ("Pedí ayer.", "La producción empieza el lunes 23 de noviembre."),
    ],
)
def test_a_day_that_follows_may_be_settled(message: str, reply: str) -> None:
    assert held(reply, grounds(message)) == []


@pytest.mark.parametrize(
    ("message", "reply", "claim"),
    [
        ("My chair came on 10 November.", "You have until 27 November.", "27 November"),
        ("The contract ends on 15 January 2027.", "Cancel it by 5 December.", "5 December"),
        ("I ordered it today.", "It begins on 2 December.", "2 December"),
        ("It began on 3 February 2026.", "It runs until 3 February 2029.", "3 February 2029"),
        ("I finish at 16:45 and need 10 minutes.", "You would be there at 17:20.", "17:20"),
        ("When can I come?", "Any day from Monday to Saturday, from 9:00.", "Saturday"),
    ],
)
def test_a_day_that_follows_from_nothing_stays_held(message: str, reply: str, claim: str) -> None:
    assert claim in held(reply, grounds(message))


def test_a_span_of_the_customers_own_makes_no_day() -> None:
    said = grounds("I want to keep it for 40 days from today, so until 29 December?")
    assert held("You may keep it until 30 December.", said) == []
    assert held("You may keep it until 7 January.", said) == ["7 January"]


def test_a_day_of_a_record_is_known() -> None:
    reserved = ToolSource("reservation", {"state": "reserved", "on": "2026-11-17"}, {})
    assert held("It waits until 1 December.", grounds("Until when?", results=[reserved])) == []
    assert held("It waits until 4 December.", grounds("Until when?", results=[reserved])) != []


def test_without_a_reader_nothing_follows() -> None:
    reply = "Somebody comes tomorrow, Friday 20 November."
    assert check_grounding(reply, grounds("The machine is broken.")).unbacked != []


def test_what_was_read_on_another_day_settles_no_day() -> None:
    """`tomorrow` was Thursday when the reader confirmed it."""
    reply, message = "Somebody comes tomorrow.", "The machine is broken."
    assert held(reply, grounds(message, read_on=date(2026, 11, 19))) == []
    assert held(reply, grounds(message, read_on=date(2026, 11, 18))) == ["tomorrow"]


def test_many_days_make_no_work_without_end() -> None:
    """Twenty-four days are reckoned with; those behind them count as they stand."""
    days = ", ".join(f"{day} {month}" for month in ("May", "June", "July") for day in range(1, 30))
    said = grounds(f"Which of these suit? {days}")
    assert held("You have until 12 December.", said) == ["12 December"]


@pytest.mark.parametrize(
    ("day", "count", "away"),
    [(21, 1, 23), (21, 5, 27), (22, -1, 20), (20, 1, 23), (16, 5, 23), (23, -5, 16), (19, 0, 19)],
)
def test_working_days_are_counted_from_any_day(day: int, count: int, away: int) -> None:
    """21 November 2026 is a Saturday; five working days after it end on the Friday."""
    assert workdays_away(date(2026, 11, day), count) == date(2026, 11, away)
