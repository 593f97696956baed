"""How sure one may be of a share that is looked at after every single judgement. Pure arithmetic.

An interval for a fixed number of judgements, looked at again and again, ends up above any bar
sooner or later. What is computed here holds at all moments at once.
"""

from math import exp, log

_ALTERNATIVES = 16
_STEPS = 40


def log_evidence(good: int, bad: int, bar: float) -> float:
    """The logarithm of a bet against "the true share is at most `bar`", begun with 1 and paid out
    fairly.

    The stake is spread evenly over the shares above the bar. Where the truth is at the bar or below
    it, the bet is ever ahead by a factor of 1/alpha with a probability of at most alpha, however
    long one plays (Ville's inequality).
    """
    if good + bad == 0:
        return 0.0
    logs = [
        _log_ratio(good, bad, bar + (1 - bar) * k / _ALTERNATIVES, bar)
        for k in range(1, _ALTERNATIVES + 1)
    ]
    finite = [value for value in logs if value is not None]
    top = max(finite)
    return top + log(sum(exp(value - top) for value in finite) / _ALTERNATIVES)


def _log_ratio(good: int, bad: int, share: float, bar: float) -> float | None:
    """How much better `share` explains what was seen than `bar` does; None where it cannot be."""
    if bad and share >= 1:
        return None
    against = bad * log((1 - share) / (1 - bar)) if bad else 0.0
    return good * log(share / bar) + against


def exceeds(good: int, bad: int, bar: float, alpha: float) -> bool:
    """Whether the share is above the bar, with `alpha` as the risk of ever saying so wrongly."""
    return log_evidence(good, bad, bar) >= -log(alpha)


def lower_bound(good: int, bad: int, alpha: float) -> float:
    """The highest bar that the share is known to exceed; the bound holds at all times at once."""
    low, high = 0.0, 1.0
    for _ in range(_STEPS):
        middle = (low + high) / 2
        if 0 < middle < 1 and exceeds(good, bad, middle, alpha):
            low = middle
        else:
            high = middle
    return low


class Doubt:
    """Grows with what speaks against a share having stayed at `usual`, and for `worse`; forgets
    good times (CUSUM).

    While the share is at `usual` or better, it takes 1/alpha judgements on average, at least, to
    reach the alarm.
    """

    def __init__(self, usual: float, worse: float, alpha: float) -> None:
        self.alarm = -log(alpha)
        self.value = 0.0
        self._good, self._bad = log(worse / usual), log((1 - worse) / (1 - usual))

    def note(self, good: bool) -> None:
        self.value = max(0.0, self.value + (self._good if good else self._bad))

    def take_back(self) -> None:
        """What had been counted as good turned out bad."""
        self.value = max(0.0, self.value + self._bad - self._good)

    @property
    def raised(self) -> bool:
        return self.value >= self.alarm

    @property
    def level(self) -> float:
        """How near the alarm is, from 0 to 1."""
        return min(1.0, self.value / self.alarm)
