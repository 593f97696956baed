"""The tool loop: a model is asked, its calls pass the gate, and it is asked again until it has said
its last word.

Each turn is a durable step before any of its calls runs, and so is each call: after a crash the
loop goes on where its rows end, without asking the model again for what it has said.
"""

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from typing import Any

from deskhand.agents.calling import Called, called, effect_index, not_made, side_by_side
from deskhand.agents.loop_end import end_at_limit, ends_loop, failed, last_word
from deskhand.agents.standalone import Standalone
from deskhand.agents.transcript import RESULTS, TURNS, Transcript, turn_of
from deskhand.agents.turn_request import SHARES, Brief, TurnRequest, heard_from_customer
from deskhand.agents.window import tools_length
from deskhand.errors import ContextTooLong, PermanentError, RetryableError
from deskhand.model.chat import ChatRequest, Completion, Origin
from deskhand.model.codes import ErrorCode
from deskhand.model.envelope import Delta, Envelope, StageResult
from deskhand.model.events import (
    LoopEnded,
    LoopEvent,
    TextDelta,
    TextDropped,
    ToolAnswered,
    ToolAsked,
    ToolJudged,
    TurnBegun,
)
from deskhand.model.loop import AgentResult
from deskhand.model.profile import ProfileSpec
from deskhand.ports import ChatModel, Held, Sink, StageContext, ToolGate
from deskhand.tools.registry import Tool

log = logging.getLogger("deskhand.loop")

SIDE_BY_SIDE = 8
"""Reads of one turn that run at the same time."""


@dataclass(slots=True)
class _Work:
    """One round of the loop in one run."""

    brief: Brief
    ctx: StageContext
    talk: Transcript
    tell: Callable[[LoopEvent], None]
    allowed: tuple[str, ...]
    specs: tuple[dict[str, Any], ...]
    heard: tuple[str, ...] = ()


class AgentLoop:
    """A profile at work. Stages of a run use `work`; `run` and `stream` use it by itself."""

    def __init__(
        self,
        profile: ProfileSpec,
        chat: ChatModel,
        gate: ToolGate,
        tools: Iterable[Tool],
        *,
        stage: str = "agent",
        output_key: str = "agent",
        events: Sink | None = None,
        streams: bool = False,
    ) -> None:
        """`streams` asks for the model's text piece by piece, for somebody who watches."""
        self.profile = profile
        self._chat, self._gate = chat, gate
        self._tools = {tool.name: tool for tool in tools if tool.name in profile.tools}
        self._stage, self._key = stage, output_key
        self._events, self._streams = events, streams
        self._specs = {
            name: self._tools[name].spec for name in profile.tools if name in self._tools
        }
        self._tools_length = tools_length(list(self._specs.values()))

    # --- by itself

    async def run(
        self, text: str, ctx: StageContext | None = None, *, system: str | None = None
    ) -> AgentResult:
        """Work one text to its end. A call that a person would have to decide on is not made,
        and the model is told."""
        own = ctx or Standalone(Envelope(raw_input=text))
        brief = Brief(
            system=self.profile.system_prompt if system is None else system,
            heard=(heard_from_customer(text),),
        )
        while True:
            ended = await self.work(brief, own)
            if isinstance(ended, AgentResult):
                return ended
            await self._tell_of_hold(ended, own)

    async def stream(
        self, text: str, ctx: StageContext | None = None, *, system: str | None = None
    ) -> AsyncIterator[LoopEvent]:
        """The same, telling what happens as it happens; the last event is how it ended."""
        events: asyncio.Queue[LoopEvent] = asyncio.Queue()
        watched = AgentLoop(
            self.profile,
            self._chat,
            self._gate,
            self._tools.values(),
            stage=self._stage,
            output_key=self._key,
            events=_Queued(events),
            streams=True,
        )
        work = asyncio.create_task(watched.run(text, ctx, system=system))
        try:
            while not (work.done() and events.empty()):
                waiting = asyncio.ensure_future(events.get())
                await asyncio.wait({work, waiting}, return_when=asyncio.FIRST_COMPLETED)
                if waiting.done():
                    yield waiting.result()
                else:
                    waiting.cancel()
            work.result()
        finally:
            work.cancel()

    # --- in a run

    async def work(self, brief: Brief, ctx: StageContext) -> AgentResult | Held:
        """Go on where the run's rows end, up to the end of the loop or to a call that a person
        decides on."""
        talk = Transcript.of(ctx.envelope.output(self._key))
        if talk.closed and (brief.heard or not (talk.said_last_word or talk.stopped)):
            talk.before = talk.iterations
        elif talk.turns:
            brief = replace(brief, heard=())
        allowed = [name for name in self.profile.tools if name not in brief.without]
        offered = [spec for name, spec in self._specs.items() if name not in brief.without]
        work = _Work(
            brief,
            ctx,
            talk,
            partial(self._emit, ctx.run_id),
            tuple(allowed),
            tuple(offered),
            brief.heard,
        )
        ended = await self._rounds(work)
        status, error = ("held", None) if isinstance(ended, Held) else (ended.status, ended.error)
        work.tell(LoopEnded(ctx.run_id, self._stage, status, talk.iterations, time.time(), error))
        return ended

    async def _rounds(self, work: _Work) -> AgentResult | Held:
        talk = work.talk
        while True:
            if talk.open_calls:
                held = await self._answer_calls(work)
                if held is not None:
                    return held
            if not work.heard and (talk.said_last_word or talk.stopped):
                return last_word(self.profile, talk)
            limited = end_at_limit(self.profile, talk)
            if limited is not None:
                return limited
            try:
                await self._ask(work)
            except (RetryableError, PermanentError) as error:
                if not ends_loop(error):
                    raise
                return failed(talk, error)

    # --- one turn

    async def _ask(self, work: _Work) -> None:
        talk, iteration = work.talk, work.talk.iterations + 1
        work.tell(TurnBegun(work.ctx.run_id, self._stage, iteration, time.time()))
        request = self._request(work)

        async def ask() -> StageResult:
            completion, trimmed = await self._fitting(request, work, iteration)
            turn = turn_of(completion, iteration, work.heard, trimmed)
            answered: dict[str, Any] = {
                "brain": "agent",
                "profile": self.profile.name,
                "model": completion.model,
            }
            if completion.usage.cost:
                answered["cost"] = completion.usage.cost
            return StageResult(delta=self._adding(work.ctx, TURNS, turn), answered=answered)

        result = await work.ctx.step(f"turn {iteration}", ask)
        talk.add_turn(_added(result, self._key, TURNS))
        work.heard = ()

    def _request(self, work: _Work) -> TurnRequest:
        return TurnRequest(
            self.profile,
            work.brief,
            work.talk,
            work.heard,
            work.specs,
            self._tools_length,
            Origin(run_id=work.ctx.run_id, stage=self._stage, call_type="agent"),
        )

    async def _fitting(
        self, asked: TurnRequest, work: _Work, iteration: int
    ) -> tuple[Completion, list[dict[str, Any]]]:
        """The model's answer, and what of the conversation was shortened to get it."""
        request, trimmed = asked.within(SHARES[0])
        tries = 0
        while True:
            tries += 1
            try:
                return await self._complete(request, work, iteration), trimmed
            except ContextTooLong as error:
                shorter = asked.shorter(tries)
                if shorter is None:
                    raise
                log.warning("%s", error, extra={"run_id": work.ctx.run_id})
                request, trimmed = shorter

    async def _complete(self, request: ChatRequest, work: _Work, iteration: int) -> Completion:
        if not self._streams:
            return await self._chat.complete(request)
        chunks = self._chat.stream(request)
        whole: Completion | None = None
        try:
            async for chunk in chunks:
                if chunk.begins_anew:
                    work.tell(TextDropped(work.ctx.run_id, self._stage, iteration))
                if chunk.text:
                    work.tell(TextDelta(work.ctx.run_id, self._stage, iteration, chunk.text))
                whole = chunk.completion or whole
        finally:
            if isinstance(chunks, AsyncGenerator):
                await chunks.aclose()
        if whole is None:
            raise RetryableError("the model's answer broke off", ErrorCode.MODEL_UNAVAILABLE)
        return whole

    # --- its calls

    async def _answer_calls(self, work: _Work) -> Held | None:
        """Reads that stand together run side by side; effects one after the other, each after
        what stands before it."""
        iteration = work.talk.iterations
        for alone, group in groupby(
            work.talk.open_calls,
            key=lambda place_and_call: self._changes(place_and_call[1]["tool"]),
        ):
            calls = list(group)
            size = 1 if alone else SIDE_BY_SIDE
            for begin in range(0, len(calls), size):
                held = await self._together(work, iteration, calls[begin : begin + size])
                if held is not None:
                    return held
                if work.talk.stopped:
                    self._leave_the_rest(work)
                    return None
        return None

    def _leave_the_rest(self, work: _Work) -> None:
        for place, call in work.talk.open_calls:
            result = not_made(call, work.talk.iterations)
            added = StageResult(delta=self._adding(work.ctx, RESULTS, result))
            work.ctx.note(f"{work.talk.iterations}.{place + 1} {call['tool']}", added)
            work.talk.add_result(result)

    async def _together(
        self, work: _Work, iteration: int, calls: Sequence[tuple[int, dict[str, Any]]]
    ) -> Held | None:
        ctx = work.ctx

        async def judged(place: int, call: dict[str, Any]) -> Called:
            work.tell(
                ToolAsked(ctx.run_id, self._stage, iteration, call["tool"], call["arguments"])
            )
            index = effect_index(iteration, place)
            return await called(self._gate, call, iteration, index, work.allowed, ctx)

        if len(calls) == 1:
            made = [await judged(*calls[0])]
        else:
            made = await side_by_side([judged(place, call) for place, call in calls])
        for (place, _), called_tool in zip(calls, made, strict=True):
            answer = called_tool.answer
            work.tell(
                ToolJudged(
                    ctx.run_id,
                    self._stage,
                    iteration,
                    called_tool.tool,
                    answer.verdict,
                    answer.rule,
                    answer.reason,
                )
            )
            if answer.verdict == "hold":
                return Held(answer, ctx.effect_key(effect_index(iteration, place)))
            called_tool.raise_if_unknown()
            await self._record(work, f"{iteration}.{place + 1} {called_tool.tool}", called_tool)
        return None

    async def _record(self, work: _Work, name: str, judged: Called) -> None:
        """Record what came of a call. It is written with the next turn, unless somebody watches:
        done again, a read reads, and the ledger tells of an effect."""
        made = StageResult(call=judged.record, delta=self._adding(work.ctx, RESULTS, judged.result))
        if self._streams:
            result = await work.ctx.step(name, partial(_given, made))
        else:
            result = work.ctx.note(name, made, judged.answer.latency_ms)
        work.talk.add_result(_added(result, self._key, RESULTS))
        result_of_tool = judged.answer.result
        work.tell(
            ToolAnswered(
                work.ctx.run_id,
                self._stage,
                judged.iteration,
                judged.tool,
                result_of_tool.ok,
                result_of_tool.for_model(),
            )
        )

    def _changes(self, tool: str) -> bool:
        offered = self._tools.get(tool)
        return offered is not None and offered.changes_something

    async def _tell_of_hold(self, held: Held, ctx: StageContext) -> None:
        """Where nobody can be asked: the held call is recorded as one that did not happen."""
        talk = Transcript.of(ctx.envelope.output(self._key))
        place, call = talk.open_calls[0]
        not_made_call = Called(call["tool"], talk.iterations, held.answer, call)
        await ctx.step(
            f"{talk.iterations}.{place + 1} {not_made_call.tool}",
            partial(
                _given,
                StageResult(
                    call=not_made_call.record,
                    delta=self._adding(ctx, RESULTS, not_made_call.result),
                ),
            ),
        )

    # --- small things

    def _adding(self, ctx: StageContext, what: str, item: dict[str, Any]) -> Delta:
        """`results` is there from the first row on, and never written by the model: the gate
        goes by it."""
        output = ctx.envelope.output(self._key)
        if isinstance(output, dict) and isinstance(output.get(TURNS), list):
            return _NOTHING.changed(append={f"{self._key}.{what}": [item]})
        return Delta(outputs={self._key: {TURNS: [item], RESULTS: []}})

    def _emit(self, run_id: str, event: LoopEvent) -> None:
        """A sink is for watching: its failure is logged, and the run goes on."""
        if self._events is None:
            return
        try:
            self._events.emit(event)
        except Exception:
            log.exception("the event sink failed", extra={"run_id": run_id})


_NOTHING = Delta()


class _Queued:
    def __init__(self, events_told: "asyncio.Queue[LoopEvent]") -> None:
        self._told = events_told

    def emit(self, event: Any) -> None:
        self._told.put_nowait(event)


async def _given(result: StageResult) -> StageResult:
    return result


def _added(result: StageResult, key: str, what: str) -> dict[str, Any]:
    """The item as its row has it."""
    whole = result.delta.outputs.get(key)
    items: list[dict[str, Any]] = (
        whole[what] if whole is not None else result.delta.append[f"{key}.{what}"]
    )
    return items[-1]
