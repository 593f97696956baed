"""Habits of people who ask for a meeting: both days at the same hours, when it must be over, what
they come from, that no other day suits."""

from datetime import date, datetime
from zoneinfo import ZoneInfo

import pytest

from deskhand.language.meeting_times import read_wish

NOW = datetime(2026, 10, 13, 9, 40, tzinfo=ZoneInfo("Europe/Prague"))  # a Tuesday
BOTH = ["2026-10-20 09:00-11:00", "2026-10-22 09:00-11:00"]


def windows(language: str, text: str) -> list[str]:
    """The windows that are read; the unclear words instead where there are any."""
    wish = read_wish(text, language, NOW)
    return [*wish.unclear] or [window.written() for window in wish.stretches]


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "Would Tuesday or Thursday next week suit you, between 9 and 11 on either day?"),
        ("cs", "Hodí se úterý 20. nebo čtvrtek 22. října, oba dny mezi devátou a jedenáctou?"),
        ("de", "Ginge nächste Woche Dienstag und Donnerstag, an beiden Tagen von 9 bis 11 Uhr?"),
        ("es", "¿Podría ser el martes 20 o el jueves 22, de 9 a 11 cualquiera de los dos días?"),
    ],
)
def test_hours_for_both_days_count_for_each(language: str, text: str) -> None:
    assert windows(language, text) == BOTH


def test_who_leaves_at_a_time_on_both_days_leaves_then_on_each() -> None:
    text = "Could we do Tuesday after 1 or Thursday after 2 next week? We have to leave at 4."
    assert windows("en", text) == ["2026-10-20 13:00-16:00", "2026-10-22 14:00-16:00"]


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "Could we come on Friday from 1 pm? We should be done by half past three."),
        ("en", "Could we come on Friday from 1 pm? I need to catch a train at half past three."),
        ("cs", "Přišli bychom v pátek od jedné, ve 15:30 už ale musíme být pryč."),
        ("cs", "Přišli bychom v pátek od jedné, jen v půl čtvrté už musím běžet."),
        ("de", "Wir kämen gern am Freitag ab 13 Uhr, um halb vier müssen wir nur wieder los."),
        ("de", "Ginge es am Freitag ab 13 Uhr? Um halb vier sollten wir fertig sein."),
        ("es", "¿Podría ser el viernes a partir de la una? A las 15:30 debo estar en la obra."),
        ("es", "El viernes puedo desde la una, siempre que hayamos terminado a las tres y media."),
    ],
)
def test_a_meeting_is_over_when_somebody_leaves(language: str, text: str) -> None:
    assert windows(language, text) == ["2026-10-16 13:00-15:30"]


def test_who_leaves_on_one_day_leaves_only_then() -> None:
    text = "Could we meet on Thursday or Friday? On Friday I have to leave at 2."
    assert windows("en", text) == ["2026-10-15", "2026-10-16 -14:00"]


def test_when_somebody_leaves_is_not_refused() -> None:
    text = "¿Nos vemos el viernes 16? No puedo antes de las once, y a las dos tengo otra reunión."
    assert windows("es", text) == ["2026-10-16 11:00-14:00"]


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "I have a course on 21 October that ends at noon. Could I come by afterwards?"),
        ("en", "On 21 October we visit a fair; it is over at noon. May I drop in after that?"),
        ("cs", "Ve středu 21. října mám kurz, který končí v poledne. Mohl bych se pak stavit?"),
        ("de", "Am 21. Oktober bin ich bei einem Kurs, der um 12 endet. Hätten Sie danach Zeit?"),
        ("es", "El 21 de octubre tengo un curso que termina a mediodía. ¿Podría pasarme después?"),
    ],
)
def test_the_time_after_an_event_begins_with_its_end(language: str, text: str) -> None:
    assert windows(language, text) == ["2026-10-21 12:00-"]


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "I have a course on 21 October. Could I come by afterwards?"),
        ("en", "I have a course on 21 October. It ends at noon and later. Could I come after it?"),
        ("cs", "Ve středu 21. října mám kurz. Mohl bych se pak stavit odpoledne?"),
    ],
)
def test_the_time_after_an_event_waits_where_its_end_is_not_known(language: str, text: str) -> None:
    assert read_wish(text, language, NOW).unclear


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "Could we meet on 21 October between 10 and 12? No other day next week works."),
        ("cs", "Ve středu 21. můžu od desíti do dvanácti. Jiný den mi to bohužel nevychází."),
        ("de", "Ginge Mittwoch, der 21., zwischen 10 und 12 Uhr? Andere Tage gehen leider nicht."),
        ("es", "¿Podría ser el miércoles 21 de 10 a 12? Otro día no puedo."),
    ],
)
def test_that_no_other_day_suits_changes_nothing(language: str, text: str) -> None:
    assert windows(language, text) == ["2026-10-21 10:00-12:00"]


def test_that_no_other_day_suits_waits_where_none_is_named() -> None:
    assert read_wish("Could we meet? No other day works for me.", "en", NOW).person


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "We can be with you on 21 October. The time doesn't matter."),
        ("cs", "Přišli bychom 21. října, je nám jedno kdy."),
        ("de", "Wir kommen gern am 21. Oktober, egal wann."),
        ("es", "Me da igual la hora, pero tiene que ser el miércoles 21."),
    ],
)
def test_a_time_that_does_not_matter_is_any_time(language: str, text: str) -> None:
    assert windows(language, text) == ["2026-10-21"]


def test_german_days_with_article_and_number_are_dates() -> None:
    text = "Passt Dienstag, der 1., oder Mittwoch, der 2. Dezember, ab 14 Uhr? {} kann ich nicht."
    assert windows("de", text.format("Vorher")) == ["2026-12-01..2026-12-02 14:00-"]


@pytest.mark.parametrize(
    ("language", "text", "minutes"),
    [
        ("en", "Could we talk on Friday? Forty-five minutes should do.", 45),
        ("cs", "Můžeme si zavolat v pátek? Stačí čtyřicet pět minut.", 45),
        ("de", "Können wir am Freitag sprechen? Fünfundzwanzig Minuten genügen.", 25),
        ("es", "¿Hablamos el viernes? Bastan cuarenta y cinco minutos.", 45),
    ],
)
def test_a_length_in_words_of_two_is_read(language: str, text: str, minutes: int) -> None:
    assert read_wish(text, language, NOW).minutes == minutes


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "On Friday I teach until eleven, afterwards I could talk."),
        ("de", "Am Freitag habe ich bis elf Unterricht, danach könnten wir sprechen."),
        ("cs", "V pátek mám do jedenácti výuku, pak bychom si mohli zavolat."),
        ("es", "El viernes por la mañana tengo clase hasta las once, después puedo hablar."),
    ],
)
def test_who_is_busy_until_a_time_and_could_then_is_met_after_it(language: str, text: str) -> None:
    assert windows(language, text) == ["2026-10-16 11:00-"]


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "Could we meet on Friday until eleven? Afterwards we would like to see the town."),
        ("de", "Am Freitag könnte ich bis elf, danach habe ich Unterricht."),
    ],
)
def test_who_could_until_a_time_is_not_met_after_it(language: str, text: str) -> None:
    assert windows(language, text) == ["2026-10-16 -11:00"]


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "Next week doesn't work for me except Thursday afternoon."),
        ("de", "Nächste Woche geht es leider nicht, außer am Donnerstag nachmittags."),
    ],
)
def test_what_is_excepted_from_a_refusal_is_never_refused(language: str, text: str) -> None:
    wish = read_wish(text, language, NOW)
    assert wish.person or windows(language, text) == ["2026-10-22 12:00-"]


def test_hours_that_leave_nothing_together_wait() -> None:
    text = "How about lunchtime on Monday, or else Tuesday at five past nine?"
    assert read_wish(text, "en", NOW).unclear


def test_this_afternoon_is_today() -> None:
    text = "Could we come either this afternoon or tomorrow morning?"
    assert windows("en", text) == ["2026-10-13 12:00-", "2026-10-14 -12:00"]


def test_a_sentence_may_begin_with_a_mark_of_its_own() -> None:
    text = "Viajo el domingo y vuelvo el jueves. ¿Podemos vernos el viernes por la tarde?"
    assert windows("es", text) == ["2026-10-16 12:00-"]


def test_the_next_weekday_of_a_list_is_the_day_after() -> None:
    text = "Puedo el lunes y el martes a cualquier hora, y el miércoles solo hasta las once."
    assert windows("es", text) == ["2026-10-19..2026-10-20", "2026-10-21 -11:00"]


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "Would you be there on Friday 26 March? That is Good Friday here."),
        ("cs", "Byli byste tam 29. března? Je Velikonoční pondělí, to by bylo fajn."),
        ("de", "Wären Sie am 29. März da? Das wäre der Ostermontag."),
        ("es", "¿Podrían el 26 de marzo? Es Viernes Santo."),
    ],
)
def test_a_holiday_named_like_a_weekday_is_not_the_next_of_that_name(
    language: str, text: str
) -> None:
    wish = read_wish(text, language, NOW)
    assert wish.unclear or not any(
        window.holds_day(date(2026, 10, 16)) for window in wish.stretches
    )


def test_who_comes_at_a_time_and_leaves_at_another_comes_then() -> None:
    text = "Hodil by se nám pátek 16. října. Přijedeme kolem desáté a v jednu nám jede vlak."
    assert windows("cs", text) == ["2026-10-16 10:00"]
