"""Routing rules: every condition alone, and all of them together; the first rule that matches
wins."""

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deskhand import Router
from deskhand.config.sections.routing import RoutingRuleSection
from deskhand.model.message import Address, Attachment, Message
from deskhand.routing.facts import RoutingFacts
from deskhand.routing.message_router import all_of


def message(sender: str = "Ann@Example.com", **fields: Any) -> Message:
    base = {
        "id": "1",
        "conversation": "1",
        "channel": "support",
        "received_at": datetime(2026, 11, 15, tzinfo=UTC),
    }
    return Message.model_validate({**base, "sender": Address(address=sender), **fields})


def rule(name: str = "rule", /, *, route: str = "pipeline", **match: Any) -> RoutingRuleSection:
    written: dict[str, Any] = {"name": name, "match": match, "route": route}
    if route == "agent":
        written["profile"] = "pharmacy"
    return RoutingRuleSection.model_validate(written)


def matches(what: Message, **match: Any) -> bool:
    return Router([rule(**match)], "inbox").route(what).rule == "rule"


PDF = Attachment(name="Invoice.PDF", type="application/pdf", size=9)


@pytest.mark.parametrize(
    ("match", "what"),
    [
        ({"all": True}, message()),
        ({"sender_email": "ann@EXAMPLE.com"}, message()),
        ({"sender_domain": "example.COM"}, message()),
        ({"subject_contains": "TEApot"}, message(subject="My Teapot broke")),
        ({"subject_contains": "straße"}, message(subject="STRASSE 5")),
        ({"header_match": {"X-Shop": "^a[0-9]+$"}}, message(headers={"x-shop": "a17"})),
        (
            {"header_match": {"Received": "from good"}},
            message(headers={"received": "from bad\nfrom good"}),
        ),
        ({"header_match": {"X-A": "1", "X-B": "2"}}, message(headers={"x-a": "1", "x-b": "2"})),
        ({"forwarded_from": "Info@shop.cz"}, message(headers={"x-forwarded-from": "INFO@shop.cz"})),
        (
            {"forwarded_from": "info@shop.cz"},
            message(headers={"reply-to": "Shop <info@shop.cz>, x@y.cz"}),
        ),
        ({"forwarded_from": "info@shop.cz"}, message(body="From: Info <info@Shop.cz>\nHello")),
        ({"forwarded_from": "info@shop.cz"}, message(body="write to info@shop.cz.")),
        ({"forwarded_from": "ann@example.com"}, message()),
        ({"any": [{"sender_domain": "x.cz"}, {"sender_domain": "example.com"}]}, message()),
        ({"not": {"sender_domain": "x.cz"}}, message()),
        ({"channel": "support"}, message()),
        ({"attachment": True}, message(attachments=[PDF])),
        ({"attachment": False}, message()),
        ({"attachment": ".pdf"}, message(attachments=[PDF])),
        ({"attachment": "application/*"}, message(attachments=[PDF])),
        ({"attachment": "application/pdf"}, message(attachments=[PDF])),
    ],
)
def test_a_condition_that_is_met(match: dict[str, Any], what: Message) -> None:
    assert matches(what, **match)


@pytest.mark.parametrize(
    ("match", "what"),
    [
        ({}, message()),
        ({"sender_email": "ann@example.co"}, message()),
        ({"sender_email": "example.com"}, message()),
        ({"sender_domain": "ample.com"}, message()),
        ({"sender_domain": "example.com"}, message("ann@mail.example.com")),
        ({"sender_domain": "nobody"}, message("nobody")),
        ({"subject_contains": "teapot"}, message(body="teapot")),
        ({"header_match": {"X-Shop": ".*"}}, message()),
        ({"header_match": {"X-A": "1", "X-B": "2"}}, message(headers={"x-a": "1"})),
        (
            {"forwarded_from": "info@shop.cz"},
            message(body="info@shop.cz.evil.example or xinfo@shop.cz"),
        ),
        ({"any": []}, message()),
        ({"any": [{}]}, message()),
        ({"not": {"all": True}}, message()),
        ({"channel": "mail"}, message()),
        ({"attachment": ".doc"}, message(attachments=[PDF])),
        ({"language": "cs"}, message()),
        ({"intent": "refund"}, message()),
        ({"sender_domain": "example.com", "subject_contains": "x"}, message()),
    ],
)
def test_a_condition_that_is_not_met(match: dict[str, Any], what: Message) -> None:
    assert not matches(what, **match)


def test_the_first_rule_wins_and_says_why() -> None:
    router = Router(
        [
            rule("pharmacy_support", route="agent", forwarded_from="info@dostupnost-leku.cz"),
            rule("ann", sender_email="ann@example.com", subject_contains="teapot"),
            rule("default", all=True),
        ],
        "inbox",
    )
    first = router.route(message(subject="Teapot", body="od info@dostupnost-leku.cz"))
    assert first.model_dump() == {
        "route": "agent",
        "profile": "pharmacy",
        "flow": "pharmacy",
        "rule": "pharmacy_support",
        "why": "forwarded_from info@dostupnost-leku.cz (in the body)",
        "preprocess": None,
        "instead_of": None,
    }
    second = router.route(message(subject="Teapot"))
    assert (second.rule, second.why) == (
        "ann",
        "sender_email is ann@example.com; subject_contains 'teapot'",
    )
    assert router.route(message("x@y.cz")).rule == "default"


def test_without_a_match_the_default_is_the_pipeline() -> None:
    nothing = Router([rule(sender_email="bob@example.com")], "inbox").route(message())
    assert (nothing.route, nothing.flow, nothing.rule) == ("pipeline", "inbox", None)
    assert Router([], "inbox").route(message()).flow == "inbox"


def test_language_and_intent_are_asked_for_only_when_a_rule_needs_them() -> None:
    asked: list[str] = []

    def language(what: Message) -> str:
        asked.append("language")
        return "cs"

    router = Router(
        [rule("ann", sender_email="ann@example.com"), rule("czech", language="cs")],
        "x",
        language=language,
    )
    assert router.route(message()).rule == "ann"
    assert not asked
    assert router.route(message("x@y.cz")).rule == "czech"
    assert asked == ["language"]


WORDS = st.sampled_from(["a", "b", "ab"])
ATOMS = st.fixed_dictionaries(
    {},
    optional={
        "all": st.just(True),
        "sender_email": st.sampled_from(["a@x.cz", "b@x.cz", "a@y.cz"]),
        "sender_domain": st.sampled_from(["x.cz", "y.cz"]),
        "subject_contains": WORDS,
        "forwarded_from": st.sampled_from(["a@x.cz", "f@z.cz"]),
        "channel": st.sampled_from(["mail", "chat"]),
        "header_match": st.dictionaries(st.just("x-h"), st.sampled_from(["^a", "b$"]), min_size=1),
        "attachment": st.sampled_from([True, False, ".pdf"]),
    },
)
MATCHES = st.recursive(
    ATOMS,
    lambda inner: st.builds(
        lambda base, more: {**base, **more},
        ATOMS,
        st.fixed_dictionaries({}, optional={"any": st.lists(inner, max_size=2), "not": inner}),
    ),
    max_leaves=3,
)
RULES = st.lists(MATCHES, max_size=6).map(
    lambda many: [rule(str(number), **match) for number, match in enumerate(many)]
)
MESSAGES = st.builds(
    lambda sender, subject, body, headers, channel, pdf: message(
        sender,
        subject=subject,
        body=body,
        headers=headers,
        channel=channel,
        attachments=[PDF] if pdf else [],
    ),
    st.sampled_from(["a@x.cz", "B@x.cz", "a@y.cz", "f@z.cz", "nobody"]),
    st.sampled_from(["", "A", "xby", "ab"]),
    st.sampled_from(["", "f@z.cz", "a@x.cz.org"]),
    st.dictionaries(st.sampled_from(["x-h", "reply-to"]), st.sampled_from(["a", "b", "f@z.cz"])),
    st.sampled_from(["mail", "chat"]),
    st.booleans(),
)


@settings(max_examples=300, deadline=None)
@given(RULES, MESSAGES)
def test_looking_rules_up_finds_what_reading_them_in_order_finds(
    rules: list[RoutingRuleSection], what: Message
) -> None:
    plain = next(
        (one.name for one in rules if all_of(one.match)(RoutingFacts(what)) is not None), None
    )
    assert Router(rules, "inbox").route(what).rule == plain
