"""Preprocessors on a whole desk: named by a routing rule, read when a message is accepted, told
in the run."""

import json
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from deskhand.agents.profiled import customer_text
from deskhand.cli import main
from deskhand.cli.terminal import console
from deskhand.engine.story import read_records, story_of
from deskhand.errors import ConfigError
from deskhand.mail.message_parser import parse
from deskhand.model.envelope import Envelope
from deskhand.model.message import DELIVER
from deskhand.model.run import RunStatus
from deskhand.wiring import (
    LoadedDesk,
    desk_intake,
    hand_in,
    open_database,
    open_desk,
    open_store,
    read_desk,
    routed_by,
)

CRISP = Path(__file__).parents[1] / "data" / "crisp"
DESK = """
desk: helpdesk
mode: auto
brain: {scripted: brain.yaml}
mail: {trusted_servers: [mx.lekarna.example], forwarders: [info@lekarna.example]}
routing:
  rules:
    - {name: from crisp, match: {forwarded_from: info@lekarna.example}, preprocess: PREPROCESS}
flows:
  answer:
    stages:
      draft: {task: draft, next: dispatch}
      dispatch: {service: dispatch}
"""
BRAIN = """
rules:
  - answer: {text: "You wrote: {{ text.splitlines()[0] }}", language: en}
"""


def a_desk(folder: Path, preprocess: str = "crisp", tools: str = "") -> LoadedDesk:
    desk = folder / "desk"
    desk.mkdir(exist_ok=True)
    (desk / "desk.yaml").write_text(DESK.replace("PREPROCESS", preprocess))
    (desk / "brain.yaml").write_text(BRAIN)
    if tools:
        (desk / "tools.py").write_text(dedent(tools))
    return read_desk(str(desk))


async def received(loaded: LoadedDesk, folder: Path, raw: bytes) -> dict[str, Any]:
    """The story of a mail that came in by a mailbox."""
    async with (
        open_database(str(folder / "desk.db")) as database,
        open_desk(loaded, database, outbox=folder / "outbox") as desk,
    ):
        accepted = await desk_intake(loaded.spec, desk.store, desk.dispatcher.submit)(parse(raw))
        await desk.dispatcher.wait(accepted.run_id)
        return story_of(await read_records(desk.store, accepted.run_id))


async def test_the_customer_behind_crisp_is_read_and_answered(tmp_path: Path) -> None:
    story = await received(a_desk(tmp_path), tmp_path, (CRISP / "cs_fields.eml").read_bytes())
    assert story["status"] == "sent"
    assert story["message"]["prepared"] == {
        "by": "crisp",
        "name": "Karel Dvořák",
        "address": "karel.dvorak@example.cz",
        "failed": None,
    }
    assert story["message"]["principal"]["kind"] == "forwarded"
    assert story["reply"]["to"] == "karel.dvorak@example.cz"
    assert story["reply"]["text"].startswith("You wrote: Dobrý den, prosím o rezervaci")
    assert "Stránka:" not in story["reply"]["text"]
    assert "Karel" not in story["reply"]["text"]  # a form's name is proven by nobody
    async with open_database(str(tmp_path / "desk.db")) as database:
        store = open_store(database, "helpdesk")
        assert await store.replies_to("karel.dvorak@example.cz", DELIVER, 0, beside="another") == 1
        assert await store.replies_to("info@lekarna.example", DELIVER, 0, beside="another") == 0
        assert await store.erase("karel.dvorak@example.cz", "eve") == 1, (
            "what was passed on for him is his"
        )


async def test_a_forged_crisp_mail_is_read_and_its_answer_waits_for_a_person(
    tmp_path: Path,
) -> None:
    raw = (
        (CRISP / "cs_fields.eml")
        .read_bytes()
        .replace(b"dkim=pass", b"dkim=fail")
        .replace(b"spf=pass", b"spf=fail")
    )
    story = await received(a_desk(tmp_path), tmp_path, raw)
    assert story["message"]["prepared"]["address"] == "karel.dvorak@example.cz"
    assert story["message"]["principal"]["kind"] == "anonymous"
    assert story["reply"]["to"] == "karel.dvorak@example.cz"
    assert story["status"] == "waiting_review"
    assert "info@lekarna.example passes on what customers write" in story["reason"]


async def test_what_cannot_be_read_is_worked_as_it_came_and_the_run_says_so(tmp_path: Path) -> None:
    raw = b"From: info@lekarna.example\r\nMessage-ID: <1@x.cz>\r\nSubject: Hi\r\n\r\nWeekly figures"
    story = await received(a_desk(tmp_path), tmp_path, raw)
    assert (
        story["message"]["prepared"]["failed"]
        == "no customer's address stands above the text or in Reply-To"
    )
    assert story["reply"]["text"] == "You wrote: Weekly figures"


OWN = """
from deskhand import Message, Prepared, preprocessor

@preprocessor("form")
def form(message: Message) -> Prepared | None:
    if "q=" not in message.body:
        return None
    if "q=!" in message.body:
        raise ValueError("a secret of the customer's")
    return Prepared(name="Ann", address="ann@example.com", text=message.body.partition("q=")[2], prompt="Ann asks")
"""  # noqa: E501


@pytest.mark.parametrize(
    ("body", "words", "failed"),
    [
        (b"x&q=Where is it?", "Where is it?", None),
        (b"hello", "hello", "it found nothing that it knows"),
        (b"q=!", "q=!", "it failed with ValueError"),
    ],
)
async def test_a_desk_may_bring_its_own(
    tmp_path: Path, body: bytes, words: str, failed: str | None
) -> None:
    loaded = a_desk(tmp_path, "form", OWN)
    raw = b"From: info@lekarna.example\r\nMessage-ID: <1@x.cz>\r\nSubject: Hi\r\n\r\n" + body
    async with open_database(str(tmp_path / "desk.db")) as database:
        accepted = await hand_in(loaded, database, parse(raw))
        message = await open_store(database, "helpdesk").message(accepted.run_id)
    assert message is not None
    assert message.prepared is not None
    assert (message.words, message.prepared.failed) == (words, failed)
    assert message.prompt == ("Ann asks" if failed is None else words)


PROFILE = """
models: {default: local/small}
agent:
  profiles:
    pharmacy: {system_prompt_file: agent.txt, tools: [escalate], preprocess: crisp, without_model: answer}
"""  # noqa: E501


@pytest.mark.parametrize(("own", "by"), [("", "crisp"), (", preprocess: default", None)])
async def test_a_profile_may_name_one_and_a_rule_comes_first(
    tmp_path: Path, own: str, by: str | None
) -> None:
    folder = a_desk(tmp_path).spec.folder
    written = DESK.replace("preprocess: PREPROCESS", f"route: agent, profile: pharmacy{own}")
    (folder / "desk.yaml").write_text(f"{written}{PROFILE}")
    (folder / "agent.txt").write_text("You answer for a pharmacy.")
    message = await routed_by(read_desk(str(folder)))(parse((CRISP / "en_html.eml").read_bytes()))
    assert (message.prepared.by if message.prepared else None) == by
    text = customer_text(Envelope.of(message))
    if by is None:
        assert text.startswith("From: info@lekarna.example\nSubject: You have a new message\n\n")
    else:
        assert (
            text == "New support inquiry from sam.lee@example.com (sam.lee@example.com):\n"
            "Subject: You have a new message\n\nIs Zyrtec in stock?\nI need two packs."
        )


@pytest.mark.parametrize(
    ("name", "tools", "words"),
    [
        ("crips", "", "there is no preprocessor `crips`"),
        ("form", OWN.replace("def form", "async def form"), "must be a plain function"),
        ("form", OWN.replace('"form"', '"crisp"'), "every desk has already"),
        ("form", OWN.replace("message: Message", ""), "takes 1 argument"),
        (
            "form",
            OWN + OWN.replace("def form", "def other"),
            "there is a preprocessor 'form' already",
        ),
    ],
)
def test_a_mistake_is_told_with_its_place(
    tmp_path: Path, name: str, tools: str, words: str
) -> None:
    with pytest.raises(ConfigError, match=words):
        a_desk(tmp_path, name, tools)


# --- the command


def command(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    console.cache_clear()  # another test's is as wide as that test's window
    code = main(list(arguments))
    return code, capsys.readouterr().out


def test_parse_shows_what_crisp_said(capsys: pytest.CaptureFixture[str]) -> None:
    code, out = command(
        capsys, "parse", str(CRISP / "en_fields.eml"), "--preprocessor", "crisp", "--json"
    )
    assert code == 0
    assert json.loads(out) == {
        "preprocessor": "crisp",
        "read": True,
        "failed": None,
        "patient_name": "Olga O'Neil",
        "patient_email": "olga.oneil@example.com",
        "original_message": "Do you have amoxicillin 500 mg?",
        "prompt": (
            "New support inquiry from Olga O'Neil (olga.oneil@example.com):\n"
            "Subject: [Crisp] Conversation with Olga\n\nDo you have amoxicillin 500 mg?"
        ),
    }


def test_parse_says_what_it_cannot_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    mail = tmp_path / "plain.eml"
    mail.write_bytes(b"From: ann@example.com\r\nSubject: Hi\r\n\r\nHello")
    code, out = command(capsys, "parse", str(mail), "--preprocessor", "crisp")
    assert (code, out.startswith("crisp could not read it")) == (1, True)
    code, out = command(capsys, "parse", str(mail), "--preprocessor", "default", "--json")
    assert (code, json.loads(out)["sender_email"], json.loads(out)["body"]) == (
        0,
        "ann@example.com",
        "Hello",
    )
    assert command(capsys, "parse", str(mail), "--preprocessor", "crips")[0] == 2


def test_parse_knows_a_desks_own(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = a_desk(tmp_path, "form", OWN).spec.folder
    mail = tmp_path / "form.eml"
    mail.write_bytes(b"From: ann@example.com\r\nSubject: Hi\r\n\r\nq=Where?")
    arguments = ("parse", str(mail), "--preprocessor", "form", "--desk", str(folder))
    assert command(capsys, *arguments) == (0, "Ann asks\n")


def test_a_run_tells_who_is_behind_a_mail(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    folder = a_desk(tmp_path).spec.folder
    code, out = command(
        capsys, "run", str(CRISP / "cs_headline.eml"), "--desk", str(folder), "--json"
    )
    story = json.loads(out)
    assert (code, story["status"]) == (0, RunStatus.SENT)
    assert story["reply"]["to"] == "jana.novakova@example.cz"
    _, told = command(capsys, "run", str(CRISP / "cs_headline.eml"), "--desk", str(folder))
    assert "the words of Jana Nováková <jana.novakova@example.cz>" in told
