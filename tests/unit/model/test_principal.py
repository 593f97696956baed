from datetime import UTC, datetime
from typing import Any

import pytest
from pydantic import ValidationError

from deskhand.mail.message_files import MessageInvalid, message_from
from deskhand.model.message import Address, Message
from deskhand.model.principal import ANONYMOUS, Principal, PrincipalKind, asserted

ANN = {"from": "ann@example.com", "body": "Hello"}


def test_a_message_is_anonymous_until_somebody_vouches() -> None:
    message = Message(
        id="m", conversation="c", sender=Address(address="a@b.c"), received_at=datetime.now(UTC)
    )
    assert message.principal == ANONYMOUS
    assert not message.principal.owns


@pytest.mark.parametrize(
    "claimed", [{"customer_id": "c-1"}, {"address": "a@b.c"}, {"tier": "gold"}]
)
def test_nobody_is_nobody(claimed: dict[str, Any]) -> None:
    with pytest.raises(ValidationError, match="anonymous"):
        Principal(**claimed)


def test_a_forwarded_customer_owns_but_may_not_act() -> None:
    forwarded = Principal(
        kind=PrincipalKind.FORWARDED, address="ann@example.com", how="forwarded by Crisp"
    )
    assert (forwarded.owns, forwarded.may_act) == (True, False)


def test_the_same_person_is_recognised_by_customer_or_address_and_nobody_never() -> None:
    one = Principal(kind=PrincipalKind.SENDER, address="Ann@Example.com")
    other = Principal(kind=PrincipalKind.SENDER, address="ann@example.com", how="again")
    assert one.name == other.name
    assert one.name != asserted("c-1", by="shop").name
    assert ANONYMOUS.name == ""


def test_a_customer_counts_only_when_somebody_vouches() -> None:
    written = {**ANN, "customer_id": "c-1", "customer_tier": "gold"}
    assert message_from(written).principal == ANONYMOUS
    principal = message_from(written, vouched_by="API key shop").principal
    assert (principal.kind, principal.customer_id, principal.tier) == (
        PrincipalKind.ASSERTED,
        "c-1",
        "gold",
    )
    assert principal.how == "asserted by API key shop"
    assert message_from(ANN, vouched_by="API key shop").principal == ANONYMOUS


@pytest.mark.parametrize("vouched_by", [None, "shop"])
def test_a_principal_cannot_be_written_into_a_message(vouched_by: str | None) -> None:
    forged = {**ANN, "principal": {"kind": "asserted", "customer_id": "c-2"}}
    with pytest.raises(MessageInvalid, match="who the sender is"):
        message_from(forged, vouched_by=vouched_by)


@pytest.mark.parametrize(
    ("field", "value"), [("customer_id", 5), ("customer_id", ""), ("customer_tier", 5)]
)
def test_a_customer_that_is_no_text_is_refused_with_its_field(field: str, value: Any) -> None:
    with pytest.raises(MessageInvalid) as caught:
        message_from({**ANN, "customer_id": "c-1", field: value}, vouched_by="shop")
    assert caught.value.field == field


def test_messages_stored_before_there_were_principals_are_still_read() -> None:
    stored = {
        "id": "m",
        "conversation": "c",
        "sender": {"address": "a@b.c"},
        "received_at": "2026-01-02T03:04:05Z",
    }
    assert Message.model_validate({**stored, "customer_id": None}).principal == ANONYMOUS
    assert Message.model_validate({**stored, "customer_id": "c-1"}).principal.customer_id == "c-1"
