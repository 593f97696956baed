"""`send_reply`, `create_draft`, `escalate` and `web_search` on a whole desk, and on a real
mailbox."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from deskhand.engine.journal import fold
from deskhand.errors import ConfigError
from deskhand.model.envelope import Envelope
from deskhand.model.queue import ReviewFilter
from deskhand.model.run import Decision, Review, ReviewKind, ReviewState, RunStatus, Verdict
from deskhand.wiring import open_database, open_desk, read_desk
from tests.automatic import automatic
from tests.kit import a_message
from tests.mail_desk import at_work, write_desk
from tests.mail_servers import (
    CUSTOMER,
    MISSING,
    SUPPORT,
    Dovecot,
    SmtpServer,
    a_mail,
    dovecot_program,
    smtp_server,
)
from tests.waiting import until

FLOWS = """
flows:
  answer:
    stages:
      decide: {task: decide, output: plan, next: act}
      act: {tools: [send_reply, create_draft, escalate, web_search]}
"""


def brain(*steps: str) -> str:
    return f"rules:\n  - answer: {{reasoning: told to, steps: [{', '.join(steps)}]}}\n"


def a_desk(folder: Path, *steps: str, more: str = "", tools: str = "") -> Path:
    desk = folder / "desk"
    desk.mkdir(exist_ok=True)
    (desk / "desk.yaml").write_text(
        f"desk: closing\nbrain: {{scripted: brain.yaml}}\n{automatic(more)}\n{FLOWS}"
    )
    (desk / "brain.yaml").write_text(brain(*steps))
    if tools:
        (desk / "tools.py").write_text(dedent(tools))
    return desk


async def worked(desk: Path) -> tuple[RunStatus, list[Review], dict[str, Any], list[str]]:
    """The run's status, the open reviews, the plan's results and the mails in the outbox."""
    outbox = desk.parent / "outbox"
    async with (
        open_database(str(desk.parent / "desk.db")) as database,
        open_desk(read_desk(str(desk)), database, outbox=outbox) as working,
    ):
        accepted = await working.dispatcher.submit(a_message())
        status = await working.dispatcher.wait(accepted.run_id)
        reviews = await working.store.find_reviews(ReviewFilter(state=ReviewState.OPEN))
        rows = await working.store.rows(accepted.run_id)
    outputs = fold(Envelope(), rows).outputs
    mails = [file.read_text() for file in sorted(outbox.glob("*.eml"))]
    return status, reviews, outputs["act"], mails


async def test_a_desk_lists_them_by_name_and_needs_no_code(tmp_path: Path) -> None:
    send = "{tool: send_reply, parameters: {subject: Your parcel, body: It is on its way.}}"
    status, reviews, _, [mail] = await worked(a_desk(tmp_path, send))
    assert (status, reviews) == (RunStatus.SENT, [])
    assert "To: ann@example.com" in mail
    assert "Subject: Your parcel" in mail


async def test_escalate_opens_a_hand_over_with_the_reason(tmp_path: Path) -> None:
    escalate = "{tool: escalate, parameters: {reason: It is about a dosage.}}"
    status, [review], _, mails = await worked(a_desk(tmp_path, escalate))
    assert (status, review.kind, review.reason) == (
        RunStatus.NEEDS_REVIEW,
        ReviewKind.HAND_OVER,
        "It is about a dosage.",
    )
    assert mails == []


async def test_a_policy_needs_no_rule_for_them_but_may_have_one(tmp_path: Path) -> None:
    send = "{tool: send_reply, parameters: {subject: Your parcel, body: It is on its way.}}"
    rule = (
        "{name: nothing about prices, when: {tool: send_reply, subject: {contains: price}}, then:"
        " hold}"
    )
    desk = a_desk(tmp_path, send, more=f"policy: [{rule}]")
    assert (await worked(desk))[0] is RunStatus.SENT
    other = tmp_path / "other"
    other.mkdir()
    price = "{tool: send_reply, parameters: {subject: The price, body: It is on its way.}}"
    status, [review], _, mails = await worked(a_desk(other, price, more=f"policy: [{rule}]"))
    assert (status, review.payload["tool"], mails) == (RunStatus.WAITING_REVIEW, "send_reply", [])


async def test_a_search_without_an_engine_is_not_there(tmp_path: Path) -> None:
    search = "{tool: web_search, parameters: {query: ibuprofen}}"
    _, _, output, _ = await worked(a_desk(tmp_path, search))
    assert output["results"][0]["error"]["message"] == "there is no tool web_search"


async def test_a_tool_of_the_same_name_is_refused_with_its_place(tmp_path: Path) -> None:
    code = '''
    from deskhand import tool

    @tool(effect="read")
    async def escalate(reason: str) -> dict:
        """Call the boss."""
        return {}
    '''
    desk = a_desk(tmp_path, tools=code)
    with pytest.raises(
        ConfigError, match="'escalate' is a tool that every desk has already"
    ) as caught:
        read_desk(str(desk))
    assert (caught.value.file, caught.value.line) == (str(desk / "tools.py"), 4)


@pytest.mark.parametrize(
    ("section", "words"),
    [
        ("web_search: {url: localhost}", "`url` cannot be"),
        ("web_search: {url: 'http://user:pw@host'}", "`url` cannot be"),
        ("web_search: {limit: 5}", "`url` is missing"),
        ("web_search: {url: 'http://localhost:8888', limit: 99}", "`limit` cannot be"),
        ("limits: {replies_per_run: 0}", "`replies_per_run` cannot be"),
    ],
)
def test_wrong_settings_are_told_with_their_line(tmp_path: Path, section: str, words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        read_desk(str(a_desk(tmp_path, more=section)))


# --- on a real mailbox


@pytest.fixture
def dovecot() -> Iterator[Dovecot]:
    server = Dovecot(SUPPORT, CUSTOMER)
    yield server
    server.remove()


@pytest.fixture
async def smtp(dovecot: Dovecot) -> AsyncIterator[SmtpServer]:
    async with smtp_server(dovecot, SUPPORT, CUSTOMER) as server:
        yield server


@pytest.mark.skipif(dovecot_program() is None, reason=MISSING)
async def test_a_draft_of_an_agent_lies_in_drafts_until_a_person_sends_it(
    tmp_path: Path, dovecot: Dovecot, smtp: SmtpServer
) -> None:
    folder = write_desk(tmp_path, dovecot, smtp)
    text = (folder / "desk.yaml").read_text()
    (folder / "desk.yaml").write_text(text.partition("flows:")[0] + FLOWS)
    draft = "{tool: create_draft, parameters: {subject: Your parcel, body: It is on its way.}}"
    (folder / "brain.yaml").write_text(brain(draft))
    async with at_work(folder) as desk:
        dovecot.deliver(SUPPORT, a_mail(1))

        async def parked() -> bool:
            return bool(await desk.store.find_reviews(ReviewFilter(state=ReviewState.OPEN)))

        await until(parked)
        [review] = await desk.store.find_reviews(ReviewFilter(state=ReviewState.OPEN))
        assert (review.kind, review.payload["waits"]) == (ReviewKind.REPLY, "draft")
        assert [mail["Subject"] for mail in dovecot.mails(SUPPORT, "Drafts")] == ["Your parcel"]
        assert not dovecot.mails(CUSTOMER)
        verdict = Verdict(Decision.APPROVE, "eve", review.version, review.payload_hash)
        await desk.store.decide(review.id, verdict)

        async def sent() -> bool:
            return bool(await desk.store.runs(status=RunStatus.SENT))

        await until(sent)
        assert [mail["Subject"] for mail in dovecot.mails(CUSTOMER)] == ["Your parcel"]
        assert not dovecot.mails(SUPPORT, "Drafts")
