"""`deskhand parse` and `deskhand route`: what a mail says, and which way it would go."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from deskhand.cli import options
from deskhand.cli.failing import NO
from deskhand.cli.terminal import console, print_json, print_plain, run_async, shortened

if TYPE_CHECKING:
    from deskhand.model.message import Message
    from deskhand.model.prepared import Prepared

File = Annotated[Path, typer.Argument(help="An .eml file, or JSON of a message.", metavar="FILE")]


def parse(
    file: File,
    preprocessor: Annotated[
        str | None,
        typer.Option(
            "--preprocessor", help="Show what an agent is told: `crisp`, `default` or a desk's own."
        ),
    ] = None,
    desk: options.DeskName = None,
    as_json: options.Json = False,
) -> None:
    """Show what a mail says: the sender's own words, what is forwarded, attachments, whether a
    program sent it.

    With --preprocessor: what it reads (exit 1 where it cannot).
    """
    from deskhand.mail import forwarded, visible_reply
    from deskhand.mail.automatic import automatic
    from deskhand.mail.message_files import read_messages

    message = read_messages(file)[0][0]
    if preprocessor is not None:
        _preprocess(message, preprocessor, desk, as_json)
        return
    found, program = forwarded(message.body, message.subject), automatic(message)
    if as_json:
        told = None if found is None else asdict(found)
        if told is not None:
            told = {"from" if name == "from_" else name: value for name, value in told.items()}
        print_json(
            {
                "message": message.model_dump(mode="json"),
                "visible_reply": visible_reply(message.body),
                "forwarded": told,
                "automatic": None if program is None else asdict(program),
            }
        )
        return
    _tell(
        message,
        visible_reply(message.body),
        f"{program.kind}: {program.reason}" if program else None,
    )
    if found is not None:
        print_plain(
            f"\nforwarded from {found.from_.name or ''} <{found.from_.address}> {found.date or ''}:"
            f" {found.subject}"
        )
        print_plain(found.body)


def _preprocess(message: "Message", name: str, desk: str | None, as_json: bool) -> None:
    from deskhand.config.suggestions import did_you_mean
    from deskhand.errors import ConfigError
    from deskhand.mail.preprocess import BUILT_IN, prepared_by
    from deskhand.wiring import read_desk

    own = {} if desk is None else read_desk(desk).code.preprocessors
    known = {**BUILT_IN, **own}
    if name not in known:
        fix = did_you_mean(name, known, otherwise="name a desk that brings it with --desk")
        raise ConfigError(f"there is no preprocessor {name!r}", fix=fix)
    message = run_async(prepared_by(message, name, own))
    read = message.prepared
    assert read is not None
    if as_json:
        print_json(_told(message, read))
    elif read.failed is None:
        print_plain(read.prompt)
    else:
        print_plain(f"{name} could not read it, so it is taken as it is: {read.failed}")
    if read.failed is not None:
        raise typer.Exit(NO)


def _told(message: "Message", read: "Prepared") -> dict[str, Any]:
    """Under the names that each preprocessor has for what it finds."""
    if read.by == "crisp" and read.failed is None:
        found = {
            "patient_name": read.name,
            "patient_email": read.address,
            "original_message": read.text,
        }
    else:
        found = {
            "sender_email": message.sender.address,
            "subject": message.subject,
            "body": message.words,
        }
    return {
        "preprocessor": read.by,
        "read": read.failed is None,
        "failed": read.failed,
        **found,
        "prompt": message.prompt,
    }


def _tell(message: "Message", words: str, program: str | None) -> None:
    print_plain(
        f"{message.subject}\nfrom {message.sender}, {message.received_at:%Y-%m-%d %H:%M %Z}"
    )
    for one in message.attachments:
        print_plain(
            f"attached: {one.name} ({one.type}, {one.size:,} bytes{', read' if one.text else ''})"
        )
    if program is not None:
        print_plain(f"no person sent this: {program}")
    print_plain(f"\n{words}")


def route(
    file: Annotated[
        Path | None, typer.Argument(help="An .eml file, or JSON of a message.", metavar="[FILE]")
    ] = None,
    desk: options.DeskName = None,
    analyse: Annotated[
        str | None,
        typer.Option(
            "--analyse", help="Report this desk's rules that hide one another.", metavar="DESK"
        ),
    ] = None,
    as_json: options.Json = False,
) -> None:
    """Say which way a message would go, by which rule and why; or what is wrong with a desk's
    rules."""
    from deskhand.errors import ConfigError

    if analyse is not None:
        if file is not None:
            raise ConfigError(
                "--analyse looks at a desk, not at a message", fix="deskhand route --analyse DESK"
            )
        _analyse(analyse, as_json)
        return
    if file is None or desk is None:
        raise ConfigError("a message and a desk are needed", fix="deskhand route FILE --desk DESK")
    from deskhand.mail.message_files import read_messages
    from deskhand.wiring import desk_router, read_desk

    decided = desk_router(read_desk(desk).spec).route(read_messages(file)[0][0])
    if as_json:
        print_json(decided.model_dump(mode="json"))
        return
    where = (
        f"agent {decided.profile}" if decided.route == "agent" else f"pipeline, flow {decided.flow}"
    )
    print_plain(
        f"{where}\nrule {decided.rule}: {decided.why}"
        if decided.rule
        else f"{where}\n{decided.why}"
    )


def _analyse(desk: str, as_json: bool) -> None:
    from deskhand.routing.analyse import FAULTS, analysed
    from deskhand.wiring import read_desk

    spec = read_desk(desk).spec
    found = analysed(spec.routing)
    if as_json:
        print_json(
            {
                "desk": spec.name,
                "rules": len(spec.routing),
                "findings": [asdict(one) for one in found],
            }
        )
    else:
        for one in found:
            console().print(f"{one.kind}: {one.problem}", highlight=False, markup=False)
            if one.example:
                print_plain(f"  example: {shortened(_in_short(one.example), 200)}")
        print_plain(f"{len(spec.routing)} rules, {len(found)} findings")
    if any(one.kind in FAULTS for one in found):
        raise typer.Exit(NO)


def _in_short(example: dict[str, Any]) -> str:
    return ", ".join(f"{name} {value}" for name, value in example.items())
