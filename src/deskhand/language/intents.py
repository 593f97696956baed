"""What a customer wants, learned from a desk's examples; None is an answer.

model = IntentModel.fit([("Where is my parcel?", "order_status"), ...], error_budget=0.05)
model.predict(["Kde je můj balík?"])  # [Prediction(label="order_status", best=..., confidence=...,
runner_up=...)]
"""

import hashlib
import json
import logging
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple
from weakref import WeakValueDictionary

from deskhand.errors import ConfigError
from deskhand.language.clean_text import clean, has_words, strange_share
from deskhand.language.embed import MODEL, VECTORS_FILE, Embedder, shared_embedder
from deskhand.language.experts import Matrix, together
from deskhand.language.identify import identify
from deskhand.language.intent_file import FORMAT, read_model, write_model
from deskhand.language.intent_fit import ANY, FOREIGN, Learned, OutOfFold, Progress, learn, score
from deskhand.language.intent_report import FitReport
from deskhand.language.shipped_vectors import ShippedFirst
from deskhand.language.vector_cache import SqliteVectorCache

if TYPE_CHECKING:
    from deskhand.language.calibrate import Calibration

logger = logging.getLogger(__name__)

MOST_MODELS = 50
"""How many trained models lie in a cache folder."""
_UNREADABLE_SHARE = 0.4
"""The share of letters the embedder cannot read from which it does not try."""
_FOREIGN_CONFIDENCE = 0.6
"""How sure it must be that a text is in no language of the examples before their words count for
nothing."""


_in_use: WeakValueDictionary[Path, Learned] = WeakValueDictionary()
"""What models of this process learned, by their files: a desk asks for the same one several times,
and the largest takes tens of megabytes."""


class Prediction(NamedTuple):
    """What one text asks for."""

    label: str | None
    """None when it had better not be answered: unsure, out of scope, nothing to read."""
    best: str
    """The likeliest label in any case."""
    confidence: float
    """The chance that `best` is right, as measured on examples like this one."""
    runner_up: str | None
    shares: Mapping[str, float] = MappingProxyType({})
    """How much each label has of what speaks for any."""


class IntentModel:
    """Texts to labels, with abstention that keeps an error budget. Immutable; predicting is
    thread-safe."""

    def __init__(self, learned: Learned, embedder: Embedder | None = None) -> None:
        self._learned = learned
        self._embedder = embedder or shared_embedder()

    @classmethod
    def fit(
        cls,
        examples: Sequence[tuple[str, str]],
        error_budget: float = 0.05,
        out_of_scope: Sequence[str] | None = None,
        *,
        descriptions: Mapping[str, str] | None = None,
        embedder: Embedder | None = None,
        progress: Progress | None = None,
    ) -> "IntentModel":
        """Learn from (text, label) pairs in any languages; labels may also have a description, or
        that alone.

        The budget is the share of answers that may be wrong. Texts `out_of_scope` teach it what not
        to answer.
        """
        reader = embedder or shared_embedder()
        tell = progress or (lambda what, done, total: None)
        return cls(
            learn(examples, error_budget, out_of_scope or (), descriptions or {}, reader, tell),
            embedder,
        )

    @classmethod
    def fit_cached(
        cls,
        examples: Sequence[tuple[str, str]],
        folder: Path,
        error_budget: float = 0.05,
        out_of_scope: Sequence[str] | None = None,
        *,
        descriptions: Mapping[str, str] | None = None,
        progress: Progress | None = None,
    ) -> "IntentModel":
        """As `fit`, but what was learned from the same material before is read from `folder`; it
        keeps vectors too."""
        digest = _digest(examples, error_budget, out_of_scope or (), descriptions or {})
        path = folder / f"intents-{digest}.npz"
        learned = _in_use.get(path)
        if learned is not None:
            return cls(learned)
        if path.is_file():
            try:
                loaded = cls.load(path)
                _mark_used(path)
                _in_use[path] = loaded._learned
                return loaded
            except ConfigError as error:
                logger.warning("%s is learned anew: %s", path, error)
        vectors = SqliteVectorCache(folder / VECTORS_FILE)
        try:
            embedder = Embedder(cache=ShippedFirst(vectors))
            made = cls.fit(
                examples,
                error_budget,
                out_of_scope,
                descriptions=descriptions,
                embedder=embedder,
                progress=progress,
            )
        finally:
            vectors.close()
        try:
            made.save(path)
            _drop_oldest(folder)
        except OSError as error:
            logger.warning("what was learned is not kept in %s: %s", folder, error)
        _in_use[path] = made._learned
        return cls(made._learned)

    @property
    def labels(self) -> tuple[str, ...]:
        return self._learned.labels

    @property
    def report(self) -> FitReport:
        """What training found out."""
        return self._learned.report

    @property
    def out_of_fold(self) -> OutOfFold:
        """Scores of the examples when they were left out, from which any other budget can be
        judged."""
        return self._learned.out_of_fold

    def predict(self, texts: Sequence[str]) -> list[Prediction]:
        if not texts:
            return []
        learned = self._learned
        cleaned = [clean(text) for text in texts]
        readings = [self._reading(text) for text in cleaned]
        asked = learned.experts.ask(
            self._embedder.embed(cleaned), Matrix.of(learned.ngrams, cleaned)
        )
        shares = together(asked, learned.sharpness)
        foreign = [index for index, reading in enumerate(readings) if reading == FOREIGN]
        shares[foreign] = asked.meaning[foreign]
        scores = score(shares, asked.nearness, learned.nearness_weight)
        ranked = (-shares).argsort(axis=1, kind="stable")
        predictions: list[Prediction] = []
        for order, value, reading, row in zip(ranked, scores, readings, shares, strict=True):
            calibration = None if reading is None else self._calibration(reading)
            prediction = self._prediction(order[:2].tolist(), float(value), calibration)
            named = dict(zip(learned.labels, row.tolist(), strict=True))
            predictions.append(prediction._replace(shares=named))
        return predictions

    def save(self, path: Path | str) -> None:
        """One file of arrays and JSON: nothing in it is ever executed."""
        write_model(Path(path), self._learned)

    @classmethod
    def load(cls, path: Path | str) -> "IntentModel":
        """Read what `save` wrote; a file that is damaged, or from another version, is a
        ConfigError."""
        return cls(read_model(Path(path)))

    def _reading(self, text: str) -> str | None:
        """The name of the calibration that a text is judged by; None when it cannot be read at
        all."""
        unreadable = (
            max(strange_share(text), self._embedder.unknown_share(text)) if has_words(text) else 1.0
        )
        if unreadable > _UNREADABLE_SHARE:
            return None
        language = identify(text)
        if language.code in self._learned.languages:
            return language.code
        return (
            FOREIGN
            if language.code is not None and language.confidence >= _FOREIGN_CONFIDENCE
            else ANY
        )

    def _calibration(self, reading: str) -> "Calibration":
        calibrations = self._learned.calibrations
        return calibrations.get(reading, calibrations[ANY])

    def _prediction(
        self, order: list[int], value: float, calibration: "Calibration | None"
    ) -> Prediction:
        import numpy as np

        names = self._learned.labels
        best, runner_up = names[order[0]], names[order[1]] if len(order) > 1 else None
        if calibration is None:
            return Prediction(None, best, 0.0, runner_up)
        confidence = float(calibration.confidence(np.array([value]))[0])
        return Prediction(
            best if value >= calibration.threshold else None, best, confidence, runner_up
        )


def _mark_used(path: Path) -> None:
    with suppress(OSError):
        os.utime(path)


def _drop_oldest(folder: Path) -> None:
    """Every change of an example leaves a file; those unused for the longest time go."""
    newest_first = sorted(
        folder.glob("intents-*.npz"), key=lambda path: path.stat().st_mtime, reverse=True
    )
    for path in newest_first[MOST_MODELS:]:
        path.unlink(missing_ok=True)


def _digest(
    examples: Sequence[tuple[str, str]],
    budget: float,
    out_of_scope: Sequence[str],
    descriptions: Mapping[str, str],
) -> str:
    material = [
        FORMAT,
        MODEL,
        budget,
        [list(example) for example in examples],
        list(out_of_scope),
        sorted(descriptions.items()),
    ]
    return hashlib.sha256(json.dumps(material, ensure_ascii=True).encode()).hexdigest()[:32]
