"""Training an intent model: examples in, everything a model consists of out."""

import math
import unicodedata
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from deskhand.errors import ConfigError
from deskhand.language.calibrate import Calibration, by_share, calibrate, needed, of_other_desks
from deskhand.language.clean_text import clean, has_words
from deskhand.language.embed import Embedder
from deskhand.language.experts import Experts, Matrix, Shares, softmax, together
from deskhand.language.identify import identify
from deskhand.language.intent_report import FitReport, LabelConflict, confusions, suspects
from deskhand.language.ngrams import Ngrams

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]
    Floats = NDArray[np.float32]

Progress = Callable[[str, int, int], None]
"""Told what is being done, and how much of it is."""

ANY, FOREIGN = "", "*"
"""Calibrations that are no language's: of all examples together, and of embeddings alone."""
_NEARNESS_WEIGHT, _NEARNESS_WEIGHT_STRANGERS = 2.0, 4.0
"""Nearness tells strangers from our own, the share tells right from wrong: the more is known of
strangers, the more it counts. Chosen on CLINC150's and BANKING77's training sets."""
_FOLDS = 5
_FEW = 20
"""A label with fewer examples is helped by its name and description: with ten each, by a point
on BANKING77."""
_ENOUGH_TO_MEASURE = 20
_ENOUGH_OF_A_LANGUAGE = 150
_OWN_SHARE, _OWN_COUNT = 0.05, 3
_SHARPNESSES = (1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0)
_NAMES_SHARE = 0.5


@dataclass(frozen=True)
class OutOfFold:
    """What the model said about each example it had not seen: what other thresholds would have
    done."""

    label: "Ints"
    best: "Ints"
    score: "NDArray[np.float64]"


@dataclass(frozen=True)
class Learned:
    """All that an intent model knows."""

    labels: tuple[str, ...]
    experts: Experts
    ngrams: Ngrams
    sharpness: float
    nearness_weight: float
    languages: tuple[str, ...]
    calibrations: dict[str, Calibration]
    out_of_fold: OutOfFold
    report: FitReport


@dataclass
class Material:
    """Examples made ready: cleaned, each once, with what helps labels that have few."""

    labels: tuple[str, ...]
    texts: list[str] = field(default_factory=list)
    label: list[int] = field(default_factory=list)
    hints: int = 0
    """How many of the last texts are names and descriptions, which are learned from but never
    measured on."""
    skipped: int = 0
    conflicts: list[LabelConflict] = field(default_factory=list)


def learn(
    examples: Sequence[tuple[str, str]],
    error_budget: float,
    out_of_scope: Sequence[str],
    descriptions: Mapping[str, str],
    embedder: Embedder,
    progress: Progress,
) -> Learned:
    import numpy as np

    if not 0 < error_budget < 1:
        raise ValueError(
            "an error budget lies between 0 and 1, as 0.05 for one wrong answer in twenty"
        )
    material = prepare(examples, descriptions)
    embeddings = embedder.embed(
        material.texts, progress=lambda done, total: progress("reading", done, total)
    )
    strangers = [clean(text) for text in out_of_scope if has_words(clean(text))]
    progress("counting words", 0, 1)
    ngrams = Ngrams.learn(material.texts)
    grams = Matrix.of(ngrams, material.texts)
    labels, count = np.array(material.label, dtype=np.int64), len(material.labels)
    folds = _folds(labels, len(labels) - material.hints)
    held, shares = _out_of_fold(embeddings, labels, count, grams, folds, progress)
    progress("learning", _FOLDS, _FOLDS + 1)
    experts = Experts.learn(embeddings, labels, count, grams)
    unseen = (
        experts.ask(embedder.embed(strangers), Matrix.of(ngrams, strangers)) if strangers else None
    )
    spoken = [identify(material.texts[index]).code or ANY for index in held.tolist()]
    progress("learning", _FOLDS + 1, _FOLDS + 1)
    return _concluded(
        material,
        experts,
        ngrams,
        _Measured(held, labels[held], shares, unseen, spoken),
        error_budget,
    )


def prepare(examples: Sequence[tuple[str, str]], descriptions: Mapping[str, str]) -> Material:
    """Check and clean what was handed in; one text under two labels is kept under both, and
    told."""
    names = sorted({label for _, label in examples} | set(descriptions))
    if not names:
        raise ConfigError(
            "there is no intent to learn", fix="give each intent a few examples, or a description"
        )
    if not all(name.strip() for name in names):
        raise ValueError("a label must be a text that is not empty")
    material = Material(tuple(names))
    places = {name: place for place, name in enumerate(names)}
    seen: dict[str, list[str]] = {}
    for text, label in examples:
        cleaned = clean(text)
        same = unicodedata.normalize("NFKC", cleaned).casefold()
        if not has_words(cleaned) or label in seen.get(same, ()):
            material.skipped += 1
            continue
        seen.setdefault(same, []).append(label)
        material.texts.append(cleaned)
        material.label.append(places[label])
    material.conflicts += [
        LabelConflict(text, tuple(sorted(labels)))
        for text, labels in seen.items()
        if len(labels) > 1
    ]
    counts = Counter(material.label)
    for name, place in places.items():
        if counts[place] < _FEW:
            told_by = (_spelled_out(name), clean(descriptions.get(name, "")))
            hints = list(filter(has_words, told_by))
            material.texts += hints
            material.label += [place] * len(hints)
            material.hints += len(hints)
    return material


def _spelled_out(name: str) -> str:
    return clean(name.replace("_", " ").replace("-", " ").replace(".", " "))


def _folds(labels: "Ints", real: int) -> "Ints":
    """A fold for every example, spread evenly within each label; -1 for what is never left out."""
    import numpy as np

    chance = np.random.default_rng(0)
    folds = np.full(len(labels), -1, dtype=np.int64)
    for start, label in enumerate(np.unique(labels[:real])):
        members = chance.permutation(np.flatnonzero(labels[:real] == label))
        if len(members) > 1:
            folds[members] = (np.arange(len(members)) + start) % _FOLDS
    return folds


def _out_of_fold(
    embeddings: "Floats",
    labels: "Ints",
    count: int,
    grams: Matrix,
    folds: "Ints",
    progress: Progress,
) -> "tuple[Ints, Shares]":
    """Each example as seen by experts that learned from the other folds."""
    import numpy as np

    held: list[Ints] = []
    parts: list[Shares] = []
    for fold in range(_FOLDS):
        progress("learning", fold, _FOLDS + 1)
        left, rest = np.flatnonzero(folds == fold), np.flatnonzero(folds != fold)
        if not len(left):
            continue
        experts = Experts.learn(embeddings[rest], labels[rest], count, grams.only(rest))
        held.append(left)
        parts.append(experts.ask(embeddings[left], grams.only(left)))
    if not held:
        nothing = np.zeros((0, count), dtype=np.float32)
        return np.zeros(0, dtype=np.int64), Shares(nothing, nothing, np.zeros(0, dtype=np.float32))
    return np.concatenate(held), Shares(
        *(np.concatenate(part) for part in zip(*parts, strict=True))
    )


def score(shares: "Floats", nearness: "Floats", weight: float) -> "NDArray[np.float64]":
    """What abstaining goes by: the log of the best share, and how near the nearest examples are."""
    import numpy as np

    best = shares.max(axis=1).astype(np.float64) if len(shares) else np.zeros(0)
    scores: NDArray[np.float64] = np.log(np.maximum(best, 1e-9)) + weight * nearness.astype(
        np.float64
    )
    return scores


@dataclass(frozen=True)
class _Measured:
    """What was said about the examples left out, and about strangers."""

    held: "Ints"
    labels: "Ints"
    shares: Shares
    unseen: Shares | None
    spoken: list[str]
    """The language of each; empty when it could not be told."""

    @property
    def enough(self) -> bool:
        return len(self.labels) >= _ENOUGH_TO_MEASURE


def _concluded(
    material: Material, experts: Experts, ngrams: Ngrams, measured: _Measured, budget: float
) -> Learned:
    import numpy as np

    names_alone = material.hints == len(material.texts)
    knows_strangers = measured.unseen is not None and measured.enough
    usual = _NEARNESS_WEIGHT_STRANGERS if knows_strangers else _NEARNESS_WEIGHT
    weight = 0.0 if names_alone else usual
    sharpness = _sharpness(measured.shares, measured.labels) if measured.enough else _SHARPNESSES[0]
    whole = together(measured.shares, sharpness)
    best = whole.argmax(axis=1) if len(whole) else np.zeros(0, dtype=np.int64)
    scores = score(whole, measured.shares.nearness, weight)
    strangers = None
    if measured.unseen is not None:
        strangers = score(together(measured.unseen, sharpness), measured.unseen.nearness, weight)
    own = _own_languages(measured.spoken)
    if measured.enough:
        calibrations = _calibrations(
            measured, scores, best == measured.labels, strangers, weight, own, budget
        )
    else:
        same = by_share(_NAMES_SHARE) if names_alone else of_other_desks(strangers)
        calibrations = {ANY: same, FOREIGN: same}
    limits = np.array(
        [calibrations.get(code, calibrations[ANY]).threshold for code in measured.spoken]
    )
    answered = scores >= limits
    report = _report(material, measured, best, answered, whole, budget)
    if strangers is not None:
        recall = float((strangers < calibrations[ANY].threshold).mean())
        report = replace(report, out_of_scope=len(strangers), out_of_scope_recall=recall)
    own_calibrations = [some for key, some in calibrations.items() if key != FOREIGN]
    least_sure = min(some.assurance or 0.0 for some in own_calibrations)
    report = replace(
        report,
        assurance=least_sure or None,
        more_examples=_more(answered, best == measured.labels, budget),
    )
    out_of_fold = OutOfFold(measured.labels, best, scores)
    return Learned(
        material.labels, experts, ngrams, sharpness, weight, own, calibrations, out_of_fold, report
    )


def _more(answered: "NDArray[np.bool_]", right: "NDArray[np.bool_]", budget: float) -> int | None:
    """Examples to add until so many are answered that the budget is proven."""
    wrong, total = int((answered & ~right).sum()), int(answered.sum())
    wanted = needed(wrong, total, budget) if total or not len(answered) else None
    share = total / len(answered) if total else 1.0
    return None if wanted is None else max(0, math.ceil(wanted / share) - len(answered))


def _calibrations(
    measured: _Measured,
    scores: "NDArray[np.float64]",
    right: "NDArray[np.bool_]",
    strangers: "NDArray[np.float64] | None",
    weight: float,
    own: tuple[str, ...],
    budget: float,
) -> dict[str, Calibration]:
    """One of all examples, one of embeddings alone, and one of each language that has examples
    enough."""
    import numpy as np

    meaning = measured.shares.meaning
    foreign = score(meaning, measured.shares.nearness, weight)
    unseen = (
        score(measured.unseen.meaning, measured.unseen.nearness, weight)
        if measured.unseen is not None
        else None
    )
    calibrations = {
        ANY: calibrate(scores, right, budget, strangers),
        FOREIGN: calibrate(foreign, meaning.argmax(axis=1) == measured.labels, budget, unseen),
    }
    spoken = np.array(measured.spoken)
    for language in own if len(own) > 1 else ():
        mine = spoken == language
        if mine.sum() >= _ENOUGH_OF_A_LANGUAGE:
            calibrations[language] = calibrate(scores[mine], right[mine], budget, strangers)
    return calibrations


def _sharpness(shares: Shares, labels: "Ints") -> float:
    """The one that makes the shares of what was right largest, out of fold."""
    import numpy as np

    rows = np.arange(len(labels))

    def loss(sharpness: float) -> float:
        return float(-np.log(softmax(sharpness * shares.words)[rows, labels] + 1e-9).mean())

    return min(_SHARPNESSES, key=loss)


def _own_languages(spoken: list[str]) -> tuple[str, ...]:
    """Languages with so many examples that they are no mistake of the identification."""
    least = max(_OWN_COUNT, _OWN_SHARE * len(spoken))
    return tuple(sorted(code for code, count in Counter(spoken).items() if code and count >= least))


def _report(
    material: Material,
    measured: _Measured,
    best: "Ints",
    answered: "NDArray[np.bool_]",
    shares: "Floats",
    budget: float,
) -> FitReport:
    real = len(material.texts) - material.hints
    having = set(material.label[:real])
    without = [name for place, name in enumerate(material.labels) if place not in having]
    texts = [material.texts[index] for index in measured.held.tolist()]
    right = best == measured.labels
    languages = Counter(filter(None, measured.spoken))
    return FitReport(
        examples=real,
        labels=len(material.labels),
        measured=len(best),
        error_budget=budget,
        accuracy=_share(right),
        coverage=_share(answered),
        error=_share(~right[answered]),
        languages=dict(languages.most_common()),
        without_examples=tuple(without),
        skipped=material.skipped,
        confusions=confusions(measured.labels, best, material.labels),
        suspects=suspects(texts, measured.labels, shares, material.labels),
        conflicts=tuple(material.conflicts),
    )


def _share(flags: "NDArray[np.bool_]") -> float | None:
    """The share that is true; None of nothing."""
    return float(flags.mean()) if len(flags) else None
