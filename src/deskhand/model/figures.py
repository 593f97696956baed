"""What became of messages, in figures: counted for each run, added up for each day."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple


class Became(StrEnum):
    """What became of a message, and who answered it."""

    SENT = "sent"
    """The reply left by itself."""
    UNCHANGED = "unchanged"
    EDITED = "edited"
    """A person changed the reply, or had it drafted again."""
    REJECTED = "rejected"
    PERSON = "person"
    """A person answered."""
    NOTHING = "nothing"
    """There was nothing to send."""
    OPEN = "open"
    """It is not over yet."""


class Dimension(StrEnum):
    """What figures are told apart by."""

    DESK = "desk"
    CATEGORY = "category"
    LANGUAGE = "language"
    CHANNEL = "channel"


class Looked(StrEnum):
    """What is known of a reply that left by itself."""

    RIGHT = "right"
    """Somebody looked at it."""
    WRONG = "wrong"
    """Somebody said so, or it came back."""


@dataclass(frozen=True, slots=True)
class FigureFilter:
    """Which messages are counted; what is None counts all."""

    desks: tuple[str, ...]
    first_day: int
    last_day: int
    """Days are numbered from 1970, in the desk's time zone."""
    category: str | None = None
    language: str | None = None
    channel: str | None = None
    became: Became | None = None
    looked_at: Looked | None = None
    in_time: bool | None = None
    slower_than: float | None = None
    """Seconds that the first reply took at least."""

    @property
    def values(self) -> dict[str, str]:
        """What was chosen of category, language and channel."""
        chosen = {
            "category": self.category,
            "language": self.language,
            "channel": self.channel,
        }
        return {name: value for name, value in chosen.items() if value is not None}


_STEP = math.log(2) / 2
MOST_STEPS = 60


def step_of(seconds: float) -> int:
    """The step of a time: each is 1.41 times as long as the one before; the first is a second."""
    return 0 if seconds <= 1 else min(MOST_STEPS, 1 + int(math.log(seconds) / _STEP))


def step_begins(step: int) -> float:
    return 0.0 if step == 0 else math.exp((step - 1) * _STEP)


def quantile(steps: Mapping[int, int], share: float) -> float | None:
    """The time within which so many were answered; None of none.

    Within a step times are taken to lie evenly, so it is right to about a tenth.
    """
    total = sum(steps.values())
    if not total:
        return None
    wanted, before = share * total, 0
    for step in sorted(steps):
        count = steps[step]
        if before + count >= wanted:
            begins, ends = step_begins(step), step_begins(step + 1)
            return begins + (ends - begins) * (wanted - before) / count
        before += count
    return step_begins(max(steps) + 1)


@dataclass(slots=True)
class Figures:
    """What the messages of a day, or of a part of them, add up to."""

    became: dict[Became, int] = field(default_factory=dict[Became, int])
    right: int = 0
    wrong: int = 0
    in_time: int = 0
    late: int = 0
    ended: int = 0
    cost: float = 0.0
    steps: dict[int, int] = field(default_factory=dict[int, int])
    """How many first replies took how long."""

    @property
    def messages(self) -> int:
        return sum(self.became.values())

    @property
    def answered(self) -> int:
        """Those that something became of."""
        left_out = (Became.OPEN, Became.NOTHING)
        return sum(count for became, count in self.became.items() if became not in left_out)

    @property
    def decided(self) -> int:
        """Replies that people decided about."""
        kinds = (Became.UNCHANGED, Became.EDITED, Became.REJECTED, Became.PERSON)
        return sum(self.became.get(became, 0) for became in kinds)

    @property
    def promised(self) -> int:
        return self.in_time + self.late

    def share_of(self, became: Became) -> float | None:
        """The share of all answered messages that became this; None where none was answered."""
        return self.became.get(became, 0) / self.answered if self.answered else None

    @property
    def unchanged_share(self) -> float | None:
        """The share of the drafts decided about that people left as they were; None where there is
        none."""
        return self.became.get(Became.UNCHANGED, 0) / self.decided if self.decided else None

    @property
    def in_time_share(self) -> float | None:
        return self.in_time / self.promised if self.promised else None

    @property
    def cost_each(self) -> float | None:
        return self.cost / self.messages if self.messages else None

    def took(self, share: float) -> float | None:
        return quantile(self.steps, share)

    def add(self, other: "Figures") -> None:
        for became, count in other.became.items():
            self.became[became] = self.became.get(became, 0) + count
        for step, count in other.steps.items():
            self.steps[step] = self.steps.get(step, 0) + count
        for name in ("right", "wrong", "in_time", "late", "ended", "cost"):
            setattr(self, name, getattr(self, name) + getattr(other, name))


class CountedRun(NamedTuple):
    """A message in a list of figures."""

    desk: str
    run_id: str
    day: int
    run: int
    became: Became
    reply_seconds: float | None
    in_time: bool | None
    looked_at: Looked | None
