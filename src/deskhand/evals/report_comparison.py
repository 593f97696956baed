"""Two reports of the same cases side by side: what got worse, what got better, and whether it
may be chance."""

import json
from collections.abc import Mapping
from math import comb
from pathlib import Path
from typing import Any, cast

from deskhand.engine.story import Document
from deskhand.errors import ConfigError
from deskhand.evals.differences import differences
from deskhand.evals.facts import facts_of


def compare(base: Document, now: Document) -> Document:
    """Every case that differs, worse ones first; `regressions` counts those that passed before
    and do not now."""
    before = {case["id"]: case for case in base["cases"]}
    after = {case["id"]: case for case in now["cases"]}
    both = [name for name in after if name in before]
    worse = [name for name in both if before[name]["passed"] and not after[name]["passed"]]
    better = [name for name in both if after[name]["passed"] and not before[name]["passed"]]
    changes = [_change(before[name], after[name]) for name in both]
    order = ("regression", "fixed", "different")
    return {
        "compared": len(both),
        "regressions": len(worse),
        "fixed": len(better),
        "p_value": mcnemar(len(worse), len(better)),
        "changed": sorted(
            (change for change in changes if change), key=lambda change: order.index(change["kind"])
        ),
        "added": [name for name in after if name not in before],
        "missing": [name for name in before if name not in after],
    }


def mcnemar(worse: int, better: int) -> float:
    """The exact two-sided McNemar test: how likely a split at least as uneven is, if both desks
    were equally good."""
    discordant = worse + better
    tail = sum(comb(discordant, count) for count in range(min(worse, better) + 1))
    return min(1.0, 2.0 * tail / 2.0**discordant)


def read_report(path: Path) -> Document:
    """A report that `deskhand eval --json` printed."""
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
    fields = {"id", "passed"}
    if not isinstance(cases, list) or not all(
        isinstance(case, dict) and fields <= set(case) for case in cases
    ):
        raise ConfigError(
            "not a report of an eval", file=path, fix="write it with `deskhand eval DESK --json`"
        )
    return cast(Document, data)


def _change(before: Mapping[str, Any], after: Mapping[str, Any]) -> Document | None:
    differing = _differing(before.get("run"), after.get("run"))
    if before["passed"] == after["passed"] and not differing:
        return None
    kind = (
        "different"
        if before["passed"] == after["passed"]
        else "fixed"
        if after["passed"]
        else "regression"
    )
    failing = after if kind == "regression" else before
    scores = (
        {}
        if kind == "different"
        else {name: _pair(name, before, after) for name in _failed(failing)}
    )
    return {
        "id": after["id"],
        "tags": after.get("tags", []),
        "kind": kind,
        "scores": scores,
        "changes": differing,
    }


def _differing(before: Document | None, after: Document | None) -> list[Document]:
    return differences(facts_of(before) if before else {}, facts_of(after) if after else {})


def _failed(case: Mapping[str, Any]) -> list[str]:
    return [name for name, score in (case.get("scores") or {}).items() if not score["passed"]]


def _pair(name: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> Document:
    was, now = ((case.get("scores") or {}).get(name) or {} for case in (before, after))
    return {
        "expected": now.get("expected", was.get("expected")),
        "before": was.get("found"),
        "now": now.get("found"),
    }
