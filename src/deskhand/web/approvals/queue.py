"""What waits, as the page lists it: over all desks a person may touch, oldest first."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, Self, get_args
from urllib.parse import urlencode

from deskhand.model.causes import Cause
from deskhand.model.message import Message
from deskhand.model.run import Review, ReviewState
from deskhand.web.api.access import ServedDesk
from deskhand.web.approvals.door import HOME, Visit

Tab = Literal["open", "mine", "snoozed", "leaving"]
TABS: tuple[Tab, ...] = get_args(Tab)
MOST = 200


@dataclass(frozen=True, slots=True)
class Filter:
    """Which part of the queue somebody looks at; it goes along from page to page."""

    tab: Tab = "open"
    desk: str | None = None
    cause: Cause | None = None

    @classmethod
    def of(cls, params: Mapping[str, str], desks: Mapping[str, ServedDesk]) -> Self:
        """What is not known is as if it were not there."""
        tab, desk, cause = params.get("tab", "open"), params.get("desk"), params.get("cause")
        return cls(
            tab if tab in TABS else "open",
            desk if desk in desks else None,
            Cause(cause) if cause in list(Cause) else None,
        )

    def query(self, **more: str) -> str:
        chosen = {"tab": "" if self.tab == "open" else self.tab, "desk": self.desk, "cause": self.cause, **more}
        text = urlencode({name: value for name, value in chosen.items() if value})
        return f"?{text}" if text else ""

    def with_tab(self, tab: Tab) -> "Filter":
        return Filter(tab, self.desk, self.cause)


@dataclass(frozen=True, slots=True)
class Item:
    review: Review
    message: Message | None

    @property
    def path(self) -> str:
        return f"{HOME}{self.review.desk}/{self.review.id}"


async def read_queue(visit: Visit, chosen: Filter) -> list[Item]:
    found: list[Item] = []
    for name, desk in visit.desks.items():
        if chosen.desk in (None, name):
            found += await _of_desk(desk, chosen, visit.name)
    return sorted(found, key=lambda item: item.review.place)[:MOST]


async def _of_desk(desk: ServedDesk, chosen: Filter, me: str) -> list[Item]:
    reviews: dict[str, Review] = {}
    for cause in (chosen.cause,) if chosen.cause is not None else (Cause.EMERGENCY, None):
        found = await desk.store.reviews(
            state=ReviewState.OPEN,
            cause=cause,
            assignee=me if chosen.tab == "mine" else None,
            snoozed=chosen.tab == "snoozed",
            limit=MOST,
        )
        reviews |= {review.id: review for review in found}
    shown = [review for review in reviews.values() if review.leaves_by_itself == (chosen.tab == "leaving")]
    messages = await desk.store.messages([review.run_id for review in shown])
    return [Item(review, messages.get(review.run_id)) for review in shown]


def neighbours(items: list[Item], review: Review) -> tuple[Item | None, Item | None]:
    """What comes before and after it, also when it is no longer in the list itself."""
    before = [item for item in items if item.review.place < review.place]
    after = [item for item in items if item.review.place > review.place]
    return (before[-1] if before else None, after[0] if after else None)
