"""How many reviews wait, by all that the queue can be narrowed by: one look at each desk."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from deskhand.model.causes import Rank
from deskhand.model.queue import AlikeReviews, QueuePosition, ReviewFilter
from deskhand.web.console.queue_page import NOBODY, TABS, Filter
from deskhand.web.console.session import Visit

SOON = 3600.0
"""Seconds before its end in which a review is marked."""


class Deadlines(NamedTuple):
    """How the reviews of a list stand with their deadlines."""

    late: int
    soon: int
    later: int
    """Those that are due after that, and those that are never due."""


@dataclass(frozen=True, slots=True)
class QueueCounts:
    """What the queue shows beside its reviews, for one person and one filter."""

    all_open: Mapping[str, Sequence[AlikeReviews]]
    """By desk, whatever was chosen."""
    found: Mapping[str, Sequence[AlikeReviews]]
    """Those with the cause and the words that were chosen."""
    chosen: Filter
    me: str

    @property
    def waiting(self) -> dict[str, int]:
        """How many wait on each desk."""
        return {name: _sum(filter(_waits, groups)) for name, groups in self.all_open.items()}

    @property
    def tabs(self) -> list[tuple[str, int]]:
        return [(tab, _sum(self._listed(self.chosen.with_tab(tab)))) for tab in TABS]

    @property
    def total(self) -> int:
        """How many there are in the list that was chosen."""
        return _sum(self._listed(self.chosen))

    @property
    def before(self) -> int:
        """How many of them stand before the review that is open."""
        return sum(group.before for group in self._listed(self.chosen))

    @property
    def deadlines(self) -> Deadlines:
        listed = list(self._listed(self.chosen))
        late = sum(group.late for group in listed)
        soon = sum(group.soon for group in listed)
        return Deadlines(late, soon, _sum(iter(listed)) - late - soon)

    def lanes(self, names: Mapping[Rank, str]) -> Counter[str]:
        counts = Counter[str]()
        for group in self._listed(self.chosen):
            counts[names[group.rank]] += group.count
        return counts

    @property
    def categories(self) -> dict[str, int]:
        return self._by(lambda group: group.category)

    @property
    def languages(self) -> dict[str, int]:
        return self._by(lambda group: group.language)

    @property
    def assignees(self) -> dict[str, int]:
        return self._by(lambda group: group.assignee)

    def _by(self, value: Callable[[AlikeReviews], str | None]) -> dict[str, int]:
        """What there is to choose from on all desks together."""
        counts = Counter[str]()
        for groups in self.all_open.values():
            for group in groups:
                if (name := value(group)) is not None:
                    counts[name] += group.count
        return dict(sorted(counts.items()))

    def _listed(self, chosen: Filter) -> Iterator[AlikeReviews]:
        for name, groups in self.found.items():
            if chosen.desk in (None, name):
                yield from (group for group in groups if _is_in(group, chosen, self.me))


async def count_queue(
    visit: Visit, chosen: Filter, now: float, place: QueuePosition | None = None
) -> QueueCounts:
    """`place` is where the review stands that is open."""
    narrow = ReviewFilter(cause=chosen.cause, terms=chosen.wanted(visit.name).terms)
    soon = now + SOON
    all_open = await visit.of_each_desk(lambda desk: desk.store.count_queue(soon=soon, place=place))
    narrowed = all_open
    if narrow != ReviewFilter():
        narrowed = await visit.of_each_desk(
            lambda desk: desk.store.count_queue(narrow, soon=soon, place=place)
        )
    return QueueCounts(all_open, narrowed, chosen, visit.name)


def _waits(group: AlikeReviews) -> bool:
    return not group.snoozed and not group.leaving


def _is_in(group: AlikeReviews, chosen: Filter, me: str) -> bool:
    """Whether the filter shows these reviews, its cause and words aside."""
    if group.snoozed != (chosen.tab == "snoozed") or group.leaving != (chosen.tab == "leaving"):
        return False
    assignee = me if chosen.tab == "mine" else chosen.assignee
    if assignee is not None and (group.assignee or NOBODY) != assignee:
        return False
    exact = ((chosen.category, group.category), (chosen.language, group.language))
    return all(wanted in (None, value) for wanted, value in exact)


def _sum(groups: Iterator[AlikeReviews]) -> int:
    return sum(group.count for group in groups)
