"""`deskhand init`, `flow show`, `schema` and `doctor`."""

import asyncio
import json
import os
import re
import socket
from pathlib import Path

import jsonschema
import pytest
from ruamel.yaml import YAML

from deskhand.adapters.stores.sqlite import SqliteStore
from deskhand.adapters.stores.sqlite_database import SqliteDatabase
from tests.cli_kit import BROKEN_DESK, BROKEN_RULES, Cli, write_desk
from tests.kit import a_message


def test_a_new_desk_has_its_own_name_and_works(cli: Cli, tmp_path: Path) -> None:
    said = cli("init", "my-shop")
    assert said.code == 0
    assert "run my-shop/samples/order-status.eml --desk my-shop" in said.out
    assert "prompts/, samples/, tools.py" in " ".join(said.out.split())
    text = (tmp_path / "my-shop" / "desk.yaml").read_text()
    assert text.startswith("# yaml-language-server: $schema=./desk.schema.json\n")
    assert "\ndesk: my-shop\n" in text
    story = cli("run", "my-shop/samples/order-status.eml", "--desk", "my-shop", "--json").json
    assert story["status"] == "waiting_review"
    assert story["review"]["reason"] == "draft mode: a person sends it"


def test_the_schema_beside_a_new_desk_accepts_it(cli: Cli, tmp_path: Path) -> None:
    cli("init", "my-shop")
    schema = json.loads((tmp_path / "my-shop" / "desk.schema.json").read_text())
    assert cli("schema", "desk").json == schema == cli("schema").json
    desk = YAML(typ="safe").load(tmp_path / "my-shop" / "desk.yaml")
    jsonschema.validate(desk, schema)
    with pytest.raises(jsonschema.ValidationError, match="colour"):
        jsonschema.validate({**desk, "colour": "red"}, schema)


def test_init_overwrites_nothing(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "precious.txt").write_text("keep me")
    said = cli("init", "mine")
    assert said.code == 2
    assert "mine: this exists already" in said.err
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["precious.txt"]


@pytest.mark.parametrize("name", ["My Shop", "-x", "0shop"])
def test_a_name_that_no_desk_can_have_is_refused(cli: Cli, tmp_path: Path, name: str) -> None:
    said = cli("init", "--", name)
    assert said.code == 2
    assert "lower case letters, digits and dashes" in said.err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("settings", "line"),
    [
        ("", "nothing leaves without a person"),
        ("mode: draft", "nothing leaves without a person"),
        ("mode: auto", "every reply may leave without a person, except to refund"),
        (
            "modes: {order: auto, refund: auto, else: draft}",
            "replies to order may leave without a person; all others wait for one",
        ),
        ("trust: {start: draft}", "nothing leaves without a person"),
        ("trust: {start: auto}", "every reply may leave without a person, except to refund"),
    ],
)
def test_the_doctor_says_what_may_leave_without_a_person(
    settings: str, line: str, cli: Cli, tmp_path: Path
) -> None:
    stages = (
        "{classify: {task: classify, categories: [order, refund, other], next: draft},"
        " draft: {task: draft, next: review},"
        " review: {service: review, always_ask: [refund], next: send}, send: {service: dispatch}}"
    )
    desk = f"desk: shop\n{settings}\nflows: {{main: {{stages: {stages}}}}}\n"
    folder = write_desk(tmp_path / "shop", desk, "rules: []\n")
    checks = cli("doctor", folder, "--port", "0", "--json").json["checks"]
    assert [check["found"] for check in checks if check["name"] == "replies"] == [line]


def test_the_doctor_goes_by_the_modes_in_force(cli: Cli, parcels: Path) -> None:
    cli("run", parcels / "samples" / "spam.eml", "--desk", parcels, "--live")
    assert cli("modes", "lower", parcels, "other", "--reason", "too bold").code == 0
    said = cli("doctor", parcels, "--port", "0").out
    assert "replies   every reply may leave without a person, except to other, refund\n" in said


def test_a_desk_of_ones_own_can_be_copied(cli: Cli) -> None:
    cli("init", "first")
    files = cli("init", "second", "--from", "first", "--json").json["files"]
    assert "desk.yaml" in files
    assert "samples/spam.eml" in files


def test_a_flow_is_shown_as_outline_diagram_and_document(cli: Cli) -> None:
    outline = cli("flow", "show", "sample").out
    assert "1. classify: task classify into order_status, refund, spam, other" in outline
    assert "category is spam and confidence at least 0.9 → end" in outline
    diagram = cli("flow", "show", "sample", "--mermaid").out
    assert diagram.startswith("graph TD\n")
    assert "stage_review --> stage_dispatch" in diagram
    document = cli("flow", "show", "sample", "--json").json
    assert document["flows"]["parcels"]["start"] == "classify"
    assert document["flows"]["parcels"]["stages"]["review"]["settings"]["always_ask"] == ["refund"]


def test_a_flow_that_does_not_exist_is_a_usage_error(cli: Cli) -> None:
    said = cli("flow", "show", "sample", "--flow", "nope")
    assert said.code == 2
    assert "write one of: parcels" in said.err


def test_a_schema_that_does_not_exist_is_a_usage_error(cli: Cli) -> None:
    assert cli("schema", "nope").code == 2


# --- doctor


def test_the_doctor_finds_nothing_wrong_with_the_sample(cli: Cli, tmp_path: Path) -> None:
    said = cli("doctor", "sample", "--port", "0", "--json")
    assert said.code == 0
    assert said.json["ok"] is True
    assert {check["name"] for check in said.json["checks"]} == {
        "Python",
        "SQLite",
        "desk",
        "brain",
        "replies",
        "database",
        "port",
    }
    assert list(tmp_path.iterdir()) == []


def test_the_doctor_names_every_missing_key(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("GEMINI_API_KEY", raising=False)
    models = "models: {fast: gemini/flash, good: nobody/x}"
    desk = write_desk(
        tmp_path / "d", BROKEN_DESK.replace("brain: {scripted: brain.yaml}", models), BROKEN_RULES
    )
    said = cli("doctor", desk, "--port", "0")
    assert said.code == 1
    assert "GEMINI_API_KEY" in said.out
    assert "unknown provider 'nobody'" in said.out
    monkeypatch.setenv("GEMINI_API_KEY", "a-very-secret-key")
    again = cli("doctor", desk, "--port", "0")
    assert "✓ model     gemini/flash at https://" in again.out
    assert "a-very-secret-key" not in again.out


def test_the_doctor_names_categories_that_nothing_teaches(cli: Cli, tmp_path: Path) -> None:
    desk = tmp_path / "shop"
    desk.mkdir()
    stages = (
        "{classify: {task: classify, categories: [order, hours, other], next: draft}, draft: {task:"
        " draft}}"
    )
    (desk / "desk.yaml").write_text(f"desk: shop\nflows: {{main: {{stages: {stages}}}}}\n")
    found = cli("doctor", desk, "--port", "0", "--json").json["checks"]
    assert "intents" not in {check["name"] for check in found}
    (desk / "intents.yaml").write_text(
        "intents: {order: {examples: [Where is it?, Where is my order?]}}"
    )
    said = cli("doctor", desk, "--port", "0")
    assert said.code == 0
    assert "never found, for want of examples: hours\n" in said.out


def test_the_doctor_lists_every_problem_of_a_desk(cli: Cli, tmp_path: Path) -> None:
    desk = write_desk(
        tmp_path / "d",
        BROKEN_DESK.replace("attempts: 1", "next: nowhere, colour: red"),
        BROKEN_RULES,
    )
    checks = cli("doctor", desk, "--port", "0", "--json").json["checks"]
    wrong = [check["found"] for check in checks if not check["ok"]]
    assert len(wrong) == 2
    assert all("desk.yaml:7: " in found for found in wrong)


def test_the_doctor_sees_a_port_in_use_and_a_database_that_cannot_be(
    cli: Cli, tmp_path: Path
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        said = cli(
            "doctor", "--port", str(port), "--database", tmp_path / "nowhere" / "x.db", "--json"
        )
    assert said.code == 1
    wrong = {check["name"]: check["found"] for check in said.json["checks"] if not check["ok"]}
    assert wrong.keys() == {"port", "database"}
    assert "does not exist" in wrong["database"]


# --- in general


def test_no_command_prints_the_help(cli: Cli) -> None:
    said = cli()
    assert "Usage: deskhand" in said.out + said.err


def test_an_unknown_command_is_a_usage_error(cli: Cli) -> None:
    said = cli("dance")
    assert said.code == 2
    assert "dance" in said.err


def test_the_version(cli: Cli) -> None:
    assert re.fullmatch(r"deskhand \d+\.\d+\.\d+\n", cli("--version").out)


# --- which desk is meant


def test_a_folder_of_mail_does_not_hide_the_shipped_desk(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "inbox").mkdir()
    (tmp_path / "inbox" / "1.eml").write_text("Subject: Hello")
    assert cli("flow", "show", "inbox", "--json").json["desk"] == "inbox"
    assert "no desk.yaml in this folder" in cli("flow", "show", "./inbox").err


def test_a_name_that_fits_two_desks_is_refused_and_both_can_be_named(
    cli: Cli, tmp_path: Path
) -> None:
    made = cli("init", "sample", "--from", "inbox")
    assert " serve ./sample " in made.out
    said = cli("flow", "show", "sample")
    assert said.code == 2
    assert "'sample' is a desk in this folder and the name of a shipped desk" in said.err
    assert "write ./sample for the one here, or shipped:sample for the shipped one" in said.err
    assert "inbox" in cli("flow", "show", "./sample", "--json").json["flows"]
    assert "parcels" in cli("flow", "show", "shipped:sample", "--json").json["flows"]


def test_a_folder_does_not_hide_a_desk_of_the_database(
    cli: Cli, parcels: Path, tmp_path: Path
) -> None:
    cli("run", parcels / "samples" / "spam.eml", "--desk", parcels, "--live")
    write_desk(tmp_path / "sample", BROKEN_DESK, BROKEN_RULES)
    assert len(cli("runs", "list", "--desk", "sample", "--json").json["runs"]) == 1
    assert "holds nothing of a desk 'failing'" in cli("runs", "list", "--desk", "./sample").err


@pytest.mark.parametrize(
    "command",
    [
        ("flow", "show", "my-shop/desk.yaml"),
        ("serve", "my-shop/desk.yaml"),
        ("eval", "my-shop/desk.yaml"),
        ("runs", "list", "--desk", "my-shop/desk.yaml"),
        ("run", "my-shop/samples/spam.eml", "--desk", "my-shop/desk.yaml"),
    ],
)
def test_a_file_in_the_place_of_a_desk_is_told(
    command: tuple[str, ...], cli: Cli, parcels: Path
) -> None:
    cli("init", "my-shop")
    cli("run", parcels / "samples" / "spam.eml", "--desk", parcels, "--live")
    said = cli(*command)
    assert said.code == 2
    assert "my-shop/desk.yaml: this is a file, and a desk is a folder" in said.err
    assert "fix: name the folder it lies in: my-shop" in said.err


@pytest.mark.parametrize("command", ["run", "parse", "route"])
@pytest.mark.parametrize(
    ("named", "what"), [("my-shop/desk.yaml", "YAML file"), ("my-shop", "folder")]
)
def test_a_desk_in_the_place_of_a_message_is_told(
    command: str, named: str, what: str, cli: Cli
) -> None:
    cli("init", "my-shop")
    desk = ("--desk", "my-shop") if command == "route" else ()
    said = cli(command, named, *desk)
    assert said.code == 2
    assert f"{named}: this is a {what}, and a message is an .eml or a .json file" in said.err
    assert "MESSAGE.eml --desk my-shop" in said.err


def test_the_doctor_sees_a_damaged_page(cli: Cli, parcels: Path, tmp_path: Path) -> None:
    database = tmp_path / "desk.db"
    asyncio.run(_fill(database))
    sound = cli("doctor", "--port", "0", "--database", database, "--json").json["checks"]
    [fine] = [check for check in sound if check["name"] == "integrity"]
    assert fine["ok"]
    assert "no damage" in fine["found"]
    with database.open("r+b") as file:
        file.seek(-3 * 8192, os.SEEK_END)
        file.write(b"\xa5" * 3 * 8192)
    said = cli("doctor", "--port", "0", "--database", database, "--json")
    damaged = [check for check in said.json["checks"] if check["name"] == "integrity"]
    assert said.code == 1
    assert not any(check["ok"] for check in damaged)
    assert "restore the newest backup" in damaged[0]["fix"]


async def _fill(path: Path) -> None:
    database = await SqliteDatabase.open(path)
    store = SqliteStore(database, "parcels")
    for number in range(40):
        await store.accept(a_message(number, body="x" * 4000), flow="flow")
    await database.close()
