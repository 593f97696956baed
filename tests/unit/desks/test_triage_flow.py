"""The shipped triage desk: the flow, what becomes of tickets after it, and its urgency table."""

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from deskhand import wiring
from deskhand.adapters.stores.active_tickets import SqlActiveTickets
from deskhand.adapters.stores.tickets import SqlTickets
from deskhand.agents.triage.supervising import EARLIER, applying, urgency_of
from deskhand.brain.scripted import ScriptedBrain
from deskhand.conditions import compile_condition
from deskhand.config.sections.brain import BrainSpec
from deskhand.config.sections.triage import TriageSection
from deskhand.engine.story import read_records, story_of
from deskhand.evals.lane import Lane, LaneClock
from deskhand.mail.message_files import message_from
from deskhand.model.queue import ReviewFilter
from deskhand.model.run import Decision, ReviewState, Verdict
from deskhand.model.tasks import Task
from deskhand.tickets.service import Tickets
from deskhand.wiring import sandbox as sandbox_wiring

TEXT = "Open Settings, Security, Two-factor authentication, and scan the code."


@dataclass
class Said:
    """What the brain of one test says."""

    issue: str = "how_to"
    translated: str | None = None
    draft: dict[str, Any] = field(
        default_factory=lambda: {
            "text": TEXT,
            "language": "en",
            "sources": [{"id": "kb_028", "quote": TEXT}],
            "confidence": 0.95,
        }
    )
    asked: list[Task] = field(default_factory=list[Task])

    def answer(self, task: Task) -> Mapping[str, Any]:
        self.asked.append(task)
        match task.kind:
            case "classify":
                return {"category": self.issue, "confidence": 0.95}
            case "translate":
                return {"text": self.translated or "", "language": "en"}
            case _:
                return self.draft


@dataclass
class Desk:
    lane: Lane
    said: Said
    runs: int = 0

    async def work(self, body: str, plan: str | None = "pro", **fields: Any) -> dict[str, Any]:
        self.runs += 1
        info = None if plan is None else {"plan": plan, "seats": 5}
        data = {"from": "ann@example.com", "customer_id": "CUST-001", "customer_info": info}
        data |= {"id": f"m{self.runs}", "conversation": f"c{self.runs}", "body": body, **fields}
        run_id = await self.lane.accept(message_from(data, vouched_by="a test"))
        await self.lane.work(run_id)
        return await self.story(run_id)

    async def approve(self, run_id: str) -> dict[str, Any]:
        (waiting,) = await self.waiting(run_id)
        verdict = Verdict(Decision.APPROVE, "eve", waiting.version, waiting.payload_hash)
        await self.lane.store.decide(waiting.id, verdict)
        await self.lane.work(run_id)
        return await self.story(run_id)

    async def waiting(self, run_id: str) -> list[Any]:
        reviews = await self.lane.store.find_reviews(ReviewFilter(run_id=run_id))
        return [review for review in reviews if review.state is ReviewState.OPEN]

    async def story(self, run_id: str) -> dict[str, Any]:
        return story_of(await read_records(self.lane.store, run_id))

    @property
    def tickets(self) -> Tickets:
        store: Any = self.lane.store
        inner = getattr(store, "_store", store)
        database = inner._database
        return Tickets(SqlTickets(database, inner.desk), SqlActiveTickets(database, inner.desk))


def way(story: Mapping[str, Any]) -> list[str]:
    return [step["name"] for step in story["steps"] if " " not in step["name"]]


async def opened(said: Said, monkeypatch: pytest.MonkeyPatch, mode: str) -> AsyncIterator[Desk]:
    loaded = wiring.read_desk("triage")
    assert loaded.spec.mode == "draft"
    changes = {"brain": BrainSpec(kind="scripted"), "mode": mode, "undo_seconds": 0.0}
    scripted = loaded.spec.model_copy(update=changes)
    monkeypatch.setattr(
        sandbox_wiring, "build_brain", lambda *args, **more: ScriptedBrain(said.answer)
    )
    async with wiring.open_sandbox(replace(loaded, spec=scripted)) as sandbox:
        yield Desk(sandbox.lane(LaneClock(1_800_000_000.0)), said)


@pytest.fixture
async def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Desk]:
    async for made in opened(Said(), monkeypatch, "auto"):
        yield made


@pytest.fixture
async def drafting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Desk]:
    async for made in opened(Said(), monkeypatch, "draft"):
        yield made


async def test_a_sure_answer_leaves_and_its_ticket_is_archived_as_solved(desk: Desk) -> None:
    story = await desk.work("Hi, how do I enable two-factor authentication?")
    stages = ["match", "translator", "supervisor", "general", "review", "dispatch", "file"]
    assert [name for name in way(story) if name in stages] == stages
    assert story["status"] == "sent"
    outputs = story["outputs"]
    assert outputs["translation"] == {
        "original_language": "en",
        "is_english": True,
        "translated_messages": [],
        "original_messages": ["Hi, how do I enable two-factor authentication?"],
        "reason": "it is in English already",
    }
    assert outputs["customer_info"] == {"plan": "pro", "seats": 5}
    decision = outputs["supervisor_decision"]
    assert (decision["urgency"], decision["ticket_type"]) == ("medium", "general")
    assert decision["requires_escalation"] is False
    result = outputs["triage_result"]
    assert result["recommended_action"] == "auto_respond"
    assert result["extracted_info"] == {
        "product_area": "general",
        "issue_type": "how_to",
        "sentiment": "neutral",
        "language": "en",
    }
    assert (result["suggested_response"], result["relevant_articles"]) == (TEXT, ["kb_028"])
    assert set(outputs["kb_results"][0]) == {"id", "title", "score"}
    assert outputs["file"] == {
        "ticket_persisted": True,
        "messages_saved": 1,
        "redis_keys_deleted": 1,
    }
    ticket = await desk.tickets.find(outputs["ticket"]["ticket_id"])
    assert (ticket.state, ticket.group, ticket.urgency) == ("solved", "general", "medium")
    assert outputs["ticket"]["thread_id"] == f"CUST-001:{ticket.id}"


async def test_in_draft_mode_the_ticket_stays_active_until_the_answer_has_left(
    drafting: Desk,
) -> None:
    story = await drafting.work("How do I enable two-factor authentication?")
    assert story["status"] == "waiting_review"
    ticket_id = story["outputs"]["ticket"]["ticket_id"]
    assert (await drafting.tickets.find(ticket_id)).state == "active"
    story = await drafting.approve(story["run"])
    assert story["status"] == "sent"
    assert (await drafting.tickets.find(ticket_id)).state == "solved"


async def test_a_break_in_goes_to_a_person_at_once_with_one_hand_over(desk: Desk) -> None:
    desk.said.issue = "security_incident"
    story = await desk.work("Somebody broke into our admin account!", plan="free")
    assert way(story) == ["match", "translator", "supervisor", "escalate", "file"]
    assert story["status"] == "needs_review"
    result = story["outputs"]["triage_result"]
    assert (result["urgency"], result["recommended_action"]) == ("critical", "escalate_human")
    assert result["extracted_info"]["issue_type"] == "escalation"
    assert result["suggested_response"] is None
    (review,) = await desk.waiting(story["run"])
    assert review.kind == "hand_over"
    ticket = await desk.tickets.find(story["outputs"]["ticket"]["ticket_id"])
    assert ticket.state == "open"
    assert story["outputs"]["file"]["ticket_persisted"] is True


async def test_a_concern_of_an_earlier_message_counts_without_its_words(desk: Desk) -> None:
    desk.said.issue = "security_incident"
    words = "Somebody broke into our admin account!"
    await desk.work(words, plan="free", conversation="one")
    story = await desk.work("Still nothing...", plan="free", conversation="one")
    outputs = story["outputs"]
    assert outputs["supervisor_decision"]["urgency"] == "critical"
    assert outputs["reading"]["evidence"] == {"security": EARLIER}
    assert words not in outputs["supervisor_decision"]["reasoning"]


@pytest.mark.parametrize("words", ["Still nothing...", "Das hat nicht geholfen.", "Pořád nic."])
async def test_whoever_only_comes_back_tells_of_no_outage(desk: Desk, words: str) -> None:
    desk.said.draft = {**desk.said.draft, "hand_over": True}
    ways = {"plan": "enterprise", "conversation": "one"}
    await desk.work("How do I change my profile picture?", **ways)
    story = await desk.work(words, **ways)
    assert story["outputs"]["reading"]["concerns"] == []
    assert story["outputs"]["supervisor_decision"]["urgency"] == "medium"
    story = await desk.work("Now nothing loads for anyone in the company!", **ways)
    assert story["outputs"]["supervisor_decision"]["urgency"] == "critical"


async def test_whoever_only_comes_back_still_tells_what_his_subject_tells(desk: Desk) -> None:
    ways = {"plan": "free", "conversation": "one"}
    await desk.work("How do I change my profile picture?", **ways)
    story = await desk.work("Any update?", subject="Somebody broke into our account!", **ways)
    assert story["outputs"]["reading"]["concerns"] == ["security"]


async def test_what_no_article_answers_waits_in_its_departments_queue(desk: Desk) -> None:
    desk.said.issue = "refund_request"
    desk.said.draft = {
        "text": "A colleague will look at it.",
        "language": "en",
        "hand_over": True,
        "reason": "no article answers this",
    }
    story = await desk.work("Please give me my money back for May.")
    assert story["status"] == "waiting_review"
    result = story["outputs"]["triage_result"]
    assert result["recommended_action"] == "route_specialist"
    assert "no article answers this" in result["reasoning"]
    ticket = await desk.tickets.find(story["outputs"]["ticket"]["ticket_id"])
    assert (ticket.state, ticket.group) == ("active", "billing")


async def test_a_specialist_looks_at_articles_of_his_category_alone(desk: Desk) -> None:
    desk.said.issue = "billing_question"
    story = await desk.work(
        "How do I pay an invoice by bank transfer, and how do I change my password?"
    )
    assert {task.knowledge_category for task in desk.said.asked if task.kind == "draft"} == {
        "billing"
    }
    ids = {result["id"].partition(".")[0] for result in story["outputs"]["kb_results"]}
    assert ids
    assert ids <= {f"kb_{number:03}" for number in range(1, 16)}


async def test_a_model_translates_and_the_original_stays(desk: Desk) -> None:
    desk.said.translated = "How do I change my password?"
    story = await desk.work("Wie ändere ich bitte mein Passwort?")
    translation = story["outputs"]["translation"]
    assert (translation["original_language"], translation["is_english"]) == ("de", False)
    assert translation["translated_messages"] == ["How do I change my password?"]
    assert translation["original_messages"] == ["Wie ändere ich bitte mein Passwort?"]
    assert story["status"] == "waiting_review"
    assert "the answer is in `en`, not in `de`" in story["outputs"]["triage_result"]["reasoning"]


async def test_anger_forbids_an_automatic_answer(desk: Desk) -> None:
    story = await desk.work("This is OUTRAGEOUS, a DISGRACE! How do I change my password?!")
    assert story["outputs"]["triage_result"]["recommended_action"] == "route_specialist"


async def test_a_death_beside_a_question_is_a_persons(desk: Desk) -> None:
    story = await desk.work("Our treasurer died last week. How do I enable two-factor?")
    result = story["outputs"]["triage_result"]
    assert result["recommended_action"] == "escalate_human"
    assert "a sensitive matter" in result["reasoning"]


async def test_what_nobody_vouched_for_says_nothing_about_a_plan(desk: Desk) -> None:
    desk.said.issue = "outage"
    story = await desk.work("Everything is down.", customer_id=None)
    assert story["outputs"]["customer_info"] == {}
    assert story["outputs"]["supervisor_decision"]["urgency"] == "medium"


def spec() -> TriageSection:
    found = wiring.read_desk("triage").spec.triage
    assert found is not None
    return found


def facts(plan: str | None, concerns: list[str], ticket_type: str = "technical") -> dict[str, Any]:
    return {"plan": plan, "concerns": concerns, "ticket_type": ticket_type, "tags": []}


URGENCIES = [
    ("outage", "critical", "high", "medium"),
    ("data_loss", "critical", "medium", "medium"),
    ("billing_error", "high", "medium", "medium"),
    ("disruption", "medium", "high", "medium"),
    ("security", "critical", "critical", "critical"),
    (None, "medium", "medium", "low"),
]
PLANS = ("enterprise", "pro", "free")


@pytest.mark.parametrize(("concern", "enterprise", "pro", "free"), URGENCIES)
def test_each_row_of_the_urgency_table_with_each_plan(
    concern: str | None, enterprise: str, pro: str, free: str
) -> None:
    judged = spec()
    for plan, urgency in zip(PLANS, (enterprise, pro, free), strict=True):
        assert urgency_of(judged, judged_by(plan, concern)) == urgency, plan
    other = "critical" if concern == "security" else "medium"
    for unknown in ("platinum", None):
        assert urgency_of(judged, judged_by(unknown, concern)) == other, unknown


def judged_by(plan: str | None, concern: str | None) -> dict[str, Any]:
    if concern is None:
        return facts(plan, [], "general")
    return facts(plan, [concern])


def test_no_row_of_the_urgency_table_is_left_out() -> None:
    cases = [judged_by(plan, row[0]) for row in URGENCIES for plan in PLANS]
    for row in spec().urgency:
        condition = compile_condition(row.when)
        assert any(condition.matches(case) for case in cases), row


def test_the_strictest_row_counts_and_triggers_reach_a_person() -> None:
    judged = spec()
    assert urgency_of(judged, facts("enterprise", ["billing_error", "security"])) == "critical"
    for concern in ("legal", "regulator", "press", "security", "data_loss"):
        assert applying(judged.escalate, facts("free", [concern])), concern
    assert applying(judged.escalate, facts("enterprise", ["outage"]))
    assert not applying(judged.escalate, facts("enterprise", ["billing_error"]))
    vip = facts("free", []) | {"tags": ["vip"]}
    assert applying(judged.for_people, vip) == ("an important customer",)
    sensitive = facts("free", []) | {"is_sensitive": True}
    assert applying(judged.for_people, sensitive) == ("a sensitive matter",)
