"""Compares two runs, and two reports of the same cases: what got worse or better, and if it may be
chance.

What a run did and said counts; ids, times and the wording of errors do not.
"""

import json
from collections import Counter
from collections.abc import Container, Iterable, Mapping
from math import comb
from pathlib import Path
from typing import Any, cast

from deskhand.engine.story import Document
from deskhand.errors import ConfigError
from deskhand.evals.run_facts import category_of, question_of, stages_of

_ORDER = ("regression", "fixed", "different")


def compare(base: Document, now: Document) -> Document:
    """Returns every case that differs, worse ones first.

    `regressions` counts the cases that passed before and do not now.
    """
    before = {case["id"]: case for case in base["cases"]}
    after = {case["id"]: case for case in now["cases"]}
    both = [name for name in after if name in before]
    changes = [change for name in both if (change := _change(before[name], after[name]))]
    kinds = Counter(change["kind"] for change in changes)
    return {
        "compared": len(both),
        "regressions": kinds["regression"],
        "fixed": kinds["fixed"],
        "p_value": mcnemar(kinds["regression"], kinds["fixed"]),
        "changed": sorted(changes, key=lambda change: _ORDER.index(change["kind"])),
        "added": _without(after, before),
        "missing": _without(before, after),
    }


def _without(cases: Iterable[str], others: Container[str]) -> list[str]:
    return [name for name in cases if name not in others]


def mcnemar(worse: int, better: int) -> float:
    """Returns the p-value of the exact two-sided McNemar test.

    It is how likely a split at least as uneven is, if both desks were equally good.
    """
    discordant = worse + better
    tail = sum(comb(discordant, count) for count in range(min(worse, better) + 1))
    return min(1.0, 2.0 * tail / 2.0**discordant)


def read_report(path: Path) -> Document:
    """Reads a report that `deskhand eval --json` printed; ConfigError where the file is none."""
    try:
        data: Any = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(
            f"cannot be read: {error.strerror}", file=path, fix="name a file of `eval --json`"
        ) from None
    except ValueError as error:
        raise ConfigError(
            f"not JSON: {error}", file=path, fix="write it with `deskhand eval DESK --json`"
        ) from None
    cases = data.get("cases") if isinstance(data, dict) else None
    if not isinstance(cases, list) or not all(map(_is_case, cases)):
        raise ConfigError(
            "not a report of an eval", file=path, fix="write it with `deskhand eval DESK --json`"
        )
    return cast(Document, data)


def _is_case(case: Any) -> bool:
    return isinstance(case, dict) and {"id", "passed"} <= set(case)


def _change(before: Mapping[str, Any], after: Mapping[str, Any]) -> Document | None:
    """What changed in a case; None where nothing did."""
    changes = differences(_facts(before), _facts(after))
    scores: Document = {}
    if before["passed"] == after["passed"]:
        if not changes:
            return None
        kind = "different"
    else:
        kind, failing = ("fixed", before) if after["passed"] else ("regression", after)
        scores = {name: _pair(name, before, after) for name in _failed(failing)}
    return {
        "id": after["id"],
        "tags": after.get("tags", []),
        "kind": kind,
        "scores": scores,
        "changes": changes,
    }


def _facts(case: Mapping[str, Any]) -> Document:
    """What a case came to: kept with it, or read from its run."""
    kept = case.get("facts")
    if kept is not None:
        return cast(Document, kept)
    run = case.get("run")
    return facts_of(run) if run else {}


def _failed(case: Mapping[str, Any]) -> list[str]:
    return [name for name, score in (case.get("scores") or {}).items() if not score["passed"]]


def _pair(name: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> Document:
    was = (before.get("scores") or {}).get(name) or {}
    now = (after.get("scores") or {}).get(name) or {}
    return {
        "expected": now.get("expected", was.get("expected")),
        "before": was.get("found"),
        "now": now.get("found"),
    }


_ROUTE = ("route", "profile", "rule", "flow")
_VERDICT = ("verdict", "rule")
_CALL = ("tool", "arguments")
_REPLY = ("to", "subject", "text")


def differences(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[Document]:
    """Returns `{what, before, now}` for each fact that differs, in the order of the facts."""
    return [
        {"what": name, "before": before.get(name), "now": after.get(name)}
        for name in dict.fromkeys([*before, *after])
        if before.get(name) != after.get(name)
    ]


def facts_of(run: Document) -> dict[str, Any]:
    question = question_of(run)
    calls = run["tool_calls"]
    return {
        "route": _present(run, _ROUTE),
        "status": run["status"],
        "error": run.get("error_code"),
        "category": category_of(run),
        "stages": stages_of(run),
        "tools": [_fields(call, _CALL) for call in calls],
        "verdicts": list(map(_verdict, calls)),
        "review": _review(run),
        "question": question and question["text"],
        "reply": run.get("reply") and _fields(run["reply"], _REPLY),
    }


def _fields(document: Document, names: tuple[str, ...]) -> Document:
    return {name: document.get(name) for name in names}


def _present(document: Document, names: tuple[str, ...]) -> Document:
    return {name: document[name] for name in names if document.get(name) is not None}


def _verdict(call: Document) -> Document:
    return {"tool": call.get("tool"), **_present(call, _VERDICT)}


def _review(run: Document) -> Document | None:
    """What a person is asked and decided.

    Of a run that failed, the reason is the wording of its error, whose code is compared by itself.
    """
    review = run.get("review")
    if review is None:
        return None
    facts = {"kind": review["kind"], "decision": review["decision"]}
    if not run.get("error_code"):
        facts["reason"] = review["reason"]
    return facts
