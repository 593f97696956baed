"""`deskhand policy`: are the rules sound, and what would other rules have said."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from deskhand.cli import options
from deskhand.cli.databases import opened_store
from deskhand.cli.terminal import console, print_json, printable, run_async, shortened

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from deskhand.config.fact_types import FactTypes
    from deskhand.config.sections.policy import PolicySpec
    from deskhand.policy.rule_analysis import PolicyFinding
    from deskhand.policy.rule_policy import Policy
    from deskhand.policy.whatif import RecordedCall, WhatIf
    from deskhand.wiring import DeskStore, LoadedDesk

app = typer.Typer(help="A desk's own rules over tool calls.", no_args_is_help=True)

_PAGE = 200


@app.command("check")
def check(desk: options.Desk, as_json: options.Json = False) -> None:
    """Find rules that no call reaches, rules that contradict, and tools nothing allows; exit 1
    when there are any."""
    from deskhand.policy.rule_analysis import check_policy
    from deskhand.policy.rule_policy import compile_policy
    from deskhand.wiring import read_desk

    loaded = read_desk(desk)
    spec = loaded.spec.policy
    findings = [] if spec is None else check_policy(compile_policy(spec), _fact_types(loaded))
    if as_json:
        rules = 0 if spec is None else len(spec.rules)
        print_json(
            {
                "desk": loaded.spec.name,
                "rules": rules,
                "findings": [finding.as_json() for finding in findings],
            }
        )
    else:
        _print_findings(spec, findings)
    raise typer.Exit(1 if findings else 0)


def _fact_types(loaded: "LoadedDesk") -> "FactTypes":
    from deskhand.config.fact_types import REPLY_SHAPE, FactTypes
    from deskhand.tools.registry import shape_of
    from deskhand.tools.shapes import BUILT_IN_SHAPES, OFFICE_SHAPES
    from deskhand.wiring import server_tools

    stages = [stage for flow in loaded.spec.flows.values() for stage in flow.stages.values()]
    categories = {
        choice for stage in stages if stage.task == "classify" for choice in stage.choices
    }
    named = {tool for stage in stages for tool in stage.tools}
    ours = {**OFFICE_SHAPES, **BUILT_IN_SHAPES}
    offered = {name: shape for name, shape in ours.items() if name in named}
    offered |= {tool.name: shape_of(tool) for tool in (*loaded.code.tools, *server_tools(loaded))}
    facts = {fact.name: fact.kind for fact in loaded.code.message_facts}
    return FactTypes([*offered.values(), REPLY_SHAPE], categories, facts)


def _print_findings(spec: "PolicySpec | None", findings: "list[PolicyFinding]") -> None:
    from rich.text import Text

    to = console()
    if spec is None:
        to.print("the desk has no rules of its own")
        return
    for finding in findings:
        to.print(
            Text("✗ ", style="red").append(printable(finding.message), style="default"),
            soft_wrap=True,
        )
        if finding.example:
            to.print(
                Text(
                    "  for example: " + printable(_call(finding.as_json()["example"])), style="dim"
                ),
                soft_wrap=True,
            )
    if not findings:
        to.print(
            f"[green]✓[/] {len(spec.rules)} rules: each one is reached by some call, and none"
            " contradicts another"
        )


def _call(example: dict[str, Any]) -> str:
    facts = ", ".join(f"{name}={value}" for name, value in example.items() if name != "tool")
    return f"{example.get('tool')}({facts})"


@app.command("what-if")
def what_if(
    desk: options.Desk,
    new: Annotated[Path, typer.Argument(help="A file with other rules.", metavar="NEW.yaml")],
    since: Annotated[
        str | None,
        typer.Option(
            "--since", help="Only calls since then: `7 days` (ago), or a date.", metavar="WHEN"
        ),
    ] = None,
    database: options.Database = None,
    as_json: options.Json = False,
) -> None:
    """Judge recorded calls again by other rules, and list each verdict that would change; exit 1
    when any does."""
    from deskhand.wiring import read_desk

    begin = _moment(since)
    old, name = read_desk(desk).spec.policy, read_desk(desk).spec.name
    other = read_desk(desk, policy=new).spec.policy
    report = run_async(_what_if(database, name, begin, _policy(old), _policy(other)))
    if as_json:
        changes = [change.as_json() for change in report.changes]
        print_json(
            {"desk": name, "judged": report.judged, "unknown": report.unknown, "changes": changes}
        )
    else:
        _print_what_if(report)
    raise typer.Exit(1 if report.changes else 0)


def _policy(spec: "PolicySpec | None") -> "Policy":
    from deskhand.policy.rule_policy import NullPolicy, compile_policy

    return NullPolicy() if spec is None else compile_policy(spec)


def _moment(written: str | None) -> float:
    """The time that `--since` means, in seconds since the epoch."""
    from datetime import UTC, date, datetime, time, timedelta

    from deskhand.errors import ConfigError
    from deskhand.measures import measure

    if written is None:
        return 0.0
    measured = measure(written)
    meant = None if measured is None else measured[1]
    if isinstance(meant, timedelta):
        return (datetime.now(UTC) - meant).timestamp()
    if isinstance(meant, datetime):
        return meant.timestamp()
    if isinstance(meant, date):
        return datetime.combine(meant, time(), tzinfo=UTC).timestamp()
    raise ConfigError(
        f"--since cannot be {written!r}",
        fix="write `7 days`, `2030-01-31` or `2030-01-31T10:00:00Z`",
    )


async def _what_if(
    database: str | None, desk: str, since: float, old: "Policy", new: "Policy"
) -> "WhatIf":
    from deskhand.policy.whatif import what_if as judge_again

    async with opened_store(database, desk) as store:
        calls = [call async for call in _recorded(store, since)]
    return judge_again(calls, old, new)


async def _recorded(store: "DeskStore", since: float) -> "AsyncIterator[RecordedCall]":
    """Every call in the desk's journal that has been settled; one that still waits for a person
    is not."""
    from deskhand.engine.journal import result_of
    from deskhand.policy.whatif import RecordedCall

    after = 0
    while page := await store.journals(after=after, limit=_PAGE):
        for journaled in page:
            after = journaled.position
            for row in journaled.rows:
                if row.started_at < since or row.body is None:
                    continue
                call = result_of(row).call
                if call is not None:
                    yield RecordedCall(journaled.run_id, row.seq, call)


def _print_what_if(report: "WhatIf") -> None:
    from rich.text import Text

    to = console()
    for change in report.changes:
        change_document = change.as_json()
        line = Text(f"{change.run} step {change.seq}  ", style="dim")
        line.append(
            printable(f"{change.facts.tool} {shortened(str(change_document['arguments']), 60)}"),
            style="default",
        )
        to.print(line, soft_wrap=True)
        old, new = change.old, change.new
        to.print(
            Text(printable(f"  {old.verdict} ({old.rule}) → {new.verdict} ({new.rule})")),
            soft_wrap=True,
        )
    unknown = f", {report.unknown} recorded without their facts" if report.unknown else ""
    changed = (
        f"{len(report.changes)} would change"
        if report.changes
        else "[green]✓[/] no verdict would change"
    )
    to.print(f"{report.judged} calls judged again{unknown}: {changed}")
