"""What training an intent model found out, measured on examples the model had not seen (out of
fold)."""

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_LISTED = 20
_SURE, _HARDLY = 0.7, 0.1


class Confusion(NamedTuple):
    label: str
    taken_for: str
    times: int
    share: float
    """Of the label's examples."""


class Suspect(NamedTuple):
    """An example that looks mislabelled: without it, the model is sure that it belongs
    elsewhere."""

    text: str
    label: str
    rather: str
    share: float


class LabelConflict(NamedTuple):
    """One text under several labels."""

    text: str
    labels: tuple[str, ...]


@dataclass(frozen=True)
class FitReport:
    """Figures are shares between 0 and 1; None where there was nothing to measure on."""

    examples: int
    labels: int
    measured: int
    """Examples that were left out once and predicted by the others."""
    error_budget: float
    accuracy: float | None = None
    """If every question were answered."""
    coverage: float | None = None
    """The share of questions that is answered."""
    error: float | None = None
    """Among answered."""
    assurance: float | None = None
    """How sure it is that the budget is kept; None when it cannot be kept, or so few examples
    prove nothing."""
    more_examples: int | None = None
    """About how many more would prove the budget, if they are answered as well; None when they
    alone would not."""
    out_of_scope: int = 0
    out_of_scope_recall: float | None = None
    """The share of questions outside the scope that is not answered."""
    languages: dict[str, int] = field(default_factory=dict)
    without_examples: tuple[str, ...] = ()
    skipped: int = 0
    """Examples without a letter, and repeated ones."""
    confusions: tuple[Confusion, ...] = ()
    suspects: tuple[Suspect, ...] = ()
    conflicts: tuple[LabelConflict, ...] = ()

    @property
    def keeps_budget(self) -> bool:
        return self.assurance is not None


def confusions(
    labels: "NDArray[np.int64]", best: "NDArray[np.int64]", names: tuple[str, ...]
) -> tuple[Confusion, ...]:
    totals = Counter(labels.tolist())
    pairs = Counter(
        pair for pair in zip(labels.tolist(), best.tolist(), strict=True) if pair[0] != pair[1]
    )
    return tuple(
        Confusion(names[label], names[other], times, times / totals[label])
        for (label, other), times in sorted(pairs.items(), key=lambda item: (-item[1], item[0]))[
            :_LISTED
        ]
    )


def suspects(
    texts: list[str],
    labels: "NDArray[np.int64]",
    shares: "NDArray[np.float32]",
    names: tuple[str, ...],
) -> tuple[Suspect, ...]:
    best = shares.argmax(axis=1)
    doubted = [
        Suspect(text, names[label], names[other], float(row[other]))
        for text, label, other, row in zip(
            texts, labels.tolist(), best.tolist(), shares, strict=True
        )
        if other != label and row[other] >= _SURE and row[label] <= _HARDLY
    ]
    return tuple(sorted(doubted, key=lambda suspect: -suspect.share)[:_LISTED])
