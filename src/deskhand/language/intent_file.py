"""An intent model in one file: arrays and one JSON document in a NumPy archive. Nothing in it is
executed."""

import json
import os
import tempfile
import zipfile
from dataclasses import asdict, fields
from itertools import starmap
from pathlib import Path
from typing import TYPE_CHECKING, Any

from deskhand.errors import ConfigError
from deskhand.language.calibrate import Calibration
from deskhand.language.embed import DIMENSIONS, MODEL
from deskhand.language.experts import Experts
from deskhand.language.intent_fit import Learned, OutOfFold
from deskhand.language.intent_report import Confusion, FitReport, LabelConflict, Suspect
from deskhand.language.ngrams import Ngrams
from deskhand.private_files import make_private_folder

if TYPE_CHECKING:
    from numpy.typing import NDArray

FORMAT = 4
"""Counts up whenever what is learned or how it is written changes."""
_LARGEST = 2_000_000_000
_DAMAGE = (
    ValueError,
    KeyError,
    TypeError,
    IndexError,
    AttributeError,
    EOFError,
    OSError,
    zipfile.BadZipFile,
)


def write_model(path: Path, learned: Learned) -> None:
    """Whole or not at all: a reader never sees half a file."""
    import numpy as np

    document = {
        "format": FORMAT,
        "model": MODEL,
        "labels": learned.labels,
        "sharpness": learned.sharpness,
        "nearness_weight": learned.nearness_weight,
        "languages": learned.languages,
        "calibrations": {
            key: {
                "scores": calibration.scores.tolist(),
                "chances": calibration.chances.tolist(),
                "threshold": calibration.threshold,
                "assurance": calibration.assurance,
            }
            for key, calibration in learned.calibrations.items()
        },
        "report": asdict(learned.report),
        "ngrams": list(learned.ngrams.places),
    }
    arrays = {f"experts.{name}": getattr(learned.experts, name) for name in _names(Experts)}
    arrays |= {
        f"out_of_fold.{name}": getattr(learned.out_of_fold, name) for name in _names(OutOfFold)
    }
    arrays["ngrams.weights"] = learned.ngrams.weights
    arrays["document"] = np.frombuffer(json.dumps(document).encode(), dtype=np.uint8)
    make_private_folder(path.parent)
    descriptor, beside = tempfile.mkstemp(dir=path.parent, prefix=path.name, suffix=".part")
    try:
        with os.fdopen(descriptor, "wb") as file:
            np.savez(file, allow_pickle=False, **arrays)
        Path(beside).replace(path)
    except BaseException:
        Path(beside).unlink(missing_ok=True)
        raise


def _names(kind: type[Experts] | type[OutOfFold]) -> list[str]:
    return [field.name for field in fields(kind)]


def read_model(path: Path) -> Learned:
    """What `write_model` wrote; raises ConfigError for a file that is missing or damaged."""
    import numpy as np

    try:
        if path.stat().st_size > _LARGEST:
            raise ValueError("it is larger than any model")
        with path.open("rb") as file, np.load(file, allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
        document = json.loads(arrays.pop("document").tobytes())
        if document["format"] != FORMAT or document["model"] != MODEL:
            raise ValueError("it was written by another version")
        return _learned(document, arrays)
    except FileNotFoundError:
        raise ConfigError(
            "there is no such intent model", file=path, fix="train it first"
        ) from None
    except _DAMAGE as error:
        raise ConfigError(
            f"this is no intent model: {error}", file=path, fix="delete it and train again"
        ) from None


def _learned(document: dict[str, Any], arrays: "dict[str, NDArray[Any]]") -> Learned:
    import numpy as np

    experts = Experts(**{name: arrays[f"experts.{name}"] for name in _names(Experts)})
    out_of_fold = OutOfFold(**{name: arrays[f"out_of_fold.{name}"] for name in _names(OutOfFold)})
    places = {str(piece): place for place, piece in enumerate(document["ngrams"])}
    labels = tuple(str(label) for label in document["labels"])
    _check_shapes(experts, len(labels), max(1, len(places)))
    calibrations = {
        str(key): Calibration(
            np.array(saved["scores"], dtype=np.float64),
            np.array(saved["chances"], dtype=np.float64),
            float(saved["threshold"]),
            saved["assurance"],
        )
        for key, saved in document["calibrations"].items()
    }
    return Learned(
        labels,
        experts,
        Ngrams(places, arrays["ngrams.weights"]),
        float(document["sharpness"]),
        float(document["nearness_weight"]),
        tuple(document["languages"]),
        calibrations,
        out_of_fold,
        _report(document["report"]),
    )


def _check_shapes(experts: Experts, labels: int, ngrams: int) -> None:
    count = len(experts.labels)
    wanted = {
        "mean": (DIMENSIONS,),
        "deviation": (DIMENSIONS,),
        "logistic": (DIMENSIONS, labels),
        "logistic_start": (labels,),
        "examples": (count, DIMENSIONS),
        "vector": (ngrams, labels),
        "vector_start": (labels,),
    }
    for name, shape in wanted.items():
        if getattr(experts, name).shape != shape:
            raise ValueError(f"{name} has the wrong size")
    if count == 0 or experts.labels.min() < 0 or experts.labels.max() >= labels:
        raise ValueError("its examples have no labels")


def _report(document: dict[str, Any]) -> FitReport:
    conflicts = [LabelConflict(text, tuple(labels)) for text, labels in document["conflicts"]]
    lists = {
        "confusions": tuple(starmap(Confusion, document["confusions"])),
        "suspects": tuple(starmap(Suspect, document["suspects"])),
        "conflicts": tuple(conflicts),
        "without_examples": tuple(document["without_examples"]),
    }
    return FitReport(**{**document, **lists})
