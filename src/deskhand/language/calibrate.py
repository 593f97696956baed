"""From scores to confidence, and to the score below which a model had better say nothing."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Bools = NDArray[np.bool_]

ASSURANCES = (0.995, 0.95, 0.8, 0.5)
"""How sure a bound is asked to be. The first also allows for the luck of a test set of the same
size."""
_WORTHWHILE = 0.2
"""The share of questions that must be answered before a surer bound is preferred to a larger
coverage."""
_ODD = 0.05
"""The share of questions given up so that strangers are turned away, when nobody said what
strangers look like: an easy desk keeps its budget with every question answered, and would answer
any nonsense."""
_SMALL_THRESHOLD, _SMALL_SLOPE, _SMALL_START = -0.1, 3.35, 2.93
"""What was measured on 178 desks of 2 to 19 examples, drawn from BANKING77 and CLINC150:
docs/decisions/0011."""
_MANY_STRANGERS, _DRAWS = 100, 100
"""From how many strangers on the score is at most the mean of what so many draws of the same size
say: else the one stranger that looks most like a question decides. Measured with 100; with fewer
it has not been."""
_PROOF = 0.95
_MOST_NEEDED = 5000
_ENOUGH_FOR_STEPS = 1000
_ENOUGH_FOR_CURVE = 20


@dataclass(frozen=True)
class Calibration:
    """A curve from score to the chance of being right, and the least score that is answered."""

    scores: "Floats"
    chances: "Floats"
    threshold: float
    assurance: float | None = None
    """How sure it is that the budget is kept; None when that is unproven, or it cannot be kept."""

    def confidence(self, scores: "Floats") -> "Floats":
        import numpy as np

        return np.interp(scores, self.scores, self.chances)


def calibrate(
    scores: "Floats", right: "Bools", budget: float, strangers: "Floats | None" = None
) -> Calibration:
    """Learn from scores out of fold, which of them were right, and scores of questions outside
    the scope."""
    import numpy as np

    threshold, assurance = _threshold(scores, right, budget)
    if strangers is not None and len(strangers):
        threshold = max(threshold, _parting(scores, right, strangers))
    elif len(scores):
        threshold = max(threshold, float(np.quantile(scores, _ODD)))
    points, chances = _curve(scores, right)
    return Calibration(points, chances, threshold, assurance)


def of_other_desks(strangers: "Floats | None" = None) -> Calibration:
    """How other desks as small have done at each score, for too few examples to measure on."""
    import numpy as np

    scores = np.linspace(-4, 3, 100)
    threshold = _SMALL_THRESHOLD
    if strangers is not None and len(strangers):
        threshold = max(threshold, float(np.quantile(strangers, 1 - _ODD)))
    return Calibration(scores, 1 / (1 + np.exp(-(_SMALL_SLOPE * scores + _SMALL_START))), threshold)


def by_share(least_share: float) -> Calibration:
    """The share itself as the chance, answered from `least_share` on, for labels without
    examples."""
    import numpy as np

    shares = np.linspace(0.01, 1, 100)
    return Calibration(np.log(shares), shares, float(np.log(least_share)))


def upper_bound(
    wrong: "NDArray[np.int64]", total: "NDArray[np.int64]", assurance: float
) -> "Floats":
    """The error rate that is not exceeded with this assurance (Clopper and Pearson, one-sided)."""
    import numpy as np
    from scipy.special import betaincinv

    bound: Floats = np.where(
        wrong >= total, 1.0, betaincinv(wrong + 1, np.maximum(total - wrong, 1), assurance)
    )
    return bound


def _threshold(scores: "Floats", right: "Bools", budget: float) -> tuple[float, float | None]:
    import numpy as np

    if not len(scores):
        return float("inf"), None
    order = np.argsort(-scores, kind="stable")
    ranked, wrong = scores[order], np.cumsum(~right[order], dtype=np.int64)
    total = np.arange(1, len(scores) + 1)
    whole = np.append(
        ranked[:-1] > ranked[1:], True
    )  # equal scores are answered together or not at all
    for assurance in (*ASSURANCES, None):
        error = wrong / total if assurance is None else upper_bound(wrong, total, assurance)
        kept = np.flatnonzero(whole & (error <= budget))
        if len(kept) and (
            total[kept[-1]] >= _WORTHWHILE * len(scores) or assurance == ASSURANCES[-1]
        ):
            last = kept[-1]
            following = ranked[last + 1] if last + 1 < len(ranked) else ranked[last] - 1.0
            return float((ranked[last] + following) / 2), assurance
    return float("inf"), None


def needed(wrong: int, total: int, budget: float) -> int | None:
    """How many questions must be answered to prove the budget at the same rate of errors; None
    when none would do."""
    import numpy as np

    totals = np.arange(1, _MOST_NEEDED + 1)
    expected = np.ceil(totals * (wrong / max(1, total))).astype(np.int64)
    enough = np.flatnonzero(upper_bound(expected, totals, _PROOF) <= budget)
    return int(totals[enough[0]]) if len(enough) else None


def _parting(scores: "Floats", right: "Bools", strangers: "Floats") -> float:
    """The score that parts right answers from strangers, as sure as the strangers allow."""
    import numpy as np

    parting = _watershed(scores, right, strangers)
    if len(strangers) < _MANY_STRANGERS:
        return parting
    chance = np.random.default_rng(0)
    drawn: list[float] = []
    for _ in range(_DRAWS):
        these = chance.integers(0, len(scores), len(scores))
        those = chance.integers(0, len(strangers), len(strangers))
        drawn.append(_watershed(scores[these], right[these], strangers[those]))
    return min(parting, float(np.mean(drawn)))


def _watershed(scores: "Floats", right: "Bools", strangers: "Floats") -> float:
    """The score that best parts right answers from strangers: most right ones answered, most
    strangers not."""
    import numpy as np

    places = np.unique(np.concatenate([scores, strangers]))
    places = np.append((places[:-1] + places[1:]) / 2, places[-1] + 1)
    answered = (right.sum() - np.searchsorted(np.sort(scores[right]), places)) / max(1, len(scores))
    turned_away = np.searchsorted(np.sort(strangers), places) / len(strangers)
    gain = answered + turned_away
    best = np.flatnonzero(gain >= gain.max() - 0.002)
    return float(places[best[len(best) // 2]])


def _curve(scores: "Floats", right: "Bools") -> "tuple[Floats, Floats]":
    """Isotonic steps where there is enough to see them, else one logistic curve, else what was
    right on average."""
    import numpy as np

    if len(scores) < _ENOUGH_FOR_CURVE or right.all() or not right.any():
        mean = (right.sum() + 1) / (len(right) + 2)
        return np.zeros(1), np.full(1, float(mean))
    if len(scores) >= _ENOUGH_FOR_STEPS:
        return _isotonic(scores, right)
    from sklearn.linear_model import LogisticRegression

    learner = LogisticRegression(C=10.0).fit(scores[:, None], right)
    points = np.linspace(scores.min() - 2, scores.max() + 2, 100)
    return points, learner.predict_proba(points[:, None])[:, 1]


def _isotonic(scores: "Floats", right: "Bools") -> "tuple[Floats, Floats]":
    import numpy as np
    from sklearn.isotonic import IsotonicRegression

    groups = np.array_split(np.argsort(scores), max(20, min(200, len(scores) // 50)))
    points = np.array([scores[group].mean() for group in groups])
    rates = np.array([(right[group].sum() + 0.5) / (len(group) + 1) for group in groups])
    steps = IsotonicRegression(y_min=0, y_max=1).fit(
        points, rates, sample_weight=[len(group) for group in groups]
    )
    return points, steps.predict(points)
