"""What is wrong with a reply, and how one click mends it."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from deskhand.model.causes import Cause
from deskhand.model.message import DELIVER
from deskhand.model.run import REASONS, Effect, EffectState, Review
from deskhand.web.console.labels import gravest
from deskhand.web.console.translation import Phrase

_SENTENCE = re.compile(r"[^.!?\n]+[.!?]?")
_WORD = re.compile(r"\w{4,}")
_ALIKE = 2
"""How many longer words a source's sentence must share with what nothing backs."""


class Finding(NamedTuple):
    reason: str
    words: str
    """What it is about; empty where it is about the whole reply."""
    source: int = 0
    """The number of the source that speaks of the same; 0 where none does."""
    instead: str = ""
    """What that source says."""


class EffectCounts(NamedTuple):
    """What the run's tools have changed, and what they may not change yet."""

    done: int
    held: int
    tools: frozenset[str]


def read_findings(review: Review, sources: Sequence[tuple[str, str]]) -> list[Finding]:
    findings = review.payload.get("findings") or ()
    return [_finding(finding, sources) for finding in findings]


def _finding(finding: Mapping[str, Any], sources: Sequence[tuple[str, str]]) -> Finding:
    if not finding.get("sentence"):
        return Finding(str(finding.get("reason", "")), str(finding.get("text", "")))
    behind = Phrase("Nothing backs “{value}”.", value=finding.get("value"))
    sentence = str(finding["sentence"])
    return Finding(behind, sentence, *_nearest(sentence, sources))


def _nearest(sentence: str, sources: Sequence[tuple[str, str]]) -> tuple[int, str]:
    """The sentence of a source that shares the most words with this one, and whose it is."""
    asked = _words(sentence)
    best = (_ALIKE - 1, 0, "")
    for number, (_, quote) in enumerate(sources, start=1):
        for said in _SENTENCE.findall(quote):
            shared = len(asked & _words(said))
            if shared > best[0]:
                best = (shared, number, " ".join(said.split()))
    return best[1], best[2]


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.casefold()))


def rules_of(review: Review) -> list[tuple[Cause, str]]:
    """Each cause with its own words, the gravest first.

    Where nothing was said about single causes, the whole reason stands with the first.
    """
    causes = gravest(review.causes)
    words = review.facts.get(REASONS) or dict.fromkeys(causes[:1], review.reason)
    return [(cause, words.get(cause, "")) for cause in causes]


def effects_of(effects: Sequence[Effect], calls: Sequence[Mapping[str, Any]]) -> EffectCounts:
    own = [effect for effect in effects if effect.tool != DELIVER]
    done = [effect for effect in own if effect.state is EffectState.DONE]
    held = [call for call in calls if call["verdict"] == "hold"]
    return EffectCounts(len(done), len(held), frozenset(effect.tool for effect in own))
