"""The console's own words, one file a language under `interface/`.

`en.toml` lists every phrase that is shown; another file says the same in another language, and a
phrase that it does not have is shown in English. A phrase about a number has a form for each
plural of its language. Dropping a file into the folder adds a language.
"""

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, tzinfo
from functools import cache, lru_cache
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from starlette.requests import Request

FOLDER = Path(__file__).parent / "interface"
OWN = "en"
"""The language that every phrase exists in."""
NUMBER = "count"
"""The name of the value by which a form is chosen."""
_LONGEST_ZONE = 64


def _two_forms(number: int) -> str:
    return "one" if number == 1 else "other"


def _czech_forms(number: int) -> str:
    if number == 1:
        return "one"
    return "few" if 2 <= number <= 4 else "other"


def _slavic_forms(number: int) -> str:
    """Polish, Russian, Ukrainian: few for 2, 3, 4, 22, 23 and so on."""
    if number == 1:
        return "one"
    return "few" if 2 <= number % 10 <= 4 and not 12 <= number % 100 <= 14 else "other"


PLURALS: dict[str, Callable[[int], str]] = {
    "one-other": _two_forms,
    "one-few-other": _czech_forms,
    "slavic": _slavic_forms,
    "none": lambda number: "other",
}
"""The ways in which languages count, by the word that a file says under `[language] plural`."""


@dataclass(frozen=True, slots=True)
class InterfaceLanguage:
    """A file of words: how the language counts and writes, and what it says."""

    code: str
    name: str
    phrases: Mapping[str, str | Mapping[str, str]] = field(default_factory=dict)
    plural: str = "one-other"
    thousands: str = ","
    decimal: str = "."
    moment: str = "%d %b %Y, %H:%M"
    day: str = "%-d %b"

    def number(self, value: float, digits: int = 0) -> str:
        """A number as the language writes it: 1,234.5 or 1 234,5."""
        written = f"{value:,.{digits}f}"
        return written.translate({ord(","): self.thousands, ord("."): self.decimal})


class Phrase(str):
    """Words of ours with their values: text in English, and what to look up in other languages."""

    key: str
    values: Mapping[str, object]

    def __new__(cls, key: str, /, **values: object) -> "Phrase":
        phrase = super().__new__(cls, _formed(_language(OWN), key, values))
        phrase.key, phrase.values = key, values
        return phrase


Translator = Callable[..., str]


@cache
def _language(code: str) -> InterfaceLanguage:
    path = FOLDER / f"{code}.toml"
    written = tomllib.loads(path.read_text(encoding="utf-8"))
    about: dict[str, Any] = written["language"]
    return InterfaceLanguage(code=code, phrases=written["phrases"], **about)


def _languages() -> dict[str, str]:
    """What can be chosen, by code: English, and each that has a file."""
    codes = sorted(path.stem for path in FOLDER.glob("*.toml") if path.stem != OWN)
    return {code: _language(code).name for code in (OWN, *codes)}


LANGUAGES = _languages()


def language_of(code: str) -> InterfaceLanguage:
    return _language(code if code in LANGUAGES else OWN)


def translator(code: str) -> Translator:
    """A function that says something in a language, in English where it has no words for it."""
    language = language_of(code)

    def say(words: str, /, **values: object) -> str:
        if isinstance(words, Phrase):
            filled = {name: _said(value) for name, value in words.values.items()}
            return _formed(language, words.key, filled)
        return _formed(language, words, values)

    def _said(value: object) -> object:
        return say(value) if isinstance(value, Phrase) else value

    return say


def _formed(language: InterfaceLanguage, key: str, values: Mapping[str, object]) -> str:
    """The phrase in the form that its number needs, with its values."""
    form = language.phrases.get(key)
    if form is None and language.code != OWN:
        return _formed(_language(OWN), key, values)
    if isinstance(form, Mapping):
        number = values.get(NUMBER, 0)
        plural = PLURALS[language.plural](number if isinstance(number, int) else 0)
        form = form.get(plural, form["other"])
    words = key if form is None else form
    if not values:
        return words
    shown = {name: _shown(language, value) for name, value in values.items()}
    return words.format(**shown)


def _shown(language: InterfaceLanguage, value: object) -> object:
    """Whole numbers with the signs between thousands; all else as it is."""
    is_number = isinstance(value, int) and not isinstance(value, bool)
    return language.number(value) if is_number else value  # type: ignore[arg-type]


def chosen_language(request: Request) -> str:
    """What somebody chose in the menu, else what the browser asks for first and we have."""
    chosen = request.cookies.get("deskhand_language", "")
    if chosen in LANGUAGES:
        return chosen
    for part in request.headers.get("accept-language", "")[:200].split(","):
        code = part.partition(";")[0].strip().partition("-")[0].lower()
        if code in LANGUAGES:
            return code
    return OWN


@lru_cache(maxsize=128)
def _zone(name: str) -> tzinfo:
    try:
        return ZoneInfo(name)
    except (ValueError, OSError):
        return UTC


def chosen_zone(request: Request) -> tzinfo:
    """The zone of the reader's browser, which a script keeps in a cookie; UTC before that."""
    name = request.cookies.get("deskhand_zone", "")[:_LONGEST_ZONE].replace("%2F", "/")
    return _zone(name) if name else UTC


def moment_words(at: float, language: InterfaceLanguage, zone: tzinfo) -> str:
    """A moment for people whose browser runs no script; with one it is shown nearer."""
    local = datetime.fromtimestamp(at, zone)
    words = local.strftime(language.moment)
    return f"{words} UTC" if zone is UTC else words
