"""What became of the mail of golden cases, as a support lead counts it: sent and right, sent and
wrong, drafted, handed over."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from deskhand.engine.story import Document

SENT_RIGHT = "sent_right"
SENT_WRONG = "sent_wrong"
SENT_NOT_JUDGED = "sent_not_judged"
DRAFTED_USEFUL = "drafted_useful"
DRAFTED_LACKING = "drafted_lacking"
DRAFTED_NOT_JUDGED = "drafted_not_judged"
ASKED = "asked"
HANDED_OVER = "handed_over"
ENDED = "ended"
OUTCOMES = (
    SENT_RIGHT,
    SENT_WRONG,
    SENT_NOT_JUDGED,
    DRAFTED_USEFUL,
    DRAFTED_LACKING,
    DRAFTED_NOT_JUDGED,
    ASKED,
    HANDED_OVER,
    ENDED,
)
IN_WORDS = {
    SENT_RIGHT: "sent and right",
    SENT_WRONG: "sent and wrong",
    SENT_NOT_JUDGED: "sent, and no case says what is right",
    DRAFTED_USEFUL: "drafted, useful",
    DRAFTED_LACKING: "drafted, not useful",
    DRAFTED_NOT_JUDGED: "drafted, and no case says what is right",
    ASKED: "asked the customer",
    HANDED_OVER: "handed over without a draft",
    ENDED: "ended without a reply",
}
HELD_BY_MODE = "held_by_mode"
"""The field of an eval's run document that says whether nothing but the mode keeps its reply."""
FACTS = frozenset({"must_say", "asks"})
"""Expectations that say what a right reply states."""
_TRUTH = FACTS | {"must_not_say", "must_not_act", "language", "reply"}
_DECIDED = frozenset({"status", "review", "error"})
SENT = ("sent", "answered")
_WITHOUT_REPLY = ("done", "cancelled", "rejected")


def outcome_of(run: Mapping[str, Any], scores: Mapping[str, Mapping[str, Any]]) -> str:
    """Returns one of OUTCOMES for a run and the scores of what was expected of it.

    A reply that nothing but the mode holds back counts as sent: it would leave in `auto`.
    """
    if run["status"] == "waiting_user":
        return ASKED
    if run["status"] in SENT or run.get(HELD_BY_MODE):
        return _sent(run, scores)
    if run["reply"] is None:
        return ENDED if run["status"] in _WITHOUT_REPLY else HANDED_OVER
    if not FACTS & scores.keys():
        return DRAFTED_NOT_JUDGED
    return DRAFTED_USEFUL if _met(scores, FACTS) else DRAFTED_LACKING


def _sent(run: Mapping[str, Any], scores: Mapping[str, Mapping[str, Any]]) -> str:
    judged_by = set(_TRUTH)
    if run["status"] in SENT:
        judged_by |= _DECIDED  # a case that runs in `draft` expects every reply to wait
    if not _met(scores, judged_by):
        return SENT_WRONG
    return SENT_RIGHT if FACTS & scores.keys() else SENT_NOT_JUDGED


def _met(scores: Mapping[str, Mapping[str, Any]], names: Iterable[str]) -> bool:
    return all(scores[name]["passed"] for name in names if name in scores)


def count_outcomes(cases: Iterable[Document]) -> dict[str, int]:
    """Returns how often each outcome came, in the order of OUTCOMES; none is left out."""
    counts = Counter(case["outcome"] for case in cases)
    return {outcome: counts[outcome] for outcome in OUTCOMES}


def field_table(cases: Sequence[Document]) -> list[Document]:
    """Returns for each expectation how often it was met: in all, by language and by tag.

    Expectations of a conversation's turns count under their own names.
    """
    rows: dict[str, dict[str, dict[str, list[int]]]] = {}
    for case in cases:
        groups = [("all", "all"), ("languages", case["language"] or "unknown")]
        groups += [("tags", tag) for tag in case["tags"]]
        for name, score in case["scores"].items():
            if score["skipped"]:
                continue
            for kind, group in groups:
                by_group = rows.setdefault(_field(name), {}).setdefault(kind, {})
                met = by_group.setdefault(group, [0, 0])
                met[0] += score["passed"]
                met[1] += 1
    return [_row(name, rows[name]) for name in sorted(rows)]


def _field(name: str) -> str:
    """`2.must_say` is `must_say` of the second turn; `judge 2` is the second criterion."""
    last = name.rpartition(".")[2]
    return "judge" if last.startswith("judge ") else last


def _row(name: str, groups: Mapping[str, Mapping[str, Sequence[int]]]) -> Document:
    passed, total = groups["all"]["all"]
    return {
        "field": name,
        "passed": passed,
        "total": total,
        "languages": _counted(groups["languages"]),
        "tags": _counted(groups["tags"]),
    }


def _counted(groups: Mapping[str, Sequence[int]]) -> Document:
    return {
        group: {"passed": passed, "total": total}
        for group, (passed, total) in sorted(groups.items())
    }
