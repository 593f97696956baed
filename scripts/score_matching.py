"""Score which ticket messages continue, on labelled cases.

    python scripts/score_matching.py pairs.jsonl

Each line holds `tickets` (each with `id`, `subject`, `messages`, and perhaps `state` and `reply`),
`message`, and `continues`: the id of the ticket that it continues, or null. Every message comes
from the same proven customer in a conversation of its own. Only an id as a desk gives it counts as
cited: a ticket called "A" is not named by every text with that letter.
"""

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from deskhand.language.embed import shared_embedder
from deskhand.language.ticket_facts import continuations, follow_up_score
from deskhand.mail.message_files import message_from
from deskhand.model.ticket import MessageFacts, Ticket
from deskhand.model.ticket_state import TicketState
from deskhand.tickets.candidates import Candidate, Incoming
from deskhand.tickets.checkpoints import build, read_text
from deskhand.tickets.matching import match
from deskhand.tickets.message_hints import cited_in, facts_of, follow_up_words, told_matter


def _message(number: int, body: str, subject: str = "") -> Any:
    data = {"from": "customer@example.com", "id": f"m{number}", "conversation": f"c{number}"}
    return message_from({**data, "subject": subject, "body": body}, vouched_by="the score")


def _facts(number: int, body: str, subject: str) -> MessageFacts:
    message = _message(number, body, subject)
    vector = shared_embedder().embed([told_matter(message)], "query")[0]
    return facts_of(f"run{number}", message, vector.astype("<f2").tobytes())


def prepared(case: dict[str, Any]) -> tuple[Incoming, list[Candidate]]:
    """The message and the tickets as a desk would compare them."""
    candidates: list[Candidate] = []
    for place, given in enumerate(case["tickets"]):
        state = TicketState(given.get("state") or "active")
        ticket = Ticket(
            id=given["id"], customer="customer:A", subject=given["subject"], state=state
        )
        facts = [
            _facts(100 * place + number, body, given["subject"])
            for number, body in enumerate(given["messages"])
        ]
        replies = [(given["reply"], 1.0)] if given.get("reply") else []
        candidates.append(Candidate(ticket, build(ticket, facts, replies)))
    message = _message(9999, case["message"])
    words = told_matter(message)
    chances = continuations(words, [read_text(one.checkpoint) for one in candidates])
    read = zip(candidates, chances, strict=True)
    candidates = [replace(one, continued=chance) for one, chance in read]
    vector = shared_embedder().embed([words], "query")[0]
    incoming = Incoming(
        conversation="c9999",
        is_proven=True,
        cited=cited_in(message),
        references=facts_of("run9999", message, None).references,
        follow_up=follow_up_words(message),
        vector=vector,
        comes_back=follow_up_score(vector),
        text=words,
    )
    return incoming, candidates


def matched(case: dict[str, Any]) -> tuple[str | None, str]:
    """The ticket that the message joins, and why."""
    incoming, candidates = prepared(case)
    result = match(incoming, candidates)
    chosen = result.matched_ticket_id if result.joins else None
    read = [round(one.continued or 0.0, 2) for one in candidates]
    return chosen, f"{result.evidence}: {result.why} {read}"


def main(cases: list[dict[str, Any]]) -> None:
    joined = right = wanted = 0
    for case in cases:
        chosen, why = matched(case)
        joined += chosen is not None
        right += chosen is not None and chosen == case["continues"]
        wanted += case["continues"] is not None
        if chosen != case["continues"]:
            line = {"joined": chosen, "right": case["continues"], "why": why}
            sys.stdout.write(
                json.dumps(line | {"message": case["message"][:90]}, ensure_ascii=False) + "\n"
            )
    precision = right / joined if joined else 1.0
    sys.stdout.write(
        f"{len(cases)} messages, {joined} joined: precision {precision:.3f}, "
        f"recall {right / max(1, wanted):.3f}\n"
    )


if __name__ == "__main__":
    lines = Path(sys.argv[1]).read_text(encoding="utf-8").splitlines()
    main([json.loads(line) for line in lines if line.strip()])
