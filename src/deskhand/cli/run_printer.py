"""Telling a run in a terminal: one line a step as it completes, then the reply and where the run
came to rest."""

from collections import Counter
from collections.abc import Mapping
from textwrap import wrap
from typing import Any, NamedTuple

from rich.console import Console
from rich.table import Table
from rich.text import Text

from deskhand.cli.agent_lines import turn_words
from deskhand.cli.intake_lines import intake_lines
from deskhand.cli.terminal import elapsed, milliseconds, printable, shortened, status_text
from deskhand.engine.journal import ADOPTION, DECISION, result_of
from deskhand.engine.story import REPLY, Document
from deskhand.model.booking import OFFERED
from deskhand.model.envelope import StageResult
from deskhand.model.message import DELIVER, Message
from deskhand.model.outcome import Outcome
from deskhand.model.run import ReviewKind, StepRow
from deskhand.model.second_reading import SECOND_READING

_WIDEST = 110
_TOOK, _NUMBER, _AFTER = 9, 4, 8
"""Columns of how long a step took, its number, and how long after the beginning it was."""
_GOES_ON = {"- ": "  ", "> ": "> "}
_SIGNS: dict[Outcome, tuple[str, str]] = {
    Outcome.SUCCESS: ("✓", "green"),
    Outcome.PARTIAL: ("✓", "yellow"),
    Outcome.SKIP: ("–", "bright_black"),
    Outcome.ERROR: ("✗", "red"),
    Outcome.CLARIFY: ("?", "yellow"),
    Outcome.CONFIRM: ("●", "yellow"),
    Outcome.REPLAN: ("↺", "cyan"),
    Outcome.LOOP_BACK: ("↺", "cyan"),
    Outcome.TERMINATE: ("■", "magenta"),
}
_VERDICTS = {"allow": "green", "hold": "yellow", "deny": "red"}


class Line(NamedTuple):
    """One step as a person reads it; an indented line is a part of the stage that follows."""

    sign: str
    style: str
    name: str
    detail: Text
    inner: bool = False
    verdict: Text | None = None
    """Of a call: shown whole, however long its arguments are."""


class RunPrinter:
    def __init__(
        self, console: Console, *, numbered: bool = False, since: float | None = None
    ) -> None:
        """`since` is when the run was accepted: each step is then told with how long after that
        it began."""
        self._console, self._numbered, self._since = console, numbered, since
        self._told_reply: Document | None = None
        self._told_intake = False
        self._width = min(console.width, _WIDEST)

    def message(self, message: Message, title: str = "") -> None:
        head = Text(shortened(message.subject, self._width) or "(no subject)", style="bold")
        if title:
            head = Text(f"{title}  ", style="cyan").append(head)
        self._console.print()
        self._console.print(
            head.append(f"  from {printable(str(message.sender))}", style="not bold dim")
        )
        body = shortened(message.words, self._width - 6)
        self._console.print(
            Text(f"  {body}", style="dim italic"), no_wrap=True, overflow="ellipsis"
        )

    def accepted(self, message: Message, title: str = "") -> None:
        """The message, and what was made of it before its first stage."""
        self.message(message, title)
        self._told_intake = True
        for line in intake_lines(message):
            self._row(Line(line.sign, "cyan", line.name, line.detail))

    def step(self, row: StepRow) -> None:
        after = "" if self._since is None else elapsed(row.started_at - self._since)
        for line in lines_of(row):
            self._row(line, str(row.seq), after, milliseconds(row.latency_ms))

    def _row(self, line: Line, number: str = "", after: str = "", took: str = "") -> None:
        grid = Table.grid(expand=True, padding=(0, 1))
        grid.width = self._width
        if self._numbered:
            grid.add_column(width=_NUMBER, justify="right", style="dim")
        if self._since is not None:
            grid.add_column(width=_AFTER, justify="right", style="dim")
        sign, name = 3 + 2 * line.inner, max(15 - 2 * line.inner, len(line.name))
        grid.add_column(width=sign, justify="right")
        grid.add_column(width=name, no_wrap=True)
        cells = [
            Text(line.sign, style=line.style),
            Text(line.name, style="" if line.inner else "bold"),
        ]
        beside = (_NUMBER + 1) * self._numbered + (_AFTER + 1) * (self._since is not None)
        room = self._width - beside - (sign + 1) - (name + 1) - (_TOOK + 1) - 1
        if line.verdict is None:
            grid.add_column(ratio=1, no_wrap=True, overflow="ellipsis")
            cells.append(line.detail)
        else:
            verdict_text = Text(" ").append(line.verdict)
            verdict = min(verdict_text.cell_len, max(room * 2 // 3, 10))
            grid.add_column(max_width=max(room - verdict, 1), no_wrap=True, overflow="ellipsis")
            grid.add_column(ratio=1, no_wrap=True, overflow="ellipsis", min_width=verdict)
            cells += [line.detail, verdict_text]
        if took:
            grid.add_column(width=_TOOK, justify="right", no_wrap=True)
            cells.append(Text(took, style="dim"))
        numbers = (number,) if self._numbered else ()
        afters = (after,) if self._since is not None else ()
        grid.add_row(*numbers, *afters, *cells)
        self._console.print(grid)

    def rest(self, story: Document) -> None:
        """The reply, if there is a new one, and the status in words."""
        reply = story["reply"]
        if reply is not None and reply != self._told_reply:
            self._reply(reply)
        self._told_reply = reply
        words = Text.from_markup(f"\n  {status_text(story['status'])}  ").append(
            printable(_where_it_stands(story))
        )
        self._console.print(words, soft_wrap=True)
        if story.get("rule") and not self._told_intake:
            routed = f"  routed to {story['flow']} by {story['rule']}: {story['why']}"
            self._console.print(Text(printable(routed), style="dim"), soft_wrap=True)
        prepared = (story.get("message") or {}).get("prepared")
        if prepared and not self._told_intake:
            self._console.print(
                Text(f"  {printable(_prepared(prepared))}", style="dim"), soft_wrap=True
            )
        self._console.print(Text(f"  {story['run']}", style="dim"))

    def _reply(self, reply: Document) -> None:
        for line in reply_lines(reply, self._width - 4):
            self._console.print(line, soft_wrap=True)


def _prepared(read: Document) -> str:
    if read["failed"] is not None:
        return f"{read['by']} could not read it, so it was taken as it is: {read['failed']}"
    return f"read by {read['by']}: {read['name']} <{read['address']}>".replace(":  <", ": <")


def lines_of(row: StepRow) -> list[Line]:
    """The step's line, after that of a call which a person is asked about."""
    ask = result_of(row).ask if row.body is not None else None
    held = [] if ask is None or ask.kind != ReviewKind.TOOL_CALL else [_held_line(ask.payload)]
    return [*held, line_of(row)]


def line_of(row: StepRow) -> Line:
    result = result_of(row)
    sign, style = _SIGNS[result.outcome]
    stage, _, part = row.name.partition("/")
    if row.body is None:
        return Line("×", "bright_black", row.name, Text("erased", style="dim"), inner=bool(part))
    if row.name == DECISION:
        return Line("☞", "cyan", "decision", Text(_decision(result)))
    if row.name == ADOPTION:
        return Line("↪", "cyan", "answer", Text(_inherited(result)))
    if result.call is not None:
        return _call_line(result)
    if (words := turn_words(result)) is not None:
        return Line("·", "cyan", part, Text(words, style="dim"), inner=True)
    if part:
        return Line("→", style, part, _part_detail(part, result), inner=True)
    return Line(sign, style, stage, _detail(row, result))


def _part_detail(part: str, result: StageResult) -> Text:
    """A part of a stage that is neither a call nor a turn: a question, a reply that was put
    down, a call not made."""
    reply = result.delta.outputs.get(REPLY)
    if isinstance(reply, Mapping):
        return Text(f"{_summary(reply)}, to {printable(str(reply.get('to')))}", style="dim")
    if part.startswith("read again"):
        return Text(_read_again(result) + _answered(result), style="dim")
    return Text(
        "sent to the customer" if part == "ask" else shortened(_failure(result), 90), style="dim"
    )


def _read_again(result: StageResult) -> str:
    """What a second reader said of a reply, or why it said nothing."""
    reading = result.delta.metadata.get(SECOND_READING)
    if not isinstance(reading, Mapping):
        return shortened(result.reason or "", 90)
    confirmed, refused = len(reading.get("confirmed", ())), len(reading.get("refused", ()))
    return f"{confirmed} confirmed" + f", {refused} refused" * bool(refused)


def _inherited(result: StageResult) -> str:
    metadata = result.delta.metadata
    asked, earlier = metadata.get("adopted_from"), metadata.get("also_answers", [])
    words = [f"goes on where {asked} asked"] if asked else []
    words += ["knows which times were offered"] if metadata.get(OFFERED) else []
    return ", ".join([*words, *(f"answers {run} as well" for run in earlier)])


def _call_line(result: StageResult) -> Line:
    call = result.call or {}
    verdict, fine = str(call.get("verdict")), bool(call.get("ok"))
    words = "ok" if fine else shortened(str(call.get("reason") or _failure(result) or "failed"), 90)
    said = Text(verdict, style=_VERDICTS.get(verdict, "")).append(
        f", {words}", style="green" if fine else "red"
    )
    colour, detail = "green" if fine else "red", Text(_arguments(call))
    return Line("→", colour, str(call.get("tool")), detail, inner=True, verdict=said)


def _held_line(call: Mapping[str, Any]) -> Line:
    said = Text("hold", style=_VERDICTS["hold"]).append(
        f", {printable(str(call.get('rule')))}", style="dim"
    )
    return Line(
        "→",
        _VERDICTS["hold"],
        str(call.get("tool")),
        Text(_arguments(call)),
        inner=True,
        verdict=said,
    )


def _arguments(call: Mapping[str, Any]) -> str:
    """A call's arguments in short, with how they were read where that is not plain. Those of a
    delivery are the reply itself, which is shown in full below."""
    arguments, read = call.get("arguments") or {}, call.get("read") or {}
    if call.get("tool") == DELIVER:
        return f"to={printable(str(arguments.get('to')))}"
    return " ".join(
        f"{name}={shortened(str(value), 30)}{_doubt(read.get(name))}"
        for name, value in arguments.items()
        if value not in (None, "")
    )


def _doubt(reading: Any) -> str:
    return f" ({reading})" if reading in ("confirmed", "corrected", "guessed") else ""


def _failure(result: StageResult) -> str:
    first = [
        value.get("results")
        for value in (*result.delta.outputs.values(), *result.delta.merge.values())
        if isinstance(value, Mapping)
    ]
    for items in (*result.delta.append.values(), *first):
        if items and (error := items[-1].get("error")):
            return str(error.get("message"))
    return ""


def _detail(row: StepRow, result: StageResult) -> Text:
    if result.error is not None:
        again = "" if result.retry_at is None else f" (attempt {row.attempt}, tries again)"
        return Text(shortened(result.error.message, 200) + again, style="red")
    if result.outcome is Outcome.CONFIRM:
        return Text(f"asks a person: {shortened(result.reason or '', 90)}", style="yellow")
    if result.outcome is Outcome.CLARIFY:
        return Text("asks the customer, waits for the answer", style="yellow")
    if result.outcome is Outcome.TERMINATE and result.reason:
        return Text(shortened(result.reason, 120), style="magenta")
    written = {**result.delta.outputs, **result.delta.merge}
    reply = written.pop(REPLY, None)
    return Text(_summary(next(iter(written.values()), reply))).append(
        _answered(result), style="dim"
    )


def _answered(result: StageResult) -> str:
    """Which brain it was, where there could have been another; rules from a file are no brain
    worth a word."""
    answered = result.answered or {}
    if answered.get("brain") in (None, "scripted"):
        return ""
    words = [str(answered.get("model") or answered["brain"])]
    words += [f"{answered['cost']:.4f}"] if answered.get("cost") else []
    words += [str(answered["held"])] if answered.get("held") else []
    return printable(f"  {', '.join(words)}")


def _summary(value: Any) -> str:
    """What a stage found or did, in a few words."""
    match value:
        case {"status": str(status), "iterations": int(turns)}:
            return f"{status}, {turns} turn{'s' * (turns != 1)}"
        case {"sources": list(sources), "skipped": list(skipped)}:
            return _context(sources, skipped)
        case {"requires_approval": False}:
            return "no person needed"
        case {"abstained": True, "best": str(best), "best_confidence": int() | float() as near}:
            return f"not sure, perhaps {best} ({near:.2f})"
        case {"category": str(category), "confidence": int() | float() as confidence}:
            return f"{category}, confidence {confidence:.3g}"
        case dict():
            return _action_summary(value)
        case _:
            return ""


def _action_summary(value: Mapping[str, Any]) -> str:
    """What a stage did: calls made, a reply sent or written."""
    match value:
        case {"executed": int(executed), "failed": int(failed)}:
            failures = f", {failed} failed" if failed else ""
            return f"{executed} call{'s' * (executed != 1)}{failures}"
        case {"sent": True}:
            return "captured" if value.get("captured") else "sent"
        case {"reasoning": str(words)} if words:
            return shortened(words, 90)
        case {"text": str(text)}:
            language = f", {value['language']}" if value.get("language") else ""
            return f"{len(text.split())} words{language}"
        case _:
            return _first_fields(value)


def _first_fields(value: Mapping[str, Any]) -> str:
    plain = [
        f"{name} {shortened(str(item), 30)}"
        for name, item in value.items()
        if isinstance(item, str | int | float) and item != ""
    ]
    return ", ".join(plain[:3])


def _context(sources: list[Any], skipped: list[Any]) -> str:
    """Where the context came from, by source, and what could not be asked."""
    counted = Counter(str(source.get("source")) for source in sources)
    words = []
    for name, number in counted.items():
        words.append(name if number == 1 else f"{number} {name}")
    left_out = f"; {len(skipped)} skipped" if skipped else ""
    return (", ".join(words) or "nothing found") + left_out


def reply_lines(reply: Mapping[str, Any], width: int) -> list[Text]:
    """A reply as its reader will see it, wrapped and safe to print."""
    head = Text(f"\n  {printable(str(reply.get('subject')))}", style="bold")
    to = printable(str(reply.get("to") or "nobody yet"))
    copies = "".join(f", cc {printable(str(address))}" for address in reply.get("cc") or ())
    head.append(f"  to {to}{copies}", style="not bold dim")
    text = printable(str(reply.get("text", ""))).rstrip().splitlines()
    pieces = [piece for line in text for piece in _wrapped(line, max(width, 20))]
    return [head, *(Text("  │ ", style="cyan").append(piece, style="default") for piece in pieces)]


def _wrapped(line: str, width: int) -> list[str]:
    """What goes on after the first line of an item or of a quotation stands under its words."""
    return wrap(line, width, subsequent_indent=_GOES_ON.get(line[:2], "")) or [""]


def _decision(result: StageResult) -> str:
    noted = result.delta.metadata.get("decision") or {}
    note = f": {noted['note']}" if noted.get("note") else ""
    return printable(
        f"{str(noted.get('decision', '')).replace('_', ' ')} by {noted.get('by')}{note}"
    )


def _where_it_stands(story: Document) -> str:
    delivery = story["delivery"] or {}
    match story["status"]:
        case "sent" if delivery.get("captured"):
            return "captured: nothing left this machine"
        case "sent":
            return f"the reply left as {delivery.get('delivered', 'a mail')}"
        case "waiting_user":
            return "the next message of this conversation goes on from here"
        case "waiting_review":
            return "waits for a person" + (f": {story['reason']}" if story["reason"] else "")
        case "done" if not story["reason"]:
            return "nothing to send"
        case _:
            return story["reason"] or ""
