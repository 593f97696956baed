"""A recorded run in a terminal: the timeline, and the full state around one step."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.syntax import Syntax
from rich.text import Text

from deskhand.cli.run_printer import RunPrinter, reply_lines
from deskhand.cli.terminal import elapsed, milliseconds, moment, printable, status_text
from deskhand.engine.descriptions import actor_of, describe_decision, describe_event
from deskhand.engine.story import Document, Records, events_of, story_of, time_spent, timeline_of
from deskhand.errors import NotFound
from deskhand.model.run import Review, Run
from deskhand.model.value_readings import DOUBTS

_WIDEST = 100
_FROM_OUTSIDE = (
    "reply.bounced",
    "reply.complained",
    "run.answered_by_person",
    "run.cancelled",
    "review.undo",
)
"""Events that neither a step nor a review shows."""


def document(records: Records) -> Document:
    """The run's story with its whole timeline in place of the short steps."""
    message = records.message
    full = None if message is None else message.model_dump(mode="json")
    return story_of(records) | {
        "message": full,
        "steps": timeline_of(records),
        "events": events_of(records),
    }


def step_at(records: Records, seq: int) -> Document:
    for step in timeline_of(records):
        if step["order"] == seq:
            return step
    raise NotFound(
        f"run {records.run.id} has no step {seq}; it has {len(records.rows)}, counted from 0"
    )


def print_trace(
    console: Console, records: Records, calls: Sequence[Mapping[str, Any]] = ()
) -> None:
    """`calls` are the run's calls of models, as documents."""
    run = records.run
    printer = RunPrinter(console, numbered=True, since=run.created_at)
    console.print(Text(run.id, style="bold"), status_text(run.status))
    _print_facts(console, records, _models(calls))
    if records.message is not None:
        printer.message(records.message)
    for row in records.rows:
        printer.step(row)
    printer.rest(story_of(records))
    for review in records.reviews:
        line = Text.from_markup(f"  review {review.id} {status_text(review.state)}")
        console.print(
            line.append(printable(f"  {_review_words(review)}"), style="dim"), soft_wrap=True
        )
    for event in records.events:
        if event.kind in _FROM_OUTSIDE:
            words = f"{actor_of(event)} {describe_event(event, moment)}"
            line = Text(f"  {elapsed(event.at - run.created_at):>8}  ", style="dim")
            console.print(line.append(printable(words), style="yellow"), soft_wrap=True)


def _review_words(review: Review) -> str:
    """What was asked, who decided it and how long that took."""
    if review.decision is None:
        return f"{review.kind}, {review.reason}"
    waited = elapsed((review.decided_at or review.created_at) - review.created_at).lstrip("+")
    return f"{review.kind}, {review.reason}: {describe_decision(review)} after {waited}"


def _print_facts(console: Console, records: Records, models: str) -> None:
    run = records.run
    facts = {
        "desk": run.desk,
        "flow": f"{run.flow} {run.flow_version or ''}".rstrip(),
        "conversation": run.conversation,
        "accepted": moment(run.created_at),
        "took": _took(records),
        "models": models,
        "crashes": str(run.crashes or ""),
        "error": run.error_code or "",
        "waits": _waits(run),
        "principal": _principal_words(records),
        "went on in": run.successor or "",
    }
    for name, value in facts.items():
        if value:
            console.print(
                Text(f"  {name:<13}", style="dim").append(printable(value), style="default"),
                soft_wrap=True,
            )


def _models(calls: Sequence[Mapping[str, Any]]) -> str:
    """What a run asked of models, and what that took."""
    if not calls:
        return ""
    sums = dict.fromkeys(_COUNTED, 0)
    for call in calls:
        for name in _COUNTED:
            sums[name] += call[name]
    cached, thoughts = sums["cached_tokens"], sums["reasoning_tokens"]
    words = [
        f"{len(calls)} call{'s' * (len(calls) != 1)}",
        f"{sums['prompt_tokens']:,} tokens in" + f" ({cached:,} from the cache)" * bool(cached),
        f"{sums['completion_tokens']:,} out" + f" ({thoughts:,} thoughts)" * bool(thoughts),
    ]
    words += [f"{sums['cost']:.4f}"] * bool(sums["cost"])
    return ", ".join(words)


_COUNTED = ("prompt_tokens", "completion_tokens", "cached_tokens", "reasoning_tokens", "cost")


def _waits(run: Run) -> str:
    """What a queued run waits for, and until when at most."""
    if run.waits_for is None or run.due_at is None:
        return ""
    return f"{run.reason or run.waits_for}; tried again at {moment(run.due_at)}, or when it is back"


def _took(records: Records) -> str:
    if not records.rows:
        return ""
    at_work, between = time_spent(records)
    waited = f", {elapsed(between).lstrip('+')} waiting" if between >= 1 else ""
    return f"{milliseconds(1000 * at_work)} at work{waited}"


def _principal_words(records: Records) -> str:
    if records.message is None:
        return ""
    principal = records.message.principal
    named = principal.customer_id or principal.address or ""
    return f"{principal.kind} {named}".rstrip() + f" ({principal.how})"


def print_state(console: Console, step: Document) -> None:
    head = Text(f"step {step['order']} {step['name']}", style="bold")
    console.print(
        head.append(f"  {step['outcome']}, attempt {step['attempt']}", style="not bold dim")
    )
    for title, key in (("met", "input_state"), ("left", "output_state")):
        console.print(Text(f"\n{title}", style="cyan"))
        console.print(_json(step[key]))


def _json(value: Any) -> Syntax:
    text = printable(json.dumps(value, ensure_ascii=False, indent=2))
    return Syntax(text, "json", theme="ansi_dark", background_color="default", word_wrap=True)


def _held_call(payload: dict[str, Any]) -> list[Text]:
    """A call with where each argument came from: what came from the message is the sender's word
    alone."""
    lines = [Text(""), Text("  ").append(printable(f"{payload['tool']}"), style="bold")]
    origin, read = payload.get("origin") or {}, payload.get("read") or {}
    for name, value in (payload.get("arguments") or {}).items():
        written = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        how = f"; {DOUBTS[read[name]]}" if read.get(name) in DOUBTS else ""
        line = Text("  │ ", style="cyan").append(printable(f"{name:<14}{written}"), style="default")
        lines.append(
            line.append(printable(f"  ({_origin_words(origin.get(name, ''))}{how})"), style="dim")
        )
    lines.append(Text(printable(f"  held by the rule {payload.get('rule')}"), style="dim"))
    for finding in payload.get("findings") or []:
        lines.append(Text(printable(f"  ! {in_one_line(finding)}"), style="yellow"))
    return lines


def _origin_words(origin: str) -> str:
    kind, _, number = origin.partition(":")
    words = {
        "principal": "the customer's own",
        "operator": "from desk.yaml or the tool's default",
        "result": f"from tool result {number}",
        "message": "from the message",
        "model": "found nowhere: the model's own",
    }
    return words.get(kind, "origin unknown")


def payload_lines(payload: dict[str, Any]) -> list[Text]:
    """What a review is about, rendered here from the record and never from a model's summary."""
    reply = payload.get("reply")
    if isinstance(reply, dict):
        return [*reply_lines(reply, _WIDEST), *_finding_lines(payload.get("findings") or [])]
    if "call_hash" in payload:
        return _held_call(payload)
    lines = [printable(line) for line in _in_words(payload)]
    return [
        Text(""),
        *(Text("  │ ", style="cyan").append(line, style="default") for line in lines),
    ]


def _in_words(payload: dict[str, Any]) -> Iterator[str]:
    """What a hand-over or a follow-up brings along, a line for each thing that is known."""
    for name, value in payload.items():
        if value in (None, "", [], {}):
            continue
        if isinstance(value, dict):
            yield f"{name.replace('_', ' ')}: {in_one_line(value)}"
            continue
        first, *more = str(value).splitlines()
        yield f"{name.replace('_', ' ')}: {first}"
        yield from (f"  {line}" for line in more)


def in_one_line(fields: Mapping[str, Any]) -> str:
    """Fields as `order=P-1002 reason=damaged`; what has parts is written as JSON."""
    return " ".join(
        f"{name}={_short(value)}" for name, value in fields.items() if value is not None
    )


def _short(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _finding_lines(findings: list[dict[str, Any]]) -> list[Text]:
    """What speaks against a reply, each with the words it is about."""
    lines = [Text("")] if findings else []
    for finding in findings:
        promise = finding.get("sentence")
        words = (
            f"nothing stands behind {finding['value']}: {promise}"
            if promise
            else f"{finding['reason']}: {finding['text']}"
        )
        lines.append(Text("  ✗ ", style="red").append(printable(words), style="yellow"))
    return lines
