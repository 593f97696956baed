"""What open consoles follow: changes of what they show, and who else looks at the same."""

from collections.abc import Collection, Sequence
from typing import Literal, NamedTuple, Protocol

from deskhand.model.figures import CountedRun, Dimension, FigureFilter, Figures

ChangeKind = Literal["review", "message", "conversation"]


class RecordChange(NamedTuple):
    """A record that changed; nothing of what it says."""

    number: int
    desk: str
    kind: ChangeKind
    reference: str
    """The id of the review, the run of a new message, or the conversation."""
    at: float
    is_open: bool = False
    """Whether the review is open."""


class Place(NamedTuple):
    """What somebody looks at."""

    desk: str
    kind: Literal["review", "run", "conversation"]
    reference: str


class Looker(NamedTuple):
    """Somebody who looks at something, in one of perhaps several windows."""

    place: Place
    person: str
    window: str


class Look(NamedTuple):
    """What a look at the database found."""

    changes: list[RecordChange]
    lookers: list[Looker]
    stopped: frozenset[str]
    """The desks whose stop switch is thrown."""
    states: dict[Place, str]
    """For each watched run and conversation something that changes whenever it does."""
    late: float
    """Seconds for which a change may still be seen with a lower number than others: a transaction
    may take its number early and be seen when it ends."""


class SearchHit(NamedTuple):
    """Something that has all the words."""

    kind: Literal["message", "person", "order", "run", "ticket"]
    desk: str
    reference: str
    """The run, or a person's address."""
    title: str
    detail: str
    at: float


class ConsoleFeed(Protocol):
    """The whole database: one look serves every open console of a process."""

    async def newest(self) -> int:
        """The number of the newest change; 0 where there is none."""
        ...

    async def look(self, after: int, watched: Collection[Place]) -> Look:
        """Changes with a higher number, and what is there right now."""
        ...

    async def enter(self, looker: Looker) -> None:
        """Somebody opened it."""
        ...

    async def stay(self, windows: Collection[str]) -> None:
        """These windows are still open; who does not say so for a minute is gone."""
        ...

    async def leave(self, window: str) -> None: ...

    async def figures_by_day(self, wanted: FigureFilter) -> dict[int, Figures]:
        """What became of the messages of each day that had any."""
        ...

    async def figures_by(self, wanted: FigureFilter, dimension: Dimension) -> dict[str, Figures]:
        """The same for each desk, category, language or channel."""
        ...

    async def figures_by_day_and(
        self, wanted: FigureFilter, dimension: Dimension
    ) -> tuple[dict[int, Figures], dict[str, Figures]]:
        """Both of them, in one look."""
        ...

    async def figure_values(self, wanted: FigureFilter) -> dict[Dimension, list[str]]:
        """The categories, languages and channels that messages of these days have."""
        ...

    async def count_open(self, wanted: FigureFilter) -> int:
        """How many messages are not over, whenever they came."""
        ...

    async def counted_runs(
        self, wanted: FigureFilter, before: int | None, limit: int
    ) -> list[CountedRun]:
        """The messages behind a figure, the newest first; those before the run at a position."""
        ...

    async def search(
        self, desks: Collection[str], words: Sequence[str], limit: int
    ) -> list[SearchHit]:
        """Messages, people, numbers and runs that have all of the words, at most so many of a
        kind, the newest first.

        The beginning of a word is enough; case and accents do not matter. What changed a moment ago
        is found too, as long as not much is due.
        """
        ...

    async def not_searchable(self, desks: Collection[str], most: int) -> int:
        """How many changes search does not know yet, counted no further than `most`."""
        ...


class SearchIndex(Protocol):
    """A desk's part of the index that search asks."""

    desk: str

    async def index_some(self, *, at_rest: bool = False) -> int:
        """Index what changed last, at most a batch; how many records that were. Those `at_rest`
        leave out runs that change in a moment."""
        ...
