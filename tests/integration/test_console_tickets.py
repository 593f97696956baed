"""The console's tickets: views, filters, and what people do with one ticket or many."""

import html
import re
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from deskhand.adapters.stores import tables as t
from deskhand.engine.ticket_keeper import TicketKeeper
from deskhand.model.run import RunStatus
from deskhand.model.ticket import TicketEvent
from deskhand.model.ticket_state import TicketState
from deskhand.tickets.handling import note_answers
from deskhand.tickets.service import Tickets
from tests.api_kit import Served, served
from tests.approvals_kit import Person, person, words_of
from tests.tickets_kit import accepted, asking, mail, placing_of

MORE = """
calendar: {working_hours: {mon-sun: "0:00-24:00"}}
tickets:
  sla:
    - {urgency: critical, first_response: 30 min}
    - {first_response: 4 hours, next_response: 2 hours, resolution: 24 hours}
  macros:
    money_back: {tags: [refund], group: billing, note: Paid back., state: solved}
"""
WORDS = ("My order 48213 is late", "Reset <b>my</b> password", "Invoice 77120")
WHO = ("ann@example.com", "ann@example.com", "bob@example.com")


@pytest.fixture
async def shop(tmp_path: Path) -> AsyncIterator[Served]:
    async with served(tmp_path, "shop", "bank", more=MORE, approvals=True) as running:
        yield running


async def opened(shop: Served) -> list[str]:
    desk = shop.desks["shop"]
    ids: list[str] = []
    for number, (who, words) in enumerate(zip(WHO, WORDS, strict=True)):
        message = mail(number, words, address=who, subject=words)
        run = await accepted(desk.store, message)
        ids.append((await placing_of(desk.tickets).place(run, message)).ticket_id)
    return ids


async def do(who: Person, ticket: str, action: str, **fields: str) -> str:
    answer = await who.post(f"/tickets/shop/{ticket}/{action}", data={"csrf": who.csrf, **fields})
    assert answer.status_code == 303, answer.text
    return answer.headers["location"]


async def test_tickets_are_listed_by_deadline_and_narrowed_by_filters(shop: Served) -> None:
    ids = await opened(shop)
    ida = await person(shop)
    page = (await ida.get("/tickets/")).text
    assert "Reset &lt;b&gt;my&lt;/b&gt; password" in page
    assert "3 h 59" in words_of(page)
    await do(ida, ids[2], "urgency", urgency="critical", why="she called")
    page = (await ida.get("/tickets/?desk=shop")).text
    assert page.index("Invoice 77120") < page.index("My order 48213")
    found = words_of((await ida.get("/tickets/?words=invoice&urgency=critical")).text)
    assert "Invoice 77120" in found
    assert "48213" not in found
    assert "No ticket matches" in words_of((await ida.get("/tickets/?view=late")).text)
    assert (await ida.get("/tickets/?view=nonsense&order=x&state=y&due=z")).status_code == 200
    assert (await Person(shop).get("/tickets/")).status_code in (303, 307)


async def test_the_search_leads_to_the_ticket(shop: Served) -> None:
    first, *_ = await opened(shop)
    ida = await person(shop)
    found = await ida.get(f"/search/?q={first}")
    assert f'href="/tickets/shop/{first}"' in found.text
    assert (await ida.get(f"/tickets/shop/{first}")).status_code == 200


async def test_a_ticket_shows_what_the_customer_was_told_and_what_waits(shop: Served) -> None:
    api = await shop.client()
    desk = shop.desks["shop"]
    worked = await api.worked("Hello, where is my parcel?", desk="shop", conversation="c1")
    waiting = await api.under_review("I am unsure again", desk="shop", conversation="c1")
    ticket = ""
    for run in (worked["run"], waiting["run"]):
        message = await desk.store.message(run)
        assert message is not None
        ticket = (await placing_of(desk.tickets).place(run, message)).ticket_id
    ida = await person(shop)
    page = (await ida.get(f"/tickets/shop/{ticket}")).text
    words = words_of(page)
    assert words.index("where is my parcel?") < words.index("by itself")
    assert words.index("I am unsure again") < words.index("waits for approval")
    assert f"/approvals/shop/{waiting['review']}" in page


async def test_two_tickets_are_joined_and_that_is_undone(shop: Served) -> None:
    first, second, others = await opened(shop)
    ida = await person(shop)
    place = f"/tickets/shop/{first}"
    joined = await do(ida, second, "merge", into=first)
    assert joined == f"{place}?said=joined&of=shop/{first}"
    shown = (await ida.get(joined)).text
    assert f'action="{place}/undo" data-undo' in shown
    page = words_of(shown)
    assert "Reset <b>my</b> password" in page
    assert "joined 1 message of another ticket" in page
    led = await ida.get(f"/tickets/shop/{second}")
    assert led.headers["location"] == place
    assert (await do(ida, first, "undo")).startswith(f"{place}?said=undone")
    assert (await ida.get(f"/tickets/shop/{second}")).status_code == 200
    refused = await do(ida, others, "merge", into=first)
    assert "different%20customers" in refused


async def test_a_message_is_split_off_and_that_is_undone(shop: Served) -> None:
    first, second, _ = await opened(shop)
    ida = await person(shop)
    place = f"/tickets/shop/{first}"
    await do(ida, second, "merge", into=first)
    page = (await ida.get(place)).text
    box = re.search(r'name="(t:[^"]+)" value="yes"(?:(?!name="t:).)*?my&lt;/b&gt;', page, re.DOTALL)
    assert box is not None
    chosen = {box[1]: "yes", "subject": "A forgotten password"}
    apart = await do(ida, first, "split", **chosen)
    shown = words_of((await ida.get(apart)).text)
    assert "Split off." in shown
    assert "A forgotten password" in shown
    assert "Reset <b>my</b> password" not in words_of((await ida.get(place)).text)
    assert (await do(ida, first, "undo")).startswith(f"{place}?said=undone")
    assert "Reset <b>my</b> password" in words_of((await ida.get(place)).text)


async def test_many_tickets_are_changed_at_once(shop: Served) -> None:
    ids = await opened(shop)
    ida = await person(shop)
    chosen = {f"t:{ticket}": "yes" for ticket in ids}
    form = {"csrf": ida.csrf, **chosen}
    await ida.post("/tickets/shop/bulk", data={**form, "do": "macro", "macro": "money_back"})
    tickets = shop.desks["shop"].tickets
    for ticket_id in ids:
        ticket = await tickets.find(ticket_id)
        assert (ticket.state, ticket.group, ticket.tags) == ("solved", "billing", ("refund",))
        assert [note.text for note in ticket.notes] == ["Paid back."]
    answer = await ida.post("/tickets/shop/bulk", data={**form, "do": "merge"})
    assert "different%20customers" in answer.headers["location"]
    assert (await ida.post("/tickets/shop/bulk", data={**form, "do": "x"})).status_code == 404
    nothing = await ida.post("/tickets/shop/bulk", data={"csrf": ida.csrf, "do": "solve"})
    assert "choose%20a%20ticket" in nothing.headers["location"]


async def test_solving_asks_what_became_of_each_open_ask(shop: Served) -> None:
    ids = await opened(shop)
    tickets = shop.desks["shop"].tickets
    ticket = await asking(tickets, ids[0], "Where <b>is</b> it?", "Who pays?")
    ida = await person(shop)
    page = (await ida.get(f"/tickets/shop/{ids[0]}")).text
    assert "Where &lt;b&gt;is&lt;/b&gt; it?" in page
    assert "Nobody has answered this yet" in page
    refused = await do(ida, ids[0], "solve")
    assert "nobody%20answered" in refused
    first, second = (f"a:{ask.id}" for ask in ticket.asks)
    await do(ida, ids[0], "asks", **{first: "deferred"})
    await do(ida, ids[0], "solve", **{second: "answered"})
    ticket = await tickets.find(ids[0])
    assert (ticket.state, [ask.status for ask in ticket.asks]) == (
        "solved",
        ["deferred", "answered"],
    )


async def test_filters_are_kept_as_a_view_that_everybody_has(shop: Served) -> None:
    await opened(shop)
    ida = await person(shop)
    form = {"csrf": ida.csrf, "name": "Bob's"}
    await ida.post("/tickets/shop/views?customer=bob@example.com", data=form)
    tom = await person(shop, "tom")
    page = words_of((await tom.get("/tickets/")).text)
    assert "Bob's 1" in page
    saved = words_of((await tom.get("/tickets/?view=saved:Bob's&customer=bob@example.com")).text)
    assert "Invoice 77120" in saved
    assert "48213" not in saved
    await tom.post("/tickets/shop/views", data={"csrf": tom.csrf, "name": "Bob's", "do": "remove"})
    assert "Bob's" not in words_of((await ida.get("/tickets/")).text)


async def test_a_kept_view_stays_within_the_view_that_it_was_made_in(shop: Served) -> None:
    ids = await opened(shop)
    tickets = shop.desks["shop"].tickets
    ida = await person(shop)
    form = {"csrf": ida.csrf, "name": "Over Bobs"}
    path = "/tickets/shop/views?view=over&customer=bob@example.com"
    saved = (await ida.post(path, data=form)).headers["location"]
    assert "Invoice 77120" not in words_of((await ida.get(saved)).text)
    assert "Over Bobs 0" in words_of((await ida.get("/tickets/")).text)
    [bobs] = [one for one in ids if (await tickets.find(one)).customer_id == "bob@example.com"]
    await tickets.set_state(bobs, TicketState.SOLVED, "ida")
    page = (await ida.get("/tickets/")).text
    assert "Over Bobs 1" in words_of(page)
    [link] = [one for one in re.findall(r'href="([^"]+)"', page) if "saved%3AOver" in one]
    assert "Invoice 77120" in words_of((await ida.get(html.unescape(link))).text)


async def test_tickets_of_other_desks_do_not_exist(shop: Served) -> None:
    ids = await opened(shop)
    bert = await person(shop, "bert", "bank")
    for path in (f"/tickets/shop/{ids[0]}", f"/tickets/bank/{ids[0]}", "/tickets/?desk=shop"):
        assert (await bert.get(path)).status_code == 404
    for path in (f"/tickets/shop/{ids[0]}/close", f"/tickets/bank/{ids[0]}/close"):
        assert (await bert.post(path, data={"csrf": bert.csrf})).status_code == 404
    assert (await bert.post("/tickets/shop/bulk", data={"csrf": bert.csrf})).status_code == 404


async def test_an_answer_stops_the_clock_and_a_passed_deadline_is_told_once(shop: Served) -> None:
    ids = await opened(shop)
    desk = shop.desks["shop"]
    told: list[TicketEvent] = []

    async def hear(event: TicketEvent) -> None:
        told.append(event)

    own = desk.tickets
    later = Tickets(
        own.store, own.active, now=lambda: time.time() + 5 * 3600, deadlines=own.deadlines
    )
    keeper = TicketKeeper(later, hear)
    await keeper.once()
    await keeper.once()
    assert [event.kind for event in told] == ["breached"] * 3
    assert {event.deadline.split()[0] for event in told if event.deadline} == {"first_response"}

    run = (await desk.tickets.find(ids[0])).runs[0]
    sent = (
        t.runs.update()
        .where(t.runs.c.id == run)
        .values(status=RunStatus.SENT, updated_at=time.time() + 3600)
    )
    await shop.database.write_core(lambda core: core.execute(sent).close())
    await note_answers(later, "desk", [run])
    assert await note_answers(later, "desk") == 0
    ticket = await desk.tickets.find(ids[0])
    assert ticket.answered_at is not None
    assert ticket.due_for == "resolution"
