"""Contacts and calendar through the gate: the sender's own contact, times that were offered,
nothing else."""

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from deskhand.adapters.calendar.database_calendar import DatabaseCalendar
from deskhand.adapters.stores.contacts import SqlContacts
from deskhand.adapters.stores.sqlite import SqliteStore
from deskhand.adapters.stores.sqlite_database import SqliteDatabase
from deskhand.config.sections.calendar import CalendarSection, CalendarSpec, calendar_spec
from deskhand.config.sections.policy import PolicySpec, RuleSpec
from deskhand.model.booking import BookingState, NewBooking, Span
from deskhand.model.contact import ContactEntry
from deskhand.model.message import Attachment
from deskhand.model.principal import ANONYMOUS, Principal, PrincipalKind
from deskhand.model.run import EffectState
from deskhand.policy.rule_policy import compile_policy
from deskhand.tools.closing import closing_tools
from deskhand.tools.gate import Gate
from deskhand.tools.gate_call import GateAnswer, Terms
from deskhand.tools.office import Office
from deskhand.tools.registry import ToolRegistry, shape_of
from deskhand.tools.shapes import BUILT_IN_SHAPES, OFFICE_SHAPES
from deskhand.tools.web_search import web_search_tool
from tests.kit import TestClock, a_message
from tests.memory_ledger import ANN, FixedContext, MemoryLedger

MONDAY = datetime(2026, 11, 16, 7, 0, tzinfo=UTC)
SPEC = calendar_spec(CalendarSection(time_zone="Europe/Prague"), Path(), "UTC")
TOOLS = tuple(OFFICE_SHAPES)


class Reception:
    """An office with a gate before it."""

    def __init__(
        self,
        database: SqliteDatabase,
        policy: list[RuleSpec] | None = None,
        spec: CalendarSpec = SPEC,
    ) -> None:
        self.clock = TestClock(MONDAY.timestamp())
        self.store = SqliteStore(database, "desk", now=self.clock.now)
        self.contacts = SqlContacts(database, "desk", lambda mail: "en", self.clock.now)
        self.calendar = DatabaseCalendar(database, "desk", self.clock.now)
        self.office = Office(self.contacts, self.calendar, spec, self.clock.now, self.store.message)
        self.ledger = MemoryLedger()
        self.decide_by(policy)

    def decide_by(self, policy: list[RuleSpec] | None) -> None:
        terms = Terms(
            policy=None if policy is None else compile_policy(PolicySpec(rules=tuple(policy)))
        )
        self.gate = Gate(
            ToolRegistry(self.office.tools()),
            self.ledger,
            desk="desk",
            terms=terms,
            resolvers=self.office.resolvers(),
            now=self.clock.now,
            acquainted=self.office.acquainted,
        )

    async def call(
        self, tool: str, ctx: FixedContext | None = None, index: int = 0, **arguments: Any
    ) -> GateAnswer:
        return await self.gate.call(
            tool, arguments, allowed=TOOLS, ctx=ctx or FixedContext(), index=index
        )

    async def offered(self, ctx: FixedContext, **arguments: Any) -> list[dict[str, Any]]:
        """Check the calendar as an earlier stage of the run would have."""
        answer = await self.call("check_calendar", ctx, **arguments)
        data: dict[str, Any] = answer.result.data or {}
        ctx.envelope = ctx.envelope.changed(
            outputs={"look": {"results": [{"tool": "check_calendar", "data": data}]}}
        )
        slots: list[dict[str, Any]] = data["slots"]
        return slots


@pytest.fixture
async def reception(tmp_path: Path) -> AsyncIterator[Reception]:
    database = await SqliteDatabase.open(tmp_path / "office.db")
    try:
        yield Reception(database)
    finally:
        await database.close()


def test_the_shapes_of_what_every_desk_has_are_those_of_the_tools() -> None:
    class Nobody:
        async def search(self, query: str) -> list[dict[str, str]]:
            return []

    tools = (*closing_tools(), web_search_tool(Nobody()))
    made = {tool.name: replace(shape_of(tool), built_in=True) for tool in tools}
    assert made == BUILT_IN_SHAPES


def test_the_shapes_are_those_of_the_tools(reception: Reception) -> None:
    for tool in reception.office.tools():
        made, told = shape_of(tool), OFFICE_SHAPES[tool.name]
        assert (made.name, made.effect, made.risk) == (told.name, told.effect, told.risk)
        assert (made.arguments, made.required, made.objects) == (
            told.arguments,
            told.required,
            told.objects,
        )


def test_a_desks_own_tool_stands_before_ours(reception: Reception) -> None:
    assert [tool.name for tool in reception.office.tools(beside=["get_contact", "hold_slot"])] == [
        "check_calendar",
        "read_invitation",
        "answer_invitation",
        "find_appointment",
        "cancel_appointment",
    ]


# --- contacts


async def test_a_sender_hears_of_himself_alone_and_no_notes(reception: Reception) -> None:
    ann = ContactEntry(
        address="ann@example.com", name="Ann", tier="gold", tags=("late-payer",), notes=("rude",)
    )
    await reception.contacts.put([ann, ContactEntry(address="bob@example.com", name="Bob")], "eve")
    answer = await reception.call("get_contact")
    assert answer.result.data == {
        "known": True,
        "name": "Ann",
        "address": "ann@example.com",
        "tier": "gold",
        "messages": 0,
    }
    other = await reception.call("get_contact", address="bob@example.com")
    assert other.rule == "invalid_arguments"


async def test_nobody_in_particular_is_told_nothing(reception: Reception) -> None:
    await reception.contacts.put([ContactEntry(address="ann@example.com", name="Ann")], "eve")
    answer = await reception.call("get_contact", FixedContext(principal=ANONYMOUS))
    assert answer.result.data == {"known": False, "reason": ANONYMOUS.how}
    stranger = Principal(kind=PrincipalKind.SENDER, address="cy@example.com")
    answer = await reception.call("get_contact", FixedContext(principal=stranger))
    assert answer.result.data == {"known": False}


async def test_tier_and_tags_are_facts_of_every_call(reception: Reception, tmp_path: Path) -> None:
    sender = Principal(kind=PrincipalKind.SENDER, address="dan@example.com")
    entry = ContactEntry(
        address="dan@example.com", tier="gold", tags=("vip", "b2b"), customer_id="C-7"
    )
    await reception.contacts.put([entry], "eve")
    answer = await reception.call("get_contact", FixedContext(principal=sender))
    assert answer.facts["principal"] == {
        "kind": "sender",
        "address": "dan@example.com",
        "tier": "gold",
        "tags": ["vip", "b2b"],
        "customer_id": "C-7",
    }
    database = await SqliteDatabase.open(tmp_path / "office.db")
    rules = [
        RuleSpec.model_validate(
            {"name": "vips", "when": {"customer.tags": {"contains": "vip"}}, "then": "allow"}
        ),
        RuleSpec.model_validate({"name": "rest", "when": {"tool": "get_contact"}, "then": "deny"}),
    ]
    strict = Reception(database, rules)
    try:
        assert (await strict.call("get_contact", FixedContext(principal=sender))).verdict == "allow"
        assert (await strict.call("get_contact")).rule == "rest"
    finally:
        await database.close()


# --- free times


async def test_three_free_times_are_offered_on_the_desks_clock(reception: Reception) -> None:
    answer = await reception.call("check_calendar")
    assert answer.result.data is not None
    assert answer.result.data["time_zone"] == "Europe/Prague"
    slots = answer.result.data["slots"]
    assert [slot["start"] for slot in slots] == [
        "2026-11-16T12:00+01:00",
        "2026-11-17T09:00+01:00",
        "2026-11-17T12:00+01:00",
    ]
    assert slots[0] == {
        "id": "slot_20261116T1100Z_30",
        "start": "2026-11-16T12:00+01:00",
        "end": "2026-11-16T12:30+01:00",
        "date": "2026-11-16",
        "time": "12:00",
    }


@pytest.mark.parametrize(
    ("on", "at", "wished"),
    [
        ("2026-11-17", "10:00", "free"),
        ("2026-11-17", "09:30", "busy"),
        ("2026-11-17", "08:00", "closed"),
        ("2026-11-21", "10:00", "closed"),
        ("2026-11-16", "09:00", "too soon"),
        ("2027-11-16", "09:00", "too far ahead"),
    ],
)
async def test_what_became_of_a_wish_is_said_and_nothing_of_why(
    reception: Reception, on: str, at: str, wished: str
) -> None:
    start = datetime(2026, 11, 17, 8, 30, tzinfo=UTC)
    taken = NewBooking(
        "k", "run_9", Span(start, start.replace(hour=9, minute=0)), "bob@example.com", 9e9
    )
    await reception.calendar.hold(taken)
    answer = await reception.call("check_calendar", on=on, at=at)
    assert answer.result.data is not None
    assert answer.result.data["wished"] == wished
    assert "bob" not in str(answer.result.data)
    assert all("2026-11-17T09:30" not in slot["start"] for slot in answer.result.data["slots"])


async def test_a_customer_who_asks_for_a_holiday_is_told_that_it_is_one(
    tmp_path: Path,
) -> None:
    section = CalendarSection(time_zone="Europe/Prague", holidays="CZ")
    database = await SqliteDatabase.open(tmp_path / "office.db")
    try:
        reception = Reception(database, spec=calendar_spec(section, Path(), "UTC"))
        day = (await reception.call("check_calendar", on="2026-11-17")).result.data or {}
        time = (await reception.call("check_calendar", on="2026-11-17", at="10:00")).result.data
        week = await reception.call("check_calendar", on="2026-11-16", until="2026-11-20")
        past = await reception.call("check_calendar", on="2026-10-28")
    finally:
        await database.close()
    assert (day["holiday"], day["fitting"]) == ("2026-11-17", 0)
    assert {slot["date"] for slot in day["slots"]} <= {"2026-11-16", "2026-11-18"}
    assert time is not None
    assert (time["wished"], time["holiday"], "slot" in time) == ("holiday", "2026-11-17", False)
    assert "holiday" not in (week.result.data or {})
    assert "holiday" not in (past.result.data or {})


async def test_every_offered_time_is_what_was_asked_for(reception: Reception) -> None:
    within = ["2026-11-17..2026-11-18 13:00-", "2026-11-19 15:00-17:00"]
    answer = await reception.call("check_calendar", within=within, minutes=45)
    assert answer.result.data is not None
    assert [(slot["start"], slot["end"]) for slot in answer.result.data["slots"]] == [
        ("2026-11-17T13:00+01:00", "2026-11-17T13:45+01:00"),
        ("2026-11-18T13:00+01:00", "2026-11-18T13:45+01:00"),
        ("2026-11-19T15:00+01:00", "2026-11-19T15:45+01:00"),
    ]
    assert "ask_person" not in answer.result.data
    (slot, *_) = await reception.offered(ctx := FixedContext(), within=within, minutes=45)
    held = await reception.call("hold_slot", ctx, slot=slot["id"])
    assert held.result.data is not None
    assert held.result.data["end"] == "2026-11-17T13:45+01:00"


async def test_a_person_looks_where_no_free_time_is_what_was_asked_for(
    reception: Reception,
) -> None:
    answer = await reception.call("check_calendar", within=["2026-11-21..2026-11-22"])
    assert answer.result.data is not None
    assert answer.result.data["fitting"] == 0
    assert answer.result.data["slots"]
    assert answer.result.data["ask_person"] == "no free time is what the message asks for"
    wrong = await reception.call("check_calendar", within=["2026-13-45"])
    assert wrong.result.error is not None
    assert "month" in wrong.result.error.message


async def test_times_are_told_on_the_customers_clock_as_well(reception: Reception) -> None:
    answer = await reception.call(
        "check_calendar", within=["2026-11-17 15:30"], zone="America/New_York"
    )
    assert answer.result.data is not None
    first = next(slot for slot in answer.result.data["slots"] if slot["time"] == "15:30")
    assert first["theirs"] == "2026-11-17T09:30-05:00"
    assert first["their_zone"] == "America/New_York"


async def test_days_are_not_counted_from_a_date_years_away(reception: Reception) -> None:
    old = datetime(2019, 3, 5, 9, 0, tzinfo=UTC)
    mail = a_message().model_copy(update={"received_at": old})
    run_id = (await reception.store.accept(mail, flow="flow")).run_id
    answer = await reception.call("check_calendar", FixedContext(run_id), on="2026-11-17")
    assert answer.result.data is not None
    assert "bears the date 2019-03-05" in answer.result.data["ask_person"]
    assert answer.result.data["slots"]


# --- appointments that were agreed


async def test_a_sender_finds_and_gives_back_his_own_appointment(reception: Reception) -> None:
    await reception.offered(ctx := FixedContext(), on="2026-11-17", at="10:00")
    held = await reception.call("hold_slot", ctx, slot="slot_20261117T0900Z_30")
    assert held.verdict == "allow"
    found = await reception.call(
        "find_appointment", FixedContext("run_2"), change="move", on="2026-11-17"
    )
    assert found.result.data is not None
    assert found.result.data["start"] == "2026-11-17T10:00+01:00"
    assert found.result.data["ask_person"] == "an agreed appointment is to be moved"
    stranger = Principal(kind=PrincipalKind.SENDER, address="cy@example.com")
    for principal in (stranger, ANONYMOUS):
        other = await reception.call(
            "find_appointment",
            FixedContext("run_3", principal=principal),
            change="cancel",
            on="2026-11-17",
        )
        assert other.result.data is not None
        assert other.result.data["found"] is False
        assert "appointment" not in other.result.data
        assert "10:00" not in str(other.result.data)
    key = found.result.data["appointment"]
    theirs = await reception.call(
        "cancel_appointment", FixedContext("run_3", principal=stranger), appointment=key
    )
    assert theirs.result.data is None
    own = FixedContext("run_2")
    held_back = await reception.call("cancel_appointment", own, appointment=key)
    assert held_back.rule == "removal_not_asked"  # no policy of the desk's own decides
    rule = {"name": "own", "when": {"tool": "cancel_appointment"}, "then": "allow"}
    reception.decide_by([RuleSpec.model_validate(rule)])
    given_back = await reception.call("cancel_appointment", own, index=1, appointment=key)
    assert given_back.result.data == {
        "released": True,
        "start": "2026-11-17T10:00+01:00",
        "end": "2026-11-17T10:30+01:00",
    }
    (booking,) = await reception.calendar.bookings()
    assert booking.state is BookingState.RELEASED


# --- invitations


async def test_an_invitation_is_read_with_whether_it_collides(reception: Reception) -> None:
    start = datetime(2026, 11, 17, 8, 30, tzinfo=UTC)
    await reception.calendar.hold(
        NewBooking("k", "run_9", Span(start, start.replace(hour=9)), "bob@example.com", 9e9)
    )
    mail = a_message().model_copy(
        update={"attachments": (invitation("0915"), invitation("0915"), invitation("1300"))}
    )
    run_id = (await reception.store.accept(mail, flow="flow")).run_id
    answer = await reception.call("read_invitation", FixedContext(run_id))
    assert answer.result.data is not None
    first, second = answer.result.data["invitations"]
    assert first == {
        "method": "request",
        "what": "Demo 0915",
        "start": "2026-11-17T09:15+01:00",
        "end": "2026-11-17T10:15+01:00",
        "all_day": False,
        "repeats": False,
        "organizer": "ann@example.com",
        "organizer_is_sender": True,
        "attendees": [],
        "collides": True,
        "in_working_hours": True,
    }
    assert (second["what"], second["collides"]) == ("Demo 1300", False)
    assert "bob" not in str(answer.result.data)
    other = await reception.call("read_invitation", FixedContext("run_without_message"))
    assert other.result.data == {"time_zone": "Europe/Prague", "invitations": []}


async def invited(reception: Reception, *attachments: Attachment, number: int = 1) -> str:
    mail = a_message(number).model_copy(update={"attachments": attachments})
    return (await reception.store.accept(mail, flow="flow")).run_id


async def test_a_free_time_somebody_invites_to_is_held_and_accepted(reception: Reception) -> None:
    run_id = await invited(reception, invitation("1300"))
    answer = await reception.call("answer_invitation", FixedContext(run_id))
    assert answer.result.data is not None
    assert answer.result.data["answer"] == "accepted"
    assert answer.result.data["start"] == "2026-11-17T13:00+01:00"
    (booking,) = await reception.calendar.bookings()
    assert (booking.uid, booking.holder, booking.state) == (
        "u1300",
        "ann@example.com",
        BookingState.TENTATIVE,
    )
    again = await reception.call("answer_invitation", FixedContext(run_id))
    assert again.result.data == answer.result.data
    assert len(await reception.calendar.bookings()) == 1


async def test_a_taken_time_is_declined_and_one_outside_working_hours_not_promised(
    reception: Reception,
) -> None:
    start = datetime(2026, 11, 17, 12, 30, tzinfo=UTC)
    await reception.calendar.hold(
        NewBooking("k", "run_9", Span(start, start.replace(hour=14)), "bob@example.com", 9e9)
    )
    taken = await reception.call(
        "answer_invitation", FixedContext(await invited(reception, invitation("1300")))
    )
    assert taken.result.data is not None
    assert (taken.result.data["answer"], taken.result.data["held"]) == ("declined", False)
    late = await invited(reception, invitation("1900"), number=2)
    tentative = await reception.call("answer_invitation", FixedContext(late))
    assert tentative.result.data is not None
    assert (tentative.result.data["answer"], tentative.result.data["held"]) == ("tentative", True)


async def test_an_invitation_that_moves_takes_its_time_along_and_one_called_off_gives_it_back(
    reception: Reception,
) -> None:
    first = await reception.call(
        "answer_invitation", FixedContext(await invited(reception, invitation("1300")))
    )
    assert first.verdict == "allow"
    moved = await invited(reception, invitation("1330", uid="u1300"), number=2)
    answer = await reception.call("answer_invitation", FixedContext(moved))
    assert answer.result.data is not None
    assert answer.result.data["answer"] == "accepted"  # what it held before is not in its way
    standing = [
        one for one in await reception.calendar.bookings() if one.state is not BookingState.RELEASED
    ]
    assert [one.span.start.hour for one in standing] == [12]
    off = await invited(reception, invitation("1330", uid="u1300", method="CANCEL"), number=3)
    answer = await reception.call("answer_invitation", FixedContext(off))
    assert answer.result.data == {
        "answer": "cancelled",
        "cancelled": True,
        "held": False,
        "released": 1,
    }
    assert {one.state for one in await reception.calendar.bookings()} == {BookingState.RELEASED}


async def test_nobody_calls_off_what_is_held_for_somebody_else(reception: Reception) -> None:
    start = datetime(2026, 11, 17, 12, 0, tzinfo=UTC)
    bobs = NewBooking(
        "k", "run_9", Span(start, start.replace(hour=13)), "bob@example.com", 9e9, uid="u1300"
    )
    await reception.calendar.hold(bobs)
    run_id = await invited(reception, invitation("1300", method="CANCEL"))
    answer = await reception.call("answer_invitation", FixedContext(run_id))
    assert answer.result.data is not None
    assert answer.result.data["released"] == 0
    assert [one.state for one in await reception.calendar.bookings()] == [BookingState.TENTATIVE]


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("RRULE:FREQ=DAILY;COUNT=100", "it repeats"),
        ("ORGANIZER:mailto:bob@example.com", "not the one who wrote"),
        ("DURATION:PT20H", "it takes too long"),
        ("DTSTART:20271117T130000Z", "too far ahead"),
        ("DTSTART:20261115T130000Z", "its time is over"),
    ],
)
async def test_an_odd_invitation_is_a_persons_to_answer(
    reception: Reception, line: str, why: str
) -> None:
    answer = await reception.call(
        "answer_invitation", FixedContext(await invited(reception, invitation("1300", line=line)))
    )
    assert answer.result.error is not None
    assert why in answer.result.error.message
    assert await reception.calendar.bookings() == []


async def test_for_a_sender_nobody_vouches_for_a_person_answers(reception: Reception) -> None:
    run_id = await invited(reception, invitation("1300"))
    answer = await reception.call("answer_invitation", FixedContext(run_id, principal=ANONYMOUS))
    assert (answer.verdict, answer.rule) == ("hold", "needs_a_principal")


def invitation(
    at: str, *, uid: str | None = None, method: str = "REQUEST", line: str = ""
) -> Attachment:
    """`line` takes the place of the line with the same name."""
    text = (
        "BEGIN:VCALENDAR\r\nMETHOD:{method}\r\nBEGIN:VEVENT\r\nUID:{uid}\r\nSUMMARY:Demo"
        " {at}\r\nDURATION:PT1H\r\n"
        "ORGANIZER:mailto:Ann@example.com\r\nDTSTART;TZID=Europe/Prague:20261117T{at}00\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n"
    )
    text = text.replace("{at}", at).replace("{uid}", uid or f"u{at}").replace("{method}", method)
    name = line.partition(":")[0]
    kept = [
        one
        for one in text.split("\r\n")
        if not (name and one.partition(":")[0].partition(";")[0] == name)
    ]
    text = "\r\n".join(kept)
    if line:
        text = text.replace("END:VEVENT", f"{line}\r\nEND:VEVENT")
    return Attachment(name="invite.ics", type="text/calendar", size=len(text), text=text)


# --- holding one


async def test_an_offered_time_is_held_for_the_sender(reception: Reception) -> None:
    ctx = FixedContext()
    slot = (await reception.offered(ctx))[1]
    answer = await reception.call("hold_slot", ctx, slot=slot["id"])
    assert answer.verdict == "allow"
    assert answer.result.data is not None
    assert (answer.result.data["held"], answer.result.data["start"]) == (True, slot["start"])
    (booking,) = await reception.calendar.bookings()
    assert (booking.key, booking.holder, booking.state) == (
        "run_1.1.0",
        "ann@example.com",
        BookingState.TENTATIVE,
    )
    assert slot["id"] not in [one["id"] for one in await reception.offered(FixedContext("run_2"))]


@pytest.mark.parametrize(
    ("key", "rule"),
    [
        ("slot_20261117T0900Z_30", "not_offered"),
        ("slot_20261117T0300Z_30", "not_yours"),
        ("slot_20261117T0800Z_600", "not_yours"),
        ("tomorrow at ten", "not_yours"),
    ],
)
async def test_a_time_that_was_not_offered_cannot_be_held(
    reception: Reception, key: str, rule: str
) -> None:
    ctx = FixedContext()
    await reception.offered(ctx)
    answer = await reception.call("hold_slot", ctx, slot=key)
    assert (answer.verdict, answer.rule) == ("deny", rule)
    assert await reception.calendar.bookings() == []


async def test_nobody_in_particular_holds_nothing_without_a_person(reception: Reception) -> None:
    ctx = FixedContext(principal=ANONYMOUS)
    slot = (await reception.offered(ctx))[0]
    answer = await reception.call("hold_slot", ctx, slot=slot["id"])
    assert (answer.verdict, answer.rule) == ("hold", "needs_a_principal")


async def test_the_second_to_come_is_told_to_look_again(reception: Reception) -> None:
    first, second = (
        FixedContext("run_1"),
        FixedContext("run_2", principal=ANN.changed(address="bob@example.com")),
    )
    slot = (await reception.offered(first))[0]
    assert (await reception.offered(second))[0] == slot
    await reception.call("hold_slot", first, slot=slot["id"])
    answer = await reception.call("hold_slot", second, slot=slot["id"])
    assert answer.result.error is not None
    assert answer.result.error.error_type == "slot_taken"
    assert len(await reception.calendar.busy(Span(MONDAY, MONDAY.replace(day=20)))) == 1


async def test_an_interrupted_hold_is_looked_up_and_not_made_twice(reception: Reception) -> None:
    ctx = FixedContext()
    slot = (await reception.offered(ctx))[0]
    await reception.call("hold_slot", ctx, slot=slot["id"])
    key = ctx.effect_key()
    tool, call_hash, _, _ = reception.ledger.rows[key]
    reception.ledger.rows[key] = (tool, call_hash, EffectState.INTENDED, "null")
    again = await reception.call("hold_slot", ctx, slot=slot["id"])
    assert again.result.ok
    assert len(await reception.calendar.bookings()) == 1
