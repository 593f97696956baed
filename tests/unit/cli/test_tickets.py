"""`deskhand tickets`: what people see of tickets and do with them."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from deskhand.adapters.stores.sqlite_backend import SqliteBackend
from tests.cli_kit import Begin, Cli, Said, write_desk, write_message
from tests.tickets_kit import asking, tickets_of

DESK = """
desk: counter
tickets:
  macros:
    money_back: {tags: [refund], group: billing, note: "Paid back today.", state: solved}
flows:
  main:
    stages:
      match: {service: match_ticket, output: ticket}
"""


@pytest.fixture
def ids(cli: Cli, begin: Begin, tmp_path: Path) -> list[str]:
    """The tickets of three messages, two of them Ann's."""

    def work() -> list[str]:
        return _tickets_of_three(cli, tmp_path)

    ids: list[str] = begin(work)
    return ids


def _tickets_of_three(cli: Cli, tmp_path: Path) -> list[str]:
    folder = write_desk(tmp_path / "counter", DESK, "")
    found: list[str] = []
    for number, (who, words) in enumerate(
        [("ANN", "My order 48213 is late"), ("ANN", "Reset my password"), ("BOB", "Invoice 77120")]
    ):
        fields: dict[str, Any] = {"subject": words, "body": words, "conversation": f"c{number}"}
        file = write_message(
            tmp_path / f"{number}.json", id=f"m{number}", customer_id=who, **fields
        )
        said = cli("run", file, "--desk", folder, "--live", "--json")
        assert said.code == 0, said.err
        rows = cli("tickets", "list", "--json").json["tickets"]
        found += [row["id"] for row in rows if row["id"] not in found]
    assert len(found) == 3
    return found


def changed(said: Said) -> dict[str, Any]:
    assert said.code == 0, said.err
    return dict(said.json)


def test_tickets_are_listed_and_shown(cli: Cli, ids: list[str]) -> None:
    listed = cli("tickets", "list", "--customer", "ANN", "--json").json
    assert listed["total"] == 2
    threads = {row["thread_id"] for row in listed["tickets"]}
    assert threads == {f"ANN:{ids[0]}", f"ANN:{ids[1]}"}
    assert ids[2] in cli("tickets", "list", "--search", "77120").out
    shown = cli("tickets", "show", ids[0].lower(), "--json").json
    assert [message["text"] for message in shown["messages"]] == ["My order 48213 is late"]
    assert [event["kind"] for event in shown["events"]] == ["opened", "joined"]
    told = cli("tickets", "show", ids[0])
    assert "My order 48213 is late" in told.out
    assert "opened by desk" in told.out


def test_people_assign_note_tag_close_and_reopen(cli: Cli, ids: list[str]) -> None:
    by = ("--by", "eve", "--json")
    assert (
        changed(cli("tickets", "assign", ids[0], "bob", "--group", "tech", *by))["group"] == "tech"
    )
    cli("tickets", "note", ids[0], "call her", *by)
    assert changed(cli("tickets", "tag", ids[0], "vip", *by))["tags"] == ["vip"]
    assert changed(cli("tickets", "close", ids[0], "--why", "done", *by))["state"] == "closed"
    assert changed(cli("tickets", "reopen", ids[0], "--open", *by))["state"] == "open"
    shown = cli("tickets", "show", ids[0], "--json").json
    assert (shown["assignee"], [note["text"] for note in shown["notes"]]) == ("bob", ["call her"])
    history = [(event["kind"], event["by"]) for event in shown["events"]]
    assert ("assigned", "eve") in history
    assert ids[0] in cli("tickets", "list", "--state", "open", "--assignee", "bob").out
    assert cli("tickets", "assign", ids[0], "--nobody", *by).json["assignee"] is None


def test_merge_split_and_undo(cli: Cli, ids: list[str]) -> None:
    merged = changed(cli("tickets", "merge", ids[0], ids[1], "--why", "one matter", "--json"))
    assert (merged["id"], merged["messages"]) == (ids[1], 2)
    assert f"part of {ids[1]}" in cli("tickets", "show", ids[0]).out
    run = cli("tickets", "show", ids[1], "--json").json["runs"][0]
    new = changed(cli("tickets", "split", ids[1], run, "--subject", "Apart", "--json"))
    assert (new["subject"], new["messages"]) == ("Apart", 1)
    cli("tickets", "undo", ids[1])
    assert changed(cli("tickets", "undo", ids[1], "--json"))["messages"] == 1
    assert cli("tickets", "show", ids[0], "--json").json["state"] == "active"


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("show", "TKT-ZZZZZZZZ"), "there is no ticket"),
        (("show", "a:b *"), "no ticket: ids look like"),
        (("merge", "{0}", "{2}"), "different customers"),
        (("merge", "{0}", "{0}"), "with itself"),
        (("undo", "{0}"), "neither merged nor split"),
        (("split", "{0}", "run_x"), "no message of"),
        (("assign", "{0}"), "nobody is named"),
        (("tag", "{0}"), "nothing to change"),
        (("tag", "{0}", "two words"), "is no tag"),
        (("note", "{0}", "  "), "a note has"),
    ],
)
def test_what_cannot_be_is_refused_with_its_reason(
    cli: Cli, ids: list[str], arguments: tuple[str, ...], complaint: str
) -> None:
    said = cli("tickets", *(argument.format(*ids) for argument in arguments))
    assert said.code != 0
    assert complaint in said.err


def test_tickets_are_exported_and_made_again(cli: Cli, ids: list[str], tmp_path: Path) -> None:
    file = tmp_path / "tickets.jsonl"
    assert cli("tickets", "export", file).code == 0
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    assert {line["id"] for line in lines} == set(ids)
    assert all(line["messages"] and line["events"] for line in lines)
    again = cli("tickets", "rebuild", "--json").json
    assert (again["tickets"], again["active"], again["mended"], again["cleared"]) == (3, 3, 0, 0)


def test_asks_are_marked_before_a_ticket_is_closed(
    cli: Cli, ids: list[str], tmp_path: Path
) -> None:
    [run] = cli("tickets", "show", ids[0], "--json").json["runs"]

    async def ask() -> None:
        database = await SqliteBackend.open(tmp_path / "deskhand.db")
        await asking(tickets_of(database.store("counter")), ids[0], "Where is it?", "Who pays?")
        await database.close()

    asyncio.run(ask())
    assert "Who pays?  [open]" in cli("tickets", "show", ids[0]).out
    refused = cli("tickets", "close", ids[0])
    assert refused.code != 0
    assert "Where is it?" in refused.err
    marked = cli("tickets", "mark", ids[0], "answered", "--ask", "2", "--by", "eve")
    assert "[answered by eve]" in marked.out
    asks = cli("tickets", "show", ids[0], "--json").json["asks"]
    assert [ask["at"] is None for ask in asks] == [True, False]
    assert changed(cli("tickets", "close", ids[0], "--rest", "deferred", "--json"))["state"] == (
        "closed"
    )
    asks = cli("tickets", "show", ids[0], "--json").json["asks"]
    assert [(ask["run"], ask["status"]) for ask in asks] == [
        (run, "deferred"),
        (run, "answered"),
    ]


def test_a_ticket_is_opened_for_a_customer_who_called(cli: Cli, ids: list[str]) -> None:
    opened = changed(
        cli("tickets", "open", "Dan@Example.com", "The invoice", "--note", "he called", "--json")
    )
    assert (opened["state"], opened["customer_id"]) == ("open", "dan@example.com")
    shown = cli("tickets", "show", opened["id"])
    assert "he called" in shown.out
    assert cli("tickets", "open", "dan@example.com", "  ").code != 0
    assert changed(cli("tickets", "rebuild", "--json"))


def test_many_tickets_are_changed_at_once(cli: Cli, ids: list[str]) -> None:
    said = cli(
        "tickets", "bulk", *ids, "--assign", "bob", "--urgency", "high", "--tag", "vip", "--json"
    )
    assert said.code == 0, said.err
    assert said.json == {"changed": ids, "failed": {}}
    shown = cli("tickets", "show", ids[2], "--json").json
    assert (shown["assignee"], shown["urgency"], shown["tags"]) == ("bob", "high", ["vip"])

    said = cli("tickets", "bulk", ids[0], "TKT-00000000", "--solve", "--json")
    assert said.code == 1
    assert said.json["changed"] == [ids[0]]
    assert list(said.json["failed"]) == ["TKT-00000000"]
    said = cli("tickets", "bulk", ids[0], ids[1], "--merge")
    assert said.code == 0, said.err
    assert cli("tickets", "show", ids[1], "--json").json["merged_into"] == ids[0]
    for nothing in ([], ["--merge", "--solve"], ["--solve", "--close"]):
        assert cli("tickets", "bulk", ids[0], *nothing).code == 2


def test_a_macro_is_used_on_tickets(cli: Cli, ids: list[str], tmp_path: Path) -> None:
    folder = tmp_path / "counter"
    said = cli("tickets", "macro", "money_back", *ids[:2], "--desk", folder)
    assert said.code == 0, said.err
    assert said.out.splitlines() == [f"{one} is solved" for one in ids[:2]]
    shown = cli("tickets", "show", ids[1], "--json").json
    assert (shown["group"], shown["tags"]) == ("billing", ["refund"])
    assert [note["text"] for note in shown["notes"]] == ["Paid back today."]
    said = cli("tickets", "macro", "nothing", ids[0], "--desk", folder)
    assert said.code == 2
    assert "money_back" in said.err


def test_a_view_is_kept_listed_and_forgotten(cli: Cli, ids: list[str], tmp_path: Path) -> None:
    cli("tickets", "bulk", ids[0], ids[1], "--urgency", "high")
    cli("tickets", "close", ids[1], "--solved")
    said = cli("tickets", "views", "--save", "Hot", "--query", "urgency=high", "--by", "eve")
    assert said.code == 0, said.err
    [view] = cli("tickets", "views", "--json").json["views"]
    assert (view["name"], view["query"], view["made_by"]) == ("Hot", "urgency=high", "eve")

    def shown(*asked: str) -> list[str]:
        return [row["id"] for row in cli("tickets", "list", *asked, "--json").json["tickets"]]

    assert shown("--view", "Hot") == [ids[0]]
    assert shown("--view", "Hot", "--state", "solved") == [ids[1]]
    assert shown("--view", "over") == [ids[1]]
    assert shown("--view", "forgotten", "--desk", str(tmp_path / "counter")) == []
    unknown = cli("tickets", "list", "--view", "Cold")
    assert unknown.code != 0
    assert "Hot" in unknown.err
    for wrong in ("colour=red", "urgency=purple", ""):
        assert cli("tickets", "views", "--save", "Bad", "--query", wrong).code == 2
    assert cli("tickets", "views", "--remove", "Hot", "--json").json == {"views": []}


def test_a_run_that_continued_a_ticket_becomes_a_case_with_that_ticket(
    cli: Cli, ids: list[str], tmp_path: Path
) -> None:
    folder = str(tmp_path / "counter")
    cli("tickets", "close", ids[0], "--solved")
    fields = {"body": f"Any news about {ids[0]}?", "conversation": "later"}
    file = write_message(tmp_path / "later.json", id="later", customer_id="ANN", **fields)
    run = cli("run", file, "--desk", folder, "--live", "--json").json["run"]
    assert cli("eval", "add", run, "--desk", folder, "--id", "comes-back").code == 0
    [case] = YAML(typ="safe").load(tmp_path / "counter" / "evals" / "recorded.yaml")["cases"]
    [given] = case["given"]["tickets"]
    assert (given["id"], given["customer_id"], given["state"]) == (ids[0], "ANN", "solved")
    assert given["messages"] == ["My order 48213 is late"]
    assert case["expect"]["ticket"] == ids[0]
    said = cli("eval", folder, "--json")
    assert (said.code, said.json["passed"]) == (0, 1), said.err
