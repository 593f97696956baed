"""What a sentence promises or claims to have done, in five languages."""

from functools import cache, lru_cache
from typing import Any

import re2

from deskhand.config.sections.outgoing import Action
from deskhand.outgoing.promise_patterns import ActionPatterns
from deskhand.outgoing.promise_patterns.czech import CZECH
from deskhand.outgoing.promise_patterns.english import ENGLISH
from deskhand.outgoing.promise_patterns.french import FRENCH
from deskhand.outgoing.promise_patterns.german import GERMAN
from deskhand.outgoing.promise_patterns.spanish import SPANISH

_BY_LANGUAGE: dict[str, ActionPatterns] = {
    "en": ENGLISH,
    "cs": CZECH,
    "de": GERMAN,
    "es": SPANISH,
    "fr": FRENCH,
}
_NEGATION: dict[str, str] = {
    "en": r"\b(?:not|never|cannot|unable|neither|nor|without)\b|n't\b",
    "cs": r"\b(?:nelze|nikdy|neni|bez)\b|\bne(?:mu[zs]|jsme|jsem|bud|byl|dok)\w*",
    "de": r"\b(?:nicht|kein\w*|nie|niemals|ohne)\b",
    "es": r"\b(?:no|nunca|tampoco|ningun\w*)\b",
    "fr": r"\b(?:ne|pas|jamais|aucun\w*|impossible)\b|\bn'",
}
_CONDITION = re2.compile(
    r"^(?:if|once|when|as soon as|after|unless|should|jakmile|pokud|kdyz|az|kdyby|"
    r"sobald|wenn|falls|nachdem|en cuanto|"
    r"cuando|si|una vez|des|lorsque|quand|apres)\b"
)
_WISH = re2.compile(r"\bdrzim(?:e)? (?:vam |ti )?palce\b")
"""Fingers are crossed: nothing is kept for anybody."""
LANGUAGES = tuple(_BY_LANGUAGE)


@cache
def _compiled(language: str) -> tuple[tuple[Action, Any], ...]:
    return tuple((action, re2.compile(pattern)) for action, pattern in _BY_LANGUAGE[language])


@cache
def _any_action(language: str) -> Any:
    """All patterns of a language as one: most clauses have none of them."""
    patterns = [pattern for _, pattern in _BY_LANGUAGE[language]]
    return re2.compile("|".join(f"(?:{pattern})" for pattern in patterns))


@cache
def _negation(language: str) -> Any:
    return re2.compile(_NEGATION[language])


@lru_cache(maxsize=4096)
def promised_action(clause: str, languages: tuple[str, ...]) -> Action | None:
    """The action that a folded clause promises or claims; None if it has none or denies it.

    Remembered: templates and articles repeat themselves, and a clause takes 70 patterns to read.
    """
    if _CONDITION.search(clause) is not None or _WISH.search(clause) is not None:
        return None
    for language in languages:
        if _any_action(language).search(clause) is None:
            continue
        for action, pattern in _compiled(language):
            if pattern.search(clause) is not None:
                if _negation(language).search(clause) is not None:
                    break
                return action
    return None
