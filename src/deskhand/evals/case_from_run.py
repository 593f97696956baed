"""Makes a golden case of a recorded run: what happened is what must happen from now on."""

import re
from collections.abc import Mapping, Sequence
from operator import itemgetter
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap, CommentedSeq

from deskhand.config.yaml import read_text
from deskhand.engine.decisions import TAKE_TEXT
from deskhand.engine.story import Document
from deskhand.errors import ConfigError
from deskhand.evals.given import said_in
from deskhand.evals.recorded_chat import turns_in
from deskhand.evals.recorded_runs import (
    AGENT_BRAIN,
    MomentKind,
    RecordedConversation,
    RecordedRun,
    RunMoment,
)
from deskhand.evals.recorded_stages import mode_told
from deskhand.evals.recorded_tools import OUR_OWN, result_in
from deskhand.evals.run_facts import category_of, language_of_reply, stages_of
from deskhand.evals.triage_expectations import ticket_of, triage_of
from deskhand.knowledge.exchanges import digest_of, sentences
from deskhand.model.message import REPLY, Address, Message, iso
from deskhand.model.outcome import Outcome
from deskhand.model.principal import PrincipalKind
from deskhand.model.results import ToolResult, normalize_tool_result
from deskhand.model.run import EXPIRY, Decision, Review, ReviewKind, ReviewState, RunStatus
from deskhand.private_files import make_private_file, make_private_folder

EDITED = "edited"
"""The tag of cases that a reviewer's edit taught."""
_WIDTH = 110
_LONGEST_GREETING = 6
"""How many words a greeting has at most."""


def case_of(
    conversation: RecordedConversation,
    case_id: str,
    tags: list[str],
    tickets: Sequence[Document] = (),
) -> Document:
    """Returns the case of a conversation's last run; ConfigError where it cannot become one.

    `tickets` are those that it continued, as they stood before.

    It has one message, or the turns up to the run with what reviewers decided in between. Where a
    reviewer rewrote the reply, the decision is no turn of the case: it becomes what the desk's own
    reply must say.
    """
    last = conversation.runs[-1]
    if last.why_not is not None:
        raise ConfigError(f"run {last.run.id} cannot become a case: {last.why_not}")
    edit = edit_of(last)
    moments = _turns_of(conversation, without_decisions_on=None if edit is None else last)
    if edit is not None:
        tags = [*tags, EDITED]
    case: Document = {"id": case_id}
    if tags:
        case["tags"] = tags
    mode = _mode(last)
    if mode is not None:
        case["mode"] = mode
    if len(moments) == 1:
        case["message"] = _message(last.records.message)
    else:
        case["turns"] = [_turn(moment, is_last=moment is moments[-1]) for moment in moments]
    tools, said = _given(conversation), _said(conversation)
    given = _present({"tools": tools, "agent": said, "tickets": list(tickets)})
    if given:
        case["given"] = given
    case["expect"] = expected_of(last) if edit is None else _taught(last, edit)
    placed = ticket_of(last.story["outputs"])
    if placed is not None and placed["joins"] in [ticket["id"] for ticket in tickets]:
        case["expect"]["ticket"] = placed["joins"]
    return case


def _mode(recorded: RecordedRun) -> str | None:
    """The mode that the run met, which the desk may have left since; None if it is not known."""
    modes_told = map(mode_told, (state.result for state in recorded.states))
    mode = next(filter(None, modes_told), None)
    asked = any(state.result.outcome is Outcome.CLARIFY for state in recorded.states)
    if mode is None and (asked or recorded.story["status"] == RunStatus.SENT):
        return "auto"
    return mode


def _turns_of(
    conversation: RecordedConversation, without_decisions_on: RecordedRun | None
) -> list[RunMoment]:
    """The moments that become turns: messages, and what people decided."""
    kinds = (MomentKind.ACCEPTED, MomentKind.DECIDED)
    moments = [moment for moment in conversation.moments() if moment.kind in kinds]
    if without_decisions_on is None:
        return moments
    return [
        moment
        for moment in moments
        if moment.kind is MomentKind.ACCEPTED or moment.run is not without_decisions_on
    ]


def _present(document: Document) -> Document:
    """The mapping without fields that are empty."""
    return {name: value for name, value in document.items() if value}


def _taught(recorded: RecordedRun, edit: Review) -> Document:
    """What holds before anybody looks at the reply, and what its reviewer made of it."""
    expected = expected_of(recorded)
    kept = ("route", "flow", "category", "tools")
    taught = {name: expected[name] for name in kept if name in expected}
    taught["reply"] = lesson_of(edit)
    language = (expected.get("reply") or {}).get("language")
    if language:
        taught["reply"]["language"] = language
    return taught


# --- what a reviewer's edit teaches


def edit_of(recorded: RecordedRun) -> Review | None:
    """Returns the last review in which a person changed this run's reply, if there is one."""
    edits = [review for review in recorded.records.reviews if _is_edit(review)]
    return edits[-1] if edits else None


def _is_edit(review: Review) -> bool:
    by_a_person = review.decided_by not in (None, EXPIRY)
    has_text = bool((review.edit or {}).get("text"))
    return by_a_person and review.decision is Decision.EDIT and has_text


def lesson_of(edit: Review) -> Document:
    """Returns what the next draft must say (sentences put in) and must not (sentences struck out).

    How a reply greets and closes is the desk's, whatever a reviewer made of it: no lesson is about
    that. Where the edit changes no whole sentence, the reply must be what the reviewer wrote.
    """
    drafted = str((edit.payload.get(REPLY) or {}).get("text") or "")
    written = str((edit.edit or {})["text"])
    said, meant = _between(drafted), _between(written)
    lesson = {
        "contains": _sentences_beyond(meant, said),
        "not_contains": _sentences_beyond(said, meant),
    }
    if _present(lesson):
        return _present(lesson)
    if drafted.replace(said, meant) == written:
        return {"equals": written}
    return {"contains": sentences(meant) or [meant]}


def _between(text: str) -> str:
    """A reply without its greeting and its closing; the whole of one that is nothing else."""
    lines = text.strip().split("\n")
    if len(lines) > 1 and _greets(lines[0]):
        lines = lines[1:]
    paragraphs = re.split(r"\n\s*\n", "\n".join(lines).strip())
    while len(paragraphs) > 1 and _closes(paragraphs[-1]):
        paragraphs.pop()
    return "\n\n".join(paragraphs).strip() or text


def _greets(line: str) -> bool:
    """`Hello Ann,`: a few words that end like a salutation, or with nothing."""
    return len(line.split()) <= _LONGEST_GREETING and not line.rstrip().endswith((".", "?"))


def _closes(paragraph: str) -> bool:
    """`Kind regards` and names: short lines, none of which ends a sentence."""
    lines = paragraph.strip().split("\n")
    return all(
        len(line.split()) <= _LONGEST_GREETING and not line.rstrip().endswith((".", "!", "?"))
        for line in lines
    )


def _sentences_beyond(text: str, other: str) -> list[str]:
    """The sentences of one text that the other does not have."""
    in_other = {digest_of(sentence) for sentence in sentences(other)}
    return [sentence for sentence in sentences(text) if digest_of(sentence) not in in_other]


# --- the file


def append_case(path: Path, case: Document) -> None:
    """Add a case to a file, keeping its comments; the file is made when it is not there."""
    yaml = YAML(typ="rt")
    yaml.preserve_quotes = True
    yaml.width = _WIDTH
    yaml.indent(mapping=2, sequence=4, offset=2)
    whole = yaml.load(read_text(path)) if path.is_file() else CommentedMap()
    cases = whole.setdefault("cases", CommentedSeq())
    cases.append(_readable(case))
    if len(cases) > 1:
        cases.yaml_set_comment_before_after_key(len(cases) - 1, before="\n")
    make_private_folder(path.parent)
    make_private_file(path)
    with path.open("w", encoding="utf-8") as file:
        yaml.dump(whole, file)


def _readable(value: Any) -> Any:
    """Short mappings and lists on one line, texts of several lines as blocks."""
    from ruamel.yaml.scalarstring import LiteralScalarString

    if isinstance(value, dict):
        mapping = CommentedMap({key: _readable(item) for key, item in value.items()})
        if len(str(value)) < _WIDTH - 20 and "\\n" not in str(value):
            mapping.fa.set_flow_style()
        return mapping
    if isinstance(value, list):
        listed = CommentedSeq(_readable(item) for item in value)
        if len(str(value)) < _WIDTH - 20 and all(isinstance(item, str) for item in value):
            listed.fa.set_flow_style()
        return listed
    if isinstance(value, str) and "\n" in value:
        lines = value.split("\n")
        return LiteralScalarString(value) if all(map(str.isprintable, lines)) else value
    return value


# --- what happened, as a case writes it


def expected_of(recorded: RecordedRun) -> Document:
    """Returns what must happen again: what happened, without words that a model chose."""
    story = recorded.story
    calls = story["tool_calls"]
    first_rest = _first_rest(recorded) if recorded.run.successor else None
    expected: Document = {
        "route": story["route"],
        "flow": story["flow"],
        "category": category_of(story),
        "stages": stages_of(story),
        "tools": [{call["tool"]: call["arguments"]} for call in calls],
        "verdict": _verdicts(calls),
        "review": _open_review(story["review"]),
        "status": first_rest or story["status"],
        "error": story["error_code"],
        "reply": story["reply"] and _reply(recorded, story["reply"]),
        "triage": _triage(story["outputs"]),
    }
    return {name: value for name, value in expected.items() if value or name == "tools"}


def _triage(outputs: Mapping[str, Any]) -> Document:
    """What triage found out beside the issue, which is the category."""
    fields = triage_of(outputs) if "triage_result" in outputs else {}
    return {field: value for field, value in fields.items() if value and field != "issue"}


def _verdicts(calls: Sequence[Mapping[str, Any]]) -> Document:
    return {call["tool"]: call["verdict"] for call in calls if call.get("verdict")}


def _open_review(review: Mapping[str, Any] | None) -> Document | None:
    if review is None or review["state"] != ReviewState.OPEN or not review["reason"]:
        return None
    return {"kind": review["kind"], "contains": review["reason"]}


def _reply(recorded: RecordedRun, reply: Mapping[str, Any]) -> Document:
    expected: Document = {}
    if language := language_of_reply(reply):
        expected["language"] = language
    by_a_model = any((state.result.answered or {}).get("model") for state in recorded.states)
    if not by_a_model:
        expected["equals"] = reply["text"]
    return expected


def _turn(moment: RunMoment, *, is_last: bool) -> Document:
    run = moment.run
    assert run is not None
    if moment.kind is MomentKind.DECIDED:
        assert moment.review is not None
        return {"reviewer": _reviewer(moment.review)}
    turn: Document = {"customer": _message(run.records.message)}
    status = None if is_last else _first_rest(run)
    if status:
        turn["expect"] = {"status": status}
    return turn


def _first_rest(run: RecordedRun) -> str | None:
    """The status in which the run rested before anything else happened to it."""
    if run.records.reviews:
        is_task = run.records.reviews[0].kind in (ReviewKind.HAND_OVER, ReviewKind.FOLLOW_UP)
        return "needs_review" if is_task else "waiting_review"
    asked = run.states and run.states[-1].result.outcome is Outcome.CLARIFY
    return "waiting_user" if asked else None


def _reviewer(review: Review) -> Document | str:
    assert review.decision is not None
    decision = str(review.decision)
    has_text = review.decision in TAKE_TEXT
    text = (review.edit or {}).get("text") if has_text else None
    written = _present({"decision": decision, "note": review.note, "text": text})
    return decision if len(written) == 1 else written


def _message(message: Message | None) -> Document:
    assert message is not None
    principal = message.principal
    return _present(
        {
            "from": message.sender.address,
            "name": message.sender.name,
            "subject": message.subject,
            "body": message.body,
            "channel": message.channel if message.channel != "api" else None,
            "headers": dict(message.headers),
            "recipients": _addresses(message.recipients),
            "cc": _addresses(message.cc),
            "customer_id": principal.customer_id,
            "customer_tier": principal.tier,
            "authenticated": principal.kind is PrincipalKind.SENDER,
            "received_at": iso(message.received_at),
        }
    )


def _addresses(people: Sequence[Address]) -> list[str]:
    return [person.address for person in people]


def _given(conversation: RecordedConversation) -> Document:
    """Results by tool, so that the case does not depend on data that changes."""
    by_tool: dict[str, list[Document]] = {}
    for state in conversation.states:
        call = state.result.call
        result = result_in(state.result)
        if call is None or result is None or call["tool"] in OUR_OWN:
            continue
        entry = {"when": call.get("arguments") or {}, "result": _plain(result)}
        entries = by_tool.setdefault(call["tool"], [])
        if entry not in entries:
            entries.append(entry)
    given: Document = {}
    for tool, entries in by_tool.items():
        given[tool] = entries[0]["result"] if len(entries) == 1 else entries
    return given


def _said(conversation: RecordedConversation) -> list[Document]:
    """What the agent's model said, turn by turn, so that the case needs no model."""
    turns: list[tuple[float, Document]] = []
    for state in conversation.states:
        if (state.result.answered or {}).get("brain") == AGENT_BRAIN:
            at = state.row.started_at
            turns += [(at, said_in(turn)) for turn in turns_in(state.result.delta)]
    return [said for _, said in sorted(turns, key=itemgetter(0))]


def _plain(result: ToolResult) -> Document:
    """The data alone where that is read back as the same result."""
    data = dict(result.data or {})
    if result.ok and normalize_tool_result(data) == result:
        return data
    return result.model_dump(mode="json", exclude_none=True)
