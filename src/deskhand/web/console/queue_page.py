"""The queue as the console lists it: all desks of a person, the most dangerous first."""

import asyncio
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Literal, Self, get_args
from urllib.parse import urlencode

from deskhand.engine.review_search import ReviewHit, terms_of
from deskhand.model.causes import Cause, Rank
from deskhand.model.message import Message
from deskhand.model.queue import QueuePosition, ReviewFilter
from deskhand.model.run import Review, ReviewState
from deskhand.web.api.access import ServedDesk
from deskhand.web.console.session import HOME, Visit

Tab = Literal["open", "mine", "snoozed", "leaving"]
TABS: tuple[Tab, ...] = get_args(Tab)
PAGE = 30
NOBODY = "-"
"""In an address: what is assigned to nobody."""
_LONGEST = 200
_RANKS = [str(int(rank)) for rank in Rank]


@dataclass(frozen=True, slots=True)
class Filter:
    """Which part of the queue somebody looks at; it goes along from page to page."""

    tab: Tab = "open"
    desk: str | None = None
    cause: Cause | None = None
    category: str | None = None
    language: str | None = None
    assignee: str | None = None
    words: str = ""

    @classmethod
    def of(cls, params: Mapping[str, str], desks: Mapping[str, ServedDesk]) -> Self:
        """The filter that a page's address asks for; what no page of ours wrote is ignored."""
        tab = params.get("tab", "open")
        desk = params.get("desk")
        chosen_tab: Tab = tab if tab in TABS else "open"
        chosen_desk = desk if desk in desks else None
        return cls(
            chosen_tab,
            chosen_desk,
            _cause(params.get("cause")),
            params.get("category", "")[:_LONGEST] or None,
            params.get("language", "")[:_LONGEST] or None,
            params.get("assignee", "")[:_LONGEST] or None,
            " ".join(params.get("words", "").split())[:_LONGEST],
        )

    def query(self, **more: str) -> str:
        chosen = {
            "tab": "" if self.tab == "open" else self.tab,
            "desk": self.desk,
            "cause": self.cause,
            "category": self.category,
            "language": self.language,
            "assignee": self.assignee,
            "words": self.words,
            **more,
        }
        text = urlencode({name: value for name, value in chosen.items() if value})
        return f"?{text}" if text else ""

    def with_tab(self, tab: Tab) -> "Filter":
        return replace(self, tab=tab)

    def without(self) -> "Filter":
        return Filter(self.tab)

    @property
    def narrow(self) -> bool:
        """Whether anything but a tab was chosen."""
        return self != Filter(self.tab)

    def wanted(self, me: str) -> ReviewFilter:
        """What the filter stands for when `me` looks, its words included."""
        assignee = "" if self.assignee == NOBODY else self.assignee
        return ReviewFilter(
            state=ReviewState.OPEN,
            cause=self.cause,
            category=self.category,
            language=self.language,
            assignee=me if self.tab == "mine" else assignee,
            snoozed=self.tab == "snoozed",
            leaving=self.tab == "leaving",
            terms=terms_of(self.words),
        )


def _cause(name: str | None) -> Cause | None:
    return Cause(name) if name in list(Cause) else None


def path_of(review: Review) -> str:
    return f"{HOME}{review.desk}/{review.id}"


async def read_queue(
    visit: Visit,
    chosen: Filter,
    *,
    beyond: QueuePosition | None = None,
    limit: int,
    backwards: bool = False,
) -> list[ReviewHit]:
    """Reviews of all chosen desks in their order, each with its message."""
    reviews = await _next_due(visit, chosen, beyond=beyond, limit=limit, backwards=backwards)
    messages: dict[str, Message] = {}
    for name in {review.desk for review in reviews}:
        runs = [review.run_id for review in reviews if review.desk == name]
        messages |= await visit.desks[name].store.messages(runs)
    return [ReviewHit(review, messages.get(review.run_id)) for review in reviews]


async def _next_due(
    visit: Visit, chosen: Filter, *, beyond: QueuePosition | None, limit: int, backwards: bool
) -> list[Review]:
    wanted = chosen.wanted(visit.name)
    reads = [
        desk.store.next_due(wanted, limit=limit, after=beyond, backwards=backwards)
        for desk in _chosen(visit, chosen)
    ]
    reviews = chain.from_iterable(await asyncio.gather(*reads))
    return sorted(reviews, key=lambda review: review.place, reverse=backwards)[:limit]


Neighbours = tuple[Review | None, Review | None]


def listed_beside(
    items: Sequence[ReviewHit], review: Review, *, begun: bool, is_more: bool
) -> Neighbours | None:
    """What stands before and after it in a list that was read; None where the list ends there.

    `begun` and `is_more` say whether there is something before and after the list."""
    listed = [item.review for item in items]
    at = next((at for at, other in enumerate(listed) if other.id == review.id), None)
    last = len(listed) - 1
    if at is None or (at == 0 and begun) or (at == last and is_more):
        return None
    before = listed[at - 1] if at > 0 else None
    after = listed[at + 1] if at < last else None
    return before, after


async def neighbours(visit: Visit, chosen: Filter, review: Review) -> Neighbours:
    """What comes before and after it, also when it is no longer in the list itself."""
    before = await _next_due(visit, chosen, beyond=review.place, limit=1, backwards=True)
    return next(iter(before), None), await following(visit, chosen, review)


async def following(visit: Visit, chosen: Filter, review: Review) -> Review | None:
    after = await _next_due(visit, chosen, beyond=review.place, limit=1, backwards=False)
    return next(iter(after), None)


def written_place(place: QueuePosition) -> str:
    return f"{place[0]:d}:{place[1]!r}:{place[2]!r}:{place[3]}"


def read_place(text: str) -> QueuePosition | None:
    """The place written by `written_place`; None for anything else, which starts from the top."""
    parts = text.split(":", 3)
    if len(parts) != 4:
        return None
    rank, due, at, review_id = parts
    try:
        deadline, moment = float(due), float(at)
    except ValueError:
        return None
    is_ours = (
        rank in _RANKS
        and math.isfinite(deadline + moment)
        and review_id.isprintable()
        and len(review_id) <= _LONGEST
    )
    return (int(rank), deadline, moment, review_id) if is_ours else None


def _chosen(visit: Visit, chosen: Filter) -> list[ServedDesk]:
    return [desk for name, desk in visit.desks.items() if chosen.desk in (None, name)]
