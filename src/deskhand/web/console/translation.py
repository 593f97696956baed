"""The console's own words in other languages, one file a language under `words/`."""

import tomllib
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path

from starlette.requests import Request

FOLDER = Path(__file__).parent / "words"
OWN = "en"
"""The language of the templates: it needs no file of words."""
NAMES = {"en": "English", "cs": "Čeština"}

Translator = Callable[..., str]


def _languages() -> dict[str, str]:
    """What can be chosen, by code: the templates' language, and each that has a file."""
    found = sorted(path.stem for path in FOLDER.glob("*.toml"))
    return {code: NAMES.get(code, code) for code in (OWN, *found)}


LANGUAGES = _languages()


@cache
def words_of(language: str) -> Mapping[str, str]:
    """English words and what they are in a language; nothing for English itself."""
    if language == OWN or language not in LANGUAGES:
        return {}
    return tomllib.loads((FOLDER / f"{language}.toml").read_text(encoding="utf-8"))


def translator(language: str) -> Translator:
    """A function that says something in a language, in English where it has no words for it."""
    known = words_of(language)

    def say(words: str, **values: object) -> str:
        said = known.get(words, words)
        return said.format(**values) if values else said

    return say


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
