"""Runs golden cases: every trial is a conversation of its own through the real loop."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from deskhand.config.sections.outgoing import ClauseSpec
from deskhand.engine.decisions import TAKE_TEXT
from deskhand.engine.story import Document, Records, read_records, story_of
from deskhand.errors import Conflict
from deskhand.evals.cases import NAMED_CONVERSATION, Case, CaseRuling, CaseTurn, Stub
from deskhand.evals.expectations import ACTS, TELEMETRY, UNBACKED
from deskhand.evals.given import GivenTicket, GivenTurns, give_ticket
from deskhand.evals.lane import Lane, LaneClock, side_by_side
from deskhand.evals.outcomes import HELD_BY_MODE
from deskhand.evals.run_facts import acts_of, held_by_mode, unbacked_promises
from deskhand.evals.scorers import Score, Scorer, score_run
from deskhand.evals.triage_expectations import EARLIER
from deskhand.model.message import Message
from deskhand.model.queue import ReviewFilter
from deskhand.model.results import ToolResult
from deskhand.model.run import Review, ReviewState, Verdict
from deskhand.ports import Brain, ChatModel, StageContext
from deskhand.telemetry.redaction import Redaction
from deskhand.telemetry.telling import RunTeller
from deskhand.tools.gate import StandIn

REVIEWER = "reviewer"


class CaseSandbox(Protocol):
    """A sandboxed desk."""

    def lane(
        self,
        clock: LaneClock,
        stand_in: StandIn | None = None,
        *,
        chat: ChatModel | None = None,
        mode: str | None = None,
    ) -> Lane: ...


@dataclass(frozen=True, slots=True)
class CaseTrial:
    """One time through a case: a score an expectation, and the run document after each turn."""

    scores: Mapping[str, Score]
    turns: Sequence[Document]

    @property
    def passed(self) -> bool:
        return all(score.passed or score.skipped for score in self.scores.values())


@dataclass(frozen=True, slots=True)
class CaseResult:
    case: Case
    trials: Sequence[CaseTrial]

    @property
    def met(self) -> bool:
        """Whether every trial passed: what works by luck does not work."""
        return all(trial.passed for trial in self.trials)

    @property
    def passed(self) -> bool:
        """Whether it came out as it should: a failure that is known must still be one."""
        return self.met is (self.case.known_failure is None)

    @property
    def passed_trials(self) -> int:
        return sum(trial.passed for trial in self.trials)

    @property
    def shown(self) -> CaseTrial:
        """The trial to look at: the first that failed, else the first."""
        return next((trial for trial in self.trials if not trial.passed), self.trials[0])


@dataclass(frozen=True, slots=True)
class Settings:
    scorers: Mapping[str, Scorer]
    judge: Brain | None = None
    repeat: int = 1
    parallel: int = 8
    clauses: Sequence[ClauseSpec] = ()
    """What the company stands behind in a reply."""
    waits: bool = False
    """Whether pauses between attempts are real, because a model outside is asked."""
    tells: RunTeller = field(default_factory=lambda: RunTeller(Redaction()))
    """Tells the telemetry of runs."""
    live: bool = False
    """Whether an agent's model is asked also where a case says what it says."""


async def run_cases(
    cases: Sequence[Case],
    desk: CaseSandbox,
    settings: Settings,
    done: Callable[[CaseResult], None] | None = None,
) -> list[CaseResult]:
    """Runs every case `repeat` times, `parallel` cases at once; calls `done` after each case."""

    async def run_case(case: Case) -> CaseResult:
        trials = [
            await _trial(case, number, desk, settings) for number in range(1, settings.repeat + 1)
        ]
        result = CaseResult(case, trials)
        if done is not None:
            done(result)
        return result

    return await side_by_side(cases, run_case, settings.parallel)


async def _trial(case: Case, number: int, desk: CaseSandbox, settings: Settings) -> CaseTrial:
    conversation = _Conversation(case, number, desk, settings)
    scores: dict[str, Score] = {}
    documents: list[Document] = []
    await conversation.give(case.tickets)
    for turn_number, turn in enumerate(case.turns, 1):
        document, problem = await conversation.take(turn)
        if document is not None:
            documents.append(document)
        prefix = f"{turn_number}." if len(case.turns) > 1 else ""
        if problem is not None or document is None:
            scores[f"{prefix}{REVIEWER}"] = Score(
                REVIEWER, False, turn.ruling and turn.ruling.decision, why=problem
            )
            break
        for score in await score_run(document, turn.expect, settings.scorers, settings.judge):
            scores[prefix + score.name] = score
    return CaseTrial(scores, documents)


class _Conversation:
    """One trial's lane, and what its turns have in common."""

    def __init__(self, case: Case, number: int, desk: CaseSandbox, settings: Settings) -> None:
        self._id = f"{case.id}#{number}"
        self._clock = LaneClock(case.first_at.timestamp(), waits=settings.waits)
        self._said = GivenTurns() if case.says and not settings.live else None
        self._lane = desk.lane(self._clock, self._stand_in, chat=self._said, mode=case.mode)
        self._given: Sequence[Stub] = ()
        self._clauses = settings.clauses
        self._tells = settings.tells
        self._runs: list[str] = []
        self._tickets: list[str | None] = []

    async def give(self, tickets: Sequence[GivenTicket]) -> None:
        """Put the tickets there that the case begins with."""
        for ticket in tickets:
            await give_ticket(self._lane, ticket, self._clock.at)

    async def take(self, turn: CaseTurn) -> tuple[Document | None, str | None]:
        """The run document after a turn, or why the turn could not be taken."""
        self._given = turn.given
        if self._said is not None:
            self._said.add(turn.said)
        if turn.message is not None:
            self._clock.at = max(self._clock.at, turn.message.received_at.timestamp())
            self._runs.append(await self._lane.accept(self._own(turn.message), agents=self._agents))
            await self._lane.work(self._runs[-1])
            return await self._document(turn), None
        assert turn.ruling is not None
        problem = await self._decide(turn.ruling)
        return (None if problem else await self._document(turn)), problem

    @property
    def _agents(self) -> bool | None:
        return None if self._said is None else True

    async def _decide(self, ruling: CaseRuling) -> str | None:
        review = await self._open_review()
        if review is None:
            return "nothing waits for a reviewer"
        has_text = ruling.decision in TAKE_TEXT and ruling.text is not None
        edit = {"text": ruling.text} if has_text else None
        verdict = Verdict(
            ruling.decision, REVIEWER, review.version, review.payload_hash, ruling.note, edit
        )
        try:
            await self._lane.store.decide(review.id, verdict)
        except Conflict as error:
            return str(error)
        await self._lane.work(review.run_id)
        self._runs.append(review.run_id)
        return None

    async def _open_review(self) -> Review | None:
        """The open review of the newest run that waits for a person."""
        for run_id in reversed(dict.fromkeys(self._runs)):
            for review in reversed(
                await self._lane.store.find_reviews(ReviewFilter(run_id=run_id))
            ):
                if review.state is ReviewState.OPEN:
                    return review
        return None

    async def _document(self, turn: CaseTurn) -> Document:
        records = await read_records(self._lane.store, self._runs[-1])
        story = story_of(records)
        story[ACTS] = acts_of(records)
        story[HELD_BY_MODE] = held_by_mode(records)
        if "ticket" in turn.expect:
            story[EARLIER] = list(self._tickets)
        self._tickets.append((story["outputs"].get("ticket") or {}).get("ticket_id"))
        if "telemetry" in turn.expect:
            story[TELEMETRY] = self._telemetry_of(records)
        reply = turn.expect.get("reply")
        if isinstance(reply, Mapping) and "promises_backed" in reply:
            story[UNBACKED] = unbacked_promises(records, story["reply"], self._clauses)
        return story

    def _telemetry_of(self, records: Records) -> list[Document]:
        runs = list(dict.fromkeys(self._runs))
        count = runs.index(records.run.id) + 1
        message_id = None if records.message is None else records.message.id
        events = self._tells.told_of(records.run, message_id, records.rows, count)
        return [event.document() for event in events]

    def _own(self, message: Message) -> Message:
        """The message as this trial's own: trials must not meet each other's conversations."""
        _, named, name = message.conversation.partition(NAMED_CONVERSATION)
        conversation = f"{self._id}/{name}" if named else self._id
        return message.changed(id=f"{self._id}/{len(self._runs) + 1}", conversation=conversation)

    def _stand_in(
        self, ctx: StageContext, tool: str, arguments: Mapping[str, Any]
    ) -> ToolResult | None:
        return next((stub.result for stub in self._given if stub.fits(tool, arguments)), None)
