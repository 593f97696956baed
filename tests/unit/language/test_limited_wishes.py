"""Hours that are the only ones, periods beside `during`, and when somebody must be gone at the
latest."""

from datetime import date, datetime, time
from zoneinfo import ZoneInfo

import pytest

from deskhand.language.meeting_times import read_wish

NOW = datetime(2026, 11, 18, 9, 12, tzinfo=ZoneInfo("Europe/Prague"))
MONDAY, SUNDAY = date(2026, 11, 23), date(2026, 11, 29)


@pytest.mark.parametrize(
    ("language", "text", "after", "before"),
    [
        ("de", "Nächste Woche geht es, erst ab 15 Uhr, vormittags ist Training.", 15, None),
        ("de", "Nächste Woche, aber nur vormittags, nachmittags ist Kinderturnen.", None, 12),
        ("cs", "Příští týden kdykoli, ale až po třetí, dopoledne jezdí rozvoz.", 15, None),
        (
            "es",
            "¿Podríamos ir la semana que viene? Solo desde las 16, por la mañana hay clases.",
            16,
            0,
        ),
        ("en", "Could we call next week? Only after three, mornings we bake.", 15, None),
    ],
)
def test_a_part_of_the_day_told_beside_the_only_hours_is_why(
    language: str, text: str, after: int, before: int | None
) -> None:
    wish = read_wish(text, language, NOW)
    assert wish.unclear == ()
    assert (wish.day, wish.until) == (MONDAY, SUNDAY)
    assert wish.after == (time(after) if after else None)
    assert wish.before == (time(before) if before else None)


def test_without_such_a_word_a_list_may_share_its_verb() -> None:
    text = "Ginge es nächste Woche? Nachmittags, vormittags bin ich weg."
    assert read_wish(text, "de", NOW).after is None


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "Could we come during next week?"),
        ("cs", "Můžeme si zavolat v průběhu příštího týdne?"),
        ("de", "Könnten wir während der nächsten Woche telefonieren?"),
        ("es", "¿Podríamos ir durante la semana que viene?"),
    ],
)
def test_during_a_week_is_in_it(language: str, text: str) -> None:
    wish = read_wish(text, language, NOW)
    assert (wish.unclear, wish.day, wish.until) == ((), MONDAY, SUNDAY)


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "Could we talk during the fair?"),
        ("de", "Passt es während der Messe?"),
        ("es", "¿Podríamos hablar durante la feria?"),
    ],
)
def test_during_what_has_no_date_is_for_a_person(language: str, text: str) -> None:
    assert read_wish(text, language, NOW).unclear


def test_who_must_be_off_the_phone_at_the_latest_says_when_it_ends() -> None:
    text = "Could we talk on Monday morning? I have to be off the phone by eleven at the latest."
    wish = read_wish(text, "en", NOW)
    assert (wish.unclear, wish.day, wish.before) == ((), MONDAY, time(11))


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("Could somebody ring me next week, any morning bar Wednesday?", {23, 24, 26, 27, 28, 29}),
        ("Could somebody ring me next week about the bar stools, on Wednesday?", {25}),
    ],
)
def test_bar_a_day_leaves_it_out(text: str, days: set[int]) -> None:
    wish = read_wish(text, "en", NOW)
    assert wish.unclear == ()
    spans = [(window.first, window.last) for window in wish.windows] or [(wish.day, wish.day)]
    named = {
        number
        for first, last in spans
        if first is not None and last is not None
        for number in range(first.day, last.day + 1)
    }
    assert named == days
