"""What an eval found, as the one document that every other form is made from.

Table, JUnit XML, HTML page and comparison all read it, and describe its scores in the same words.
What is kept of it says what each case came to, without whole runs.
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from math import comb
from typing import Any

from deskhand.engine.story import Document
from deskhand.evals.case_runner import CaseResult, CaseTrial
from deskhand.evals.comparison import facts_of
from deskhand.evals.outcomes import count_outcomes, field_table, outcome_of
from deskhand.evals.run_facts import language_of_reply
from deskhand.evals.scorers import Score
from deskhand.language.identify import identify

OTHER = "other"
_CATEGORY = ("category", "classification", "intent")
_LONGEST = 2_000
"""Characters of a value that are kept."""


def report_of(
    results: Sequence[CaseResult], *, desk: str, brain: str, repeat: int, cost: float = 0.0
) -> Document:
    """Splits by tag stand beside the sum, so that nobody reads the sum alone."""
    cases = [_case(result) for result in results]
    known_failures = sum(result.case.known_failure is not None for result in results)
    judged_cases = [case for case in cases if case["outcome"] is not None]
    return {
        "desk": desk,
        "brain": brain,
        "repeat": repeat,
        **_counts(results),
        "known_failures": known_failures,
        "outcomes": count_outcomes(judged_cases),
        "outcomes_by_language": _by_language(judged_cases),
        "outcomes_by_tag": _by_tag(judged_cases),
        "fields": field_table(cases),
        "coverage": coverage_of(results),
        "splits": {tag: _counts(_tagged(results, tag)) for tag in _tags(results)},
        "pass_k": pass_k(results, repeat),
        "judged": _judgements(results, skipped=False),
        "not_judged": _judgements(results, skipped=True),
        "cost": cost,
        "cases": cases,
    }


def pass_k(results: Sequence[CaseResult], repeat: int) -> dict[str, float]:
    """Returns for each k how likely k trials of a case all pass, averaged over the cases.

    The k trials are drawn from the `repeat` trials that were made.
    """
    if not results:
        return {}
    passed = [result.passed_trials for result in results]
    return {str(k): _all_pass(passed, k, repeat) for k in range(1, repeat + 1)}


def _all_pass(passed: Sequence[int], k: int, repeat: int) -> float:
    likely = sum(comb(count, k) / comb(repeat, k) for count in passed)
    return round(likely / len(passed), 6)


def _counts(results: Sequence[CaseResult]) -> Document:
    passed = sum(result.passed for result in results)
    return {"total": len(results), "passed": passed, "failed": len(results) - passed}


def _tags(results: Iterable[CaseResult]) -> list[str]:
    return sorted({tag for result in results for tag in result.case.tags})


def _tagged(results: Iterable[CaseResult], tag: str) -> list[CaseResult]:
    return [result for result in results if tag in result.case.tags]


def _judgements(results: Iterable[CaseResult], *, skipped: bool) -> int:
    """How many scores of a model as judge were given, or with `skipped` were not."""
    count = 0
    for result in results:
        for trial in result.trials:
            judged = [score for score in trial.scores.values() if score.name.startswith("judge")]
            count += sum(score.skipped is skipped for score in judged)
    return count


def _by_language(cases: Iterable[Document]) -> Document:
    groups: dict[str, list[Document]] = defaultdict(list)
    for case in cases:
        groups[case["language"] or "unknown"].append(case)
    return {language: count_outcomes(groups[language]) for language in sorted(groups)}


def _by_tag(cases: Iterable[Document]) -> Document:
    groups: dict[str, list[Document]] = defaultdict(list)
    for case in cases:
        for tag in case["tags"]:
            groups[tag].append(case)
    return {tag: count_outcomes(groups[tag]) for tag in sorted(groups)}


def coverage_of(results: Iterable[CaseResult]) -> Document:
    """Returns how much of the golden mail the desk sorts, and how much of that rightly.

    Measured on the cases that expect a category, not on the examples the desk learned from.
    """
    mails = sorted_mails = right = 0
    for result in results:
        for name, score in result.shown.scores.items():
            if name.rpartition(".")[2] not in _CATEGORY or score.skipped:
                continue
            mails += 1
            wanted = score.expected if isinstance(score.expected, list) else [score.expected]
            sure = score.found is not None and (score.found != OTHER or OTHER in wanted)
            sorted_mails += sure
            right += score.passed
    return {
        "mails": mails,
        "sorted": sorted_mails,
        "right": right,
        "coverage": _share(sorted_mails, mails),
        "accuracy": _share(right, mails),
    }


def _share(part: int, whole: int) -> float | None:
    return round(part / whole, 4) if whole else None


def _judged_turn(result: CaseResult) -> tuple[Document, Document] | None:
    """The run after the customer's last message, and its scores; None where there is none."""
    trial = result.shown
    turns = result.case.turns
    last = max((number for number, turn in enumerate(turns) if turn.message is not None), default=0)
    if last >= len(trial.turns):
        return None
    prefix = f"{last + 1}." if len(turns) > 1 else ""
    scores: Document = {}
    for name, score in trial.scores.items():
        if name.startswith(prefix) and "." not in name[len(prefix) :]:
            scores[name[len(prefix) :]] = score.document()
    return trial.turns[last], scores


def _language_of(result: CaseResult, run: Document | None) -> str | None:
    """The language that the case expects of the reply or reads in the ticket, else that of the
    reply, else the mail's."""
    for turn in result.case.turns:
        reply = turn.expect.get("reply")
        named = turn.expect.get("language")
        named = named or (reply.get("language") if isinstance(reply, dict) else None)
        named = named or turn.expect.get("triage", {}).get("language")
        if isinstance(named, str):
            return named
    if run is not None and run["reply"] is not None:
        return language_of_reply(run["reply"])
    message = result.case.turns[0].message
    return None if message is None else identify(f"{message.subject}\n{message.body}").code


def _case(result: CaseResult) -> Document:
    case = result.case
    trial = result.shown
    trials = [each.passed for each in result.trials]
    judged = _judged_turn(result)
    document = {
        "id": case.id,
        "tags": list(case.tags),
        "file": str(case.file),
        "line": case.line,
        "why": case.why,
        "passed": result.passed,
        "known_failure": case.known_failure,
        "language": _language_of(result, judged and judged[0]),
        "outcome": judged and outcome_of(*judged),
        "trials": trials,
        "scores": _scores(trial),
        "run": trial.turns[-1] if trial.turns else None,
    }
    if len(trial.turns) > 1:
        document["turns"] = list(trial.turns)
    return document


def _scores(trial: CaseTrial) -> Document:
    return {name: score.document() for name, score in trial.scores.items()}


# --- in words


def failed_scores(case: Document) -> dict[str, Document]:
    """What a case that failed did not meet; a known failure that is met says so."""
    if case.get("known_failure") and not case["passed"]:
        why = "it is met now: remove this line from the case"
        return {
            "known_failure": Score(
                "known_failure", False, case["known_failure"], "met", why=why
            ).document()
        }
    return {
        name: score
        for name, score in case["scores"].items()
        if not (score["passed"] or score["skipped"])
    }


def score_in_words(name: str, score: Document) -> str:
    expected = value_in_words(score["expected"])
    actual = value_in_words(score["found"])
    line = f"{name}: expected {expected}, found {actual}"
    return f"{line} ({score['why']})" if score.get("why") else line


def value_in_words(value: Any) -> str:
    """A value on one line."""
    if isinstance(value, str):
        return value
    return "nothing" if value is None else json.dumps(value, ensure_ascii=False, default=str)


def lines_of(value: Any) -> list[str]:
    """A value as lines that can be compared one by one: a reply's words, a call a line."""
    if isinstance(value, str):
        return value.splitlines()
    if isinstance(value, list):
        return [value_in_words(item) for item in value]
    if not isinstance(value, dict):
        return [] if value is None else [value_in_words(value)]
    lines: list[str] = []
    for name, item in value.items():
        is_text = isinstance(item, str) and "\n" in item
        lines += item.splitlines() if is_text else [f"{name}: {value_in_words(item)}"]
    return lines


def kept_report(report: Mapping[str, Any]) -> Document:
    """What two evals are compared by."""
    names = ("brain", "total", "passed", "failed", "known_failures", "outcomes", "cost")
    kept: Document = {name: report.get(name) for name in names}
    kept["cases"] = [_kept_case(case) for case in report["cases"]]
    return kept


def _kept_case(case: Document) -> Document:
    run = case.get("run")
    facts = facts_of(run) if run else {}
    scores = {name: _kept_score(score) for name, score in failed_scores(case).items()}
    shortened = {name: _shortened(value) for name, value in facts.items()}
    return {
        "id": case["id"],
        "tags": case.get("tags", []),
        "passed": case["passed"],
        "scores": scores,
        "facts": shortened,
    }


def _kept_score(score: Mapping[str, Any]) -> Document:
    expected = value_in_words(score.get("expected"))[:_LONGEST]
    actual = value_in_words(score.get("found"))[:_LONGEST]
    return {"passed": False, "expected": expected, "found": actual, "why": score.get("why")}


def _shortened(value: Any) -> Any:
    return value[:_LONGEST] if isinstance(value, str) else value
