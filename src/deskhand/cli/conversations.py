"""`deskhand conversations`: what was said, what the desk remembers of it, and who answers."""

import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from deskhand.cli import options
from deskhand.cli.databases import opened_desk, opened_store
from deskhand.cli.terminal import (
    console,
    print_json,
    print_table,
    run_async,
    shortened,
    when,
)
from deskhand.model.documents import iso_at

if TYPE_CHECKING:
    from collections.abc import Iterator

    from deskhand.model.chats import ChatLine
    from deskhand.model.queue import TakenOver

app = typer.Typer(
    help="Conversations: what the desk remembers, and who answers.", no_args_is_help=True
)


Conversation = Annotated[str, typer.Argument(help="The conversation's id.", metavar="CONVERSATION")]


@app.callback()
def conversations() -> None:
    """Conversations: what the desk remembers, and who answers."""


@app.command("list")
def list_all(
    taken_over: Annotated[
        bool, typer.Option("--taken-over", help="Only those that people took over.")
    ] = False,
    limit: Annotated[int, typer.Option(help="How many at most.", min=1, max=1000)] = 50,
    database: options.Database = None,
    desk: options.DeskName = None,
    as_json: options.Json = False,
) -> None:
    """List the conversations, the latest first."""
    if taken_over:
        _list_taken_over(database, desk, as_json)
        return
    from rich.markup import escape

    listed = run_async(_listed(database, desk, limit))
    if as_json:
        print_json({"conversations": listed})
        return
    if not listed:
        console().print("nobody has written yet")
        return
    rows = [
        (
            escape(row["conversation"]),
            row["status"],
            escape(shortened(row["taken_over_by"] or "", 40)),
            row["received_at"][:16].replace("T", " "),
            escape(shortened(f"{row['subject']}  from {row['sender']}", 80)),
        )
        for row in listed
    ]
    print_table(("conversation", "status", "taken over by", "newest"), ("about",), rows)


async def _listed(database: str | None, desk: str | None, limit: int) -> list[dict[str, Any]]:
    from deskhand.engine.conversation_documents import list_conversations

    async with opened_store(database, desk) as store:
        return [fields for _, fields in await list_conversations(store, limit=limit)]


@app.command("show")
def show(
    conversation: Conversation,
    database: options.Database = None,
    desk: options.DeskName = None,
    as_json: options.Json = False,
) -> None:
    """Show what the desk remembers of a conversation."""
    document = run_async(_shown(conversation, database, desk))
    if as_json:
        print_json(document)
        return
    for line in _lines(document):
        console().print(line, markup=False, soft_wrap=True)


async def _shown(conversation: str, database: str | None, desk: str | None) -> dict[str, Any]:
    from deskhand.engine.conversation_documents import show_conversation

    async with opened_store(database, desk) as store:
        hidden = _hidden_slots(desk or store.desk)
        return await show_conversation(store, conversation, hidden=hidden)


def _hidden_slots(desk: str) -> frozenset[str]:
    """The slots that the desk's intents list under `redact`. Of a desk whose folder is not here,
    nobody can say; then that is told."""
    from deskhand.errors import ConfigError
    from deskhand.routing.intents_registry import IntentsRegistry
    from deskhand.wiring import read_desk

    try:
        return IntentsRegistry.of(read_desk(desk).spec).redacted
    except ConfigError:
        words = "name the desk's folder with --desk: `redact` of its intents is not known here"
        typer.echo(f"warning: {words}", err=True)
        return frozenset()


def _lines(document: dict[str, Any]) -> "Iterator[str]":
    """What is remembered, for people to read."""
    yield f"{document['messages']} messages of {document['author']}"
    for name, values in document["values"].items():
        yield f"{name}: {', '.join(str(value) for value in values)}"
    if document["waits_for"]:
        yield f"waits for: {document['waits_for']}"
    for line in document["summary"]:
        yield line["text"]
    for turn in document["turns"]:
        yield f"{turn['at'][:16].replace('T', ' ')}  customer: {turn['said']}"
        if turn["done"]:
            yield f"  done: {', '.join(turn['done'])}"
        if turn["answered"]:
            yield f"  desk: {turn['answered']}"


@app.command("clear")
def clear(
    conversation: Conversation,
    by: options.By = None,
    database: options.Database = None,
    desk: options.DeskName = None,
    as_json: options.Json = False,
) -> None:
    """Make the desk forget what was said in a conversation so far; nothing is deleted."""
    forgotten = run_async(_clear(conversation, by, database, desk))
    if as_json:
        print_json({"conversation": conversation, "forgotten": forgotten})
    else:
        said = f"forgotten: {forgotten} messages; what is recorded of them stays (see erase)"
        console().print(
            said if forgotten else "there is nothing to forget in this conversation",
            soft_wrap=True,
        )
    raise typer.Exit(0 if forgotten else 1)


async def _clear(conversation: str, by: str | None, database: str | None, desk: str | None) -> int:
    async with opened_store(database, desk) as store:
        return await store.forget(conversation, by or options.login_name())


def _list_taken_over(database: str | None, desk: str | None, as_json: bool) -> None:
    from rich.markup import escape

    taken = run_async(_taken_over(database, desk))
    if as_json:
        print_json({"conversations": [_document(takeover) for takeover in taken]})
        return
    if not taken:
        console().print("nobody has taken a conversation over")
        return
    rows = [
        (
            escape(takeover.conversation),
            escape(shortened(takeover.by, 40)),
            when(takeover.at),
            escape(shortened(_about(takeover), 80)),
        )
        for takeover in taken
    ]
    print_table(("conversation", "taken over by", "since"), ("about",), rows)
    console().print(
        "let the desk answer again: deskhand conversations give-back CONVERSATION", style="dim"
    )


def _about(taken: "TakenOver") -> str:
    return f"{taken.subject}  from {taken.sender}" if taken.turn is not None else ""


def _document(taken: "TakenOver") -> dict[str, Any]:
    """The same fields as over the API."""
    return {
        "conversation": taken.conversation,
        "taken_over_by": taken.by,
        "taken_over_at": iso_at(taken.at),
        "run": taken.run_id,
        "sender": taken.sender,
        "subject": taken.subject,
    }


async def _taken_over(database: str | None, desk: str | None) -> "list[TakenOver]":
    async with opened_store(database, desk) as store:
        return await store.taken_over()


@app.command("lines")
def lines(
    conversation: Conversation,
    database: options.Database = None,
    desk: options.DeskName = None,
    as_json: options.Json = False,
) -> None:
    """Show what was said in a chat, line by line."""
    from rich.text import Text

    from deskhand.cli.terminal import printable

    said = run_async(_chat_lines(conversation, database, desk))
    if as_json:
        print_json({"lines": [line.model_dump(mode="json") for line in said]})
        return
    for line in said:
        who = Text(f"{when(line.at)}  {printable(line.name or line.author)}  ", style="bold")
        console().print(who.append(printable(line.text), style="not bold"), soft_wrap=True)
    if not said:
        console().print("there is no such chat, or nobody has said anything in it")


async def _chat_lines(
    conversation: str, database: str | None, desk: str | None
) -> "list[ChatLine]":
    from deskhand.wiring import chats_of

    async with opened_desk(database, desk) as (opened, name):
        return await chats_of(opened, name).lines(conversation, limit=1000)


@app.command("answer")
def answer(
    conversation: Conversation,
    text: Annotated[str, typer.Argument(help="What you say; `-` reads it from a pipe.")],
    name: Annotated[
        str | None, typer.Option("--name", help="Your name, as the visitor is told.")
    ] = None,
    by: options.By = None,
    database: options.Database = None,
    desk: options.DeskName = None,
    as_json: options.Json = False,
) -> None:
    """Say something in a chat yourself, also first and again: the desk is silent from then on."""
    words = sys.stdin.read() if text == "-" else text
    run_async(_answer(conversation, words, name, by, database, desk))
    if as_json:
        print_json({"conversation": conversation, "said": True})
        return
    console().print("said; the desk is silent until: deskhand conversations give-back", style="dim")


async def _answer(
    conversation: str,
    text: str,
    name: str | None,
    by: str | None,
    database: str | None,
    desk: str | None,
) -> None:
    from deskhand.engine.manual_reply import answer_chat
    from deskhand.model.ids import new_id
    from deskhand.wiring import chats_of

    async with opened_desk(database, desk) as (opened, desk_name):
        chats, who = chats_of(opened, desk_name), by or options.login_name()
        await answer_chat(chats, conversation, new_id("said"), who, text, name)


@app.command("take-over")
def take_over(
    conversation: Conversation,
    by: options.By = None,
    database: options.Database = None,
    desk: options.DeskName = None,
    as_json: options.Json = False,
) -> None:
    """Keep the desk silent in a conversation until somebody gives it back."""
    run_async(_take_over(conversation, by, database, desk))
    if as_json:
        print_json({"conversation": conversation, "taken_over": True})
        return
    console().print("it is yours; let the desk answer again: deskhand conversations give-back")


async def _take_over(
    conversation: str, by: str | None, database: str | None, desk: str | None
) -> None:
    async with opened_store(database, desk) as store:
        await store.take_over(conversation, by or options.login_name())


@app.command("give-back")
def give_back(
    conversation: Conversation,
    by: options.By = None,
    database: options.Database = None,
    desk: options.DeskName = None,
    as_json: options.Json = False,
) -> None:
    """Let the desk answer again in a conversation that a person had taken over."""
    given = run_async(_give_back(conversation, by, database, desk))
    if as_json:
        print_json({"conversation": conversation, "given_back": given})
    else:
        console().print(
            "the desk answers again" if given else "nobody has taken this conversation over",
            soft_wrap=True,
        )
    raise typer.Exit(0 if given else 1)


async def _give_back(
    conversation: str, by: str | None, database: str | None, desk: str | None
) -> bool:
    async with opened_store(database, desk) as store:
        return await store.give_back(conversation, by or options.login_name())
