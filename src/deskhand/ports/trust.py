"""What was judged about replies, and the modes that follow from it."""

from typing import Protocol

from deskhand.model.judgement import Figure, Judged, Judgement, ModeChange


class TrustRecords(Protocol):
    """What people and customers made of a desk's replies, and the modes its categories have come
    to."""

    desk: str

    async def judgements(
        self, category: str, *, since: float = 0.0, newest: int | None = None
    ) -> list[Judgement]:
        """Those after a moment, oldest first; the newest so many of them."""
        ...

    async def figures(self) -> list[Figure]:
        """How often what was judged, ever, by category and language."""
        ...

    async def mode_changes(self, category: str | None = None) -> list[ModeChange]:
        """Changes of the mode, the oldest first."""
        ...


class TrustStore(TrustRecords, Protocol):
    """As TrustRecords, and judgements and modes are written as well."""

    async def judge(self, judgement: Judgement) -> bool:
        """Keep it, once for a run and a kind; False when it was there."""
        ...

    async def left_alone(self, judgement: Judgement) -> bool:
        """Keep that a run's reply left with nobody looking at it; False when somebody did, or it
        is known."""
        ...

    async def complained(self, conversation: str, by_run: str, since: float) -> str | None:
        """Count a complaint against the last reply of the conversation that left alone; that
        reply's run, if any."""
        ...

    async def not_looked_at(self, category: str | None = None) -> list[Judgement]:
        """Replies that left by themselves and of which nothing more is known, oldest first."""
        ...

    async def look_back(self, run_id: str, judged: Judged, *, drawn: bool, by: str) -> bool:
        """Keep what somebody says of a reply that left by itself; False when it did not leave so,
        or the same was said. `drawn` says that they did not choose it."""
        ...

    async def change_mode(self, change: ModeChange) -> bool:
        """A category's mode from now on, and an event about it; False when somebody took this
        number before."""
        ...


class SpotChecks(Protocol):
    async def checks(self, run_id: str, category: str | None) -> bool:
        """Whether a person looks at this reply although it could leave by itself."""
        ...
