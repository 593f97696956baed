"""When a customer would like to meet, and which of the offered times he takes."""

from datetime import date, datetime, time
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deskhand.language.meeting_times import choose_offer, read_wish
from deskhand.language.meeting_times.day_ranges import easter
from deskhand.scheduling.wishes import Wish

PRAGUE = ZoneInfo("Europe/Prague")
NOW = datetime(2026, 11, 16, 9, 0, tzinfo=PRAGUE)  # a Monday
OFFERED = [
    datetime(2026, 11, day, hour, tzinfo=PRAGUE) for day, hour in ((17, 9), (17, 12), (18, 9))
]


def nov(day: int) -> date:
    return date(2026, 11, day)


def dec(day: int) -> date:
    return date(2026, 12, day)


@pytest.mark.parametrize(
    ("language", "text", "wish"),
    [
        ("en", "Could we speak on the phone one day next week?", Wish(nov(23), until=nov(29))),
        ("en", "Could we meet in the week of the 12th?", Wish(dec(7), until=dec(13))),
        ("en", "Tomorrow at 10 would be great.", Wish(nov(17), time(10))),
        ("en", "Good afternoon, is Thursday at 2 pm all right?", Wish(nov(19), time(14))),
        (
            "en",
            "I am free between 2 and 4 pm on Wednesday.",
            Wish(nov(18), after=time(14), before=time(16)),
        ),
        (
            "en",
            "Next Tuesday at 14:00?",
            Wish(nov(17), time(14), or_day=nov(24), unclear=("Next Tuesday",)),
        ),
        (
            "en",
            "Something came up on Thursday, could we push it to the following Monday?",
            Wish(nov(23), change="move", old=(nov(19), None)),
        ),
        (
            "en",
            "Tuesday does not work. Any time on Friday after 3 pm does.",
            Wish(nov(20), after=time(15)),
        ),
        ("en", "Early next week would be best.", Wish(nov(23), until=nov(24))),
        ("cs", "Hodilo by se nám to zítra dopoledne.", Wish(nov(17), before=time(12))),
        (
            "cs",
            "Máte příští týden někdy odpoledne čas?",
            Wish(nov(23), until=nov(29), after=time(12)),
        ),
        ("cs", "V týdnu od 7. prosince?", Wish(dec(7), until=dec(13))),
        ("cs", "Ve čtvrtek v 10", Wish(nov(19), time(10))),
        ("cs", "V úterý bohužel nemůžu, ale ve středu v 9:00 ano.", Wish(nov(18), time(9))),
        (
            "de",
            "Nach Ostern am Nachmittag",
            Wish(date(2027, 3, 30), until=date(2027, 4, 12), after=time(12)),
        ),
        ("de", "Wann hätten Sie in den nächsten zwei Wochen Zeit?", Wish(nov(16), until=nov(30))),
        ("de", "In der Woche vom 12.", Wish(dec(7), until=dec(13))),
        ("de", "Am Donnerstagnachmittag", Wish(nov(19), after=time(12))),
        ("de", "Morgen Vormittag", Wish(nov(17), before=time(12))),
        ("de", "Freitag ab 14 Uhr", Wish(nov(20), after=time(14))),
        ("de", "KW 49 würde gehen.", Wish(nov(30), until=dec(6))),
        (
            "es",
            "La semana que viene estaré en Valencia. ¿Podríamos vernos el miércoles por la mañana?",
            Wish(nov(25), before=time(12)),
        ),
        ("es", "Buenas tardes, ¿el viernes a las 16:30?", Wish(nov(20), time(16, 30))),
        ("es", "Mañana por la tarde", Wish(nov(17), after=time(12))),
        ("es", "Después de Semana Santa", Wish(date(2027, 3, 30), until=date(2027, 4, 12))),
    ],
)
def test_a_wish_is_read_from_the_customers_words(language: str, text: str, wish: Wish) -> None:
    assert read_wish(text, language, NOW) == wish


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "We are 25 people and need about 12 desks at 160 cm."),
        ("en", "Good morning, when could we meet?"),
        ("es", "¿Podría venir alguien a tomar medidas?"),
        ("cs", "Dobré odpoledne, kdy máte čas?"),
        ("en", ""),
    ],
)
def test_what_says_nothing_about_when_is_no_wish(language: str, text: str) -> None:
    assert not read_wish(text, language, NOW).says_something


@pytest.mark.parametrize(
    ("language", "text", "place"),
    [
        ("en", "Tuesday at 9 works for us, thanks!", 0),
        ("en", "The second one please.", 1),
        ("en", "12:00 suits us", 1),
        ("en", "I can't do Tuesday, but Wednesday works.", 2),
        ("cs", "Hodí se mi středa v 9.", 2),
        ("cs", "Beru druhý termín.", 1),
        ("cs", "V úterý nemohu, středa je v pořádku", 2),
        ("de", "Mittwoch, 18. November 2026, 9:00 Uhr passt uns gut.", 2),
        ("de", "Wir nehmen den dritten Termin.", 2),
        ("es", "La primera opción, por favor.", 0),
        ("es", "El miércoles a las 9:00 nos va bien.", 2),
    ],
)
def test_a_reply_that_names_one_of_the_offered_times_picks_it(
    language: str, text: str, place: int
) -> None:
    assert choose_offer(OFFERED, text, language, NOW) == OFFERED[place]


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "Tuesday is fine."),  # there are two
        ("en", "Tuesday at 9:00, unfortunately, does not work."),
        ("en", "Thursday at 9?"),
        ("en", "Thank you, I will think about it."),
        ("de", "Der erste Vorschlag passt nicht, der zweite schon."),
        ("es", "El miércoles no puedo."),
    ],
)
def test_a_reply_that_names_none_or_several_picks_none(language: str, text: str) -> None:
    assert choose_offer(OFFERED, text, language, NOW) is None
    assert choose_offer([], text, language, NOW) is None


def test_easter_is_when_it_is() -> None:
    known = {
        2024: date(2024, 3, 31),
        2025: date(2025, 4, 20),
        2026: date(2026, 4, 5),
        2038: date(2038, 4, 25),
    }
    assert {year: easter(year) for year in known} == known


@settings(deadline=None, derandomize=True, max_examples=150)
@given(st.text(max_size=120), st.sampled_from(["en", "cs", "de", "es", "pl", None]))
def test_any_text_can_be_read(text: str, language: str | None) -> None:
    read_wish(text, language, NOW)
    choose_offer(OFFERED, text, language, NOW)
