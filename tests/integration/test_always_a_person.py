"""What a desk's review stage wants a person to see, a person sees: whichever way the reply
takes."""

from pathlib import Path

import pytest

from deskhand.model.causes import Cause
from deskhand.model.queue import ReviewFilter
from deskhand.model.run import Decision, Review, ReviewKind, ReviewState, RunStatus, Verdict
from deskhand.wiring import Desk, open_database, open_desk, read_desk
from tests.kit import a_message

DESK = """\
desk: asked
mode: auto
brain: {scripted: brain.yaml}
default_flow: FLOW
agent:
  profiles:
    helper: {model: gemini/gemini-3.8-flash, system_prompt_file: helper.txt, tools: [send_reply]}
flows:
  planned:
    stages:
      classify: &classify {task: classify, categories: [question, complaint], output: classification, next: decide}
      decide: {task: decide, output: plan, next: act}
      act: {tools: [send_reply], next: draft}
      draft: {task: draft, max_visits: 5, next: review}
      review: {service: review, auto_send_at: 0.5, always_ask: [complaint], loop_to: draft, next: dispatch}
      dispatch: {service: dispatch}
  agent:
    stages:
      classify: {<<: *classify, next: agent}
      agent: {profile: helper, max_visits: 5, next: review}
      review: {service: review, auto_send_at: 0.5, always_ask: [complaint], loop_to: agent, next: dispatch}
      dispatch: {service: dispatch}
  plain:                                   # somebody forgot the review stage
    stages:
      classify: {<<: *classify, next: draft}
      draft: {task: draft, next: dispatch}
      dispatch: {service: dispatch}
  asking:
    stages:
      classify:
        <<: *classify
        routes: [{when: {category: {in: [question, complaint]}}, outcome: clarify, ask: "Which {{ category }} is it?"}]
        next: end
  own:
    stages:
      classify:
        <<: *classify
        routes: [{when: {category: {in: [question, complaint]}}, outcome: clarify, ask: Which order is it?}]
        next: end
  all:
    stages:
      classify: {<<: *classify, next: agent}
      agent: {profile: helper, max_visits: 5, next: review}
      review: {service: review, loop_to: agent, next: dispatch}
      dispatch: {service: dispatch}
"""  # noqa: E501
BRAIN = """\
rules:
  - {when: {task: classify}, answer: {category: CATEGORY, confidence: CONFIDENCE}}
  - when: {task: decide}
    answer: {reasoning: told to, steps: [{tool: send_reply, parameters: {subject: Hello, body: It is on its way.}}]}
  - {answer: {text: It is on its way., language: en}}
chat:
  - turns:
      - call: {send_reply: {subject: Hello, body: It is on its way.}}
      - say: done
"""  # noqa: E501


def a_desk(folder: Path, flow: str, category: str, confidence: float = 0.9) -> Path:
    desk = folder / "desk"
    desk.mkdir()
    (desk / "desk.yaml").write_text(DESK.replace("FLOW", flow))
    (desk / "helper.txt").write_text("You help.")
    (desk / "brain.yaml").write_text(
        BRAIN.replace("CATEGORY", category).replace("CONFIDENCE", str(confidence))
    )
    return desk


async def submitted(desk: Desk) -> tuple[str, RunStatus]:
    accepted = await desk.dispatcher.submit(a_message())
    return accepted.run_id, await desk.dispatcher.wait(accepted.run_id)


async def the_review(desk: Desk) -> Review:
    [review] = await desk.store.find_reviews(ReviewFilter(state=ReviewState.OPEN))
    return review


def mails(folder: Path) -> int:
    return len(list((folder / "outbox").glob("*.eml")))


@pytest.mark.parametrize("flow", ["planned", "agent", "plain"])
async def test_a_complaints_reply_waits_however_it_would_leave(tmp_path: Path, flow: str) -> None:
    loaded = read_desk(str(a_desk(tmp_path, flow, "complaint")))
    async with (
        open_database(str(tmp_path / "desk.db")) as database,
        open_desk(loaded, database, outbox=tmp_path / "outbox") as desk,
    ):
        run_id, status = await submitted(desk)
        review = await the_review(desk)
        assert (status, review.kind, mails(tmp_path)) == (
            RunStatus.WAITING_REVIEW,
            ReviewKind.REPLY,
            0,
        )
        assert (review.reason, review.causes) == (
            "complaint is always looked at by a person",
            (Cause.ALWAYS_ASK,),
        )
        await desk.store.decide(
            review.id, Verdict(Decision.APPROVE, "eve", review.version, review.payload_hash)
        )
        desk.dispatcher.wake()
        assert await desk.dispatcher.wait(run_id) is RunStatus.SENT
    assert mails(tmp_path) == 1


@pytest.mark.parametrize("flow", ["planned", "agent", "plain"])
async def test_other_replies_leave_as_before(tmp_path: Path, flow: str) -> None:
    loaded = read_desk(str(a_desk(tmp_path, flow, "question")))
    async with (
        open_database(str(tmp_path / "desk.db")) as database,
        open_desk(loaded, database, outbox=tmp_path / "outbox") as desk,
    ):
        assert (await submitted(desk))[1] is RunStatus.SENT
    assert mails(tmp_path) == 1


@pytest.mark.parametrize(
    ("flow", "cause", "words"),
    [
        ("agent", Cause.BELOW_THRESHOLD, "category confidence 0.2 is below 0.5"),
        ("planned", Cause.BELOW_THRESHOLD, "category confidence 0.2 is below 0.5"),
        ("all", Cause.EVERY_REPLY, "every reply is looked at by a person"),
    ],
)
async def test_handing_a_reply_in_is_no_way_past_the_review_stage(
    tmp_path: Path, flow: str, cause: Cause, words: str
) -> None:
    loaded = read_desk(str(a_desk(tmp_path, flow, "question", 0.2)))
    async with (
        open_database(str(tmp_path / "desk.db")) as database,
        open_desk(loaded, database, outbox=tmp_path / "outbox") as desk,
    ):
        assert (await submitted(desk))[1] is RunStatus.WAITING_REVIEW
        review = await the_review(desk)
        assert (review.causes, review.reason) == ((cause,), words)
    assert mails(tmp_path) == 0


async def test_a_question_to_a_customer_who_complains_is_a_persons_to_ask(tmp_path: Path) -> None:
    loaded = read_desk(str(a_desk(tmp_path, "asking", "complaint")))
    async with (
        open_database(str(tmp_path / "desk.db")) as database,
        open_desk(loaded, database, outbox=tmp_path / "outbox") as desk,
    ):
        run_id, status = await submitted(desk)
        assert status is RunStatus.NEEDS_REVIEW
        review = await the_review(desk)
        assert (review.kind, review.causes) == (ReviewKind.HAND_OVER, (Cause.ALWAYS_ASK,))
        assert (
            review.reason
            == "complaint is always looked at by a person, a question to the customer as well"
        )
        assert mails(tmp_path) == 0
        answer = Verdict(
            Decision.ANSWER, "eve", review.version, review.payload_hash, edit={"text": "Which one?"}
        )
        await desk.store.decide(review.id, answer)
        desk.dispatcher.wake()
        assert await desk.dispatcher.wait(run_id) is RunStatus.SENT, (
            "what a person wrote needs no second look"
        )
    assert mails(tmp_path) == 1


async def test_a_question_that_the_desk_itself_has_word_for_word_is_asked(tmp_path: Path) -> None:
    loaded = read_desk(str(a_desk(tmp_path, "own", "complaint")))
    async with (
        open_database(str(tmp_path / "desk.db")) as database,
        open_desk(loaded, database, outbox=tmp_path / "outbox") as desk,
    ):
        assert (await submitted(desk))[1] is RunStatus.WAITING_USER
    assert mails(tmp_path) == 1


async def test_a_reply_that_a_person_edited_leaves_as_he_wrote_it(tmp_path: Path) -> None:
    loaded = read_desk(str(a_desk(tmp_path, "agent", "complaint")))
    async with (
        open_database(str(tmp_path / "desk.db")) as database,
        open_desk(loaded, database, outbox=tmp_path / "outbox") as desk,
    ):
        run_id, _ = await submitted(desk)
        review = await the_review(desk)
        edit = {"text": "We are sorry."}
        await desk.store.decide(
            review.id, Verdict(Decision.EDIT, "eve", review.version, review.payload_hash, edit=edit)
        )
        desk.dispatcher.wake()
        assert await desk.dispatcher.wait(run_id) is RunStatus.SENT
    [mail] = (tmp_path / "outbox").glob("*.eml")
    assert "We are sorry." in mail.read_text()
