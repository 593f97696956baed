"""What waits, as the page lists it: over all desks a person may touch, emergencies first, then
the oldest."""

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal, Self, get_args
from urllib.parse import urlencode

from deskhand.engine.review_search import Item, terms_of, walk
from deskhand.model.causes import Cause
from deskhand.model.queue import Facets, QueuePosition, ReviewFilter
from deskhand.model.run import Review, ReviewState
from deskhand.web.api.access import ServedDesk
from deskhand.web.approvals.session import HOME, Visit

Tab = Literal["open", "mine", "snoozed", "leaving"]
TABS: tuple[Tab, ...] = get_args(Tab)
PAGE = 50
NOBODY = "-"
"""In an address: what is assigned to nobody."""
_LONGEST = 200


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
        """What is not known is as if it were not there."""
        tab, desk, cause = params.get("tab", "open"), params.get("desk"), params.get("cause")
        return cls(
            tab if tab in TABS else "open",
            desk if desk in desks else None,
            Cause(cause) if cause in list(Cause) else None,
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
        assignee = "" if self.assignee == NOBODY else self.assignee
        return ReviewFilter(
            state=ReviewState.OPEN,
            cause=self.cause,
            category=self.category,
            language=self.language,
            assignee=me if self.tab == "mine" else assignee,
            snoozed=self.tab == "snoozed",
            leaving=self.tab == "leaving",
        )


def path_of(review: Review) -> str:
    return f"{HOME}{review.desk}/{review.id}"


async def read_queue(
    visit: Visit,
    chosen: Filter,
    *,
    beyond: QueuePosition | None = None,
    limit: int,
    backwards: bool = False,
) -> list[Item]:
    found: list[Item] = []
    for desk in _chosen(visit, chosen):
        wanted, terms = chosen.wanted(visit.name), terms_of(chosen.words)
        found += await walk(
            desk.store, wanted, terms, beyond=beyond, limit=limit, backwards=backwards
        )
    return sorted(found, key=lambda item: item.review.place, reverse=backwards)[:limit]


async def count(visit: Visit, chosen: Filter) -> int:
    """Without regard to words that are searched for."""
    return sum(
        [
            await desk.store.count_reviews(chosen.wanted(visit.name))
            for desk in _chosen(visit, chosen)
        ]
    )


async def facets(visit: Visit) -> Facets:
    """What there is to choose from on all desks together."""
    categories, languages, assignees = Counter[str](), Counter[str](), Counter[str]()
    for desk in visit.desks.values():
        found = await desk.store.review_facets()
        categories.update(found.categories)
        languages.update(found.languages)
        assignees.update(found.assignees)
    return Facets(
        *(dict(sorted(counter.items())) for counter in (categories, languages, assignees))
    )


async def neighbours(
    visit: Visit, chosen: Filter, review: Review
) -> tuple[Item | None, Item | None]:
    """What comes before and after it, also when it is no longer in the list itself."""
    before = await read_queue(visit, chosen, beyond=review.place, limit=1, backwards=True)
    after = await read_queue(visit, chosen, beyond=review.place, limit=1)
    return (before[0] if before else None, after[0] if after else None)


def written_place(place: QueuePosition) -> str:
    return f"{int(place[0])}:{place[1]!r}:{place[2]}"


def read_place(text: str) -> QueuePosition | None:
    """None for what no page of ours has written: then the queue is shown from its beginning."""
    kind, _, rest = text.partition(":")
    at, _, review_id = rest.partition(":")
    try:
        moment = float(at)
    except ValueError:
        return None
    known = (
        kind in ("0", "1")
        and math.isfinite(moment)
        and review_id.isprintable()
        and len(review_id) <= _LONGEST
    )
    return (kind == "1", moment, review_id) if known else None


def _chosen(visit: Visit, chosen: Filter) -> list[ServedDesk]:
    return [desk for name, desk in visit.desks.items() if chosen.desk in (None, name)]
