"""The figures of metrics as CSV: what stands behind each chart and table."""

import csv
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from io import StringIO
from typing import Any

from starlette.responses import Response

from deskhand.model.figures import Became, Dimension, Figures
from deskhand.web.console.frame import HEADERS
from deskhand.web.console.labels import visible

_TRUST = ("desk", "category", "mode", "ceiling", "judged", "good", "lower", "bar", "why")
_JUDGED = ("sent", "unchanged", "edited", "rejected", "right", "wrong", "bounced", "complained")
_FIGURES = (
    "messages",
    *(str(became) for became in Became),
    "sent_and_right",
    "sent_and_wrong",
    "first_replies",
    "first_reply_median_seconds",
    "first_reply_nine_of_ten_seconds",
    "in_time",
    "late",
    "cost",
)


def trust_csv(reports: Sequence[Mapping[str, Any]]) -> Response:
    """Every category with its mode and what people made of its replies."""
    rows: list[list[Any]] = []
    for report in reports:
        for category in report["categories"]:
            fields = category | {"desk": report["desk"]}
            own = [fields.get(name) for name in _TRUST]
            rows.append([*own, *(category["totals"].get(name, 0) for name in _JUDGED)])
    return _file("trust.csv", [*_TRUST, *_JUDGED], rows)


def days_csv(days: Iterable[tuple[date, Figures]]) -> Response:
    """A line a day; also without a message."""
    rows = [[day.isoformat(), *_row(figures)] for day, figures in days]
    return _file("figures-by-day.csv", ["day", *_FIGURES], rows)


def split_csv(by: Dimension, parts: Mapping[str, Figures]) -> Response:
    rows = [[name, *_row(figures)] for name, figures in sorted(parts.items())]
    return _file(f"figures-by-{by}.csv", [by.value, *_FIGURES], rows)


def _row(figures: Figures) -> list[Any]:
    return [
        figures.messages,
        *(figures.became.get(became, 0) for became in Became),
        figures.right,
        figures.wrong,
        sum(figures.steps.values()),
        _rounded(figures.took(0.5), 1),
        _rounded(figures.took(0.9), 1),
        figures.in_time,
        figures.late,
        round(figures.cost, 6),
    ]


def _rounded(value: float | None, digits: int) -> float | None:
    return None if value is None else round(value, digits)


def _file(name: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> Response:
    out = StringIO()
    writer = csv.writer(out)
    writer.writerow(columns)
    for row in rows:
        writer.writerow([_cell(value) for value in row])
    disposition = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(out.getvalue(), media_type="text/csv", headers={**HEADERS, **disposition})


def _cell(value: Any) -> Any:
    """A value that no spreadsheet takes for a formula."""
    if not isinstance(value, str):
        return value
    text = visible(value)
    return f"'{text}" if text.startswith(("=", "+", "-", "@")) else text
