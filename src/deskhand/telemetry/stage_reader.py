"""Telling the stages of a message from the rows of its run.

A desk's rows and those that an `AgentRouter` keeps in memory are read by the same class. Events
have ids made of the run, the row and the stage, so that they are the same whenever they are told.
"""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from deskhand.agents.eligible_intents import ELIGIBLE
from deskhand.engine.journal import ADOPTION, DECISION
from deskhand.model.authorship import BY_MODEL
from deskhand.model.documents import iso_at
from deskhand.model.message import DELIVER, ENGINE_TOOLS, REPLY
from deskhand.model.outcome import Outcome
from deskhand.model.plan import PLAN, SAID, TURN, StepStatus
from deskhand.model.remembered import MEMORY
from deskhand.model.run import ReviewKind
from deskhand.model.telemetry import TelemetryEvent, TelemetryLevel, TelemetryStage
from deskhand.model.understanding import (
    CATEGORY,
    INTENT,
    INTENT_ID,
    LOOP_IN,
    Understanding,
    is_unknown_intent,
)
from deskhand.routing.redacted_slots import HIDDEN
from deskhand.telemetry.redaction import HiddenValues, Redaction
from deskhand.telemetry.told_rows import NOTHING, ToldRow

ANSWER_READ = "answer"
"""The part of a walking stage in which an answer was read without telling turns apart."""
_OTHER_MATTER = "other_matter"
_BEFORE_INTENT = (TelemetryStage.INTENTS_ELIGIBLE, TelemetryStage.INTENT_CLASSIFIED)
"""What is told before, and with which, the intent is known."""
_NAMES_INTENT = frozenset((CATEGORY, INTENT_ID, INTENT))
"""The fields of which one says what the message is about."""


class ToldMessage(NamedTuple):
    """The message whose stages are told."""

    run_id: str
    interaction_id: str
    session_id: str
    at: float
    """When it was accepted."""
    history_count: int
    """How many messages of the customer the conversation has, this one included."""


class StageReader:
    """Reads a run's rows in order. `events` gives what the rows since the last call have told."""

    def __init__(
        self,
        message: ToldMessage,
        redaction: Redaction,
        known_intents: frozenset[str] = frozenset(),
    ) -> None:
        """`known_intents` are those of which the desk has something written."""
        self._message = message
        self._redaction = redaction
        self._known = known_intents
        self._hidden = HiddenValues()
        self._told: list[TelemetryEvent] = []
        self._eligible: list[str] | None = None
        self._is_classified = False
        self._intent: str | None = None
        self._classified_at: ToldRow | None = None
        """The row that classified the message, while it is not told yet: what else the message
        says is found out by the next stage."""
        self._outputs = NOTHING
        """What is known after the newest row."""
        self._ended: tuple[ToldRow | None, str] = (None, "")
        """The row that was told last, and when it ended: most tell several events."""
        self._begins_anew = False
        """Whether the customer turned to another matter, which is classified next."""

    def receive(self, remembered: ToldRow | None) -> None:
        """The message came in; `remembered` is the row with what the run knew from the
        beginning."""
        outputs = {} if remembered is None else remembered.outputs
        asked = {} if remembered is None else remembered.metadata.get("asked") or {}
        if self._redaction:
            self._hide(outputs.values())
        memory = {
            "history_count": self._message.history_count,
            "params_keys": _known_names(remembered),
            "waiting_for_param": asked.get("param"),
        }
        received = TelemetryStage.RECEIVED
        message = self._message
        event_id = f"{message.run_id}.{received}"
        event = TelemetryEvent(
            iso_at(message.at),
            message.interaction_id,
            message.session_id,
            received,
            payload={"memory": memory},
            id=event_id,
            run_id=message.run_id,
            started_at=message.at,
        )
        self._told.append(event)

    def read(self, row: ToldRow) -> None:
        """Take one row in."""
        name = row.name
        if name in (ADOPTION, DECISION):
            return
        self._hide_in(row)
        self._outputs = row.outputs
        _, _, part = name.partition("/")
        if part:
            self._read_part(row, part)
        else:
            self._read_stage(row)

    def events(self, *, at_rest: bool = True) -> list[TelemetryEvent]:
        """What was told since the last call. Not `at_rest`, the message's intent is kept back while
        it is not known what else the message says."""
        if at_rest:
            self._tell_classified()
        events = self._told
        self._told = []
        if not self._hidden:
            return events
        return [self._without_hidden(event) for event in events]

    # --- rows of stages

    def _read_stage(self, row: ToldRow) -> None:
        outcome = row.result.get("outcome")
        self._read_eligible(row)
        if not _NAMES_INTENT.isdisjoint(_own_output(row)):
            self._classify(row)
        if self._begins_anew and outcome == Outcome.REPLAN:
            self._begins_anew = False
            self._is_classified = False
            self._eligible = None
            return
        if _makes_plan(row) and not (self._is_classified and self._intent is None):
            steps = [_kind(step) for step in row.outputs[PLAN].get("steps") or ()]
            plan = {INTENT_ID: self._intent, "steps": steps}
            self._tell(row, TelemetryStage.PLAN_CREATED, plan)
        ask = row.result.get("ask")
        if ask is None:
            return
        if outcome == Outcome.CONFIRM and ask["kind"] == ReviewKind.TOOL_CALL:
            self._tell_check(row, allowed=False)
        elif outcome == Outcome.CLARIFY:
            self._tell_question(row, ask.get("text", ""), ask.get("param"))

    def _read_eligible(self, row: ToldRow) -> None:
        eligible = _answered(row).get(ELIGIBLE)
        if eligible is None or self._eligible is not None:
            return
        self._eligible = list(eligible)
        self._tell(row, TelemetryStage.INTENTS_ELIGIBLE, {"eligible": self._eligible})

    def _classify(self, row: ToldRow) -> None:
        outputs = row.outputs
        unknown = is_unknown_intent(outputs, self._known)
        intent = None if unknown else Understanding(outputs).topic
        if self._is_classified and intent == self._intent:
            return
        self._tell_classified()
        self._is_classified = True
        self._intent = intent
        self._classified_at = row

    def _tell_classified(self) -> None:
        """Told once it is known what the message says beside its intent."""
        row = self._classified_at
        if row is None:
            return
        self._classified_at = None
        if self._intent is None:
            unknown = {INTENT_ID: None, "unknown_intent": True}
            self._tell(row, TelemetryStage.INTENT_CLASSIFIED, unknown)
            return
        slots = Understanding(self._outputs).slots
        names = self._redaction.names_in(self._intent, slots)
        payload = {INTENT_ID: self._intent, "redacted_params": names}
        self._tell(row, TelemetryStage.INTENT_CLASSIFIED, payload)

    # --- rows of parts of stages

    def _read_part(self, row: ToldRow, part: str) -> None:
        if part in (TURN, ANSWER_READ):
            self._read_eligible(row)
            turn = _own_output(row).get(TURN) or {}
            self._begins_anew = turn.get("kind") == _OTHER_MATTER
            if not self._begins_anew:
                self._classify(row)
            return
        call = row.result.get("call")
        if part.startswith("respond "):
            self._tell_said(row)
        elif call is None:
            return
        elif call.get("tool") == DELIVER:
            self._tell_delivered(row, part, call)
        elif call.get("tool") not in ENGINE_TOOLS:
            self._tell_call(row, call)

    def _tell_delivered(self, row: ToldRow, part: str, call: dict[str, Any]) -> None:
        """A reply left. A question is told with its stage, which knows what it waits for."""
        if part == "ask" or not call.get("ok"):
            return
        text = str((call.get("arguments") or {}).get("text") or "")
        self._tell(row, TelemetryStage.RESPOND, self._response(text))

    def _tell_said(self, row: ToldRow) -> None:
        """What a plan says before its calls; what it says after them is the reply."""
        for path, said in row.delta.get("append", NOTHING).items():
            if not path.endswith(f".{SAID}"):
                continue
            for words in said:
                if words.get("when") == "pre":
                    payload = {"message": words.get("text", "")}
                    step = _step_of(row)
                    self._tell(row, TelemetryStage.PLAN_COMMUNICATED, payload, step=step)

    def _tell_call(self, row: ToldRow, call: dict[str, Any]) -> None:
        allowed = call.get("verdict") == "allow"
        self._tell_check(row, allowed=allowed)
        if not allowed:
            return
        ok = bool(call.get("ok"))
        level = TelemetryLevel.INFO if ok else TelemetryLevel.ERROR
        payload = {"ok": ok, "tool": call.get("tool")}
        self._tell(row, TelemetryStage.TOOL_EXECUTE, payload, level, _step_of(row))

    def _tell_check(self, row: ToldRow, *, allowed: bool) -> None:
        level = TelemetryLevel.INFO if allowed else TelemetryLevel.WARN
        self._tell(row, TelemetryStage.POLICY_CHECK, {"allowed": allowed}, level)

    def _tell_question(self, row: ToldRow, text: str, param: str | None) -> None:
        payload = self._response(text)
        if param != LOOP_IN:
            payload["waiting_for_param"] = param
        steps = row.result.get("plan_steps")
        if steps:
            payload["plan_steps"] = [_told_step(step) for step in steps]
        step = _asking_step(steps or ())
        self._tell(row, TelemetryStage.RESPOND, payload, step=step)

    def _response(self, text: str) -> dict[str, Any]:
        payload: dict[str, Any] = {"message": text}
        if self._is_classified and self._intent is None:
            payload |= {"fallback": True, "unknown_intent": True}
        return payload

    # --- making events

    def _tell(
        self,
        row: ToldRow,
        stage: TelemetryStage,
        payload: dict[str, Any],
        level: TelemetryLevel = TelemetryLevel.INFO,
        step: dict[str, Any] | None = None,
    ) -> None:
        if stage not in _BEFORE_INTENT:
            self._tell_classified()
            if self._is_classified:
                payload[INTENT_ID] = self._intent
        if "fallback" in payload:
            level = TelemetryLevel.WARN
        if step is not None:
            payload["step"] = _told_step(step)
        if self._hidden and row.metadata.get(BY_MODEL) and "message" in payload:
            # a model may have put it in other words
            payload["message"] = HIDDEN
        seconds = row.latency_ms / 1000
        message = self._message
        event = TelemetryEvent(
            self._end_of(row, seconds),
            message.interaction_id,
            message.session_id,
            stage,
            level,
            payload,
            f"{row.run_id}.{row.seq}.{stage}",
            message.run_id,
            row.started_at,
            seconds,
            _answered(row),
        )
        self._told.append(event)

    def _end_of(self, row: ToldRow, seconds: float) -> str:
        last, ended = self._ended
        if last is not row:
            ended = iso_at(row.started_at + seconds)
            self._ended = (row, ended)
        return ended

    # --- what stays hidden

    def _hide_in(self, row: ToldRow) -> None:
        if not self._redaction:
            return
        delta = row.delta
        for changed in ("outputs", "merge"):
            self._hide(delta.get(changed, NOTHING).values())
        arguments = (row.result.get("call") or NOTHING).get("arguments")
        if isinstance(arguments, dict):
            self._hidden.add(self._redaction.hidden_of(arguments))

    def _hide(self, outputs: Iterable[Any]) -> None:
        for output in outputs:
            self._hidden.add(self._redaction.values_in(output))

    def _without_hidden(self, event: TelemetryEvent) -> TelemetryEvent:
        if "message" not in event.payload:
            return event
        message = self._hidden.out_of(str(event.payload["message"]))
        return event.changed(payload={**event.payload, "message": message})


def _known_names(remembered: ToldRow | None) -> list[str]:
    """The parameters that the run knew from the beginning: of its plan, and of its memory."""
    if remembered is None:
        return []
    memory = remembered.metadata.get(MEMORY) or {}
    slots = Understanding(remembered.outputs).slots
    return list(dict.fromkeys((*slots, *(memory.get("values") or ()))))


def _own_output(row: ToldRow) -> dict[str, Any]:
    """What a row's stage put into its output, as far as it is new; without the reply."""
    delta = row.delta
    own: dict[str, Any] = {}
    for changed in ("outputs", "merge"):
        for key, fields in delta.get(changed, NOTHING).items():
            if key != REPLY and isinstance(fields, dict):
                own |= fields
    return own


def _makes_plan(row: ToldRow) -> bool:
    delta = row.delta
    changed = PLAN in delta.get("outputs", NOTHING) or PLAN in delta.get("merge", NOTHING)
    return changed and isinstance(row.outputs.get(PLAN), dict)


def _kind(step: Any) -> str:
    """A step's type, also of steps written as a tool's name or as `{tool, parameters}`."""
    if not isinstance(step, dict):
        return "tool_call"
    if "type" in step:
        return str(step["type"])
    return "ask_user" if "param" in step else "tool_call"


def _answered(row: ToldRow) -> dict[str, Any]:
    answered: dict[str, Any] = row.result.get("answered") or NOTHING
    return answered


def _step_of(row: ToldRow) -> dict[str, Any] | None:
    steps: list[dict[str, Any]] = row.result.get("plan_steps") or []
    return steps[0] if len(steps) == 1 else None


def _asking_step(steps: Sequence[dict[str, Any]]) -> dict[str, Any] | None:
    for step in steps:
        if step["type"] == "ask_user" and step.get("status") == StepStatus.IN_PROGRESS:
            return step
    return None


def _told_step(step: dict[str, Any]) -> dict[str, Any]:
    return {
        "place": step["place"],
        "type": step["type"],
        "status": step.get("status") or StepStatus.PENDING.value,
        "started_at": _moment(step.get("started_at")),
        "finished_at": _moment(step.get("finished_at")),
    }


def _moment(seconds: float | None) -> str | None:
    return None if seconds is None else iso_at(seconds)
