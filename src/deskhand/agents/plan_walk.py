"""One walk over a plan: which step it is at, and what came of those before."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from deskhand.agents.plan_failures import TellResults, asked_after, author_of, with_news
from deskhand.agents.plan_parameters import filled_from
from deskhand.agents.plan_progress import PROGRESS, PlanProgress, digest_of, readings_of
from deskhand.agents.plan_progress import has_more_than_questions as resumable
from deskhand.agents.plan_responses import may_be_said, said_in, say, worded, write_down
from deskhand.agents.plan_results import (
    escalated,
    given_up,
    raise_if_unknown,
    result_of,
    results_in,
    unsure_values,
    used_values,
)
from deskhand.agents.replying.delivery import held_result
from deskhand.agents.replying.sending import Sending
from deskhand.agents.turn_words import SlotLabels, confirming, words_for
from deskhand.brain.declared_plans import REFUSED
from deskhand.config.sections.intents import CLARIFY_AT_MOST
from deskhand.config.sections.plans import RESULTS, FailureQuestion
from deskhand.language.turn_kinds import CONFIRM
from deskhand.model.envelope import Ask, Delta, StageResult
from deskhand.model.message import ESCALATE
from deskhand.model.outcome import Outcome
from deskhand.model.plan import (
    SAID,
    SKIPPED,
    TURN,
    AskUser,
    DoneCall,
    Plan,
    Respond,
    StepRecord,
    StepStatus,
    ToolCall,
    name_of,
)
from deskhand.model.spec import AgentSpec
from deskhand.model.understanding import INTENT_ID, SLOTS, Understanding
from deskhand.model.value_readings import READ
from deskhand.ports import Held, StageContext, ToolGate
from deskhand.tools.gate import DONE_BEFORE
from deskhand.tools.services import ServiceResult


@dataclass(slots=True)
class PlanWalk:
    """How far a plan has been walked."""

    spec: AgentSpec
    plan: Plan
    ctx: StageContext
    gate: ToolGate
    sending: Sending | None = None
    place: int = 0
    results: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    executed: int = 0
    failed: int = 0
    is_over: bool = False
    """Whether a call has asked for a person: then no further one is made."""
    is_carried_on: bool = False
    """Whether an earlier run began it: then what that left in the stage's output counts."""
    adds: bool = False
    """Whether results are added to those in the stage's output, instead of taking their place."""
    done: list[DoneCall] = field(default_factory=list[DoneCall])
    """What took effect before the plan was made anew, as far as no step has stood for it."""
    asked: dict[str, int] = field(default_factory=dict[str, int])
    answers: dict[str, Any] = field(default_factory=dict[str, Any])
    said: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    """What the plan said, or would have said in a chat."""
    records: dict[int, StepRecord] = field(default_factory=dict[int, StepRecord])
    reads_turns: bool = False
    """Whether what the customer says is told apart: then questions alone are gone on with, too."""
    turn: dict[str, Any] = field(default_factory=dict[str, Any])
    """What the customer's last turn did."""
    lead: str = ""
    """What is said before the next question."""
    counts_question: bool = True
    """Whether the next question counts as asked once more."""
    unsure: set[str] = field(default_factory=set[str])
    """The answers that are confirmed before anything is changed with them."""
    confirmed: set[str] = field(default_factory=set[str])
    """The answers that the customer said are right."""
    begins: str | None = None
    """The intent whose plan takes the place of this one."""
    refused: set[str] = field(default_factory=set[str])
    """The slots whose values the customer said are wrong."""
    labels: SlotLabels = field(default_factory=dict[str, Mapping[str, str]])
    """What customers read as the names of slots."""
    tell: TellResults | None = None
    """Says what calls found, where the customer is asked before the reply."""
    failure_questions: Mapping[str, FailureQuestion] = field(
        default_factory=dict[str, FailureQuestion]
    )
    """What the customer is asked where a call fails, by error code."""

    def adopt(self, progress: PlanProgress) -> None:
        """Take over what an earlier run knew of this plan, or of the one before it."""
        self.is_carried_on = True
        self.asked = dict(progress.asked)
        self.answers = dict(progress.answers)
        self.unsure = set(progress.unsure)
        if progress.at is not None and progress.plan == digest_of(self.plan):
            self.said = list(progress.said)
            for place, status in enumerate(progress.statuses):
                self.records[place] = self._record(place, status)

    async def go_on(self) -> ServiceResult | None:
        """Walk to the end of the plan; returns what the stage ends with where it stops before."""
        while self.place < len(self.plan.steps) and not self.is_over:
            step = self.plan.steps[self.place]
            stopped = await self._take(step)
            if stopped is not None:
                return self.ended(stopped)
            self.place += 1
        return None

    @property
    def output(self) -> dict[str, Any]:
        counts = {"executed": self.executed, "failed": self.failed}
        output = {RESULTS: self.results, **counts, "reasoning": self.plan.reasoning}
        if self.answers:
            output[SLOTS] = self._slots
        if self.turn:
            output[TURN] = self.turn
        if readings := readings_of(self.unsure, self.confirmed):
            output[READ] = readings
        if self.said:
            output[SAID] = self.said
        if self.refused:
            output[REFUSED] = sorted(self.refused)
        if self.begins is not None:
            output[INTENT_ID] = self.begins
        return output

    @property
    def reply(self) -> str:
        """What the plan says when all is done; empty where it leaves that to others."""
        return "\n\n".join(said["text"] for said in self.said if said["when"] == "post")

    @property
    def _slots(self) -> dict[str, Any]:
        return {**Understanding.of(self.ctx.envelope).slots, **self.answers}

    @property
    def language(self) -> str | None:
        """The language of the conversation."""
        return Understanding.of(self.ctx.envelope).language

    @property
    def _in_chat(self) -> bool:
        return self.sending is not None and self.sending.in_chat(self.ctx.envelope.message)

    def ended(self, result: ServiceResult) -> ServiceResult:
        """The stage's result, with how far each step is."""
        return result.changed(plan_steps=self._every_record())

    async def write_readings(self) -> None:
        """Record how sure the answers are, so that the gate reads it with the next call."""
        fields = {SLOTS: self._slots, READ: readings_of(self.unsure, self.confirmed)}

        async def write() -> StageResult:
            return StageResult(delta=Delta(merge={self.spec.output_key: fields}))

        await self.ctx.step("confirmed", write, at_once=False)

    def replan(self) -> ServiceResult:
        """The customer has answered and the plan has nothing left: whoever made it goes on."""
        progress = self._progress(self.place, ())
        output = self.output | {PROGRESS: progress}
        again = ServiceResult(output=output, outcome=Outcome.REPLAN, next=self.spec.replan_at)
        return self.ended(again)

    # --- the steps

    async def _take(self, step: Respond | ToolCall | AskUser) -> ServiceResult | None:
        if isinstance(step, ToolCall):
            return await self._make(step)
        if isinstance(step, Respond):
            await self._respond(step)
        elif step.param in self.answers:
            self._note(StepStatus.COMPLETED)
        else:
            return self._ask()
        return None

    async def _respond(self, step: Respond) -> None:
        """Say it now, where the customer reads along; else only record it. What comes `post` is
        the reply, which leaves when the walk is over."""
        key = self.spec.output_key
        pending = self._record(self.place, StepStatus.IN_PROGRESS)
        record = pending.changed(started_at=self.ctx.now())
        text = worded(step, self.results, self._slots)
        at_once = step.when == "pre" and text is not None and self._in_chat
        if text and at_once and await may_be_said(text, self.sending, self.ctx):
            made = await say(text, record, key, self.ctx, self.gate)
        else:
            made = write_down(text, step.when, record, key, self.ctx)
        self.records[self.place] = made.plan_steps[0]
        self.said += said_in(made, key)

    async def _make(self, step: ToolCall) -> ServiceResult | None:
        """Make one call; returns what the stage ends with, None where the walk goes on."""
        if step.tool in self.spec.intends:
            self.results.append({"tool": step.tool, "status": "success", "intended": True})
            self._note(StepStatus.COMPLETED)
            return None
        filled = filled_from(self.results, step.parameters, self._slots)
        if filled is None:
            reason = "what it needs was not found"
            self.results.append({"tool": step.tool, "status": SKIPPED, "reason": reason})
            self._note(StepStatus.COMPLETED)
            return None

        call = step.changed(parameters=filled)
        name = f"{self.executed + 1} {step.tool}"
        result = await self.ctx.step(name, partial(self._call, call), at_once=False)
        if isinstance(result, Held):
            self._note(StepStatus.IN_PROGRESS)
            unsure = unsure_values(result.answer, self._slots)
            if unsure and self.reads_turns:
                shown = used_values(result.answer, self._slots)
                return self._waits((CONFIRM,), self._asks_whether(shown, step.tool), unsure)
            return held_result(result, self.spec.name).changed(output={RESULTS: self.results})
        self._count(result)
        made = result.call or {}
        if made.get("requires_escalation"):
            return escalated(made, self.results)
        self.is_over = step.tool == ESCALATE and bool(made.get("ok"))
        return self._ask_after_failure()

    def _ask_after_failure(self) -> ServiceResult | None:
        """Ask for what would let the last call of a plan succeed."""
        if self.place + 1 < len(self.plan.steps) or not (self.reads_turns and self.results):
            return None
        asked = asked_after(self.results[-1], self.failure_questions, self.language)
        if asked is None:
            return None
        times = self.asked.get(asked.param, 0)
        if times >= CLARIFY_AT_MOST:
            return self._given_up([AskUser(param=asked.param, prompt=asked.text)])
        self.asked[asked.param] = times + 1
        return self._waits((asked.param,), asked.text, failed=asked.code)

    def ask_again_after_failure(self, prompt: str, param: str, code: str) -> ServiceResult:
        """The question after a failed call once more."""
        return self.ended(self._waits((param,), f"{self.lead}\n{prompt}".strip(), failed=code))

    def _asks_whether(self, values: dict[str, Any], tool: str) -> str:
        words = words_for(self.ctx.envelope.raw_input, self.labels, self.language)
        return confirming(values, words, tool)

    def _count(self, result: StageResult) -> None:
        """Take over what a call came to, made now or read from its row."""
        self.results += results_in(self.spec, result)
        for record in result.plan_steps:
            self.records[self.place] = record
            if record.done_before is not None:
                self._stands_for(record.done_before)
        is_made = result.call is not None
        self.failed += is_made and not (result.call or {}).get("ok")
        self.executed += 1

    def _stands_for(self, call_hash: str) -> None:
        same = next((done for done in self.done if done.call_hash == call_hash), None)
        if same is not None:
            self.done.remove(same)

    async def _call(self, call: ToolCall) -> StageResult | Held:
        index = self.executed
        started_at = self.ctx.now()
        answer = await self.gate.call(
            call.tool,
            call.parameters,
            allowed=self.spec.tools,
            ctx=self.ctx,
            index=index,
            done=self.done,
        )
        if answer.verdict == "hold":
            return Held(answer, self.ctx.effect_key(index))
        raise_if_unknown(answer)
        status = StepStatus.COMPLETED if answer.result.ok else StepStatus.FAILED
        record = self._record(self.place, status).changed(
            started_at=started_at, finished_at=self.ctx.now()
        )
        if answer.rule == DONE_BEFORE:
            return StageResult(plan_steps=(record.changed(done_before=answer.call_hash),))
        delta = self._adding(result_of(call, answer), index)
        return StageResult(call=answer.record(), plan_steps=(record,), delta=delta)

    def _adding(self, result: dict[str, Any], index: int) -> Delta:
        key = self.spec.output_key
        if index > 0 or self.adds:
            return Delta(append={f"{key}.{RESULTS}": [result]})
        if self.is_carried_on:
            return Delta(merge={key: {RESULTS: [result]}})
        # what an earlier visit of this stage left belongs to another plan
        return Delta(outputs={key: {RESULTS: [result]}})

    def _ask(self) -> ServiceResult:
        """Ask all that the plan asks at this place in one message; in a chat, one thing at a
        time."""
        asked: list[AskUser] = []
        for step in self.plan.steps[self.place :]:
            if not isinstance(step, AskUser):
                break
            if step.param not in self.answers:
                asked.append(step)
            if asked and self._in_chat:
                break
        params = tuple(step.param for step in asked)
        often = [step for step in asked if self.asked.get(step.param, 0) >= _most(step)]
        if often:
            return self._given_up(often)
        for name in params if self.counts_question else ():
            self.asked[name] = self.asked.get(name, 0) + 1
        words = "\n".join(step.prompt for step in asked)
        return self._waits(params, f"{self.lead}\n{words}".strip())

    def ask_whether(self, question: str, pending: dict[str, Any]) -> ServiceResult:
        """Ask whether changed values are right; they count once the customer says so."""
        params = self.waits_at(self.place) or (CONFIRM,)
        return self.ended(self._waits(params, question, pending))

    def waits_at(self, place: int) -> tuple[str, ...]:
        """The parameter that is asked for at a place."""
        step = self.plan.steps[place]
        return (step.param,) if isinstance(step, AskUser) else ()

    def _waits(
        self,
        params: tuple[str, ...],
        text: str,
        pending: dict[str, Any] | None = None,
        failed: str = "",
    ) -> ServiceResult:
        self._note(StepStatus.IN_PROGRESS)
        text, self.results = with_news(self.results, text, self.tell, self.language)
        goes_on_here = self.reads_turns or resumable(self.plan)
        waits_at = self.place if goes_on_here else None
        reason = f"{self.spec.name} asks the customer"
        ask = Ask(kind="question", reason=reason, text=text, param=params[0])
        resume = self.spec.resume_at or (None if waits_at is None else self.spec.name)
        progress = self._progress(waits_at, params)
        if pending:
            progress["pending"] = pending
        if failed:
            progress |= {"failed": failed, "author": author_of(self.ctx.envelope)}
        output = self.output | {PROGRESS: progress}
        return ServiceResult(output=output, outcome=Outcome.CLARIFY, ask=ask, resume=resume)

    def _given_up(self, steps: Sequence[AskUser]) -> ServiceResult:
        self._note(StepStatus.FAILED)
        most = max(_most(step) for step in steps)
        return given_up([step.param for step in steps], most, self.output)

    # --- what is kept

    def _progress(self, at: int | None, waits_for: tuple[str, ...]) -> dict[str, Any]:
        progress = PlanProgress(
            plan=digest_of(self.plan),
            at=at,
            waits_for=waits_for,
            statuses=tuple(record.status for record in self._every_record()),
            results=len(self.results),
            asked=self.asked,
            said=tuple(self.said),
            answers=self.answers,
            unsure=tuple(sorted(self.unsure - self.confirmed)),
        )
        return progress.model_dump(mode="json", exclude_defaults=True)

    def _every_record(self) -> tuple[StepRecord, ...]:
        places = range(len(self.plan.steps))
        pending = StepStatus.PENDING
        records = [self.records.get(place) or self._record(place, pending) for place in places]
        return tuple(records)

    def _note(self, status: StepStatus) -> None:
        now = self.ctx.now()
        finished = None if status is StepStatus.IN_PROGRESS else now
        record = self._record(self.place, status)
        self.records[self.place] = record.changed(started_at=now, finished_at=finished)

    def _record(self, place: int, status: StepStatus) -> StepRecord:
        step = self.plan.steps[place]
        return StepRecord(place=place, type=step.type, name=name_of(step), status=status)


def _most(step: AskUser) -> int:
    return step.at_most or CLARIFY_AT_MOST
