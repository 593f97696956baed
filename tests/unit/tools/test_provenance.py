import re
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deskhand.model.envelope import Envelope
from deskhand.model.message import Address, Attachment, Message
from deskhand.model.principal import asserted
from deskhand.tools.provenance import Sources, stands_in

ANN = asserted("c-ann", by="a test", address="ann@example.com")
MESSAGE = Message(
    id="m",
    conversation="c",
    sender=Address(address="ann@example.com", name="Ann Novak"),
    subject="Order O-77",
    body="Please refund 1,250.00 or 99,90 to me.\nThe  number is AB 12.",
    attachments=(Attachment(name="a.txt", type="text/plain", size=1, text="voucher XYZ-1"),),
    received_at=datetime.now(UTC),
)
RESULTS = {
    "act": {
        "results": [
            {"data": {"order": "O-1", "total": 40}},
            {"data": [{"note": 'the customer wrote "S-9", then S-8'}]},
        ]
    },
    "again": {"results": [{"data": {"S-7": {"free": True}, "flag": True}}]},
}


def origin(value: Any, argument: str = "value", operator: Any = None) -> str:
    envelope = Envelope.of(MESSAGE).changed(outputs=RESULTS)
    return Sources(ANN, envelope, operator).origin(argument, value)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("c-ann", "principal"),
        ("ANN@example.com", "principal"),
        ("O-1", "result:1"),
        (40, "result:1"),
        ("S-7", "result:3"),
        ("O-77", "message"),
        ("o-77", "message"),
        ("O-7", "model"),
        ("1250 EUR", "message"),
        ("99.90 EUR", "message"),
        (1250, "message"),
        (125, "model"),
        ("ab 12", "message"),
        ("XYZ-1", "message"),
        ("never heard of", "model"),
        (True, "result:3"),
        (["O-1", "O-77"], "message"),
        ({"a": "O-1", "b": "new"}, "model"),
        ([], "operator"),
        (None, "operator"),
    ],
)
def test_a_value_is_found_where_it_came_from(value: Any, expected: str) -> None:
    assert origin(value) == expected


@pytest.mark.parametrize("value", ["S-9", "S-8"])
def test_text_in_a_note_does_not_pose_as_a_tools_own_value(value: str) -> None:
    assert origin(value) == "model"


def test_what_desk_yaml_writes_is_the_operators() -> None:
    assert origin("express", "service", {"service": ["express", "slow"]}) == "operator"
    assert origin("express", "other", {"service": ["express"]}) == "model"


@given(st.text("ab1.,-_ é", max_size=12), st.text("ab1.é", min_size=1, max_size=2))
def test_a_word_of_its_own_is_what_a_pattern_would_find(text: str, wanted: str) -> None:
    alone = re.search(rf"(?<!\w){re.escape(wanted)}(?!\w)", text)
    apart = re.search(rf"(?<![\w.-]){re.escape(wanted)}(?![\w.])", text)
    assert stands_in(text, wanted) == (alone is not None)
    assert stands_in(text, wanted, ".-", ".") == (apart is not None)
