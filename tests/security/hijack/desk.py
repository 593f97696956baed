"""Two desks before the same company: one with a policy of its own, one that relies on the gate's defaults."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ruamel.yaml import YAML

from deskhand.config.outgoing import OutgoingSpec
from deskhand.config.policy import RuleSection, policy_spec
from deskhand.model.money import Money
from deskhand.model.totals import SENDS, Limit, counted_money
from deskhand.policy.rules import compile_policy
from deskhand.ports import Effects
from deskhand.tools import Gate, Terms, ToolRegistry
from deskhand.tools.rules import RULES, Rule
from tests.security.hijack.company import DAY, DESK_ADDRESS, HOST, Company, resolvers_of, tools_of

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
- name: everyday work
  when: {tool: {in: [add_note, open_ticket, send_mail, forward_file, book, close_account, reset_access]}}
  then: allow
"""

PROFILE = (
    "show_order", "show_profile", "look_up_customer", "search_orders", "guess_order", "read_notes", "free_slots",
    "refund", "add_note", "open_ticket", "send_mail", "forward_file", "book", "close_account", "upgrade", "wire",
    "reset_access", "deliver_reply", "no_such_tool",
)  # fmt: skip
CAPS = (Limit("day", "EUR", counted_money(PER_DAY.amount)), Limit("conversation", SENDS, SENDS_PER_CONVERSATION))


@dataclass(frozen=True)
class Build:
    """How a gate is put together; a mutant changes one thing of it."""

    rules: Sequence[Rule] = RULES
    caps: tuple[Limit, ...] = CAPS


def terms_with(policy: bool, build: Build) -> Terms:
    sections = [RuleSection.model_validate(rule) for rule in YAML(typ="safe").load(POLICY)]
    return Terms(
        policy=compile_policy(policy_spec(sections)) if policy else None,
        recipients=frozenset({DESK_ADDRESS}),
        caps=build.caps,
        approval_lasts=APPROVAL_LASTS,
        four_eyes_over=FOUR_EYES,
        outgoing=OutgoingSpec(hosts=(HOST,)),
        trusted_outputs={f"act{number}": "act" for number in range(3)},
    )


def gate_of(
    company: Company, ledger: Effects, *, policy: bool, build: Build | None = None, now: Callable[[], float]
) -> Gate:
    build = build or Build()
    return Gate(
        ToolRegistry(tools_of(company)),
        ledger,
        desk="hijacked",
        terms=terms_with(policy, build),
        resolvers=resolvers_of(company),
        rules=build.rules,
        now=now,
    )
