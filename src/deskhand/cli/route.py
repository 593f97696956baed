"""`deskhand route`: which way a message would go, and what is wrong with a desk's routing rules."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from deskhand.cli import options
from deskhand.cli.failures import NO
from deskhand.cli.terminal import console, print_json, print_plain, shortened


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
    """Say which way a message would go, by which rule and why; or check a desk's routing rules."""
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
    _route(file, desk, as_json)


def _route(file: Path, desk: str, as_json: bool) -> None:
    from deskhand.mail.message_files import read_messages
    from deskhand.wiring import desk_router, read_desk

    message = read_messages(file)[0][0]
    decided = desk_router(read_desk(desk).spec).route(message)
    if as_json:
        print_json(decided.model_dump(mode="json"))
        return

    if decided.route == "agent":
        print_plain(f"agent {decided.profile}")
    else:
        print_plain(f"pipeline, flow {decided.flow}")
    print_plain(f"rule {decided.rule}: {decided.why}" if decided.rule else decided.why)


def _analyse(desk: str, as_json: bool) -> None:
    from deskhand.routing.rule_analysis import FAULTS, analyse_rules
    from deskhand.wiring import read_desk

    spec = read_desk(desk).spec
    findings = analyse_rules(spec.routing)
    if as_json:
        print_json(
            {
                "desk": spec.name,
                "rules": len(spec.routing),
                "findings": [asdict(finding) for finding in findings],
            }
        )
    else:
        for finding in findings:
            console().print(f"{finding.kind}: {finding.problem}", highlight=False, markup=False)
            if finding.example:
                print_plain(f"  example: {shortened(_in_words(finding.example), 200)}")
        print_plain(f"{len(spec.routing)} rules, {len(findings)} findings")
    if any(finding.kind in FAULTS for finding in findings):
        raise typer.Exit(NO)


def _in_words(example: dict[str, Any]) -> str:
    return ", ".join(f"{name} {value}" for name, value in example.items())
