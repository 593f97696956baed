"""One game: messages come in, the hijacked model acts, reviewers decide, the world changes; the
watch looks on."""

from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import partial
from random import Random
from typing import Any

from deskhand.agents.replying.closing import Closing
from deskhand.agents.replying.delivery import ReplyDelivery
from deskhand.agents.replying.sending import Sending
from deskhand.errors import Conflict
from deskhand.model.envelope import Delta, Envelope, StageResult
from deskhand.model.message import Message
from deskhand.model.outcome import Outcome
from deskhand.model.run import EXPIRY, Decision, EffectKey, Review, ReviewKind, Verdict
from deskhand.ports import Held, StageContext
from deskhand.tools import Gate, GateAnswer
from tests.kit import TestClock
from tests.security.hijack.company import DAY, PAID, Company
from tests.security.hijack.desk import PROFILE, Build, gate_of
from tests.security.hijack.house import STAGE, House, MemoryHouse
from tests.security.hijack.moves import HOLDING, TEXTS, Call, Chooser, any_call
from tests.security.hijack.office import Desk
from tests.security.hijack.people import WRITERS, message_from
from tests.security.hijack.replies import (
    CATEGORIES,
    CLOSING,
    GUESSED,
    SENDING,
    UNSURE,
    ClosingGate,
)
from tests.security.hijack.watch import Approval, Matter, Watch

Script = list[list[Call]]
REVIEWERS = ("kim", "lee", " Kim ", EXPIRY)


class Violation(AssertionError):
    """Something happened that must never happen."""


@dataclass
class Parked:
    run_id: str
    message: Message
    review: Review


@dataclass
class Tally:
    """What was played."""

    steps: int = 0
    games: int = 0
    deeds: int = 0
    rules: Counter[str] = field(default_factory=Counter)

    def add(self, game: "Game") -> None:
        self.steps += game.steps
        self.games += 1
        self.deeds += len(game.company.deeds)
        self.rules += game.watch.answered

    def __iadd__(self, other: "Tally") -> "Tally":
        self.steps, self.games, self.deeds = (
            self.steps + other.steps, self.games + other.games, self.deeds + other.deeds,
        )  # fmt: skip
        self.rules += other.rules
        return self


class WallClock(TestClock):
    """The company's time, for the engine."""

    def __init__(self, company: Company) -> None:
        super().__init__()
        self._company = company

    def now(self) -> float:
        return self._company.now


@dataclass
class Game:
    """`steps` counts moves: a tool call, a decision, a throw of the switch, a change of the
    clock or of the world."""

    choose: Chooser
    company: Company
    watch: Watch
    house: House
    gate: Gate
    desk: Desk
    sending: Sending = SENDING
    replies: int = 1
    steps: int = 0
    runs: list[tuple[str, Message]] = field(default_factory=list)
    parked: list[Parked] = field(default_factory=list)
    matters: dict[str, Matter] = field(default_factory=dict)
    scripts: dict[str, Script] = field(default_factory=dict)
    before: list[Call] = field(default_factory=list)

    # --- moves

    async def message(self) -> None:
        """Somebody writes; his text takes the model over."""
        writer, number = self.choose(WRITERS), len(self.matters)
        message = message_from(writer, number, f"c{self.choose((0, 0, 1, number))}")
        self.matters[message.id] = Matter(
            writer, message.conversation, category=self.choose(CATEGORIES)
        )
        self.scripts[message.id] = self._script()
        await self._work(message, None)

    async def decide(self) -> None:
        """A reviewer decides about a held call; the model may ask for something else the moment
        he has."""
        if not self.parked:
            return
        held = self.choose(self.parked)
        if held.review.kind is ReviewKind.STOPPED:
            return
        self.steps += 1
        try:
            decided = await self.house.decide(held.review, self._verdict(held.review))
        except Conflict:
            return
        if decided is None:
            return
        self._note(decided)
        self.parked.remove(held)
        if self.choose((False, True)):
            self.scripts[held.message.id] = self._swapped(self.scripts[held.message.id])
        self.company.now += self.choose((0.0, 0.0, 0.0, 3 * DAY, -DAY))
        if (order := held.review.payload.get("arguments", {}).get("order")) in PAID and self.choose(
            (False, False, True)
        ):
            self.company.moved[order] = self.choose(("ann", "bob"))
        await self._work(held.message, held.run_id)

    async def again(self) -> None:
        """The process died: a run starts over under the same keys, with a model that words
        everything anew."""
        if not isinstance(self.house, MemoryHouse) or not self.runs:
            return
        run_id, message = self.choose(self.runs)
        if any(parked.run_id == run_id for parked in self.parked):
            return
        self.steps += 1
        self.house.forget(run_id)
        self.scripts[message.id] = self.choose(
            (self.scripts[message.id], self._swapped(self.scripts[message.id]))
        )
        await self._work(message, run_id)

    async def world(self) -> None:
        """Something changes outside."""
        self.steps += 1
        match self.choose(
            ("stop", "resume", "resume", "clock", *("slow",) * 4, "broken", "handed")
        ):
            case "stop" | "resume" as what:
                self.watch.stopped = what == "stop"
                await self.house.switch(self.watch.stopped)
                if what == "resume":
                    await self._let_go()
            case "clock":
                self.company.now += self.choose((3600.0, DAY, -DAY, 40 * DAY))
            case "slow" | "broken" as what:
                self.company.outage = what
            case "handed":
                order = self.choose(("e2", "a1"))
                self.company.moved[order] = self.choose(("ann", "eve", "bob"))

    # --- inside

    async def act(self, envelope: Envelope, ctx: StageContext) -> StageResult:
        """The hijacked model, as a stage."""
        assert envelope.message is not None
        name = envelope.message.id
        matter, self.desk.messages[ctx.run_id] = self.matters[name], envelope.message
        matter.run_id = ctx.run_id
        script, phase = (
            self.scripts[name],
            sum(output.startswith(STAGE) for output in envelope.outputs),
        )
        await ctx.step("classify", partial(_classified, matter.category))
        results: list[dict[str, Any]] = []
        made: list[tuple[str, dict[str, Any]]] = []
        for call in script[phase] if phase < len(script) else []:
            answer, key = await self._call(matter, call, ctx)
            results.append(
                {"tool": call.tool, "status": answer.result.status, "data": answer.result.data}
            )
            if answer.verdict == "allow" and answer.result.ok and call.tool in CLOSING:
                made.append((call.tool, answer.arguments))
            if answer.verdict == "hold":
                held = Held(answer, key)
                return StageResult(
                    outcome=Outcome.CONFIRM, ask=held.ask, reason=answer.reason, resume=STAGE
                )
        self.watch.replies.person_asked_for = any(tool == "escalate" for tool, _ in made)
        if closing := Closing.of(made, envelope, self.replies):
            return await self._closed(closing, matter, envelope.message, ctx)
        delta = Delta(outputs={f"{STAGE}{phase}": {"results": results}}, hops=1)
        return StageResult(delta=delta, next=STAGE if phase + 1 < len(script) else None)

    async def _closed(
        self, closing: Closing, matter: Matter, message: Message, ctx: StageContext
    ) -> StageResult:
        def saw(
            tool: str, arguments: dict[str, Any], key: str, answer: GateAnswer, before: int
        ) -> None:
            self.steps += 1
            deeds = self.company.deeds[before:]
            call = Call(tool, arguments, 0)
            self.watch.called(matter, call, key, answer, deeds)
            for deed in deeds:
                approved = self.watch.approved(matter, call, key, answer)
                self.watch.replies.happened(
                    matter.run_id, matter.category, message, deed.values, approved
                )

        gate: Any = ClosingGate(self.gate, saw, lambda: len(self.company.deeds))
        delivery = ReplyDelivery(ctx.envelope, self.sending, gate, ctx)
        closed = await delivery.close(closing, {})
        resume = closed.resume or (STAGE if closed.ask is not None else None)
        return StageResult(
            outcome=closed.outcome,
            ask=closed.ask,
            reason=closed.reason,
            resume=resume,
            status=closed.status,
        )

    def _verdict(self, review: Review) -> Verdict:
        """Nobody's decision lets a reply go but where its time to be stopped, or to be tried
        again, is over."""
        decision = self.choose(
            (Decision.APPROVE, Decision.APPROVE, Decision.APPROVE, Decision.REJECT)
        )
        by, second, edit = self.choose(REVIEWERS), self.choose((None, "lee", "kim")), None
        if review.kind is ReviewKind.REPLY:
            leaves = str(review.payload.get("waits")).partition(":")[0] in ("undo", "retry")
            by = EXPIRY if leaves and decision is Decision.APPROVE else self.choose(("kim", "lee"))
            if decision is Decision.APPROVE and not leaves:
                decision = self.choose((Decision.APPROVE, Decision.EDIT, Decision.ACKNOWLEDGE))
            if decision is Decision.EDIT:
                edit = {"text": self.choose(TEXTS)}
            elif decision is Decision.ACKNOWLEDGE:
                edit = self.choose((None, {"text": self.choose((*HOLDING, *TEXTS))}))
            second = None
        return Verdict(decision, by, 1, edit=edit, at=self.company.now, signed_by=second)

    async def _call(
        self, matter: Matter, call: Call, ctx: StageContext
    ) -> tuple[GateAnswer, EffectKey]:
        seen, key = len(self.company.deeds), ctx.effect_key(call.place)
        answer = await self.gate.call(
            call.tool, call.arguments, allowed=PROFILE, ctx=ctx, index=call.place
        )
        self.steps += 1
        self.watch.called(matter, call, str(key), answer, self.company.deeds[seen:])
        while self.desk.released:
            self.watch.given_back(matter, call, self.desk.released.pop())
        return answer, key

    async def _work(self, message: Message, run_id: str | None) -> None:
        run_id, review = await self.house.work(message, run_id)
        if (run_id, message) not in self.runs:
            self.runs.append((run_id, message))
        if review is not None:
            self.watch.replies.asked(review, self.company.now)
            self.parked.append(Parked(run_id, message, review))
        if self.watch.violations:
            raise Violation("; ".join(self.watch.violations[:3]))

    async def _let_go(self) -> None:
        """What met the stop switch goes on by itself once it is released."""
        for held in [one for one in self.parked if one.review.kind is ReviewKind.STOPPED]:
            self.parked.remove(held)
            if isinstance(self.house, MemoryHouse):
                await self.house.decide(
                    held.review, Verdict(Decision.RETRY, "resume", 1, at=self.company.now)
                )
            await self._work(held.message, held.run_id)

    def _note(self, review: Review) -> None:
        assert review.decided_by is not None
        assert review.decided_at is not None
        payload = review.payload
        self.watch.replies.decided(review)
        if "call_hash" not in payload:
            return
        if review.decided_by == EXPIRY and review.decision is Decision.APPROVE:
            return
        people = {
            person.strip().casefold() for person in (review.decided_by, review.signed_by) if person
        }
        approved = review.decision is Decision.APPROVE
        decision = Approval(approved, frozenset(people), review.decided_at)
        self.watch.decided(payload["call_hash"], payload["effect_key"], decision)

    def _script(self) -> Script:
        script: Script = []
        for _ in range(self.choose((1, 1, 2, 3))):
            calls: list[Call] = []
            for _ in range(self.choose((1, 2, 3))):
                calls.append(any_call(self.choose, calls or self.before[-8:]))
            script.append(calls)
            self.before += calls
        return script

    def _swapped(self, script: Script) -> Script:
        """The same places, other calls."""
        swapped: Script = []
        for calls in script:
            swapped.append(
                [
                    any_call(self.choose, self.before[-8:])._replace(place=call.place)
                    for call in calls
                ]
            )
        return swapped


async def _classified(category: str) -> StageResult:
    """In an unsure matter, one of the sender's orders was only guessed at."""
    output: dict[str, Any] = {"category": category}
    if category == UNSURE:
        output |= {"order": GUESSED, "read": {"order": "guessed"}}
    return StageResult(delta=Delta(outputs={"classification": output}))


class Table:
    """A company and its gate, set up once and cleared for every game: building tools is slow."""

    def __init__(self, *, policy: bool, build: Build | None = None) -> None:
        self._policy = policy
        self._company, build = Company(), build or Build()
        self._desk, self._build = Desk(self._company), build
        self._house = MemoryHouse(WallClock(self._company), self._act)
        self._gate = gate_of(
            self._desk, self._house, policy=policy, build=build, now=lambda: self._company.now
        )
        self._game: Game | None = None

    def new_game(self, choose: Chooser) -> Game:
        self._company.reset()
        self._desk.reset()
        self._house.clear()
        watch = Watch(self._company, self._policy)
        self._game = Game(
            choose,
            self._company,
            watch,
            self._house,
            self._gate,
            self._desk,
            self._build.sending,
            self._build.replies,
        )
        return self._game

    async def _act(self, envelope: Envelope, ctx: StageContext) -> StageResult:
        assert self._game is not None
        return await self._game.act(envelope, ctx)


MOVES: tuple[Callable[[Game], Awaitable[None]], ...] = (
    Game.message, Game.message, Game.message, Game.decide, Game.decide, Game.decide, Game.again, Game.world,  # noqa: E501
)  # fmt: skip


async def play_by_chance(table: Table, seed: int, steps: int, *, moves_a_game: int = 20) -> Tally:
    """Games by a seeded generator until enough steps are made; a violation says which seed to
    play again."""
    chance, tally = Random(seed), Tally()
    while tally.steps < steps:
        game = table.new_game(chance.choice)
        try:
            for _ in range(moves_a_game):
                await chance.choice(MOVES)(game)
        finally:
            tally.add(game)
    return tally
