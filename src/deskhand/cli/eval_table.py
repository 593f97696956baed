"""An eval's report as people read it in a terminal."""

from typing import TYPE_CHECKING

from deskhand.cli.terminal import console, print_table, printable, shortened

if TYPE_CHECKING:
    from deskhand.engine.story import Document

_KINDS = {"regression": "red", "fixed": "green", "different": "yellow"}


def tell(report: "Document") -> None:
    """The cases that failed with what was expected and found, then the counts by split."""
    from deskhand.evals.report import failed_scores, score_in_words

    out = console()
    for case in report["cases"]:
        if case["passed"]:
            continue
        out.print(
            f"[red]✗[/] [bold]{case['id']}[/]  [dim]{case['file']}:{case['line']}[/]{_often(case)}"
        )
        for name, score in failed_scores(case).items():
            out.print("    " + printable(score_in_words(name, score)), markup=False, soft_wrap=True)
    if "compare" in report:
        _compared(report["compare"])
    if report["failed"] or "compare" in report:
        out.print()
    rows = [_row(tag, counts) for tag, counts in report["splits"].items()]
    print_table(("", "passed", "failed", "cases"), (), [*rows, _row("[bold]all[/]", report)])
    _tell_outcomes(report)
    if report["repeat"] > 1:
        pass_rates = "  ".join(f"pass^{k} {value:.3f}" for k, value in report["pass_k"].items())
        out.print(f"\neach case {report['repeat']} times: {pass_rates}")
    if report["not_judged"]:
        left = (
            "1 criterion was"
            if report["not_judged"] == 1
            else f"{report['not_judged']} criteria were"
        )
        out.print(f"\n{left} not judged; name a model with --judge")


def _tell_outcomes(report: "Document") -> None:
    """What became of the mail, the fields that were not always met, and how much was sorted."""
    from deskhand.evals.outcomes import IN_WORDS

    out = console()
    counts = [
        f"{count} {IN_WORDS[outcome]}" for outcome, count in report["outcomes"].items() if count
    ]
    if counts:
        out.print(
            "\n" + printable("; ".join(counts)) + _held_back(report), markup=False, soft_wrap=True
        )
    columns = list(report["outcomes_by_language"])
    rows = [_field_row(field, columns) for field in report["fields"]]
    if rows:
        out.print()
        print_table(("field", "met", *columns), (), rows)
    coverage = report["coverage"]
    if coverage["mails"]:
        out.print(
            f"\ncoverage: {coverage['coverage']:.1%} of {coverage['mails']} golden mails were"
            f" sorted, {coverage['accuracy']:.1%} rightly"
        )
    for case in report["cases"]:
        if case.get("known_failure") and case["passed"]:
            line = f"known to fail: {case['id']}: {case['known_failure']}"
            out.print(printable(line), markup=False, soft_wrap=True)


def _held_back(report: "Document") -> str:
    held = sum(bool((case["run"] or {}).get("held_by_mode")) for case in report["cases"])
    return f" (of those sent, the mode alone holds back {held})" if held else ""


def _field_row(field: "Document", columns: list[str]) -> tuple[str, ...]:
    cells = [_met(field["languages"].get(column)) for column in columns]
    return field["field"], _met(field), *cells


def _met(counts: "Document | None") -> str:
    if counts is None:
        return ""
    share = f"{counts['passed']}/{counts['total']}"
    return share if counts["passed"] == counts["total"] else f"[red]{share}[/]"


def _often(case: "Document") -> str:
    trials = case["trials"]
    return f"  [dim]passed {sum(trials)} of {len(trials)}[/]" if len(trials) > 1 else ""


def _row(name: str, counts: "Document") -> tuple[str, ...]:
    failed = f"[red]{counts['failed']}[/]" if counts["failed"] else "0"
    return name, str(counts["passed"]), failed, str(counts["total"])


def _compared(compared: "Document") -> None:
    from deskhand.evals.report import value_in_words

    out = console()
    for change in compared["changed"]:
        out.print(f"[{_KINDS[change['kind']]}]{change['kind']}[/] [bold]{change['id']}[/]")
        pairs = [(name, pair["before"], pair["now"]) for name, pair in change["scores"].items()]
        pairs += [
            (difference["what"], difference["before"], difference["now"])
            for difference in change["changes"]
        ]
        for what, before, now in pairs:
            out.print(f"    {what}", markup=False)
            out.print(
                "      [dim]base[/] " + shortened(value_in_words(before), 200).replace("[", r"\["),
                soft_wrap=True,
            )
            out.print(
                "      [dim]now [/] " + shortened(value_in_words(now), 200).replace("[", r"\["),
                soft_wrap=True,
            )
    summary = (
        f"{compared['regressions']} worse, {compared['fixed']} better of {compared['compared']}"
    )
    out.print(f"{summary} (McNemar p = {compared['p_value']:.3g})")
    for what in ("added", "missing"):
        if compared[what]:
            out.print(f"{what}: {', '.join(compared[what])}", markup=False, soft_wrap=True)
