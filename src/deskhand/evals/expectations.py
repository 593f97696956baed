"""The built-in expectations of a case: each holds what was expected against the run document."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import re2

from deskhand.conditions import compile_condition
from deskhand.engine.story import Document
from deskhand.evals.facts import says, tokens_of
from deskhand.evals.outcomes import HELD_BY_MODE, SENT
from deskhand.evals.run_facts import (
    articles_of,
    asks_of,
    category_of,
    intent_of,
    language_of_reply,
    plan_of,
    question_of,
    slots_of,
    stages_of,
    verdicts_of,
)
from deskhand.evals.triage_expectations import EARLIER, FIELDS, ticket_of, triage_of

UNBACKED = "unbacked_promises"
"""The field of an eval's run document with the sentences that nothing stands behind."""
TELEMETRY = "telemetry"
"""The field of an eval's run document with the events that the run told."""
ACTS = "acts"
"""The field of an eval's run document with the calls that changed something."""
TRIAGE = "triage "
"""Before the name of a field that triage finds out, where its score is named."""
_STRICTNESS = ("allow", "hold", "deny")


class Checked(NamedTuple):
    """Whether a run meets an expectation, and what it has in that place."""

    passed: bool
    actual: Any


def check(name: str, run: Document, expected: Any) -> Checked:
    """Checks the expectation of this name; KeyError where there is none such."""
    return _CHECKS[name](run, expected)


def _field(name: str) -> Callable[[Document, Any], Checked]:
    def check_field(run: Document, expected: Any) -> Checked:
        return Checked(run.get(name) in _as_list(expected), run.get(name))

    return check_field


def _category(run: Document, expected: Any) -> Checked:
    category = category_of(run)
    return Checked(category in _as_list(expected), category)


def _intent(run: Document, expected: Any) -> Checked:
    intent = intent_of(run)
    return Checked(intent in _as_list(expected), intent)


def _slots(run: Document, expected: Mapping[str, Any]) -> Checked:
    slots = slots_of(run)
    named = {name: slots.get(name) for name in expected}
    return Checked(all(_agrees(named[name], value) for name, value in expected.items()), named)


# --- calls


def _tools(run: Document, expected: Sequence[Any]) -> Checked:
    calls = run["tool_calls"]
    return Checked(_are_calls(calls, expected), _shown(calls))


def _called(run: Document, expected: Sequence[Any]) -> Checked:
    """Whether the expected calls were made in this order; others may lie between."""
    rest = iter(run["tool_calls"])
    passed = True
    for call in expected:
        passed = passed and any(_is_call(made, call) for made in rest)
    return Checked(passed, _shown(run["tool_calls"]))


def _not_called(run: Document, expected: Sequence[Any]) -> Checked:
    calls = run["tool_calls"]
    passed = not any(_is_call(made, call) for made in calls for call in expected)
    return Checked(passed, _shown(calls))


def _plan(run: Document, expected: Sequence[Any]) -> Checked:
    steps = plan_of(run)
    return Checked(_are_calls(steps, expected), _shown(steps))


def _are_calls(calls: Sequence[Mapping[str, Any]], expected: Sequence[Any]) -> bool:
    """Whether these are the expected calls in their order; of arguments, only those named count."""
    return len(calls) == len(expected) and all(map(_is_call, calls, expected))


def _is_call(call: Mapping[str, Any], expected: Any) -> bool:
    if isinstance(expected, str):
        return bool(call.get("tool") == expected)
    [(name, arguments)] = expected.items()
    made = call.get("arguments") or {}
    agree = all(_agrees(made.get(key), value) for key, value in arguments.items())
    return call.get("tool") == name and agree


def _shown(calls: Sequence[Mapping[str, Any]]) -> list[Document]:
    return [{call["tool"]: call["arguments"]} for call in calls]


def _verdict(run: Document, expected: Any) -> Checked:
    verdicts = verdicts_of(run)
    if isinstance(expected, str):
        strictest = max((verdict for _, verdict in verdicts), key=_STRICTNESS.index, default=None)
        return Checked(strictest == expected, strictest)
    by_tool: dict[str, list[str]] = {tool: [] for tool in expected}
    for tool, verdict in verdicts:
        if tool in by_tool:
            by_tool[tool].append(verdict)
    passed = all(set(by_tool[tool]) == {verdict} for tool, verdict in expected.items())
    return Checked(passed, by_tool)


# --- what people are asked and told


def _review(run: Document, expected: Any) -> Checked:
    review = run["review"]
    waits = review is not None and review["state"] == "open"
    shown = {"kind": review["kind"], "reason": review["reason"]} if waits else None
    if isinstance(expected, bool):
        return Checked(waits is expected, shown)
    if not waits:
        return Checked(False, None)
    wanted = {"contains": expected} if isinstance(expected, str) else expected
    reason = review["reason"].casefold()
    words = _as_list(wanted.get("contains", []))
    has_words = all(word.casefold() in reason for word in words)
    return Checked(has_words and wanted.get("kind") in (None, review["kind"]), shown)


def _reply(run: Document, expected: Any) -> Checked:
    reply = run["reply"]
    if isinstance(expected, bool):
        return Checked((reply is not None) is expected, reply and reply["text"])
    if reply is None:
        return Checked(False, None)
    text = str(reply["text"])
    checks = (
        _says(text, expected),
        expected.get("subject") in (None, reply.get("subject")),
        _folded(expected.get("to") or reply.get("to") or "") == _folded(reply.get("to") or ""),
        expected.get("language") in (None, language_of_reply(reply)),
        expected.get("promises_backed") in (None, not run.get(UNBACKED)),
    )
    shown: Document = {"text": text}
    if "language" in expected:
        shown["language"] = language_of_reply(reply)
    shown |= {key: reply.get(key) for key in ("subject", "to") if key in expected}
    if "promises_backed" in expected:
        shown[UNBACKED] = run.get(UNBACKED)
    return Checked(all(checks), shown)


def _says(text: str, expected: Mapping[str, Any]) -> bool:
    """Whether a reply's text has the words it must have, and none it must not."""
    folded = _folded(text)
    wanted = _as_list(expected.get("contains", []))
    unwanted = _as_list(expected.get("not_contains", []))
    has_wanted = all(_folded(words) in folded for words in wanted)
    has_unwanted = any(_folded(words) in folded for words in unwanted)
    checks = (
        has_wanted,
        not has_unwanted,
        "matches" not in expected or bool(re2.search(expected["matches"], text)),
        "equals" not in expected or _lines(text) == _lines(expected["equals"]),
    )
    return all(checks)


# --- facts


def _must_say(run: Document, expected: Sequence[Any]) -> Checked:
    text = _stated(run)
    if text is None:
        return Checked(False, None)
    missing = [fact for fact in expected if not says(text, fact)]
    return Checked(not missing, {"missing": missing, "text": text} if missing else text)


def _must_not_say(run: Document, expected: Sequence[Any]) -> Checked:
    text = _stated(run) or ""
    said = [fact for fact in expected if says(text, fact)]
    return Checked(not said, {"said": said, "text": text} if said else None)


def _asks(run: Document, expected: Sequence[Mapping[str, Any]]) -> Checked:
    problems = [problem for ask in expected if (problem := _ask_problem(run, ask))]
    return Checked(not problems, problems or asks_of(run))


def _ask_problem(run: Document, expected: Mapping[str, Any]) -> str | None:
    """What is wrong with the answer to one ask; None where it is right."""
    ask = expected["ask"]
    answered = [entry for entry in asks_of(run) if entry.get("answered") and _is_ask(entry, ask)]
    if not expected.get("answered", True):
        if run["status"] in SENT or run.get(HELD_BY_MODE):
            return f"{ask}: nothing answers it, yet the reply needs nobody"
        if answered:
            return f"{ask}: nothing answers it, yet {answered[0].get('article')} was taken for it"
        return None
    missing = [fact for fact in expected.get("says", ()) if not says(_stated(run) or "", fact)]
    if missing:
        return f"{ask}: the reply does not say {missing}"
    article = expected.get("article")
    if article is not None and article not in articles_of(run):
        return f"{ask}: the reply does not rest on {article}"
    return None


def _is_ask(entry: Mapping[str, Any], expected: str) -> bool:
    words = set(tokens_of(expected))
    return len(words & set(tokens_of(str(entry.get("ask"))))) * 2 > len(words)


def _stated(run: Document) -> str | None:
    """The reply without the customer's own words, which a draft repeats above each answer."""
    if run["reply"] is None:
        return None
    text = str(run["reply"]["text"])
    for ask in asks_of(run):
        text = text.replace(f"“{ask.get('ask')}”", "")
    return text


def _must_not_act(run: Document, expected: Any) -> Checked:
    acts: list[Document] = run.get(ACTS) or []
    if expected is not True:
        acts = [act for act in acts if _is_one_of(act, expected)]
    return Checked(not acts, _shown(acts))


def _is_one_of(made: Document, calls: Sequence[Any]) -> bool:
    return any(_is_call(made, call) for call in calls)


def _language(run: Document, expected: str) -> Checked:
    language = None if run["reply"] is None else language_of_reply(run["reply"])
    return Checked(language == expected, language)


def _stages(run: Document, expected: Sequence[str]) -> Checked:
    """Whether the run went through these stages in this order; others may lie between."""
    stages = stages_of(run)
    rest = iter(stages)
    return Checked(all(stage in rest for stage in expected), stages)


def _telemetry(run: Document, expected: Sequence[Any]) -> Checked:
    """Whether the run told these events in this order; others may lie between."""
    events = [
        {"tool": event["stage"], "arguments": {**event["payload"], "level": event["level"]}}
        for event in run.get(TELEMETRY) or ()
    ]
    rest = iter(events)
    passed = True
    for event in expected:
        passed = passed and any(_is_call(made, event) for made in rest)
    return Checked(passed, _shown(events))


def _asks_for(run: Document, expected: str) -> Checked:
    question = question_of(run)
    if question is None:
        return Checked(False, None)
    if question["param"] is not None:
        return Checked(question["param"] == expected, question["param"])
    asked = expected in question["missing"] or _folded(expected) in _folded(question["text"])
    return Checked(asked, question["text"])


# --- tickets


def triage_scores(expected: Mapping[str, Any]) -> dict[str, Any]:
    """What is expected of triage as expectations of their own, so that each is counted."""
    return {TRIAGE + field: value for field, value in expected.items()}


def _triage(field: str) -> Callable[[Document, Any], Checked]:
    def check_found(run: Document, expected: Any) -> Checked:
        value = triage_of(run["outputs"])[field]
        return Checked(value in _as_list(expected), value)

    return check_found


def _ticket(run: Document, expected: Any) -> Checked:
    place = ticket_of(run["outputs"], run.get(EARLIER) or ())
    wanted = expected if isinstance(expected, Mapping) else {"joins": expected}
    if place is None:
        return Checked(False, None)
    passed = all(_is_there(place, field, value) for field, value in wanted.items())
    return Checked(passed, {field: place[field] for field in wanted})


def _is_there(place: Document, field: str, wanted: Any) -> bool:
    """Whether a message went there; it may continue the ticket of several earlier turns."""
    if field == "same_as":
        return wanted in place[field]
    return place[field] in _as_list(wanted)


def _holds(run: Document, expected: Mapping[str, Any]) -> Checked:
    return Checked(compile_condition(expected).matches(run), None)


# --- comparing


def _as_list(expected: Any) -> list[Any]:
    return list(expected) if isinstance(expected, list | tuple) else [expected]


def _folded(text: str) -> str:
    return " ".join(text.split()).casefold()


def _lines(text: str) -> list[str]:
    return [line.rstrip() for line in text.strip().splitlines()]


def _agrees(actual: Any, expected: Any) -> bool:
    """Equal; of a mapping, the fields that were named; a number written as text is that number."""
    if isinstance(expected, Mapping):
        return isinstance(actual, Mapping) and all(
            _agrees(actual.get(key), value) for key, value in expected.items()
        )
    if isinstance(expected, list):
        same_length = isinstance(actual, list) and len(actual) == len(expected)
        return same_length and all(map(_agrees, actual, expected))
    return bool(actual == expected) or (actual is not None and str(actual) == str(expected))


_CHECKS: Mapping[str, Callable[[Document, Any], Checked]] = {
    "route": _field("route"),
    "profile": _field("profile"),
    "rule": _field("rule"),
    "flow": _field("flow"),
    "status": _field("status"),
    "error": _field("error_code"),
    "category": _category,
    "classification": _category,
    "intent": _intent,
    "slots": _slots,
    "plan": _plan,
    "tools": _tools,
    "called": _called,
    "not_called": _not_called,
    "verdict": _verdict,
    "review": _review,
    "reply": _reply,
    "must_say": _must_say,
    "must_not_say": _must_not_say,
    "asks": _asks,
    "must_not_act": _must_not_act,
    "language": _language,
    "telemetry": _telemetry,
    "stages": _stages,
    "asks_for": _asks_for,
    "holds": _holds,
    "ticket": _ticket,
    **{TRIAGE + field: _triage(field) for field in FIELDS},
}
