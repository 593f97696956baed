"""From a run that came to rest to its events."""

from collections.abc import Sequence

from deskhand.config.desk import DeskSpec
from deskhand.engine.journal import ADOPTION
from deskhand.model.run import Run, StepRow
from deskhand.model.telemetry import TelemetryEvent
from deskhand.ports.telemetry import ToldRun
from deskhand.routing.intents_registry import IntentsRegistry
from deskhand.telemetry.redaction import Redaction
from deskhand.telemetry.stage_reader import StageReader, ToldMessage
from deskhand.telemetry.told_rows import told_rows


class RunTeller:
    """Tells the events of a desk's runs."""

    def __init__(self, redaction: Redaction, known_intents: frozenset[str] = frozenset()) -> None:
        self._redaction = redaction
        self._known = known_intents

    @classmethod
    def of(cls, spec: DeskSpec) -> "RunTeller":
        return cls(Redaction(IntentsRegistry.of(spec)), frozenset(spec.plans))

    def told_in(self, told_run: ToldRun) -> list[TelemetryEvent]:
        """What the run's rows tell since the time before that it rested; nothing of a run that was
        erased."""
        run, message_id, rows = told_run.run, told_run.message_id, told_run.rows
        return self.told_of(run, message_id, rows, told_run.history_count, told_run.ends)

    def told_of(
        self,
        run: Run,
        message_id: str | None,
        rows: Sequence[StepRow],
        history_count: int,
        ends: Sequence[int] = (),
    ) -> list[TelemetryEvent]:
        """The events of the rows after the last but one of `ends`: where earlier ones were told."""
        ends = ends or (len(rows),)
        before = ends[-2] if len(ends) > 1 else None
        if message_id is None or run.was_screened_out or ends[-1] == before:
            return []
        reader = self._reader(run, message_id, history_count)
        state_rows = list(told_rows(rows[: ends[-1]]))
        is_adopted = bool(state_rows) and state_rows[0].name == ADOPTION
        reader.receive(state_rows[0] if is_adopted else None)
        events: list[TelemetryEvent] = []
        begin = 0
        for end in ends:
            for row in state_rows[begin:end]:
                reader.read(row)
            begin = max(begin, end)
            events = reader.events()
        return events

    def _reader(self, run: Run, message_id: str, history_count: int) -> StageReader:
        message = ToldMessage(
            run_id=run.id,
            interaction_id=message_id,
            session_id=run.conversation,
            at=run.created_at,
            history_count=history_count,
        )
        return StageReader(message, self._redaction, self._known)
