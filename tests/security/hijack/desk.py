"""Two desks before the same company: one with a policy of its own, one that relies on the gate's
defaults."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from ruamel.yaml import YAML

from deskhand.agents.replying.sending import Sending
from deskhand.config.sections.outgoing import OutgoingSpec
from deskhand.config.sections.policy import PolicySpec, RuleSpec
from deskhand.model.money import Money
from deskhand.model.totals import SENDS, Limit, counted_money
from deskhand.policy.rule_policy import compile_policy
from deskhand.ports import Effects
from deskhand.tools import Gate, Terms, Tool, ToolRegistry
from deskhand.tools.rules import RULES, GateRule
from tests.security.hijack.company import DAY, DESK_ADDRESS, HOST, resolvers_of, tools_of
from tests.security.hijack.office import Desk, calendar_slots, office_resolvers, office_tools
from tests.security.hijack.replies import ALWAYS_ASK, SENDING

PER_CALL = Money.of("50 EUR")
PER_CUSTOMER = Money.of("70 EUR")
PER_DAY = Money.of("90 EUR")
FOUR_EYES = Money.of("60 EUR")
SENDS_PER_CONVERSATION = 2
APPROVAL_LASTS = 2 * DAY

POLICY = """
- name: never more than was paid
  when: {tool: refund, amount: {above: {fact: order.refundable}}}
  then: deny
- name: small refunds
  when: {tool: refund, amount: {at_most: 50 EUR}}
  then: allow
  limit: {per: principal, money: 70 EUR}
- name: larger refunds
  when: {tool: refund}
  then: hold
- name: all of a small order, or part of any
  when: {tool: {in: [request_refund, cancel_order]}, money: {at_most: 50 EUR}}
  then: allow
  limit: {per: principal, money: 70 EUR}
- name: larger sums
  when: {tool: {in: [request_refund, cancel_order]}}
  then: hold
- name: a few notes for colleagues
  when: {tool: create_ticket}
  then: allow
  limit: {per: conversation, calls: 3}
- name: everyday work
  when: {tool: {in: [add_note, open_ticket, send_mail, forward_file, delete_order, ship_order, book, close_account, reset_access, hold_slot, cancel_appointment, answer_invitation, open_return, change_address]}}
  then: allow
- name: a known customer may have something put aside
  when: {tool: manage_reservation, action: {in: [create, check]}, principal.kind: {is_not: anonymous}}
  then: allow
  limit: {per: principal, calls: 4}
- name: the customer himself may cancel
  when: {tool: manage_reservation, action: cancel, principal.kind: {in: [sender, login, asserted]}}
  then: allow
- name: other reservations ask
  when: {tool: manage_reservation}
  then: hold
"""  # noqa: E501
RESERVATIONS_A_DAY = 4
NOTES_PER_CONVERSATION = 3

PROFILE = (
    "show_order", "show_profile", "look_up_customer", "search_orders", "guess_order", "read_notes", "free_slots",  # noqa: E501
    "refund", "add_note", "open_ticket", "send_mail", "forward_file", "book", "close_account", "upgrade", "wire",  # noqa: E501
    "reset_access", "deliver_reply", "no_such_tool", "get_contact", "check_calendar", "read_invitation", "web_search",  # noqa: E501
    "their_pages", "their_file", "hold_slot", "manage_reservation", "their_post", "send_reply", "create_draft",  # noqa: E501
    "escalate", "delete_order", "ship_order", "answer_invitation", "keep_draft", "search_drugs", "find_order",  # noqa: E501
    "open_return", "find_appointment", "cancel_appointment", "check_order_status", "request_refund",
    "change_address", "cancel_order", "create_ticket",
)  # fmt: skip
CAPS = (
    Limit("day", "EUR", counted_money(PER_DAY.amount)),
    Limit("conversation", SENDS, SENDS_PER_CONVERSATION),
)
OF_WORDS = frozenset(("unbacked_claim", "subject_for_people", "writer_doubts"))
"""Rules that hold what a model wrote and nothing backs: almost every reply of this game, so that
nothing about how replies leave would be tried. tests/security/test_model_writes_anything.py and
tests/integration/test_unbacked_replies.py play them."""
PLAYED = tuple(rule for rule in RULES if rule.name not in OF_WORDS)


@dataclass(frozen=True)
class Build:
    """How a gate is put together; a mutant changes one thing of it."""

    rules: Sequence[GateRule] = PLAYED
    caps: tuple[Limit, ...] = CAPS
    always_ask: frozenset[str] = ALWAYS_ASK
    outside: bool = True
    """Whether what strangers wrote is known to be theirs."""
    sending: Sending = SENDING
    replies: int = 1
    """How many replies a run may hand in and send."""


def terms_with(policy: bool, build: Build, tools: Iterable[Tool] = ()) -> Terms:
    sections = [RuleSpec.model_validate(rule) for rule in YAML(typ="safe").load(POLICY)]
    outside = [tool.name for tool in tools if tool.outside and build.outside]
    trusted = {f"act{number}": "act" for number in range(3)}
    return Terms(
        policy=compile_policy(PolicySpec(rules=tuple(sections))) if policy else None,
        recipients=frozenset({DESK_ADDRESS}),
        caps=build.caps,
        approval_lasts=APPROVAL_LASTS,
        four_eyes_over=FOUR_EYES,
        outgoing=OutgoingSpec(hosts=(HOST,)),
        always_ask=build.always_ask,
        outside=frozenset(outside),
        trusted_outputs=trusted,
    )


def gate_of(
    desk: Desk,
    ledger: Effects,
    *,
    policy: bool,
    build: Build | None = None,
    now: Callable[[], float],
) -> Gate:
    build, company = build or Build(), desk.company
    tools = [*tools_of(company), *office_tools(desk, ledger, build.replies)]
    return Gate(
        ToolRegistry(tools),
        ledger,
        desk="hijacked",
        terms=terms_with(policy, build, tools),
        resolvers=[*resolvers_of(company, calendar_slots(company)), *office_resolvers(desk)],
        rules=build.rules,
        now=now,
    )
