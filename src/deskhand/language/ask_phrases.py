"""The words of `asks.yaml`, made ready to find what a message asks."""

import re
from collections.abc import Collection, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from deskhand.config.yaml import read_yaml

_PHRASES = Path(__file__).with_name("asks.yaml")
LONGEST_CLOSING = 60


class AskPhrases(NamedTuple):
    """What each is: see `asks.yaml`."""

    opens: re.Pattern[str]
    tells: re.Pattern[str]
    accented: re.Pattern[str]
    asks_inside: re.Pattern[str]
    next_question: re.Pattern[str]
    asks_on: re.Pattern[str]
    alternatives: re.Pattern[str]
    repeated: re.Pattern[str]
    relatives: re.Pattern[str]
    whether: re.Pattern[str]
    object: re.Pattern[str]
    knows: re.Pattern[str]
    conditions: re.Pattern[str]
    joints: re.Pattern[str]
    requests: re.Pattern[str]
    indirect: re.Pattern[str]
    unsure: re.Pattern[str]
    announces: re.Pattern[str]
    wishes: re.Pattern[str]
    thanks: re.Pattern[str]
    courtesy: re.Pattern[str]
    greeting: re.Pattern[str]
    closing: re.Pattern[str]


def spoken_phrases(language: str | None) -> AskPhrases:
    """The phrases of a language, or of all where it has none."""
    return _phrases(language_with_phrases(language))


def language_with_phrases(language: str | None) -> str | None:
    primary = (language or "").partition("-")[0].lower()
    return primary if primary in _table() else None


@cache
def _table() -> Mapping[str, Any]:
    return dict(read_yaml(_PHRASES).data)


@cache
def _phrases(language: str | None) -> AskPhrases:
    table = _table()
    spoken = list(table.values()) if language is None else [table[language]]
    opens, verbs = _any_of(spoken, "opens"), _any_of(spoken, "verbs")
    joins, whether = _any_of(spoken, "joins"), _any_of(spoken, "whether")
    joined, knows = _any_of(spoken, "joined"), _any_of(spoken, "knows")
    lead = rf"(?:(?:{joins})[ ,]+)?"
    begins = rf"[¿¡]?(?=(?:{opens}|{verbs}|{whether})\b)"
    return AskPhrases(
        opens=re.compile(rf"{lead}(?:{opens})\b"),
        tells=re.compile(rf"{lead}(?:{_any_of(spoken, 'tells')})\b"),
        accented=re.compile(rf"{lead}(?:{_any_of(spoken, 'accented')})\b"),
        asks_inside=re.compile(
            rf"(?:^|[,;:(-]\s+){lead}¿?(?:{opens}|{verbs}|{whether})\b"
            rf"|\b(?:{_without(spoken, 'opens', 'relatives')})\b"
            rf"|\b(?:{knows}),? (?:{opens}|{whether}|{joined})\b"
        ),
        next_question=re.compile(
            rf"[,;:?]\s+(?:(?:{joins})\s+)?{begins}|\s(?:{joins})\s+{begins}"
            rf"|,?\s(?:{joins})\s+(?=(?:{joined})\b)"
        ),
        asks_on=re.compile(rf"(?:\w{{1,4}} )?(?:{joins})[ ,]+(?:{joined})\b(?: [^\s,]+){{2,}}"),
        alternatives=re.compile(rf"[,;]?\s+(?:{_any_of(spoken, 'alternatives')})\b"),
        repeated=re.compile(rf"\b(?:{_any_of(spoken, 'repeated')})\b"),
        relatives=re.compile(rf"(?:{_any_of(spoken, 'relatives')})\b"),
        whether=re.compile(rf"(?:{opens}|{whether})\b"),
        object=re.compile(rf"\b(?:{opens}|{whether})\b"),
        knows=re.compile(rf"\b(?:{knows})\b"),
        conditions=re.compile(rf"{lead}(?:{_any_of(spoken, 'conditions')})\b"),
        joints=re.compile(rf"(?:{joins})"),
        requests=re.compile(rf"\b(?:{_any_of(spoken, 'requests')})"),
        indirect=_indirect(spoken, knows, f"{opens}|{whether}|{joined}"),
        unsure=re.compile(rf"\b(?:{_any_of(spoken, 'unsure')})\b"),
        announces=re.compile(rf"\b(?:{_any_of(spoken, 'announces')})"),
        wishes=re.compile(rf"\b(?:{_any_of(spoken, 'wishes')})\b"),
        thanks=re.compile(rf"\b(?:{_any_of(spoken, 'thanks')})\b"),
        courtesy=re.compile(rf"(?:{lead}(?:{_any_of(spoken, 'courtesies')}))"),
        greeting=re.compile(
            rf"\W*(?:{_any_of(spoken, 'greets')})\b[^,:!.?\n]{{0,60}}(?:[,:!.]+|$|\n)\s*"
        ),
        closing=re.compile(rf"\W*(?:{_any_of(spoken, 'closes')})\b[^\n?]{{0,{LONGEST_CLOSING}}}"),
    )


def _indirect(
    spoken: Sequence[Mapping[str, Sequence[str]]], knows: str, asked: str
) -> re.Pattern[str]:
    """ "I should be glad to hear, at your leisure, whether you repair kettles." """
    wants = _any_of(spoken, "wants")
    aside = r"(?:, [^,.?\n]{1,80},)?"
    return re.compile(
        rf"\b(?:{wants})\b,? (?:\S+ ){{0,7}}?(?:{knows})\b{aside}[,:]? (?:\S+ )?(?:{asked})\b"
        rf"|\b(?:{_any_of(spoken, 'confirms')})\b"
    )


def _any_of(spoken: Sequence[Mapping[str, Sequence[str]]], key: str) -> str:
    written = {phrase for words in spoken for phrase in words.get(key, ())}
    return _one_of(written)


def _without(spoken: Sequence[Mapping[str, Sequence[str]]], key: str, left_out: str) -> str:
    """The phrases of one kind that no language has under the other, too."""
    others = {phrase for words in spoken for phrase in words.get(left_out, ())}
    return _one_of({phrase for words in spoken for phrase in words[key]} - others)


def _one_of(phrases: Collection[str]) -> str:
    longest_first = sorted(phrases, key=lambda phrase: (-len(phrase), phrase))
    any_phrase = "|".join(phrase.replace("~", r"(?:\S+ ){0,3}?\S*") for phrase in longest_first)
    return any_phrase or _NOTHING


_NOTHING = r"(?!)"
