"""`deskhand parse`: show what a mail says."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from deskhand.cli import options
from deskhand.cli.failures import NO
from deskhand.cli.terminal import print_json, print_plain, run_async

if TYPE_CHECKING:
    from deskhand.mail import Forwarded
    from deskhand.model.message import Message, Prepared


def parse(
    file: Annotated[
        Path, typer.Argument(help="An .eml file, or JSON of a message.", metavar="FILE")
    ],
    preprocessor: Annotated[
        str | None,
        typer.Option(
            "--preprocessor", help="Show what an agent is told: `crisp`, `default` or a desk's own."
        ),
    ] = None,
    desk: options.DeskName = None,
    as_json: options.Json = False,
) -> None:
    """Show what a mail says: its own text, what it forwards, attachments, who or what sent it.

    With --preprocessor, show what that preprocessor reads; exit 1 if it cannot read the mail.
    """
    from deskhand.mail import forwarded, visible_reply
    from deskhand.mail.automatic import automatic
    from deskhand.mail.message_files import read_messages

    message = read_messages(file)[0][0]
    if preprocessor is not None:
        _preprocess(message, preprocessor, desk, as_json)
        return

    text = visible_reply(message.body)
    forward = forwarded(message.body, message.subject)
    program = automatic(message)
    if as_json:
        print_json(
            {
                "message": message.model_dump(mode="json"),
                "visible_reply": text,
                "forwarded": _forward_document(forward),
                "automatic": None if program is None else asdict(program),
            }
        )
        return

    _print_message(message)
    if program is not None:
        print_plain(f"no person sent this: {program.kind}: {program.reason}")
    print_plain(f"\n{text}")
    if forward is not None:
        _print_forward(forward)


def _forward_document(forward: "Forwarded | None") -> dict[str, Any] | None:
    if forward is None:
        return None
    return {name.removesuffix("_"): value for name, value in asdict(forward).items()}


def _print_message(message: "Message") -> None:
    from deskhand.mail.reply_to import reply_to

    print_plain(
        f"{message.subject}\nfrom {message.sender}, {message.received_at:%Y-%m-%d %H:%M %Z}"
    )
    named = (("reply-to", reply_to(message)), ("cc", message.cc))
    for name, people in named:
        if people:
            print_plain(f"{name}: {', '.join(map(str, people))}")
    for attachment in message.attachments:
        read = ", read" if attachment.text else ""
        print_plain(
            f"attached: {attachment.name} ({attachment.type}, {attachment.size:,} bytes{read})"
        )


def _print_forward(forward: "Forwarded") -> None:
    sender = forward.from_
    print_plain(
        f"\nforwarded from {sender.name or ''} <{sender.address}> {forward.date or ''}:"
        f" {forward.subject}"
    )
    print_plain(forward.body)


def _preprocess(message: "Message", name: str, desk: str | None, as_json: bool) -> None:
    from deskhand.config.suggestions import did_you_mean
    from deskhand.errors import ConfigError
    from deskhand.mail.preprocess import BUILT_IN, prepared_by
    from deskhand.wiring import read_desk

    own = {} if desk is None else read_desk(desk).code.preprocessors
    preprocessors = {**BUILT_IN, **own}
    if name not in preprocessors:
        fix = did_you_mean(name, preprocessors, otherwise="name a desk that has it with --desk")
        raise ConfigError(f"there is no preprocessor {name!r}", fix=fix)

    message = run_async(prepared_by(message, name, own))
    prepared = message.prepared
    assert prepared is not None
    if as_json:
        print_json(_prepared_document(message, prepared))
    elif prepared.failed is None:
        print_plain(prepared.prompt)
    else:
        print_plain(f"{name} could not read it, so it is taken as it is: {prepared.failed}")
    if prepared.failed is not None:
        raise typer.Exit(NO)


def _prepared_document(message: "Message", prepared: "Prepared") -> dict[str, Any]:
    """What a preprocessor read, under the field names of that preprocessor."""
    if prepared.by == "crisp" and prepared.failed is None:
        fields = {
            "patient_name": prepared.name,
            "patient_email": prepared.address,
            "original_message": prepared.text,
        }
    else:
        fields = {
            "sender_email": message.sender.address,
            "subject": message.subject,
            "body": message.words,
        }
    return {
        "preprocessor": prepared.by,
        "read": prepared.failed is None,
        "failed": prepared.failed,
        **fields,
        "prompt": message.prompt,
    }
