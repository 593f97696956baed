"""`deskhand demo`: the sample desk at work, from the first mail to a verified journal."""

import os
from collections.abc import Sequence
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Any

from deskhand.cli import options
from deskhand.cli.terminal import console, print_json, run_async

if TYPE_CHECKING:
    from deskhand.cli.narrator import Narrator
    from deskhand.cli.working import Watch
    from deskhand.wiring import Desk

DESK = "sample"
SAMPLES = (
    ("order-status.eml", "a question the desk answers by itself"),
    ("which-parcel.json", "something is missing: it asks, and goes on with the answer"),
    ("refund.eml", "a person decides; the same run goes on afterwards"),
    ("unknown-number.eml", "a tool fails, the run does not"),
    ("other.eml", "the desk is not sure"),
    ("spam.eml", "no answer at all"),
    ("broken-bytes.eml", "bytes that are no text"),
)
APPROVED = "refund.eml"


def demo(as_json: options.Json = False) -> None:
    """Watch the sample desk work its mails: no key, no network."""
    folder = Path(mkdtemp(prefix="deskhand-demo-"))
    result = run_async(_demo(folder, quiet=as_json))
    if as_json:
        print_json(result)


async def _demo(folder: Path, *, quiet: bool) -> dict[str, Any]:
    from deskhand.cli.narrator import Narrator
    from deskhand.cli.working import Watch
    from deskhand.engine.audit import verify_desk
    from deskhand.wiring import open_database, open_desk, read_desk

    loaded, watch = read_desk(DESK), Watch()
    narrator = None if quiet else Narrator(console())
    database, outbox = folder / "deskhand.db", folder / "outbox"
    os.environ["SAMPLE_RETURNS"] = str(folder / "returns")
    if not quiet:
        _greet(loaded.spec.flows[loaded.spec.default_flow].stages)
    stories: list[dict[str, Any]] = []
    async with (
        open_database(str(database)) as opened,
        open_desk(loaded, opened, outbox=outbox, live=True, events=watch) as desk,
    ):
        for name, about in SAMPLES:
            if not quiet:
                _title(name, about)
            stories += await _work(desk, name, watch, narrator)
        report = await verify_desk(desk.store)
    audit = {"ok": report.ok, "runs": report.runs, "rows": report.rows, "problems": len(report.problems)}
    if not quiet:
        _part(folder, stories, audit)
    return {
        "desk": DESK,
        "folder": str(folder),
        "database": str(database),
        "outbox": str(outbox),
        "sent": sorted(str(path) for path in outbox.glob("*.eml")),
        "audit": audit,
        "runs": stories,
    }


async def _work(desk: "Desk", name: str, watch: "Watch", narrator: "Narrator | None") -> list[dict[str, Any]]:
    from deskhand.cli.working import work_message
    from deskhand.mail.files import read_messages

    messages, _ = read_messages(desk.spec.folder / "samples" / name)
    stories: list[dict[str, Any]] = []
    for message in messages:
        if narrator is not None:
            narrator.message(message)
        stories.append(await work_message(desk, message, watch, narrator))
    if name == APPROVED:
        stories[-1] = await _approve(desk, stories[-1], watch, narrator)
    return stories


async def _approve(desk: "Desk", story: dict[str, Any], watch: "Watch", narrator: "Narrator | None") -> dict[str, Any]:
    """Decide as a person would, and see the very same run go on."""
    from deskhand.cli.working import follow
    from deskhand.model.run import Decision, Verdict

    review = await desk.store.review(story["review"]["id"])
    if narrator is not None:
        console().print(f"\n[cyan]  $ deskhand reviews approve {review.id} --by you[/]", soft_wrap=True)
    await desk.store.decide(review.id, Verdict(Decision.APPROVE, "you", review.version, review.payload_hash))
    desk.dispatcher.wake()
    return await follow(desk, story["run"], watch, narrator, told=len(story["steps"]))


def _greet(stages: Sequence[str] | dict[str, Any]) -> None:
    console().print("\n[bold]Deskhand demo[/]  the desk [cyan]sample[/], a small parcel shop, works its mail")
    console().print(f"[dim]  {' → '.join(stages)}[/]")
    console().print(
        "[dim]  Answers come from a script, so no key and no network is needed; everything else is real.[/]"
    )


def _title(name: str, about: str) -> None:
    from rich.rule import Rule

    console().print()
    width = min(console().width, 110)
    console().print(Rule(f"[bold]{name}[/]  [dim]{about}[/]", align="left", style="dim"), width=width)


def _part(folder: Path, stories: list[dict[str, Any]], audit: dict[str, Any]) -> None:
    to = console()
    to.print()
    counts = {status: sum(story["status"] == status for story in stories) for status in ("sent", "waiting_review")}
    to.print(
        f"[bold]{len(stories)} messages[/]: {counts['sent']} answered, {counts['waiting_review']} waiting for a person;"
        f" journal of {audit['runs']} runs and {audit['rows']} rows "
        + ("[green]verified[/]" if audit["ok"] else f"[red]{audit['problems']} problems[/]"),
        soft_wrap=True,
    )
    sent = next((story for story in stories if (story["delivery"] or {}).get("delivered")), None)
    if sent is not None:
        to.print(f"The first reply lies in [cyan]{sent['delivery']['delivered']}[/]", soft_wrap=True)
    to.print("\nTry next:")
    lines = (
        (f"export DESKHAND_DATABASE={folder / 'deskhand.db'}", "look around in this demo"),
        (f"deskhand runs show {stories[0]['run']}", "the trace of one run"),
        ("deskhand reviews list", "what waits for a person"),
        ("deskhand flow show sample", "the stages and where they lead"),
        ("deskhand init my-desk", "a desk of your own"),
    )
    width = max(len(command) for command, _ in lines)
    for command, why in lines:
        to.print(f"  {command:<{width}}  [dim]{why}[/]", soft_wrap=True)
