"""Lists of days before a verb, and weeks that follow another: who is away on them is not met."""

from datetime import date, datetime
from zoneinfo import ZoneInfo

import pytest

from deskhand.language.meeting_times import read_wish
from deskhand.scheduling.wishes import Wish

NOW = datetime(2026, 10, 13, 9, 40, tzinfo=ZoneInfo("Europe/Prague"))  # a Tuesday


def days_of(wish: Wish) -> set[int]:
    """The working days of October that suit."""
    working = [day for day in range(14, 32) if date(2026, 10, day).weekday() < 5]
    return {day for day in working if _suits(wish, date(2026, 10, day))}


def _suits(wish: Wish, day: date) -> bool:
    return any(window.holds_day(day) for window in wish.stretches)


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "Could we meet next week? Monday, Wednesday and Friday don't work."),
        ("en", "Could we meet next week? On Monday, on Wednesday and on Friday I can't."),
        ("cs", "Mohli bychom se sejít příští týden? V pondělí, ve středu a v pátek nemůžu."),
        ("de", "Können wir uns nächste Woche treffen? Montag, Mittwoch und Freitag geht es nicht."),
        ("es", "¿Nos vemos la semana que viene? El lunes, el miércoles y el viernes no puedo."),
    ],
)
def test_a_list_of_days_before_a_refusal_is_refused_whole(language: str, text: str) -> None:
    wish = read_wish(text, language, NOW)
    assert not wish.unclear
    assert days_of(wish) == {20, 22}


@pytest.mark.parametrize(
    ("language", "text"),
    [
        (
            "en",
            "Could we meet next week? Tuesday or Thursday would suit us, "
            "Monday, Wednesday and Friday I'm on site.",
        ),
        (
            "cs",
            "Šlo by to v úterý nebo ve čtvrtek příští týden? V pondělí, ve středu jsem v Plzni.",
        ),
        (
            "de",
            "Ginge nächste Woche Dienstag oder Donnerstag? "
            "Montag, Mittwoch und Freitag bin ich auf der Baustelle.",
        ),
        (
            "es",
            "¿Podría ser el martes o el jueves de la semana que viene? "
            "El lunes, el miércoles y el viernes estoy en obra.",
        ),
    ],
)
def test_a_list_of_days_that_is_only_told_is_not_wished_for(language: str, text: str) -> None:
    wish = read_wish(text, language, NOW)
    assert not wish.unclear
    assert days_of(wish) == {20, 22}


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "Could we meet on 23 October? Between 9 and 10, between 2 and 3 I'm teaching."),
        ("en", "Could we meet next week? Monday 9-10, Tuesday 14-16 I'm teaching."),
        ("en", "Could we meet next week? I can't do Monday and on Friday we close at one."),
    ],
)
def test_times_that_may_share_the_verb_behind_them_wait(language: str, text: str) -> None:
    assert read_wish(text, language, NOW).unclear


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "Next week I'm away. The week after would be fine."),
        ("en", "On 20 October I'm away. The week after would be fine."),
        ("cs", "Příští týden jsem na dovolené. Ten další týden můžu kdykoliv."),
        ("de", "Nächste Woche bin ich weg, die Woche darauf ginge es gut."),
        ("es", "La semana que viene no puedo. La semana siguiente sí podría."),
    ],
)
def test_the_week_after_follows_the_week_that_was_named(language: str, text: str) -> None:
    wish = read_wish(text, language, NOW)
    assert not wish.unclear
    assert days_of(wish) == {26, 27, 28, 29, 30}
