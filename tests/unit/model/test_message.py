from datetime import UTC, datetime
from typing import Any

import pytest
from pydantic import ValidationError

from deskhand.model.chat import ChatRequest, Origin
from deskhand.model.message import Address, Message, Reply, iso
from deskhand.model.tasks import RESULT_TYPES, Answer, Classified, Prompted, TaskKind

FIELDS: dict[str, Any] = {
    "id": "m1",
    "conversation": "c1",
    "sender": {"address": "ann@example.com"},
    "subject": "Parcel",
    "received_at": "2026-01-02T03:04:05+00:00",
}


def test_an_address_is_written_as_in_a_header() -> None:
    assert str(Address(address="ann@example.com", name="Ann")) == "Ann <ann@example.com>"
    assert str(Address(address="ann@example.com")) == "ann@example.com"


@pytest.mark.parametrize(
    "change",
    [
        {"id": ""},
        {"id": "x" * 1001},
        {"conversation": ""},
        {"channel": ""},
        {"received_at": "2026-01-02T03:04:05"},
    ],
)
def test_a_message_needs_ids_and_a_time_with_a_zone(change: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        Message.model_validate({**FIELDS, **change})


@pytest.mark.parametrize(
    ("subject", "expected"),
    [
        ("Parcel", "Re: Parcel"),
        ("RE: Parcel", "RE: Parcel"),
        ("", "Re:"),
        ("re: x", "re: x"),
        ("AW: Paket", "AW: Paket"),
        ("Odp[2]: Zásilka", "Odp[2]: Zásilka"),
        ("Refund: P-1", "Re: Refund: P-1"),
    ],
)
def test_a_reply_answers_the_sender_under_the_same_subject(subject: str, expected: str) -> None:
    message = Message.model_validate({**FIELDS, "subject": subject})
    reply = Reply.to_message(message, "Hello", language="en")
    assert reply == Reply(
        to="ann@example.com", subject=expected, text="Hello", language="en", in_reply_to="m1"
    )


@pytest.mark.parametrize(
    ("kind", "address", "read", "writer"),
    [
        ("forwarded", "eva@example.org", "Eva@example.org", "Eva <eva@example.org>"),
        ("forwarded", "eva@example.org", "mallory@example.org", "eva@example.org"),
        ("forwarded", "eva@example.org", None, "eva@example.org"),
        ("anonymous", None, "eva@example.org", "ann@example.com"),
        ("sender", "ann@example.com", "eva@example.org", "ann@example.com"),
    ],
)
def test_the_writer_is_the_customer_only_where_a_trusted_forwarder_names_him(
    kind: str, address: str | None, read: str | None, writer: str
) -> None:
    prepared = None if read is None else {"name": "Eva", "address": read, "text": "Hi"}
    more = {"principal": {"kind": kind, "address": address}, "prepared": prepared}
    message = Message.model_validate({**FIELDS, "sender": {"address": "ann@example.com"}, **more})
    assert str(message.writer) == writer
    assert message.correspondent == message.writer.address


def test_times_are_written_with_milliseconds() -> None:
    assert iso(datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)) == "2026-01-02T03:04:05.000+00:00"


def test_equal_questions_to_a_model_have_one_digest_whoever_asks() -> None:
    request = ChatRequest(messages=({"role": "user", "content": "Hi"},), model="ollama/llama3")
    same = ChatRequest(
        messages=({"content": "Hi", "role": "user"},),
        model="ollama/llama3",
        origin=Origin(run_id="r", stage="s"),
    )
    assert request.digest == same.digest
    assert (
        request.digest
        != ChatRequest(messages=request.messages, model="ollama/llama3", temperature=0).digest
    )


def test_every_kind_of_task_has_a_result_type() -> None:
    assert set(RESULT_TYPES) == set(TaskKind)


def test_an_answer_keeps_fields_a_prompt_asked_for() -> None:
    result = Classified.model_validate({"category": "spam", "confidence": 0.5, "language": "cs"})
    assert Answer(result=result, brain="x").data == {
        "category": "spam",
        "confidence": 0.5,
        "language": "cs",
    }
    assert Answer(result=Prompted.model_validate({"any": [1]}), brain="x").data == {"any": [1]}
    with pytest.raises(ValidationError):
        Classified(category="spam", confidence=1.5)
