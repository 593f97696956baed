"""The modes of a desk's categories: which is in force, spot checks, promotion and fall back."""

from hashlib import sha256

from deskhand.config.desk import DeskSpec
from deskhand.engine.category_modes import CategoryModes, figures_of
from deskhand.engine.journal import ANSWER
from deskhand.errors import Conflict, NotFound
from deskhand.model.envelope import Envelope
from deskhand.model.judgement import Judged, Judgement, ModeChange
from deskhand.model.message import REPLY
from deskhand.model.run import RunStatus
from deskhand.model.understanding import Understanding
from deskhand.ports import Clock, TrustStore
from deskhand.trust.standing import (
    FELL_BACK,
    MODES,
    Standing,
)

ITSELF = "deskhand"
"""Who changes a mode when nobody does."""
PROMOTED = "promoted"
FORCED = "forced"
LOWERED = "lowered"
SAMPLED = 20
"""Replies of a category that are drawn at once for somebody to look at."""


class Trust(CategoryModes):
    """The modes in force, and who changes them."""

    store: TrustStore

    def __init__(self, desk: DeskSpec, store: TrustStore, clock: Clock) -> None:
        super().__init__(desk, store)
        self._clock = clock
        self._share: dict[str, float] = {}
        """The share of replies to be checked, by category, as of the last look at its mode."""

    # --- what a reply meets

    async def mode_for(self, category: str | None) -> str:
        """The mode in force; a category that has to fall back does so before its next reply."""
        place = await self.place(category or "")
        if not self.earned or place.mode != "auto":
            return place.mode
        standing = await self._stand(place)
        self._share[place.category] = standing.checked
        if standing.alarm is None:
            return place.mode
        await self._change(standing, "draft", FELL_BACK, ITSELF, standing.alarm)
        return (await self.place(place.category)).mode

    async def checks(self, run_id: str, category: str | None) -> bool:
        """Whether a person checks this reply although it could leave by itself.

        Ask after `mode_for`, which reads the share of replies to check.
        """
        if not self.earned:
            return False
        return _drawn("spot check", run_id) < self._share.get(category or "", 0.0)

    async def rested(self, envelope: Envelope, status: RunStatus) -> None:
        """Note that a run's reply left without a person, or that its message is a complaint."""
        if not self.earned or envelope.message is None:
            return
        category = Understanding.of(envelope).topic or ""
        has_left = status in (RunStatus.SENT, RunStatus.ANSWERED)
        if has_left and ANSWER not in envelope.outputs:  # a person's own words judge nothing
            reply = envelope.output(REPLY)
            language = str(reply.get("language") or "") if isinstance(reply, dict) else ""
            await self.store.left_alone(
                Judgement(envelope.run_id, category, language, "auto", Judged.SENT)
            )
        if Understanding.of(envelope).topic_in(self._spec.complaints) is not None:
            since = self._clock.now() - self._spec.complaint_seconds
            await self.store.complained(envelope.message.conversation, envelope.run_id, since)

    # --- what an operator sees and does

    async def promote(
        self, category: str, by: str, *, force: bool = False, reason: str = ""
    ) -> ModeChange:
        """Set the next mode; Conflict when the figures do not justify it, unless forced."""
        await self._check_exists(category)
        standing = await self.standing(category)
        above = standing.current.next
        if above is None:
            fix = (
                "raise its mode in desk.yaml first"
                if standing.current.ceiling != "auto"
                else "there is none above"
            )
            raise Conflict(
                f"{category or 'it'} is in {standing.current.mode}, the most it may have; {fix}"
            )
        if standing.justified:
            return await self._change(standing, above, PROMOTED, by, reason or standing.why)
        if not force:
            figures = f"{standing.good} of {standing.judged} judged replies were good"
            raise Conflict(
                f"{above} is not justified for {category or 'it'}: {figures}; {standing.why}"
            )
        if not reason.strip():
            raise Conflict("to force a promotion, say why: it is kept with the change")
        return await self._change(standing, above, FORCED, by, reason)

    async def lower(self, category: str, mode: str, by: str, reason: str) -> ModeChange:
        """Set a lower mode, for any reason that is given."""
        await self._check_exists(category)
        standing = await self.standing(category)
        if MODES.index(mode) >= MODES.index(standing.current.mode):
            raise Conflict(f"{category or 'it'} is in {standing.current.mode}; {mode} is not lower")
        if not reason.strip():
            raise Conflict("say why the mode is lowered: it is kept with the change")
        return await self._change(standing, mode, LOWERED, by, reason)

    async def sample(self, category: str | None = None, count: int = SAMPLED) -> list[Judgement]:
        """Replies that left by themselves, in an order that nobody chose, for somebody to look
        at."""
        unseen = await self.store.not_looked_at(category)
        return sorted(unseen, key=lambda judgement: _drawn("look back", judgement.run_id))[:count]

    async def look_back(self, run_id: str, judged: Judged, by: str) -> bool:
        """Note whether a reply that left by itself was right; returns whether it was drawn.

        That a reply was right counts only if it was drawn: whoever chooses what to look at may
        choose well. Conflict where no reply of this run left by itself, or it was judged so.
        """
        unseen = {judgement.run_id: judgement for judgement in await self.store.not_looked_at()}
        judgement_of_run = unseen.get(run_id)
        sampled = [] if judgement_of_run is None else await self.sample(judgement_of_run.category)
        drawn = run_id in {judgement.run_id for judgement in sampled}
        if not await self.store.look_back(run_id, judged, drawn=drawn, by=by):
            raise Conflict(
                f"no reply of run {run_id} left by itself, or somebody said that of it before"
            )
        return drawn

    # --- inside

    async def _check_exists(self, category: str) -> None:
        categories = await self.categories(await self.store.figures())
        if category not in categories:
            listed = ", ".join(name or "(none)" for name in categories) or "none"
            raise NotFound(f"desk {self._desk.name} has no category {category!r}; it has {listed}")

    async def _change(
        self, standing: Standing, mode: str, how: str, by: str, reason: str
    ) -> ModeChange:
        place = standing.current
        change = ModeChange(
            category=place.category,
            number=place.number + 1,
            mode=mode,
            before=place.mode,
            how=how,
            by=by,
            reason=reason,
            figures=figures_of(standing),
            at=self._clock.now(),
        )
        if not await self.store.change_mode(change) and how != FELL_BACK:
            raise Conflict(
                f"the mode of {place.category or 'it'} has just been changed by somebody else; look"
                " again"
            )
        return change


def _drawn(what: str, run_id: str) -> float:
    """A number from 0 to 1 that is the run's own, the same in every process."""
    return int.from_bytes(sha256(f"{what}\0{run_id}".encode()).digest()[:8]) / 2**64
