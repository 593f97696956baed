"""What the desks of `make screenshots` are given: mail, tickets, chats, and colleagues at work."""

import asyncio
import shutil
import time
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

from deskhand.adapters.stores.figure_records import day_of
from deskhand.adapters.stores.run_figures import CountedRuns, write_figures
from deskhand.cli.demo_mail import CHAT_DESK, DESKS, at_home, dated_now, sample_mails, with_chat
from deskhand.model.message import Address, Message
from deskhand.model.principal import Principal, PrincipalKind
from deskhand.model.queue import ReviewFilter
from deskhand.model.run import Decision, Event, Review, ReviewKind, ReviewState, Verdict
from deskhand.wiring import SHIPPED, Database, Desk, LoadedDesk, read_desk

HISTORY = ("sent", "unchanged", "edited", "rejected", "person")
INBOX, TRIAGE, SHOP = "inbox", "triage", CHAT_DESK
PEOPLE = {"ida": "admin", "tomas": "approver", "jana": "agent"}
ME, TOMAS, JANA = PEOPLE
SLA = """
tickets:
  sla:
    - {urgency: critical, first_response: 1 hour, next_response: 1 hour, resolution: 8 hours}
    - {urgency: high, first_response: 2 hours, next_response: 4 hours, resolution: 16 hours}
    - {first_response: 8 hours, next_response: 8 hours, resolution: 40 hours}
  warn_before: 1 hour
"""
TICKETS = """
ada@reed.example | Ada Reed | Two-factor login | 190 | How do I enable two-factor login?
ben@novak.example | Ben Novak | Double charge | 55 | You charged our card twice.
cara@weiss.example | Cara Weiss | Boards are empty | 35 | Our boards are empty, all data is gone.
dan@ellis.example | Dan Ellis | Profile picture | 900 | Where do I change my profile picture?
eva@horak.example | Eva Horáková | Faktury | 410 | Dobrý den, kde najdu faktury?
finn@berg.example | Finn Berg | Export | 75 | Der Export funktioniert nicht mehr.
gina@rossi.example | Gina Rossi | Account taken over | 25 | Somebody hacked my account!
hugo@blanc.example | Hugo Blanc | Upload fails | 140 | The upload of files fails with an error.
iris@vogt.example | Iris Vogt | Rechnungsadresse | 320 | Wie ändere ich die Rechnungsadresse?
jack@stone.example | Jack Stone | Legal action | 12 | You will hear from my lawyer.
kata@svoboda.example | Kateřina Svobodová | Dvojí platba | 95 | Strhli jste nám platbu dvakrát.
liam@ohara.example | Liam O'Hara | Dark theme | 1500 | Could the calendar get a dark theme?
mia@lund.example | Mia Lund | Cancel the subscription | 260 | How do I cancel my subscription?
nora@petit.example | Nora Petit | Seats | 45 | What does a seat cost if we add ten people in May?
otto@kern.example | Otto Kern | Everything is down | 8 | The whole platform is down for us.
pia@moreau.example | Pia Moreau | Press question | 30 | I am a journalist and write about you.
ada@reed.example | Ada Reed | Invoice for March | 60 | Where do I find the invoice for March?
rita@sousa.example | Rita Sousa | Password | 600 | How do I change my password in the app?
"""
"""Address, name, subject, how many minutes ago it came, and the words; a ticket a line."""
NOTE = "He has been with us for six years. If the oak is late again, offer the showroom piece."
EDITED = "\n\nIf anything is unclear, call me at the showroom.\n"


def read_desks(folder: Path) -> list[LoadedDesk]:
    """The shipped desks as the pictures show them."""
    mail = DESKS[0]
    own = folder / "desks" / TRIAGE
    shutil.copytree(SHIPPED / TRIAGE, own)
    with (own / "desk.yaml").open("a", encoding="utf-8") as file:
        file.write(SLA)
    inbox = at_home(read_desk(mail.desk), mail, folder, 600.0)
    return [inbox, with_chat(read_desk(SHOP)), read_desk(str(own))]


async def fill(desks: Sequence[Desk], folder: Path, loaded: Sequence[LoadedDesk]) -> None:
    """Bring everything in, and let colleagues work."""
    inbox, _, triage = desks
    await _bring_mail(inbox, folder, loaded[0])
    await _bring_tickets(triage)
    await _decide(inbox, triage)
    await _talk(inbox)


async def add_history(database: Database, desk: str) -> None:
    """Figures of two months before: of messages that are not there."""
    random = Random(5)  # noqa: S311 the same pictures each time
    now = time.time()
    rows: list[dict[str, Any]] = []
    for age in range(1, 57):
        for _ in range(random.randint(14, 32)):
            became = random.choices(HISTORY, (20 - age / 4, 14, 5, 1, 4))[0]
            at = now - 86400.0 * age
            day = day_of(at, UTC)
            waited = random.lognormvariate(5 + age / 40, 1.2) if became != "sent" else 40.0
            looked_at = "right" if became == "sent" and random.random() < 0.1 else None
            rows.append(
                {
                    "run": 10_000_000 + len(rows),
                    "desk": desk,
                    "at": at,
                    "day": day,
                    "category": random.choice(("inquiry", "complaint", "follow_up", "invoice")),
                    "language": random.choice(("en", "en", "cs", "de")),
                    "channel": random.choice(("mail", "mail", "chat")),
                    "became": became,
                    "looked_at": looked_at,
                    "reply_seconds": waited,
                    "in_time": int(waited < 3600),
                    "cost": 0.004 * random.random(),
                    "ended_day": day,
                }
            )
    counted = CountedRuns(frozenset(row["run"] for row in rows), rows)
    await database.write_core(lambda core: write_figures(core, counted))


async def _bring_mail(desk: Desk, folder: Path, loaded: LoadedDesk) -> None:
    mails = [file for _, file in sample_mails([loaded, loaded])]
    for file in dict.fromkeys(mails):
        raw = dated_now(file.read_bytes(), datetime.now(UTC))
        (folder / "incoming" / desk.spec.name / file.name).write_bytes(raw)
    await _until_at_rest(desk, len(set(mails)))


async def _until_at_rest(desk: Desk, count: int) -> None:
    while True:
        runs = await desk.store.runs(limit=1000)
        if len(runs) >= count and not any(run.status.is_active for run in runs):
            return
        await asyncio.sleep(0.3)


async def _bring_tickets(desk: Desk) -> None:
    for number, line in enumerate(TICKETS.strip().splitlines()):
        address, name, subject, minutes, words = line.split(" | ")
        message = Message(
            id=f"t{number}",
            channel="api",
            conversation=f"t{number}",
            sender=Address(address=address, name=name),
            subject=subject,
            body=words,
            received_at=datetime.now(UTC) - timedelta(minutes=int(minutes)),
            principal=Principal(kind=PrincipalKind.SENDER, address=address, how="signed in"),
        )
        accepted = await desk.dispatcher.submit(message)
        await desk.dispatcher.wait(accepted.run_id)


async def _decide(inbox: Desk, triage: Desk) -> None:
    """Some replies leave as they are, some edited, one not at all; the rest waits."""
    for desk in (inbox, triage):
        waiting = await desk.store.find_reviews(ReviewFilter(state=ReviewState.OPEN), limit=50)
        replies = [review for review in waiting if _is_whole(review)]
        for number, review in enumerate(replies[:7]):
            await _verdict(desk, review, number)
        rest = replies[7:]
        if rest:
            await desk.store.assign(rest[0].id, ME, TOMAS)
            await desk.store.note_review(rest[0].id, TOMAS, NOTE)


def _is_whole(review: Review) -> bool:
    """Whether it is a reply that leaves nothing for a person to write."""
    reply = review.payload.get("reply") or {}
    return review.kind is ReviewKind.REPLY and "{" not in str(reply.get("text", ""))


async def _verdict(desk: Desk, review: Review, number: int) -> None:
    reply = dict(review.payload.get("reply") or {})
    edit = None
    decision = Decision.APPROVE
    note = None
    if number % 3 == 1:
        decision, edit = Decision.EDIT, {"text": str(reply.get("text", "")) + EDITED}
    if number == 5:
        decision, note = Decision.REJECT, "Jana has called him."
    by = list(PEOPLE)[number % 2]
    verdict = Verdict(decision, by, review.version, review.payload_hash, note, edit)
    await desk.store.decide(review.id, verdict)
    desk.dispatcher.wake()
    await desk.dispatcher.wait(review.run_id)


async def _talk(desk: Desk) -> None:
    """A colleague answers one conversation, and colleagues speak about it."""
    waiting = await desk.store.find_reviews(ReviewFilter(state=ReviewState.OPEN), limit=50)
    told = waiting[len(waiting) // 2]
    await desk.store.record_event(
        Event("conversation.note", told.run_id, TOMAS, {"text": NOTE}),
    )
    run = await desk.store.run(told.run_id)
    await desk.store.take_over(run.conversation, ME)
