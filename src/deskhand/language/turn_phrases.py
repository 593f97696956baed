"""Which kind of turn a text is by its words alone, whatever was asked: learned from examples over
the text's vector, and told by phrases that leave no doubt.

The reading model knows the question, and has seen few turns. Phrases such as "vergessen Sie's" mean
the same after any question. `turns.py` weighs both.
"""

import math
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from deskhand.language.embed import shared_embedder
from deskhand.language.slots.folded_text import FoldedText
from deskhand.language.turn_cues import Cues, turn_cues
from deskhand.language.turn_kinds import TurnKind
from deskhand.language.turn_reading import TurnReading

if TYPE_CHECKING:
    from numpy.typing import NDArray

MODEL_FILE = Path(__file__).parent / "models" / "turn_kinds.npz"
_CLAUSE = re.compile(r"[.!?;,\n]+|\s[-–—]\s")
_LEAST = 0.001
"""Below this, a chance says nothing more."""
_WEIGHT = 0.8
"""How much the vector counts beside the reading model."""
_WHOLE, _CLAUSE_ALONE = 2.0, 1.0
"""What a phrase adds, on the scale of logarithms: where nothing else is said, and where it is a
clause of its own."""
_ANYWHERE = {
    TurnKind.PERSON: 1.2,
    TurnKind.WHY: 1.2,
    TurnKind.CANCEL: 0.4,
    TurnKind.REPEAT: 0.4,
    TurnKind.INVALID: 0.0,
}
"""And where it stands anywhere: words for a person or for why are seldom said for anything else."""
_FEW_WORDS = 7
_NO_IDEA = 2.0
"""What certain words for not knowing add."""
_UNLIKELY_BESIDE = (TurnKind.CANCEL, TurnKind.REPEAT)
"""Kinds for which such words are easily taken."""
_CUES = {
    TurnKind.PERSON: "person",
    TurnKind.WHY: "why",
    TurnKind.CANCEL: "cancel",
    TurnKind.REPEAT: "repeat",
    TurnKind.INVALID: "unknown",
}


def weighed_chances(
    text: str, model: TurnReading, *, takes_words: bool
) -> Mapping[TurnKind, float]:
    """How likely each kind is: what the reading model says after the question, weighed with what
    the words say after any question. Answers count together, as their values tell them apart.

    Where the question `takes_words`, hardly any words are no answer: only the reading model and
    plain words for not knowing speak for that.
    """
    by_words = dict(phrase_weights(text))
    if takes_words and not turn_cues().is_all("unknown", FoldedText(text).folded):
        likeliest = min(by_words[TurnKind.INVALID], by_words[TurnKind.ANSWER])
        by_words[TurnKind.INVALID] = likeliest
    weighed: dict[TurnKind, float] = {}
    for kind, weight in by_words.items():
        chance = model.chance(kind)
        if kind is TurnKind.ANSWER:
            chance += model.chance(TurnKind.ANSWERS_SEVERAL)
        weighed[kind] = (chance + _LEAST) * math.exp(weight)
    whole = sum(weighed.values())
    return {kind: weight / whole for kind, weight in weighed.items()}


def phrase_weights(text: str) -> Mapping[TurnKind, float]:
    """How much the words of a text speak for each kind: what is added to the logarithm of its
    chance. Answers are one kind here, whatever they answer."""
    weights = _by_vector(text)
    cues = turn_cues()
    folded = FoldedText(text).folded
    for kind in _CUES:
        weights[kind] += _by_phrases(kind, folded, cues)
    if cues.has("no_idea", folded):
        weights[TurnKind.INVALID] += _NO_IDEA
        for kind in _UNLIKELY_BESIDE:
            weights[kind] -= _NO_IDEA
    return weights


def _by_vector(text: str) -> dict[TurnKind, float]:
    import numpy as np

    kinds, weights = _model()
    vector = shared_embedder().embed([text])[0]
    scores = weights[:, :-1] @ vector + weights[:, -1]
    chances = np.exp(scores - scores.max())
    logarithms = np.log(chances / chances.sum() + _LEAST)
    by_kind = zip(kinds, logarithms, strict=True)
    return {kind: _WEIGHT * float(logarithm) for kind, logarithm in by_kind}


def _by_phrases(kind: TurnKind, folded: str, cues: Cues) -> float:
    cue = _CUES[kind]
    clauses = [clause for clause in _CLAUSE.split(folded) if clause.strip()]
    added = 0.0
    if cues.has(cue, folded):
        added += _ANYWHERE[kind]
    if cues.is_all(cue, folded):
        added += _WHOLE
    if any(cues.is_all(cue, clause) for clause in clauses):
        added += _CLAUSE_ALONE
    if kind is TurnKind.WHY and cues.first(cue, folded) and len(folded.split()) <= _FEW_WORDS:
        added += _CLAUSE_ALONE
    if kind is TurnKind.WHY and any(cues.is_all("why_short", clause) for clause in clauses):
        added += _CLAUSE_ALONE
    return added


@cache
def _model() -> "tuple[tuple[TurnKind, ...], NDArray[Any]]":
    import numpy as np

    with np.load(MODEL_FILE, allow_pickle=False) as stored:
        kinds = tuple(TurnKind(str(kind)) for kind in stored["kinds"])
        return kinds, stored["weights"]
