"""`deskhand intents`: train the model that says what a message wants, and see how good it is."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from deskhand.cli import options
from deskhand.cli.failures import NO
from deskhand.cli.terminal import console, print_json, print_table, shortened

if TYPE_CHECKING:
    from deskhand.language.intent_fit import Progress
    from deskhand.language.intent_report import FitReport
    from deskhand.language.intents import IntentModel

app = typer.Typer(help="What messages want, learned from a desk's examples.", no_args_is_help=True)

Cache = Annotated[
    Path | None,
    typer.Option(
        "--cache", envvar="DESKHAND_CACHE", help="Where trained models are kept.", metavar="DIR"
    ),
]
Budget = Annotated[
    float,
    typer.Option("--budget", min=0.001, max=0.5, help="The share of answers that may be wrong."),
]

_SHOWN = 10


@app.command("train")
def train(
    desk: options.Desk, cache: Cache = None, budget: Budget = 0.05, as_json: options.Json = False
) -> None:
    """Learn a desk's intents and report how much of its golden mail it answers, and how well.

    The same is reported of the examples, each left out in turn: how well they fit each other.
    """
    from dataclasses import asdict

    model = _trained(desk, cache, budget, quiet=as_json)
    golden = _on_golden_mail(desk, model)
    if as_json:
        figures = {"keeps_budget": model.report.keeps_budget, **asdict(model.report)}
        print_json({"desk": desk, **figures, "golden": golden})
    else:
        _print_report(model.report, golden)
    if not model.report.keeps_budget:
        raise typer.Exit(NO)


@app.command("test")
def measure(
    desk: options.Desk,
    file: Annotated[
        Path | None,
        typer.Argument(
            help="A CSV file text,label; without a label: out of scope.", metavar="[FILE]"
        ),
    ] = None,
    cache: Cache = None,
    budget: Budget = 0.05,
    as_json: options.Json = False,
) -> None:
    """Test a desk's intents on a CSV file of other questions; without a file, as `train`
    reports."""
    if file is None:
        train(desk, cache, budget, as_json)
        return
    result = _tested(_trained(desk, cache, budget, quiet=as_json), file)
    kept = result["error"] is None or result["error"] <= budget
    if as_json:
        print_json(
            {
                "desk": desk,
                "file": str(file),
                "error_budget": budget,
                "keeps_budget": kept,
                **result,
            }
        )
    else:
        _print_test(result, budget)
    if not kept:
        raise typer.Exit(NO)


@app.command("eligible")
def eligible(
    desk: options.Desk,
    customer: Annotated[
        str, typer.Option("--customer", help="The customer's id or address.", metavar="ID")
    ] = "",
    channel: Annotated[
        str, typer.Option("--channel", help="Where the customer writes.", metavar="NAME")
    ] = "mail",
    tier: Annotated[
        str | None, typer.Option("--tier", help="The customer's tier.", metavar="NAME")
    ] = None,
    as_json: options.Json = False,
) -> None:
    """Say which intents count for a customer, and why others do not."""
    from deskhand.routing.intents_registry import IntentContext, IntentsRegistry
    from deskhand.wiring import read_desk

    spec = read_desk(desk).spec
    _check_tier(tier, spec.tiers)
    judged = IntentsRegistry.of(spec).judge(IntentContext(channel, _stable(customer), tier))
    if as_json:
        counted = [judgement.intent for judgement in judged if judgement.is_eligible]
        each = [judgement._asdict() for judgement in judged]
        print_json({"desk": desk, "eligible": counted, "intents": each})
        return
    answers = {True: "yes", False: "no"}
    rows = [
        [answers[judgement.is_eligible], _plain(judgement.intent), _plain(judgement.reason)]
        for judgement in judged
    ]
    print_table(["counts"], ["intent", "why"], rows)


def _stable(customer: str) -> str:
    """The customer by the name that runs know him by."""
    if not customer:
        return ""
    if "@" in customer:
        return f"address:{customer.strip().lower()}"
    return f"customer:{customer}"


def _check_tier(tier: str | None, tiers: tuple[str, ...]) -> None:
    from deskhand.config.suggestions import did_you_mean
    from deskhand.errors import ConfigError

    if tier is not None and tier not in tiers:
        fix = did_you_mean(tier, tiers, otherwise="list the tiers in intents.yaml: `tiers: [...]`")
        raise ConfigError(f"there is no tier `{tier}`", fix=fix)


def _trained(desk: str, cache: Path | None, budget: float, *, quiet: bool) -> "IntentModel":
    from deskhand.errors import ConfigError
    from deskhand.language.intent_examples import load_intents
    from deskhand.language.intents import IntentModel
    from deskhand.private_files import cache_folder
    from deskhand.wiring import find_desk

    folder = find_desk(desk)
    intents = load_intents(folder)
    if not intents:
        fix = (
            "write `intents:` with names, and `examples:` under each; or intents/*.csv with the"
            " columns text,label"
        )
        raise ConfigError("this desk has no intents", file=folder / "intents.yaml", fix=fix)
    with _progress(quiet) as progress:
        return IntentModel.fit_cached(
            intents.examples,
            cache or cache_folder(),
            budget,
            intents.out_of_scope,
            descriptions=intents.descriptions,
            progress=progress,
        )


def _on_golden_mail(desk: str, model: "IntentModel") -> dict[str, Any] | None:
    """What the model makes of the desk's golden mail; None where there is none."""
    from deskhand.evals.cases import case_files
    from deskhand.evals.golden_mail import golden_mail, measured
    from deskhand.wiring import desk_cases, find_desk, read_desk

    if not case_files(find_desk(desk)):
        return None
    mails = golden_mail(desk_cases(read_desk(desk))[0])
    if not mails:
        return None
    return measured(mails, model.predict([mail.text for mail in mails]), model.labels)


@contextmanager
def _progress(quiet: bool) -> "Iterator[Progress]":
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    words = (
        TextColumn("{task.description:15}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    with Progress(*words, console=Console(stderr=True), disable=quiet) as bars:
        tasks: dict[str, Any] = {}

        def tell(what: str, done: int, total: int) -> None:
            if what not in tasks:
                tasks[what] = bars.add_task(what, total=total)
            bars.update(tasks[what], completed=done, total=total)

        yield tell


def _tested(model: "IntentModel", file: Path) -> dict[str, Any]:
    from collections import Counter

    from deskhand.errors import ConfigError
    from deskhand.language.intent_examples import read_questions

    asked = read_questions(file)
    unknown = sorted({label for _, label in asked if label is not None} - set(model.labels))
    if unknown:
        raise ConfigError(
            f"the desk has no intent {unknown[0]!r}",
            file=file,
            fix=f"write one of {list(model.labels)}",
        )
    said = list(zip(asked, model.predict([text for text, _ in asked]), strict=True))
    own = [(label, intent) for (_, label), intent in said if label is not None]
    strangers = [intent for (_, label), intent in said if label is None]
    answered = [(label, intent) for (_, label), intent in said if intent.label is not None]
    confused = Counter((label, intent.best) for label, intent in own if intent.best != label)
    accuracy = _share([intent.best == label for label, intent in own])
    coverage = _share([intent.label is not None for _, intent in own])
    error = _share([intent.label != label for label, intent in answered])
    out_of_scope_recall = _share([intent.label is None for intent in strangers])
    confusions = [
        {"label": label, "taken_for": best, "times": times}
        for (label, best), times in confused.most_common(_SHOWN)
    ]
    return {
        "questions": len(own),
        "accuracy": accuracy,
        "coverage": coverage,
        "answered": len(answered),
        "error": error,
        "out_of_scope": len(strangers),
        "out_of_scope_recall": out_of_scope_recall,
        "confusions": confusions,
    }


def _share(hits: list[bool]) -> float | None:
    return sum(hits) / len(hits) if hits else None


def _percent(share: float | None) -> str:
    return "not measured" if share is None else f"{share:.1%}"


def _print_report(report: "FitReport", golden: dict[str, Any] | None) -> None:
    out = console()
    _print_golden(golden)
    out.print(
        f"{report.examples:,} examples of {report.labels} intents, {report.measured:,} of them left"
        " out in turn"
    )
    if report.languages:
        out.print(
            "languages    "
            + ", ".join(f"{code} {count}" for code, count in list(report.languages.items())[:8])
        )
    out.print(f"accuracy     {_percent(report.accuracy)} if every question were answered")
    out.print(f"coverage     {_percent(report.coverage)} of the questions are answered")
    out.print(
        f"error        {_percent(report.error)} of the answers, budget {report.error_budget:.1%}"
    )
    if report.out_of_scope_recall is not None:
        out.print(
            f"out of scope {_percent(report.out_of_scope_recall)} of {report.out_of_scope} are not"
            " answered"
        )
    if report.without_examples:
        out.print("[yellow]without examples[/]: " + ", ".join(report.without_examples[:_SHOWN]))
    if report.confusions:
        out.print("\n[bold]worst confusions[/]")
        rows = [
            [f"{confusion.times}", _plain(confusion.label), _plain(confusion.taken_for)]
            for confusion in report.confusions[:_SHOWN]
        ]
        print_table(["times"], ["intent", "taken for"], rows)
    if report.suspects:
        out.print("\n[bold]examples that look mislabelled[/]")
        rows = [
            [_plain(suspect.label), _plain(suspect.rather), _plain(suspect.text)]
            for suspect in report.suspects[:_SHOWN]
        ]
        print_table(["intent", "rather"], ["example"], rows)
    if report.conflicts:
        out.print("\n[bold]one text under several intents[/]")
        print_table(
            [],
            ["intents", "example"],
            [
                [", ".join(map(_plain, conflict.labels)), _plain(conflict.text)]
                for conflict in report.conflicts[:_SHOWN]
            ],
        )
    out.print(_verdict(report))


def _print_golden(golden: dict[str, Any] | None) -> None:
    """What counts comes first: mail, not examples."""
    out = console()
    if golden is None:
        words = (
            "[yellow]Nothing says how much of real mail it answers:[/] write golden cases with a"
            " `category` (evals/*.yaml)."
        )
        out.print(f"{words}\n")
        return
    out.print("[bold]on golden mail[/]")
    out.print(
        f"coverage     {_percent(golden['coverage'])} of {golden['mails']} mails are answered"
    )
    out.print(f"error        {_percent(golden['error'])} of the answers")
    if golden["out_of_scope"]:
        left = _percent(golden["out_of_scope_recall"])
        out.print(f"out of scope {left} of {golden['out_of_scope']} are not answered")
    out.print("\n[bold]on its own examples[/], which says how well they fit each other")


def _verdict(report: "FitReport") -> str:
    if report.assurance is not None and report.assurance >= 0.9:
        return f"\n[green]The budget is kept[/] (chance {report.assurance:.1%})."
    if report.assurance is not None:
        return (
            f"\nThe budget is kept with a chance of {report.assurance:.0%}; {_advice(report)} would"
            " make it surer."
        )
    if not report.measured:
        lead = "\n[yellow]Nothing could be measured:[/] give each intent at least two examples; "
        return f"{lead}{_advice(report)} would prove the budget."
    if report.error is not None and report.error <= report.error_budget:
        lead = "\n[yellow]So few examples prove nothing:[/] it answers what it is surest of; "
        return f"{lead}{_advice(report)} would prove the budget."
    return (
        "\n[red]The error budget cannot be kept:[/] part the intents more clearly (see the"
        " confusions), give more examples, or allow a larger --budget."
    )


def _advice(report: "FitReport") -> str:
    if report.more_examples is None:
        return "intents parted more clearly, with many more examples,"
    each = -(-report.more_examples // max(1, report.labels))
    return f"about {report.more_examples:,} more examples ({each:,} for each intent)"


def _print_test(result: dict[str, Any], budget: float) -> None:
    out = console()
    out.print(f"{result['questions']:,} questions, {result['out_of_scope']:,} out of scope")
    out.print(f"accuracy     {_percent(result['accuracy'])} if every question were answered")
    out.print(f"coverage     {_percent(result['coverage'])} of the questions are answered")
    out.print(
        f"error        {_percent(result['error'])} of {result['answered']:,} answers, budget"
        f" {budget:.1%}"
    )
    if result["out_of_scope"]:
        out.print(f"out of scope {_percent(result['out_of_scope_recall'])} are not answered")
    if result["confusions"]:
        out.print("\n[bold]worst confusions[/]")
        rows = [
            [f"{confusion['times']}", _plain(confusion["label"]), _plain(confusion["taken_for"])]
            for confusion in result["confusions"]
        ]
        print_table(["times"], ["intent", "taken for"], rows)


def _plain(text: str) -> str:
    from rich.markup import escape

    return escape(shortened(text, 100))
