"""The one agent class: every stage of every flow is an Agent built from an AgentSpec."""

import inspect
import logging
import time
from asyncio import CancelledError
from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from deskhand.agents.eligible_intents import ELIGIBLE, StageChoices
from deskhand.agents.parts import Parts, check_parts
from deskhand.agents.planned import walk_plan
from deskhand.agents.profiled import ProfileStage, answer_in
from deskhand.agents.replying.delivery import held_result
from deskhand.agents.replying.reply import with_reply
from deskhand.agents.replying.sending import KeptQuestion
from deskhand.agents.routing import Router, facts_for_texts
from deskhand.agents.stage_data import check_fields, own_copy, plain, require_fields, task_of
from deskhand.agents.standalone import Standalone
from deskhand.brain.task_prompts import ARTICLES, ARTICLES_HERE
from deskhand.errors import ConfigError, ModelAway, PermanentError, RetryableError
from deskhand.logs import bound
from deskhand.model.authorship import AGENT, BY_MODEL, MOCK, is_model
from deskhand.model.codes import ErrorCode
from deskhand.model.envelope import Ask, Delta, Envelope, StageResult
from deskhand.model.events import AgentCompleted, AgentStarted
from deskhand.model.message import DELIVER, REPLY, Reply
from deskhand.model.outcome import Outcome
from deskhand.model.run import ReviewKind, RunStatus
from deskhand.model.spec import AgentSpec
from deskhand.model.tasks import WORDLESS, TaskKind
from deskhand.model.understanding import Understanding
from deskhand.ports import (
    Held,
    MockHandler,
    PostHook,
    PreHook,
    StageContext,
)
from deskhand.tools.services import ServiceResult, may_change

ASK_CALL = 1_000_000
"""The call index of a question to the customer, out of the way of a plan's calls."""
ENDINGS = (
    RunStatus.SENT,
    RunStatus.ANSWERED,
    RunStatus.DONE,
    RunStatus.REJECTED,
    RunStatus.NEEDS_REVIEW,
)
"""The statuses a service may end a run with."""
_ONE_HOP = Delta(hops=1)


class Agent:
    """Behaviour comes from the spec; hooks and the mock handler are for code that surrounds it."""

    def __init__(
        self,
        spec: AgentSpec,
        parts: Parts | None = None,
        *,
        pre_process: PreHook | None = None,
        post_process: PostHook | None = None,
        mock_handler: MockHandler | None = None,
        use_mock: bool = False,
    ) -> None:
        self.spec = _checked(spec)
        self.pre_process, self.post_process = pre_process, post_process
        self.mock_handler, self.use_mock = mock_handler, use_mock
        self._parts = parts or Parts()
        self._router = Router(self.spec, self._parts.prompts)
        self._log = bound("deskhand.agent", agent=spec.name, stage_order=spec.stage_order)
        check_parts(self.spec, self._parts)
        self._profile = self._profile_stage()
        self._task = task_of(self.spec)

    async def process(self, envelope: Envelope, ctx: StageContext | None = None) -> StageResult:
        """Work one envelope; the result's delta is everything this stage and its hooks changed."""
        if ctx is not None:
            return await self._observed(ctx)
        alone = Standalone(envelope)
        result = await self._observed(alone)
        return result.changed(delta=envelope.delta_to(alone.envelope.apply(result.delta)))

    async def _observed(self, ctx: StageContext) -> StageResult:
        begun = time.perf_counter()
        if self._parts.events is not None:
            self._emit(AgentStarted(ctx.run_id, self.spec.name, time.time()))
        try:
            result = await self._process(ctx)
        except (
            Exception,
            CancelledError,
        ) as error:  # cancelled: the attempt's time is up, or the desk stops
            is_told = isinstance(error, ModelAway)  # by whoever leaves the model alone
            self._completed(
                ctx, "error", begun, str(error) or type(error).__name__, is_told=is_told
            )
            raise
        self._completed(ctx, result.outcome, begun, result.error.message if result.error else None)
        return result

    async def _process(self, ctx: StageContext) -> StageResult:
        before = ctx.envelope
        started = before.changed(hops=before.hops + 1)
        working = await self._hook(self.pre_process, started)
        brought = _ONE_HOP if working is started else before.delta_to(working)
        made = await self._main(working, ctx)
        output = plain(made.output)
        check_fields(self.spec, output)
        if made.outcome.is_success:
            require_fields(self.spec, output)
        after = working if ctx.envelope is before else ctx.envelope.apply(brought)
        if made.starts_anew:
            after = after.changed(outputs={})
        if made.also:
            after = after.changed(outputs={**after.outputs, **made.also})
        if output or not made.starts_anew:  # an empty one would keep its old place among the rest
            after = after.with_output(self.spec.output_key, output)
        after = self._with_reply(after, output, made)
        after = await self._hook(self.post_process, after, self.spec.output_key)
        result = self._router.route(made, after)
        if result.outcome is Outcome.CLARIFY:
            result, after = await self._ask_customer(after, result, ctx)
        return result.changed(
            delta=ctx.envelope.delta_to(after), answered=made.answered, plan_steps=made.plan_steps
        )

    # --- the four modes, in order of priority

    async def _main(self, envelope: Envelope, ctx: StageContext) -> ServiceResult:
        if self.use_mock and self.mock_handler is not None:
            made = self.mock_handler(own_copy(envelope))
            return self._result(await made if inspect.isawaitable(made) else made)
        if self.spec.has_llm:
            return await self._think(envelope, ctx)
        if self._profile is not None:
            return await self._profile.work(envelope, ctx)
        if self.spec.has_tools:
            parts = self._parts
            assert parts.tools is not None
            return await walk_plan(
                self.spec,
                envelope,
                ctx,
                parts.tools,
                parts.sending,
                parts.answers,
                parts.turn_parts,
            )
        return await self._serve(envelope, ctx)

    async def _think(self, envelope: Envelope, ctx: StageContext) -> ServiceResult:
        assert self._parts.brain is not None
        choices = await self._choices(envelope)
        inputs = facts_for_texts(envelope, {}) | {
            "tone": self._tone(envelope),
            "choices": list(choices.choices),
        }
        task = self._task.changed(
            run_id=ctx.run_id,
            text=envelope.raw_input,
            sender_name=_named(envelope),
            inputs=inputs,
            choices=choices.choices,
            tools=self._plannable(),
            prompt=self._prompt(inputs),
            model_role=self._model_role(envelope),
            without_model=ctx.goes_on_without_model,
        )
        answer = await self._parts.brain.answer(task)
        answered = answer.answered
        if choices.eligible is not None:
            answered = answered | {ELIGIBLE: choices.eligible}
        return ServiceResult(output=answer.data, answered=answered)

    async def _choices(self, envelope: Envelope) -> StageChoices:
        if self._parts.intents is None:
            return StageChoices(self.spec.choices)
        return await self._parts.intents.choices_of(self.spec, envelope.message)

    def _model_role(self, envelope: Envelope) -> str | None:
        """The stage's model, else that of the message's intent."""
        intents = self._parts.intents
        if self.spec.model_role is not None or intents is None or not intents.registry.has_models:
            return self.spec.model_role
        return intents.model_for(Understanding.of(envelope).topic)

    def _plannable(self) -> tuple[dict[str, Any], ...]:
        """The tools that this stage's plan may call."""
        if not self.spec.plans_with or self._parts.tool_specs is None:
            return ()
        return tuple(self._parts.tool_specs(self.spec.plans_with))

    def _prompt(self, inputs: Mapping[str, Any]) -> str | None:
        if self.spec.prompt_key is None:
            return None
        assert self._parts.prompts is not None
        context = {**inputs, ARTICLES: ARTICLES_HERE}
        return self._parts.prompts.render(self.spec.prompt_key, context)

    async def _serve(self, envelope: Envelope, ctx: StageContext) -> ServiceResult:
        if self.spec.service is None:
            return ServiceResult()
        service = (self._parts.services or {})[self.spec.service]
        given = own_copy(envelope) if may_change(service) else envelope
        return self._result(await service(given, ctx, self.spec.settings))

    def _result(self, made: Any) -> ServiceResult:
        if isinstance(made, ServiceResult):
            self._check_end(made)
            return made
        if made is not None and not isinstance(made, dict):
            raise PermanentError(
                f"stage {self.spec.name!r} gave {type(made).__name__}; return a dict of fields or a"
                " ServiceResult"
            )
        return ServiceResult().changed(output=made or {})

    def _check_end(self, made: ServiceResult) -> None:
        """Before it is recorded: a row with such a word in it would fail every retry."""
        stage = f"stage {self.spec.name!r}"
        if made.status is not None and made.status not in ENDINGS:
            endings = ", ".join(ENDINGS)
            raise PermanentError(
                f"{stage}: {made.status!r} is not a valid end of a run; one of {endings}"
            )
        if made.status == RunStatus.NEEDS_REVIEW and made.outcome is not Outcome.TERMINATE:
            raise PermanentError(
                f"{stage} hands the run over and goes on; use the outcome `terminate` with it"
            )

    # --- around them

    def _tone(self, envelope: Envelope) -> str | None:
        """The tone for the message's topic, as earlier stages found it."""
        if not self.spec.tone:
            return None
        topic = Understanding.of(envelope).topic_in(self.spec.tone)
        return self.spec.tone.get(topic or "else")

    def _with_reply(
        self, envelope: Envelope, output: dict[str, Any], made: ServiceResult
    ) -> Envelope:
        """Make a draft, or an agent's last words, the run's reply, and note who wrote it."""
        by = AGENT if self._profile is not None else str((made.answered or {}).get("brain", MOCK))
        if is_model(by) and self.spec.task not in WORDLESS:
            envelope = envelope.with_metadata(**{BY_MODEL: True})
        if made.draft is not None:
            output = made.draft
        is_draft = self.spec.task == TaskKind.DRAFT or made.draft is not None
        drafted = str(output["text"]) if is_draft else None
        text = answer_in(output) if self._profile is not None else drafted
        if text is None or envelope.message is None:
            return envelope
        return with_reply(envelope, text, output, by).with_metadata(drafted_by=self.spec.name)

    async def _ask_customer(
        self, envelope: Envelope, result: StageResult, ctx: StageContext
    ) -> tuple[StageResult, Envelope]:
        """The question really goes out, once, before the run waits for its answer; or something
        keeps it."""
        if result.ask is None or not result.ask.text.strip():
            raise PermanentError(
                f"stage {self.spec.name!r} wants to ask the customer, but nothing; write `ask:`"
                " beside `clarify`"
            )
        if self._parts.tools is None or envelope.message is None:
            return result, envelope
        reply = Reply.to_message(envelope.message, result.ask.text).model_dump(mode="json")
        gate = self._parts.tools

        async def send() -> StageResult | Held:
            answer = await gate.call(DELIVER, reply, allowed=(DELIVER,), ctx=ctx, index=ASK_CALL)
            if answer.verdict == "hold":
                return Held(answer, ctx.effect_key(ASK_CALL))
            if not answer.result.ok:
                raise RetryableError(
                    f"the question could not be sent: {answer.result.for_model()['error']}"
                )
            return StageResult(call=answer.record(), delta=Delta(outputs={REPLY: reply}))

        kept = (
            await self._parts.sending.keeps_question(envelope, result.ask.text)
            if self._parts.sending
            else None
        )
        if kept is not None:
            return _without_asking(result, kept), envelope
        sent = await ctx.step("ask", send)
        if isinstance(sent, Held):
            return self._router.route(held_result(sent, self.spec.name), envelope), envelope
        return result, envelope.with_output(REPLY, reply)

    async def _hook(self, hook: Any, envelope: Envelope, output_key: str | None = None) -> Envelope:
        """Run a hook on its own copy: what it changes in place is found, like what it returns,
        and lands in the row."""
        if hook is None:
            return envelope
        given = own_copy(envelope)
        changed = hook(given) if output_key is None else hook(given, given.outputs[output_key])
        changed = await changed if inspect.isawaitable(changed) else changed
        name = getattr(getattr(hook, "function", hook), "__name__", type(hook).__name__)
        if not isinstance(changed, Envelope):
            raise PermanentError(
                f"hook {name!r} of {self.spec.name!r} returned {type(changed).__name__}; return the"
                " envelope",
                ErrorCode.HOOK_FAILED,
            )
        if (changed.run_id, changed.message) != (envelope.run_id, envelope.message):
            raise PermanentError(
                f"hook {name!r} of {self.spec.name!r} returned another run's envelope; return a"
                " copy of its own",
                ErrorCode.HOOK_FAILED,
            )
        return changed

    def _profile_stage(self) -> ProfileStage | None:
        parts = self._parts
        if self.spec.profile is None:
            return None
        if parts.agents is None or parts.tools is None:
            raise ConfigError(
                f"agent {self.spec.name!r} has a profile but was given no model or no gate",
                fix="pass Parts(agents=Agents(...), tools=Gate(...))",
            )
        return ProfileStage(
            self.spec, parts.agents, parts.tools, parts.prompts, parts.events, parts.sending
        )

    def _completed(
        self,
        ctx: StageContext,
        status: str,
        begun: float,
        error: str | None,
        *,
        is_told: bool = False,
    ) -> None:
        took = (time.perf_counter() - begun) * 1000
        if self._parts.events is not None:
            self._emit(AgentCompleted(ctx.run_id, self.spec.name, status, took, time.time(), error))
        if error is not None:
            self._log.log(
                logging.INFO if is_told else logging.WARNING,
                "%s failed: %s",
                self.spec.name,
                error,
                extra={"run_id": ctx.run_id, "duration_ms": took},
            )
        elif self._log.isEnabledFor(logging.INFO):
            self._log.info(
                "%s: %s", self.spec.name, status, extra={"run_id": ctx.run_id, "duration_ms": took}
            )

    def _emit(self, event: AgentStarted | AgentCompleted) -> None:
        """A sink is for watching: its failure is logged, and the run goes on."""
        assert self._parts.events is not None
        try:
            self._parts.events.emit(event)
        except Exception:
            self._log.exception("the event sink failed", extra={"run_id": event.run_id})


def _named(envelope: Envelope) -> str:
    return "" if envelope.message is None else envelope.message.named


def _checked(spec: AgentSpec) -> AgentSpec:
    try:
        return AgentSpec.model_validate(dict(spec))
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"]) or "spec"
        raise ConfigError(
            f"agent spec, {where}: {first['msg']}", fix="see AgentSpec for the fields"
        ) from None


def _without_asking(result: StageResult, kept: KeptQuestion) -> StageResult:
    """The run ends instead of asking the customer; a person may ask."""
    ask = Ask(
        kind=ReviewKind.HAND_OVER,
        reason=kept.reason,
        causes=(kept.cause,),
        payload={"mode": kept.mode},
    )
    return result.changed(
        outcome=Outcome.TERMINATE, status=kept.status, reason=kept.reason, ask=ask
    )
