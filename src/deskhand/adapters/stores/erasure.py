"""Forgetting a person: contents and salts go, digests stay, so every chain still verifies."""

from collections.abc import Iterable

import sqlalchemy as sa

from deskhand.adapters.stores import tables as t
from deskhand.adapters.stores.attachments import erase_files
from deskhand.adapters.stores.chats import forget_chat
from deskhand.adapters.stores.exchanges import forget_exchanges
from deskhand.adapters.stores.mentions import forget_responses, passed_on_for
from deskhand.adapters.stores.review_decisions import close_reviews, record_event
from deskhand.adapters.stores.review_texts import write_texts_of_run
from deskhand.adapters.stores.rows import pack, unpack
from deskhand.adapters.stores.search_index import forget_person, forget_runs
from deskhand.adapters.stores.statements import forget_salts, mark_record, mark_run
from deskhand.adapters.stores.ticket_erasure import forget_customers, forget_messages
from deskhand.adapters.stores.totals import name_digest
from deskhand.adapters.stores.webhook_outbox import forget_deliveries
from deskhand.errors import Conflict
from deskhand.model.audited import StatementKind
from deskhand.model.booking import ERASED, BookingState
from deskhand.model.message import Message
from deskhand.model.run import RunStatus


def known_as(core: sa.Connection, desk: str, address: str) -> tuple[list[str], list[str]]:
    """The names by which a person's rows may be known to the desk, and the person's runs. Conflict
    while one of them is worked."""
    written = address.strip()
    address = written.lower()
    rows = core.execute(
        sa.select(t.runs.c.id, t.runs.c.status, t.messages.c.body)
        .join(t.messages, t.messages.c.run == t.runs.c.position)
        .where(_theirs(core, desk, address))
    ).all()
    _refuse_active([row.id for row in rows if RunStatus(row.status).is_active])
    contact = sa.select(t.contacts.c.customer_id).where(
        t.contacts.c.desk == desk, t.contacts.c.address == address
    )
    proven = {
        ((unpack(row.body) or {}).get("principal") or {}).get("customer_id") for row in rows
    } - {None}
    # Whoever writes for several customers is none of them.
    customer_ids = proven if len(proven) == 1 else set()
    # Of customer numbers, unlike addresses, two may differ in capitals alone.
    own_name = address if "@" in address else written
    names = [own_name, *customer_ids, core.execute(contact).scalar()]
    run_ids = [row.id for row in rows]
    return list(dict.fromkeys(filter(None, names))), run_ids


def ticket_customers(core: sa.Connection, names: Iterable[str], run_ids: Iterable[str]) -> set[str]:
    """The customers as whom tickets know a person, also where no message of theirs is: a colleague
    may have opened a ticket under any of the names."""
    bodies = (
        sa.select(t.messages.c.body)
        .join(t.runs, t.runs.c.position == t.messages.c.run)
        .where(t.runs.c.id.in_(run_ids), t.messages.c.body.is_not(None))
    )
    customers = {_author(body) for body in core.execute(bodies).scalars()}
    for name in names:
        customers |= {f"customer:{name}", f"address:{name.lower()}", f"unproven:{name.lower()}"}
    return customers


def _theirs(core: sa.Connection, desk: str, address: str) -> sa.ColumnElement[bool]:
    """Messages that the person wrote, or that a contact form passed on for them."""
    here = t.messages.c
    passed_on = here.run.in_(passed_on_for(core, desk, address))
    return sa.and_(here.desk == desk, sa.or_(here.sender == address, passed_on))


def erase_person(core: sa.Connection, desk: str, address: str, by: str, now: float) -> int:
    """Erase every run whose message this address sent, also by a contact form, and the tickets of
    the person; refused while a run is being worked."""
    names, run_ids = known_as(core, desk, address)
    rows = core.execute(
        sa.select(t.runs.c.position, t.runs.c.id, t.runs.c.status, t.runs.c.conversation).where(
            t.runs.c.desk == desk, t.runs.c.id.in_(run_ids)
        )
    ).all()
    remembering = _who_remember(core, desk, [row.position for row in rows])
    # first, while the messages still say who wrote them
    customers = ticket_customers(core, names, run_ids)
    forget_messages(core, desk, [row.position for row in rows], by, now)
    forget_customers(core, desk, customers)
    for row in rows:
        _erase_run(core, row.position, row.id, RunStatus(row.status), now)
    heirs = _heirs(core, desk, [row.id for row in rows])
    for position in sorted({*heirs, *remembering}):
        _erase_work(core, position)
        mark_run(core, position, StatementKind.WORK_ERASED)
    for conversation in {row.conversation for row in rows}:
        forget_conversation(core, desk, conversation)
        forget_chat(core, desk, conversation)
    forget_responses(core, desk, address.strip().lower(), [row.id for row in rows])
    _erase_totals(core, desk, address.strip().lower())
    _erase_contact(core, desk, address.strip().lower())
    _erase_bookings(core, desk, address.strip().lower(), [row.id for row in rows], now)
    record_event(core, desk, "person.erased", None, by, {"runs": len(rows)}, now)
    return len(rows)


def _refuse_active(active: list[str]) -> None:
    if active:
        raise Conflict(
            f"{len(active)} run(s) of this person are still at work ({active[0]}); wait or cancel,"
            " then erase"
        )


def _erase_run(
    core: sa.Connection, position: int, run_id: str, status: RunStatus, now: float
) -> None:
    core.execute(
        t.messages.update()
        .where(t.messages.c.run == position)
        .values(body=None, salt=None, sender=None)
    )
    mark_run(core, position, StatementKind.ERASED)
    _erase_work(core, position)
    core.execute(
        t.reviews.update()
        .where(t.reviews.c.run == position)
        .values(
            payload=None,
            edit=None,
            note=None,
            facts=None,
            category=None,
            language=None,
            reason="erased",
            conversation=f"erased:{run_id}",
        )
    )
    write_texts_of_run(core, position)
    core.execute(t.events.update().where(t.events.c.run_id == run_id).values(payload=None))
    forget_deliveries(core, t.webhook_deliveries.c.run_id == run_id)
    close_reviews(core, position)
    values: dict[str, object] = {
        "conversation": f"erased:{run_id}",
        "reason": "erased",
        "updated_at": now,
    }
    if status.is_parked:
        values["status"] = RunStatus.CANCELLED
    core.execute(t.runs.update().where(t.runs.c.position == position).values(**values))


def _erase_work(core: sa.Connection, position: int) -> None:
    """What was made of a message: states, drafts, results and what models said."""
    core.execute(t.steps.update().where(t.steps.c.run == position).values(body=None, salt=None))
    core.execute(t.effects.update().where(t.effects.c.run == position).values(result=None))
    core.execute(t.effect_counts.delete().where(t.effect_counts.c.run == position))
    core.execute(
        t.reviews.update()
        .where(t.reviews.c.run == position)
        .values(payload=None, edit=None, facts=None, category=None, language=None)
    )
    write_texts_of_run(core, position)
    forget_runs(core, [position])
    core.execute(t.review_edits.delete().where(t.review_edits.c.run == position))
    erase_files(core, position)
    forget_exchanges(core, position)
    run_id = sa.select(t.runs.c.id).where(t.runs.c.position == position).scalar_subquery()
    core.execute(
        t.llm_calls.update().where(t.llm_calls.c.run_id == run_id).values(error=None, answer=None)
    )
    core.execute(t.telemetry_events.delete().where(t.telemetry_events.c.run_id == run_id))


def _erase_totals(core: sa.Connection, desk: str, address: str) -> None:
    """What was counted for this address; a day's total of the desk names nobody."""
    names = [name_digest(f"{kind}:{address}") for kind in ("address", "unproven")]
    core.execute(t.totals.delete().where(t.totals.c.desk == desk, t.totals.c.name.in_(names)))


def _erase_contact(core: sa.Connection, desk: str, address: str) -> None:
    for table in (t.contact_notes, t.contacts):
        core.execute(table.delete().where(table.c.desk == desk, table.c.address == address))
    forget_person(core, desk, address)


def _erase_bookings(
    core: sa.Connection, desk: str, address: str, run_ids: list[str], now: float
) -> None:
    """Whose they were goes; what a calendar outside shows of them is taken away by whoever
    settles it next."""
    values = {"holder": None, "state": BookingState.RELEASED, "reason": ERASED, "updated_at": now}
    theirs = sa.or_(t.bookings.c.run_id.in_(run_ids), t.bookings.c.holder == address)
    conversation = sa.literal("erased:") + t.bookings.c.run_id
    core.execute(
        t.bookings.update()
        .where(t.bookings.c.desk == desk, theirs)
        .values(**values, conversation=conversation)
    )


def _heirs(core: sa.Connection, desk: str, run_ids: list[str]) -> list[int]:
    """Runs of other people that took these runs' matters over, and with them what was known of
    this person."""
    erased = sa.select(t.runs.c.successor).where(t.runs.c.id.in_(run_ids), t.runs.c.desk == desk)
    heirs = sa.select(t.runs.c.position).where(
        t.runs.c.desk == desk, t.runs.c.id.in_(erased), ~t.runs.c.id.in_(run_ids)
    )
    return list(core.execute(heirs).scalars())


def _who_remember(core: sa.Connection, desk: str, positions: list[int]) -> list[int]:
    """Later runs that carry what was said in these: of the same person, who wrote from another
    address."""
    erased, later = t.runs.alias(), t.runs.alias()
    first, other = t.messages.alias(), t.messages.alias()
    beside = (
        sa.select(later.c.position, first.c.body, other.c.body.label("other"))
        .join(first, first.c.run == erased.c.position)
        .join(
            later,
            sa.and_(
                later.c.desk == erased.c.desk,
                later.c.conversation == erased.c.conversation,
                later.c.position > erased.c.position,
            ),
        )
        .join(other, other.c.run == later.c.position)
        .where(
            erased.c.desk == desk,
            erased.c.position.in_(positions),
            later.c.position.not_in(positions),
            first.c.body.is_not(None),
            other.c.body.is_not(None),
        )
    )
    return [row.position for row in core.execute(beside) if _author(row.body) == _author(row.other)]


def _author(body: bytes) -> str:
    return Message.model_validate_json(body).author


def forget_conversation(core: sa.Connection, desk: str, conversation: str) -> None:
    """Its id may be an address or a handle; it stays only while runs of others belong to it."""
    here = (t.runs.c.desk == desk, t.runs.c.conversation == conversation)
    if core.execute(sa.select(t.runs.c.position).where(*here).limit(1)).first() is not None:
        return
    core.execute(
        t.conversations.delete().where(
            t.conversations.c.desk == desk, t.conversations.c.id == conversation
        )
    )
    payload = pack({"conversation": conversation})
    telling = (t.events.c.desk == desk, t.events.c.payload == payload)
    for event in list(core.execute(sa.select(t.events.c.id).where(*telling)).scalars()):
        forget_salts(core, desk, t.events, event)
        mark_record(core, desk, t.events, event)
    core.execute(t.events.update().where(*telling).values(payload=None))
