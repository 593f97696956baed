"""Compares two reports of the same cases: what got worse or better, and if it may be chance."""

import json
from collections import Counter
from collections.abc import Container, Iterable, Mapping
from math import comb
from pathlib import Path
from typing import Any, cast

from deskhand.engine.story import Document
from deskhand.errors import ConfigError
from deskhand.evals.differences import differences, facts_of

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
