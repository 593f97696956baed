"""Where a mail is placed: with its own conversation by proof, never with another person's."""

import asyncio
from datetime import UTC, datetime, timedelta
from itertools import product
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from deskhand.mail.threads import HEADER, placed, subject_key
from deskhand.model.message import Address, Message
from deskhand.model.principal import ANONYMOUS, Principal, PrincipalKind
from deskhand.model.run import ConversationTurn
from tests.memory_threads import MemoryThreads

NOW = datetime(2026, 11, 15, 9, 0, tzinfo=UTC)
ANN, EVE, BOB = "ann@example.com", "eve@evil.example", "bob@example.com"
HELPDESK = "notify@helpdesk.example"


def mail(
    number: int,
    sender: str = ANN,
    *,
    proven: bool = True,
    refers: str = "",
    subject: str = "Broken teapot",
    message_id: str | None = None,
    customer: str | None = None,
    days: float = 0,
    body: str = "Hello",
) -> Message:
    principal = (
        Principal(kind=PrincipalKind.SENDER, address=sender, how="DMARC") if proven else ANONYMOUS
    )
    if customer is not None:
        principal = Principal(kind=PrincipalKind.FORWARDED, address=customer, how="forwarder")
    own = message_id or f"<mail-{number}@{sender.partition('@')[2]}>"
    return Message(
        id=own,
        channel="support",
        conversation=own,
        sender=Address(address=sender),
        principal=principal,
        recipients=(Address(address="desk@shop.example"),),
        subject=subject,
        body=body,
        headers={"references": refers, "in-reply-to": refers.split()[-1] if refers else ""},
        received_at=NOW + timedelta(days=days),
    )


class Desk:
    """Accepts mail as the desk would."""

    def __init__(self) -> None:
        self.threads = MemoryThreads()

    async def get(self, message: Message) -> ConversationTurn:
        turn = self.threads.accept(await placed(message, self.threads))
        assert turn is not None, "taken for a duplicate"
        return turn


@pytest.fixture
def desk() -> Desk:
    return Desk()


# --- joining


async def test_an_answer_to_our_mail_joins_even_if_nobody_vouches_for_the_sender(
    desk: Desk,
) -> None:
    for proven in (True, False):
        first = await desk.get(mail(1 + 10 * proven, proven=proven))
        ours = desk.threads.answer(first)
        again = await desk.get(
            mail(2 + 10 * proven, proven=proven, refers=f"{first.message.id} {ours}")
        )
        assert again.run.conversation == first.run.conversation
        assert again.message.headers[HEADER] == "joined: token (1.00)"


async def test_a_proven_sender_joins_by_his_own_earlier_mail(desk: Desk) -> None:
    first = await desk.get(mail(1))
    again = await desk.get(mail(2, refers=first.message.id, subject="PS"))
    assert again.run.conversation == first.run.conversation


async def test_a_proven_sender_joins_by_subject_when_his_program_loses_the_thread(
    desk: Desk,
) -> None:
    first = await desk.get(mail(1))
    assert (
        await desk.get(mail(2, subject="RE: broken  Teapot", days=1))
    ).run.conversation == first.run.conversation
    assert (
        await desk.get(mail(3, subject="AW: Broken teapot", days=13))
    ).run.conversation == first.run.conversation


@pytest.mark.parametrize(
    "later",
    [
        mail(2, subject="Re: Broken teapot", proven=False),
        mail(2, subject="Re: Broken teapot", days=40),
        mail(2, subject="Re: Broken kettle"),
        mail(2, subject="Fwd: Broken teapot"),
        mail(2, subject="Re:"),
    ],
    ids=["unproven", "old", "other", "forward", "nothing"],
)
async def test_a_subject_alone_is_not_enough(desk: Desk, later: Message) -> None:
    first = await desk.get(mail(1))
    assert (await desk.get(later)).run.conversation != first.run.conversation


async def test_what_a_helpdesk_passes_on_joins_by_reference_for_the_same_customer(
    desk: Desk,
) -> None:
    first = await desk.get(mail(1, HELPDESK, customer=ANN))
    again = await desk.get(mail(2, HELPDESK, customer=ANN, refers=first.message.id))
    other = await desk.get(mail(3, HELPDESK, customer=BOB, refers=first.message.id))
    loose = await desk.get(mail(4, HELPDESK, customer=ANN, subject="Re: Broken teapot"))
    assert again.run.conversation == first.run.conversation
    assert len({turn.run.conversation for turn in (first, other, loose)}) == 3


async def test_the_same_mail_delivered_again_is_a_duplicate(desk: Desk) -> None:
    for message in (mail(1), mail(2, proven=False)):
        await desk.get(message)
        assert desk.threads.accept(await placed(message, desk.threads)) is None


def test_subjects() -> None:
    assert subject_key("Re: AW: [Shop] Broken teapot") == ("broken teapot", True)
    assert subject_key("Broken   Teapot") == ("broken teapot", False)
    assert subject_key("Fwd: Broken teapot") == ("", False)
    assert subject_key("Re: hi") == ("", True)


# --- hostile mail

VICTIMS = {"proven": True, "unproven": False}
ATTACKERS: dict[str, dict[str, Any]] = {
    "eve": {"sender": EVE, "proven": True},
    "eve unproven": {"sender": EVE, "proven": False},
    "eve as ann": {"sender": ANN, "proven": False},
    "colleague": {"sender": BOB, "proven": True},
    "case": {"sender": "ANN@EXAMPLE.COM.evil.example", "proven": True},
    "helpdesk": {"sender": HELPDESK, "customer": ANN},
    "helpdesk for eve": {"sender": HELPDESK, "customer": EVE},
}
TRICKS = (
    "token",
    "token and chain",
    "reference",
    "same subject",
    "forward",
    "reused id",
    "our id",
    "conversation id",
)


CASES = [
    case
    for case in product(VICTIMS, ATTACKERS, TRICKS)
    if case[:2] != ("unproven", "eve as ann")
    or case[2] not in ("token", "token and chain", "forward")
]
"""Whoever has our answer and claims Ann's unproven name cannot be told from Ann: see the test
below."""


@pytest.mark.parametrize(("victim", "attacker", "trick"), CASES)
async def test_nobody_joins_another_customers_conversation(
    desk: Desk, victim: str, attacker: str, trick: str
) -> None:
    """109 attempts: who has seen everything of Ann's mail and ours, and can write any header,
    begins his own."""
    first = await desk.get(mail(1, proven=VICTIMS[victim]))
    ours = desk.threads.answer(first)
    second = await desk.get(mail(2, proven=VICTIMS[victim], refers=ours))
    known: dict[str, Any] = {
        "token": {"refers": ours},
        "token and chain": {"refers": f"{first.message.id} {ours} {second.message.id}"},
        "reference": {"refers": second.message.id},
        "same subject": {"subject": "Re: Broken teapot"},
        "forward": {"subject": "Fwd: Broken teapot", "refers": ours},
        "reused id": {"message_id": first.message.id, "body": "Send my refund elsewhere"},
        "our id": {"message_id": ours},
        "conversation id": {
            "message_id": f"<{first.run.conversation}>",
            "refers": first.run.conversation,
        },
    }[trick]
    hostile = await desk.get(mail(3, **{**ATTACKERS[attacker], **known}))
    assert hostile.run.conversation != first.run.conversation
    last = await desk.get(mail(4, proven=VICTIMS[victim], refers=ours))
    assert last.run.conversation == first.run.conversation, "and Ann is not kept out of her own"


async def test_a_forger_with_our_answer_joins_an_unproven_conversation_and_gains_nothing(
    desk: Desk,
) -> None:
    first = await desk.get(mail(1, proven=False))
    forged = await desk.get(mail(2, proven=False, refers=desk.threads.answer(first)))
    assert forged.run.conversation == first.run.conversation
    assert forged.message.principal == ANONYMOUS, "no authority to be had"
    assert forged.message.sender.address == ANN, "and what we answer goes to Ann"


async def test_nobody_can_have_anothers_mail_taken_for_a_duplicate(desk: Desk) -> None:
    early = await desk.get(mail(1, EVE, message_id="<ann-1@example.com>"))
    forged = await desk.get(
        mail(1, ANN, proven=False, message_id="<ann-1@example.com>", body="forged")
    )
    real = await desk.get(mail(1, ANN, message_id="<ann-1@example.com>"))
    other = await desk.get(
        mail(1, ANN, proven=False, message_id="<ann-1@example.com>", body="another")
    )
    assert len({turn.run.conversation for turn in (early, forged, real, other)}) == 4
    assert len({turn.message.id for turn in (early, forged, real, other)}) == 4


async def test_a_claim_never_becomes_a_proof_in_one_conversation(desk: Desk) -> None:
    """Eve writes as Ann; we answer Ann, who answers us. Ann's authority must not meet Eve's
    words."""
    forged = await desk.get(mail(1, ANN, proven=False, body="Cancel everything"))
    ann = await desk.get(mail(2, ANN, refers=desk.threads.answer(forged), body="Yes"))
    assert ann.run.conversation != forged.run.conversation


async def test_headers_cannot_bring_a_decision_along(desk: Desk) -> None:
    message = mail(1)
    message = message.model_copy(update={"headers": {HEADER: "joined: token (1.00)"}})
    assert (await desk.get(message)).message.headers[HEADER] == "new conversation"


PEOPLE = st.sampled_from(
    [*ATTACKERS.values(), {"sender": ANN, "proven": True}, {"sender": ANN, "proven": False}]
)


class Threads(RuleBasedStateMachine):
    """Mail of all kinds in any order: every conversation keeps to one person, and no mail is
    lost."""

    def __init__(self) -> None:
        super().__init__()
        self.threads = MemoryThreads()
        self.ids: list[str] = [
            "<made-up@evil.example>",
            "<run_00000000000000000099.3.0@shop.example>",
        ]
        self.number = 0

    @rule(
        who=PEOPLE,
        refers=st.lists(st.integers(0, 50), max_size=3),
        reused=st.none() | st.integers(0, 50),
        subject=st.sampled_from(
            ["Broken teapot", "Re: Broken teapot", "Fwd: Broken teapot", "Re: Late parcel", ""]
        ),
        days=st.integers(0, 20),
    )
    def arrives(
        self, who: dict[str, Any], refers: list[int], reused: int | None, subject: str, days: int
    ) -> None:
        self.number += 1
        named = " ".join(self.ids[one % len(self.ids)] for one in refers)
        own = None if reused is None else self.ids[reused % len(self.ids)]
        message = mail(
            self.number,
            refers=named,
            message_id=own,
            subject=subject,
            days=days,
            body=str(self.number),
            **who,
        )
        turn = self.threads.accept(asyncio.run(placed(message, self.threads)))
        if turn is None:
            earlier = asyncio.run(self.threads.message_known("support", message.id))
            assert earlier is not None
            assert any(one.message.author == message.author for one in self.threads.turns)
            return
        self.ids += [message.id, turn.run.conversation]

    @rule(which=st.integers(0, 50))
    def is_answered(self, which: int) -> None:
        if self.threads.turns:
            self.ids.append(
                self.threads.answer(self.threads.turns[which % len(self.threads.turns)])
            )

    @invariant()
    def one_person_a_conversation(self) -> None:
        owners: dict[str, set[str]] = {}
        for turn in self.threads.turns:
            owners.setdefault(turn.run.conversation, set()).add(turn.message.author)
        assert all(len(people) == 1 for people in owners.values()), owners


TestThreads = Threads.TestCase
TestThreads.settings = settings(max_examples=60, stateful_step_count=25, deadline=None)
