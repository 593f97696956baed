"""Score the shipped orders desk on conversations, with its embedded brain and in mode `auto`.

    python scripts/score_orders.py conversations.jsonl     # turns, and the truth about each
    python scripts/score_orders.py --strangers questions.jsonl    # which no intent covers

Each conversation goes through the whole flow in a sandbox, on the orders that it is given. Where
the desk asks whether a changed value is right, the customer says yes. Orders in another currency
than the shipped desk's are held by a copy of it in that currency.

What a truth accepts beside what it expects counts as right: `accept` (outcomes), `asks_for_accept`,
`intent_accept`, `slots_accept` and `also_accept`. So does the call that was wanted where the shop's
policy has a colleague approve it, as a large refund: writers do not know the limits. How many
conversations are right by that alone is told apart. Orders that are `created` or `paid` are
`processing` in this shop.
"""

import asyncio
import json
import re
import shutil
import sys
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import sqlalchemy as sa

from deskhand import wiring
from deskhand.desks.orders.order_tables import CURRENCY, TABLES, orders
from deskhand.engine.story import Document, read_records, story_of
from deskhand.evals.lane import Lane, LaneClock
from deskhand.language.turn_kinds import CONFIRM
from deskhand.mail.message_files import message_from
from deskhand.model.money import Money
from deskhand.model.share import Share
from deskhand.model.understanding import LOOP_IN
from deskhand.wiring.desk_folders import find_desk
from deskhand.wiring.sandbox import Sandbox

TOOL_OF = {
    "order_status": "check_order_status",
    "refund": "request_refund",
    "change_address": "change_address",
    "cancel_order": "cancel_order",
    "create_ticket": "create_ticket",
}
EFFECTS = ("request_refund", "change_address", "cancel_order")
TYPED = ("order", "amount")
YES = {"en": "yes", "cs": "ano", "de": "ja", "es": "sí"}
ME, SOMEBODY_ELSE = "C-9001", "C-9002"
SAY_IT_ANEW = "request"
"""What the desk waits for after a customer who wants nobody."""
WORTH = {"CZK": 25}
"""How many units of another currency come to one of the desk's own, about."""
PERSON_STATUSES = ("needs_review", "waiting_review")
STATES = {"created": "processing", "paid": "processing", "refunded": "delivered"}
"""What this shop calls the states that writers give orders."""


@dataclass
class Seen:
    """What came of a turn."""

    outcome: str
    asked: str | None = None
    calls: list[Document] = field(default_factory=list[Document])
    """Calls that were carried out."""
    held: list[Document] = field(default_factory=list[Document])
    """Calls that a colleague is to approve, by the shop's policy or for another reason."""
    said: str = ""
    understood: dict[str, Any] = field(default_factory=dict[str, Any])


class Chat:
    """One conversation with the desk."""

    def __init__(self, lane: Lane, case: Mapping[str, Any]) -> None:
        self._lane = lane
        self._case = case
        self._said = 0
        given = case.get("given") or {}
        every = (*(given.get("mine") or ()), *(given.get("others") or ()))
        self._totals = {order["order"]: Decimal(str(order["total"])) for order in every}

    async def say(self, text: str) -> Seen:
        given = self._case.get("given") or {}
        self._said += 1
        fields: dict[str, Any] = {
            "channel": given.get("channel", "chat"),
            "from": "customer@example.com",
            "id": f"{self._case['id']}/{self._said}",
            "conversation": self._case["id"],
            "body": text,
        }
        if given.get("identity", "login") == "login":
            fields["customer_id"] = ME
        message = message_from(fields, vouched_by="the score")
        run_id = await self._lane.accept(message)
        await self._lane.work(run_id)
        story = story_of(await read_records(self._lane.store, run_id))
        for call in story["tool_calls"]:
            call["total"] = self._totals.get(str(call["arguments"].get("order")))
        return seen_in(story)


def seen_in(story: Document) -> Seen:
    calls = [call for call in story["tool_calls"] if call["ok"]]
    question = story["question"] or {}
    said = str((story["reply"] or {}).get("text") or "")
    plan = story["outputs"].get("plan") or {}
    act = story["outputs"].get("act") or {}
    understood = {**(plan.get("slots") or {}), **(act.get("slots") or {})}
    is_unsure = bool((act.get("progress") or {}).get("pending"))
    acted = [call for call in calls if call["tool"] != "escalate"]
    noted = acted and (story["review"] or {}).get("kind") == "follow_up"
    is_handed_over = story["status"] in PERSON_STATUSES and not noted
    if is_handed_over or len(acted) < len(calls):
        held = [call for call in story["tool_calls"] if call["verdict"] == "hold"]
        return Seen("handover", None, acted, held, said, understood)
    if question.get("param") == LOOP_IN:
        return Seen("fallback", None, acted, [], said, understood)
    if question and question.get("param") != SAY_IT_ANEW:
        asked = CONFIRM if is_unsure else question.get("param")
        return Seen("ask", asked, acted, [], said, understood)
    return Seen("act" if acted else "answer", None, acted, [], said, understood)


async def seed(sandbox: Sandbox, given: Mapping[str, Any]) -> None:
    """The orders of a conversation in place of the shipped ones."""
    rows = [order_row(order, ME) for order in given.get("mine") or ()]
    rows += [order_row(order, SOMEBODY_ELSE) for order in given.get("others") or ()]

    def write(db: sa.Connection) -> None:
        db.execute(orders.delete())
        if rows:
            db.execute(orders.insert(), rows)

    await sandbox.own_tables.write(TABLES, write)


def order_row(order: Mapping[str, Any], owner: str) -> dict[str, Any]:
    is_refunded = order["state"] == "refunded"
    state = STATES.get(order["state"], order["state"])
    today = datetime.now(UTC).date()
    arrived_on = today - timedelta(days=order.get("delivered_days_ago") or 4)
    refunded = order["total"] if is_refunded else order.get("refunded") or 0
    left = state in ("shipped", "delivered", "returned")
    arrived = state in ("delivered", "returned")
    carrier, tracking, shipped_on, delivered_on, expected_on = "", "", None, None, None
    if left:
        carrier, tracking = "DHL", "DHL123"
        shipped_on = (arrived_on - timedelta(days=2)).isoformat()
    if arrived:
        delivered_on = arrived_on.isoformat()
    else:
        expected_on = (today + timedelta(days=3)).isoformat()
    return {
        "id": order["order"],
        "owner": owner,
        "email": f"{owner.lower()}@example.com",
        "name": "A customer",
        "state": state,
        "items": "a lamp",
        "total_cents": int(Decimal(str(order["total"])) * 100),
        "refunded_cents": int(Decimal(str(refunded)) * 100),
        "carrier": carrier,
        "tracking": tracking,
        "payment": "Visa",
        "ship_to": "1 Old Road, Leeds LS1 1AA",
        "ordered_on": (arrived_on - timedelta(days=5)).isoformat(),
        "shipped_on": shipped_on,
        "delivered_on": delivered_on,
        "expected_on": expected_on,
    }


def problems_of(seen: Seen, truth: Mapping[str, Any], *, lenient: bool = True) -> list[str]:
    """Everything that is wrong about a turn."""
    allowed = {truth["expect"]}
    if lenient:
        allowed |= {*(truth.get("accept") or ())}
    problems = [f"forbidden: {rule}" for rule in truth.get("must_not") or () if broken(rule, seen)]
    outcome = seen.outcome
    if outcome not in allowed and "act" in allowed and lenient and is_approved_first(seen, truth):
        return problems
    if outcome not in allowed:
        return [*problems, f"{outcome} instead of {'/'.join(sorted(allowed))}: {seen.said[:70]}"]
    wanted = truth.get("asks_for")
    asked_for = (None, wanted, *(truth.get("asks_for_accept") or ()))
    if outcome == "ask" and truth["expect"] == "ask" and wanted and seen.asked not in asked_for:
        problems.append(f"asks for {seen.asked} instead of {wanted}")
    if outcome == "act":
        problems += list(wrong_calls(seen, truth))
    return problems


def wrong_calls(seen: Seen, truth: Mapping[str, Any]) -> Iterator[str]:
    given = [(call["tool"], call["arguments"]) for call in seen.calls]
    if not any(is_met(wish, seen) for wish in wishes_of(truth)):
        yield f"{given} instead of {truth['intent']} {truth['slots']}"
    also = [as_wish(wish) for wish in truth.get("also") or ()]
    accepted = [set(names) for names in truth.get("also_accept") or ()]
    made = {_intent_of(call) for call in seen.calls}
    if not are_met(also, seen) and not any(names <= made for names in accepted):
        yield f"{given} instead of also {also}"


def is_approved_first(seen: Seen, truth: Mapping[str, Any]) -> bool:
    """Whether the call that was wanted waits for a colleague, and no other call does."""
    if seen.outcome != "handover" or len(seen.held) != 1 or truth.get("also"):
        return False
    wanted = replace(seen, calls=seen.held)
    tools = [TOOL_OF.get(wish["intent"]) for wish in wishes_of(truth)]
    return seen.held[0]["tool"] in tools and not list(wrong_calls(wanted, truth))


def are_met(wishes: Sequence[Mapping[str, Any]], seen: Seen) -> bool:
    return all(is_met(wish, seen) for wish in wishes)


def wishes_of(truth: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What a turn may be taken for: its intent and those accepted, with any of its slots."""
    intents = (truth["intent"], *(truth.get("intent_accept") or ()))
    slots = (truth["slots"], *(truth.get("slots_accept") or ()))
    return [{"intent": intent, "slots": values} for intent in intents for values in slots]


def as_wish(wish: Mapping[str, Any] | str) -> Mapping[str, Any]:
    """A second wish; one that is only named may have any values."""
    return {"intent": wish, "slots": {}} if isinstance(wish, str) else wish


def is_met(wish: Mapping[str, Any], seen: Seen) -> bool:
    """Whether a call was made for a wish; what needs no call is met."""
    tool = TOOL_OF.get(wish["intent"])
    calls = [call for call in seen.calls if call["tool"] == tool]
    return tool is None or any(fits(call, wish["slots"]) for call in calls)


def fits(call: Document, slots: Mapping[str, Any]) -> bool:
    """Whether a call was made with these values; no amount, and a share of all, is all that was
    paid."""
    arguments = call["arguments"]
    for name, wanted in slots.items():
        if name == "amount" and name in arguments:
            if paid_back(arguments["amount"], call) != paid_back(wanted, call):
                return False
        elif name in arguments and not same_value(name, arguments[name], wanted):
            return False
    return "amount" in slots or is_all(arguments.get("amount"))


def same_value(name: str, value: Any, wanted: Any) -> bool:
    if value is None or wanted is None:
        return value is wanted
    if name == "order":
        return str(value) == str(wanted)
    return words_in(str(wanted)) <= words_in(str(value))


def is_all(amount: Any) -> bool:
    return amount is None or str(amount) == str(Share(Fraction(1)))


def paid_back(amount: Any, call: Document) -> Decimal | None:
    """What an amount or a share of an order comes to."""
    total = call.get("total")
    if is_all(amount):
        return total
    try:
        share = Share.of(amount)
    except ValueError:
        return Decimal(str(amount).split()[0])
    return None if total is None else share.of_money(Money(total, CURRENCY)).amount


def words_in(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.casefold()))


def broken(rule: str, seen: Seen) -> bool:
    """Whether a turn did what its truth forbids."""
    kind, _, what = rule.partition(":")
    tools = [call["tool"] for call in seen.calls]
    if kind in ("act", "done"):
        return TOOL_OF.get(what, what) in tools if what else bool(tools)
    if kind == "ask":
        return seen.outcome == "ask" and seen.asked == what
    if kind == "say":
        return what.casefold() in seen.said.casefold()
    if kind == "invent":
        return any(not is_all(call["arguments"].get(what)) for call in seen.calls)
    if kind == "slot":
        return holds(what, seen)
    if kind == "reveal":
        return any(what in ("*", call["arguments"].get("order")) for call in seen.calls)
    return seen.outcome == kind


def holds(rule: str, seen: Seen) -> bool:
    """Whether a slot has this value; `refund.order=O-1` means the calls of one intent."""
    path, _, value = rule.partition("=")
    intent, _, name = path.rpartition(".")
    calls = [call for call in seen.calls if intent in ("", call["tool"], _intent_of(call))]
    values = [call["arguments"].get(name) for call in calls]
    if not intent:
        values.append(seen.understood.get(name))
    there = [str(found) for found in values if found is not None]
    return bool(there) if value == "*" else value in there


def _intent_of(call: Document) -> str:
    return next((intent for intent, tool in TOOL_OF.items() if tool == call["tool"]), "")


def typed_of(slots: Mapping[str, Any]) -> dict[str, Any]:
    return {name: slots.get(name) for name in TYPED}


def wrong_effects(seen: Seen, truth: Mapping[str, Any]) -> list[str]:
    """Effects on another order or amount than the customer means."""
    also = [as_wish(wish) for wish in truth.get("also") or ()]
    wishes = [*wishes_of(truth), *also]
    wrong: list[str] = []
    for call in seen.calls:
        if call["tool"] not in EFFECTS:
            continue
        meant = [wish for wish in wishes if TOOL_OF.get(wish["intent"]) == call["tool"]]
        # a second wish may be written without its values: whether it is theirs, `must_not` says
        unsaid = [wish for wish in also if not wish["slots"] and wish in meant]
        if not unsaid and not any(fits(call, typed_of(wish["slots"])) for wish in meant):
            wrong.append(f"{call['tool']} {call['arguments']}")
    return wrong


async def converse(chat: Chat, case: Mapping[str, Any]) -> list[tuple[Seen, Mapping[str, Any]]]:
    language = case.get("lang") or case.get("language") or "en"
    turns: list[tuple[Seen, Mapping[str, Any]]] = []
    for text, truth in zip(case["turns"], case["truth"], strict=True):
        seen = await chat.say(text)
        if seen.asked == CONFIRM and not may_ask(truth):
            done = seen.calls
            seen = await chat.say(YES[language])
            seen.calls = [*done, *seen.calls]
        turns.append((seen, truth))
    return turns


def may_ask(truth: Mapping[str, Any]) -> bool:
    """Whether a question is right after this turn: then nobody says yes to it."""
    right = (truth["expect"], truth.get("asks_for"), *truth.get("accept", ()))
    return any(str(outcome).partition(":")[0] == "ask" for outcome in right)


async def score_conversations(
    sandbox: Sandbox,
    cases: Sequence[Mapping[str, Any]],
    counts: Counter[str],
    by_language: Counter[str],
) -> None:
    for case in cases:
        await seed(sandbox, case.get("given") or {})
        chat = Chat(sandbox.lane(LaneClock(time.time()), lambda *call: None), case)
        turns = await converse(chat, case)
        problems: list[str] = []
        for number, (seen, truth) in enumerate(turns, 1):
            problems += [f"turn {number}: {problem}" for problem in problems_of(seen, truth)]
            wrong = wrong_effects(seen, truth)
            counts["wrong effects"] += len(wrong)
            problems += [f"turn {number}: WRONG EFFECT {effect}" for effect in wrong]
        counts["right by a colleague's approval"] += not problems and any(
            seen.outcome == "handover" and is_approved_first(seen, truth) for seen, truth in turns
        )
        strictly = [problems_of(seen, truth, lenient=False) for seen, truth in turns]
        language = case.get("lang") or case.get("language")
        by_language[f"{language} of"] += 1
        by_language[f"{language} right"] += not problems
        counts["right"] += not problems
        counts["strictly right"] += not any(strictly)
        for problem in problems:
            sys.stdout.write(f"{case['id']} {problem}\n")


async def score_strangers(sandbox: Sandbox, cases: Sequence[Mapping[str, Any]]) -> None:
    counts: Counter[str] = Counter()
    for number, case in enumerate(cases, 1):
        named = {"id": f"stranger-{number}", **case}
        chat = Chat(sandbox.lane(LaneClock(time.time()), lambda *call: None), named)
        text = case.get("text") or case.get("question") or case["turns"][0]
        seen = await chat.say(text)
        counts[seen.outcome] += 1
        if seen.outcome != "fallback":
            sys.stdout.write(f"{named['id']} {seen.outcome}: {text} -> {seen.said[:80]}\n")
    sys.stdout.write(f"{len(cases)} strangers: {json.dumps(counts)}\n")


@asynccontextmanager
async def shop_in(currency: str) -> AsyncIterator[Sandbox]:
    """The desk as it ships, or a copy whose orders are paid in another currency."""
    with TemporaryDirectory() as folder:
        name = "orders"
        if currency != CURRENCY:
            name = str(copied(Path(folder) / "orders", currency))
        loaded = wiring.read_desk(name)
        spec = loaded.spec.model_copy(update={"mode": "auto"})
        async with wiring.open_sandbox(replace(loaded, spec=spec)) as sandbox:
            yield sandbox


def copied(folder: Path, currency: str) -> Path:
    """A copy of the desk in this currency, with the limits of its policy at about their worth."""
    shutil.copytree(find_desk("orders"), folder)
    tables = folder / "order_tables.py"
    tables.write_text(tables.read_text("utf-8").replace(f'"{CURRENCY}"', f'"{currency}"'), "utf-8")
    desk = folder / "desk.yaml"
    text = desk.read_text("utf-8").replace(f"150 {CURRENCY}", f"{150 * WORTH[currency]} {currency}")
    desk.write_text(text.replace(CURRENCY, currency), "utf-8")
    return folder


def currency_of(case: Mapping[str, Any]) -> str:
    return (case.get("given") or {}).get("currency") or CURRENCY


async def main(cases: Sequence[Mapping[str, Any]], *, strangers: bool) -> None:
    if strangers:
        async with shop_in(CURRENCY) as sandbox:
            await score_strangers(sandbox, cases)
        return
    counts: Counter[str] = Counter()
    by_language: Counter[str] = Counter()
    for currency in dict.fromkeys(map(currency_of, cases)):
        async with shop_in(currency) as sandbox:
            own = [case for case in cases if currency_of(case) == currency]
            await score_conversations(sandbox, own, counts, by_language)
    sys.stdout.write(
        f"{len(cases)} conversations: {json.dumps(counts)} {json.dumps(by_language)}\n"
    )


if __name__ == "__main__":
    lines = Path(sys.argv[-1]).read_text("utf-8").splitlines()
    given = [json.loads(line) for line in lines if line]
    asyncio.run(main(given, strangers="--strangers" in sys.argv))
