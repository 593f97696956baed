"""Times of day and windows in words: each reading beside one that it must not be taken for."""

from datetime import date, datetime, time
from zoneinfo import ZoneInfo

import pytest

from deskhand.language.meeting_times import read_wish
from deskhand.scheduling.wishes import Wish

NOW = datetime(2026, 11, 16, 9, 0, tzinfo=ZoneInfo("Europe/Prague"))
"""A Monday."""
THURSDAY = date(2026, 11, 19)
FRAMES = {
    "en": "Could we meet on Thursday {}?",
    "cs": "Mohli bychom přijít ve čtvrtek {}?",
    "de": "Hätten Sie am Donnerstag {} Zeit?",
    "es": "¿Podría ir el jueves {}?",
}
CZECH_HOURS = {
    8: ("osmi", "osmé", "osmou"),
    9: ("devíti", "deváté", "devátou"),
    10: ("deseti", "desáté", "desátou"),
    11: ("jedenácti", "jedenácté", "jedenáctou"),
    12: ("dvanácti", "dvanácté", "dvanáctou"),
    13: ("jedné", "jedné", "jednou"),
    14: ("dvou", "druhé", "druhou"),
    15: ("tří", "třetí", "třetí"),
    16: ("čtyř", "čtvrté", "čtvrtou"),
    17: ("pěti", "páté", "pátou"),
}
"""The cardinal after `od`, the ordinal after `po`, and after `mezi`."""
ENGLISH_HOURS = ["eight", "nine", "ten", "eleven", "twelve", "one", "two", "three", "four", "five"]
GERMAN_HOURS = ["acht", "neun", "zehn", "elf", "zwölf", "eins", "zwei", "drei", "vier", "fünf"]
SPANISH_HOURS = [
    "las ocho",
    "las nueve",
    "las diez",
    "las once",
    "las doce",
    "la una",
    "las dos",
    "las tres",
    "las cuatro",
    "las cinco",
]


def read(language: str, said: str) -> Wish:
    return read_wish(FRAMES[language].format(said), language, NOW)


def a_time(written: str) -> time | None:
    return time.fromisoformat(written) if written else None


def window(written: str) -> tuple[time | None, time | None, time | None]:
    """`14:30` is one time, `9:00-` and `-11:00` are limits."""
    if "-" not in written:
        return a_time(written), None, None
    after, before = written.split("-")
    return None, a_time(after), a_time(before)


@pytest.mark.parametrize(
    ("language", "said", "hours"),
    [
        ("en", "at half past two", "14:30"),
        ("en", "at about half past four", "16:30"),
        ("en", "at ten past four", "16:10"),
        ("en", "at 5 past 10", "10:05"),
        ("en", "at twenty to five", "16:40"),
        ("en", "at ten to five", "16:50"),
        ("en", "from ten to five", "10:00-17:00"),
        ("en", "at four thirty", "16:30"),
        ("en", "at nine forty-five", "09:45"),
        ("en", "any time between one and around half past three", "13:00-15:30"),
        ("en", "from around nine to about eleven", "09:00-11:00"),
        ("en", "from quarter past nine until noon", "09:15-12:00"),
        ("en", "until midnight", "-"),
        ("en", "in the afternoon, any time before a quarter to four", "12:00-15:45"),
        ("cs", "dopoledne, mezi desátou a půl dvanáctou", "10:00-11:30"),
        ("cs", "v půl čtvrté", "15:30"),
        ("cs", "ve čtvrt na tři", "14:15"),
        ("cs", "ve tři čtvrtě na jedenáct", "10:45"),
        ("cs", "kolem třetí hodiny", "15:00"),
        ("cs", "k desáté", "10:00"),
        ("cs", "od půl deváté do tři čtvrtě na dvanáct", "08:30-11:45"),
        ("cs", "mezi polednem a druhou", "12:00-14:00"),
        ("cs", "v devět třicet", "09:30"),
        ("cs", "pozdě dopoledne", "10:00-12:00"),
        ("de", "um halb fünf", "16:30"),
        ("de", "um viertel vor drei", "14:45"),
        ("de", "um drei viertel fünf", "16:45"),
        ("de", "um fünf vor halb vier", "15:25"),
        ("de", "um zehn nach vier", "16:10"),
        ("de", "um 10 Uhr 30", "10:30"),
        ("de", "so gegen vier", "16:00"),
        ("de", "ab 14 bis 16.30", "14:00-16:30"),
        ("de", "ab etwa neun", "09:00-"),
        ("de", "zwischen zwölf und ein Uhr", "12:00-13:00"),
        ("de", "am späten Vormittag", "10:00-12:00"),
        ("es", "a las tres y veinticinco", "15:25"),
        ("es", "a las diez menos diez", "09:50"),
        ("es", "a las 4 y media", "16:30"),
        ("es", "sobre las cinco", "17:00"),
        ("es", "hasta el mediodía", "-12:00"),
        ("es", "a partir del mediodía", "12:00-"),
        ("es", "a partir de las cuatro y media", "16:30-"),
        ("es", "entre las 9 y cuarto y las 11 menos cuarto", "09:15-10:45"),
        ("es", "a última hora de la mañana", "11:00-12:00"),
        ("es", "después de comer", "13:00-"),
    ],
)
def test_a_time_in_words_is_read(language: str, said: str, hours: str) -> None:
    wish = read(language, said)
    assert not wish.unclear
    assert (wish.day, wish.at, wish.after, wish.before) == (THURSDAY, *window(hours))


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("en", "before I leave"),
        ("en", "at half four"),
        ("en", "at half past"),
        ("en", "shortly after two"),
        ("en", "just before noon"),
        ("en", "two hours after lunch"),
        ("en", "in the morning at one"),
        ("en", "after the meeting with my boss"),
        ("cs", "krátce po deváté"),
        ("cs", "hned po deváté"),
        ("cs", "hodinu před polednem"),
        ("cs", "po druhé schůzce"),
        ("cs", "než odjedu"),
        ("de", "um kurz vor vier"),
        ("de", "zwei Stunden nach vier"),
        ("de", "vormittags um ein Uhr"),
        ("es", "poco antes de las cinco"),
        ("es", "una hora después de las cinco"),
        ("es", "antes de irme"),
    ],
)
def test_a_time_that_depends_on_more_waits(language: str, said: str) -> None:
    assert read(language, said).unclear


@pytest.mark.parametrize(("hour", "forms"), CZECH_HOURS.items())
def test_czech_hours_are_read_in_every_case(hour: int, forms: tuple[str, str, str]) -> None:
    cardinal, ordinal, instrumental = forms
    assert read("cs", f"od {cardinal}").after == time(hour)
    assert read("cs", f"po {ordinal}").after == time(hour)
    assert read("cs", f"před {instrumental}").before == time(hour)
    assert read("cs", f"mezi {instrumental} a půl šestou").after == time(hour)
    half = read("cs", f"v půl {ordinal}").at
    if hour != 13:  # `v půl jedné` is half past twelve, in the other half of the day
        assert half == time(hour - 1, 30)


@pytest.mark.parametrize("place", range(10))
def test_hours_are_read_behind_each_preposition(place: int) -> None:
    clock = time(8 + place)
    english, german, spanish = ENGLISH_HOURS[place], GERMAN_HOURS[place], SPANISH_HOURS[place]
    assert read("en", f"after {english}").after == clock
    assert read("en", f"at half past {english}").at == clock.replace(minute=30)
    assert read("en", f"until about {english}").before == clock
    assert read("de", f"ab {german}").after == clock
    assert read("de", f"um viertel nach {german}").at == clock.replace(minute=15)
    assert read("de", f"bis etwa {german}").before == clock
    assert read("es", f"desde {spanish}").after == clock
    assert read("es", f"a {spanish} y media").at == clock.replace(minute=30)
    assert read("es", f"antes de {spanish}").before == clock


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "Could we meet on Thursday (19th) at three?"),
        ("en", "Thursday 19 at three would suit us."),
        ("cs", "Mohli bychom přijít ve čtvrtek 19. 11. v 15:00?"),
        ("de", "Passt Ihnen Donnerstag, 19. November, um drei?"),
        ("es", "¿Podría ir el jueves (19) a las tres?"),
        ("es", "¿Podría ir el jueves día 19 a las tres?"),
        ("es", "El jueves 19 podría ir a las tres."),
    ],
)
def test_a_weekday_and_its_date_are_one_day_and_wait_where_they_disagree(
    language: str, text: str
) -> None:
    wish = read_wish(text, language, NOW)
    assert (wish.day, wish.at, wish.unclear) == (THURSDAY, time(15), ())
    assert read_wish(text.replace("19", "20"), language, NOW).unclear


def test_a_short_weekday_in_brackets_must_be_that_of_the_day() -> None:
    right = read_wish("Könnten wir morgen (Di) vormittag reden?", "de", NOW)
    assert (right.day, right.before, right.unclear) == (date(2026, 11, 17), time(12), ())
    assert read_wish("Könnten wir morgen (Mi) vormittag reden?", "de", NOW).unclear


@pytest.mark.parametrize(
    ("language", "away", "here"),
    [
        (
            "en",
            "Could we meet on Thursday from two? At four we have to be at the station.",
            "Could we meet on Thursday from two? At four we have to be at your office.",
        ),
        (
            "cs",
            "Mohli bychom přijít ve čtvrtek od dvou, ve čtyři musíme být na nádraží?",
            "Mohli bychom přijít ve čtvrtek od dvou, ve čtyři musíme být u vás?",
        ),
        (
            "de",
            "Hätten Sie am Donnerstag ab zwei Zeit, um vier müssten wir wieder am Bahnhof sein?",
            "Hätten Sie am Donnerstag ab zwei Zeit, um vier müssten wir bei Ihnen sein?",
        ),
    ],
)
def test_who_must_be_elsewhere_leaves_and_who_must_be_here_does_not(
    language: str, away: str, here: str
) -> None:
    wish = read_wish(away, language, NOW)
    assert (wish.day, wish.after, wish.before) == (THURSDAY, time(14), time(16))
    assert not wish.unclear
    assert read_wish(here, language, NOW).unclear


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "I'm free on Thursday between ten and twelve, after that I have a flight."),
        ("cs", "Ve čtvrtek mám čas mezi desátou a dvanáctou, potom mám výuku."),
        ("es", "El jueves puedo entre las diez y las doce. Después tengo clase."),
    ],
)
def test_what_somebody_does_after_the_wished_time_limits_nothing_more(
    language: str, text: str
) -> None:
    wish = read_wish(text, language, NOW)
    assert (wish.day, wish.after, wish.before) == (THURSDAY, time(10), time(12))
    assert not wish.unclear


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "I'm busy on Thursday between ten and twelve, after that I am at my desk."),
        ("en", "I'm free on Thursday from ten, after that I have a flight."),
        ("cs", "Mezi desátou a dvanáctou ve čtvrtek nemůžu, potom jsem v kanceláři."),
        ("cs", "Ve čtvrtek mám čas mezi desátou a dvanáctou, potom mám volno."),
        ("es", "El jueves puedo entre las diez y las doce. Después estoy libre."),
    ],
)
def test_what_somebody_does_later_waits_where_it_may_be_a_wish(language: str, text: str) -> None:
    assert read_wish(text, language, NOW).unclear


@pytest.mark.parametrize(
    ("language", "decides", "other"),
    [
        ("de", "bevor ich bestelle", "bevor der Zug fährt"),
        ("cs", "než to objednáme", "než odletíme"),
        ("es", "antes de firmar", "antes de irme"),
    ],
)
def test_a_visit_before_a_purchase_is_no_limit_and_before_anything_else_is(
    language: str, decides: str, other: str
) -> None:
    frame = FRAMES[language].replace("{} Zeit", "Zeit, {}")
    assert not read_wish(frame.format(decides), language, NOW).unclear
    assert read_wish(frame.format(other), language, NOW).unclear


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "Could we meet on Thursday? We want from five to ten monitors."),
        ("en", "Could we meet on Thursday? At one point we spoke of lamps."),
        ("de", "Hätten Sie am Donnerstag Zeit, es geht um ein Angebot?"),
        ("de", "Ich hole am Donnerstag Möbel ab und hätte Zeit, geht das?"),
        ("cs", "V první řadě děkuji, mohl bych přijít ve čtvrtek?"),
    ],
)
def test_words_that_are_no_hours_are_not_read_as_such(language: str, text: str) -> None:
    wish = read_wish(text, language, NOW)
    assert (wish.day, wish.at, wish.after, wish.before) == (THURSDAY, None, None, None)
