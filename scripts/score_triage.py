"""Score the shipped triage desk on labelled tickets, with its embedded brain and in mode `auto`.

    python scripts/score_triage.py tickets.jsonl      # one JSON object a line: ticket and truth

Each ticket goes through the whole flow in a sandbox, where the same customer's earlier ones lie as
they stood: `status`, `last_message_days_ago`, and what was answered.
"""

import asyncio
import json
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

from deskhand import wiring
from deskhand.engine.story import read_records, story_of
from deskhand.evals.given import GivenTicket, give_ticket
from deskhand.evals.lane import Lane, LaneClock
from deskhand.evals.triage_expectations import triage_of
from deskhand.mail.message_files import message_from
from deskhand.model.ticket import new_ticket_id, ticket_id_of
from deskhand.model.ticket_state import TicketState

FIELDS = ("urgency", "ticket_type", "action", "language", "sentiment")
TOGETHER = FIELDS[:4]
CUSTOMER = (None, "customer", "user")


NOW = 1_800_000_000.0


async def triaged(lane: Lane, ticket: dict[str, Any]) -> dict[str, Any]:
    """The outputs of the ticket's run."""
    for earlier in ticket.get("earlier") or ():
        await give_ticket(lane, given(ticket["customer_id"], earlier), NOW)
    data = {
        "from": "customer@example.com",
        "customer_id": ticket["customer_id"],
        "customer_info": ticket.get("customer_info") or {},
        "subject": ticket.get("subject") or "",
        "id": "now",
        "conversation": "now",
        "body": customer_words(ticket),
    }
    run_id = await lane.accept(message_from(data, vouched_by="the score"))
    await lane.work(run_id)
    outputs: dict[str, Any] = story_of(await read_records(lane.store, run_id))["outputs"]
    return outputs


def given(customer_id: str, earlier: dict[str, Any]) -> GivenTicket:
    """An earlier ticket as it stood; some were written with letters that no id has."""
    said = [one for one in earlier["messages"] if one.get("role") in CUSTOMER]
    replies = [one for one in earlier["messages"] if one.get("role") not in CUSTOMER]
    written = str(earlier["ticket_id"]).replace("U", "V")
    messages = tuple(str(message["content"]) for message in said)
    reply = str(replies[-1]["content"]) if replies else None
    return GivenTicket(
        id=ticket_id_of(written) or new_ticket_id(),
        customer_id=customer_id,
        messages=messages,
        state=TicketState(earlier.get("status") or "active"),
        days_ago=float(earlier.get("last_message_days_ago") or 0.0),
        reply=reply,
    )


def customer_words(ticket: dict[str, Any]) -> str:
    messages = [one for one in ticket["messages"] if one.get("role") in CUSTOMER]
    return "\n\n".join(str(message["content"]) for message in messages)


def is_right(truth: dict[str, Any], field: str, value: Any) -> bool:
    return value == truth[field] or value in truth.get(f"{field}_accept", ())


async def main(cases: list[dict[str, Any]]) -> None:
    loaded = wiring.read_desk("triage")
    spec = loaded.spec.model_copy(update={"mode": "auto"})
    right: Counter[str] = Counter()
    async with wiring.open_sandbox(replace(loaded, spec=spec)) as sandbox:
        for case in cases:
            lane = sandbox.lane(LaneClock(NOW), lambda *call: None)
            found = triage_of(await triaged(lane, case["ticket"]))
            truth = case["truth"]
            correct = {field for field in FIELDS if is_right(truth, field, found[field])}
            right.update(correct)
            right["together"] += correct.issuperset(TOGETHER)
            missed = truth["urgency"] == "critical" and found["urgency"] != "critical"
            right["critical missed"] += missed
            failed = [field for field in FIELDS if field not in correct]
            wrong = {field: [found[field], truth[field]] for field in failed}
            if wrong:
                sys.stdout.write(f"{case['id']} {json.dumps(wrong)}\n")
    shares = {name: count / len(cases) for name, count in right.items()}
    sys.stdout.write(f"{len(cases)} tickets: {json.dumps(shares)}\n")


if __name__ == "__main__":
    lines = Path(sys.argv[1]).read_text("utf-8").splitlines()
    asyncio.run(main([json.loads(line) for line in lines if line]))
