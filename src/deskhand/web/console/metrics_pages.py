"""Metrics: what people made of the desk's replies, and what has earned more trust."""

import csv
from io import StringIO
from typing import Any

from starlette.responses import Response

from deskhand.engine.trust_report import modes_of
from deskhand.trust.standing import MODES
from deskhand.web.console.frame import HEADERS, Frame
from deskhand.web.console.labels import visible
from deskhand.web.console.session import Visit

PLACE = "/metrics/"
SHARES = (
    ("sent", "by itself", "f1"),
    ("unchanged", "unchanged", "f2"),
    ("edited", "edited", "f3"),
    ("rejected", "rejected", "f4"),
)
"""What became of replies: the name of the figure, in words, and its colour."""
_COLUMNS = ("desk", "category", "mode", "ceiling", "judged", "good", "lower", "bar", "why")


class MetricsPages:
    def __init__(self, frame: Frame) -> None:
        self._frame = frame

    async def metrics(self, visit: Visit) -> Response:
        """Every category of the chosen desks; as CSV where somebody asks for it."""
        reports = [await modes_of(visit.desks[name].trust) for name in _chosen(visit)]
        if visit.request.query_params.get("format") == "csv":
            return _as_csv(reports)
        return self._frame.html(
            visit.request,
            "metrics.html",
            **await self._frame.around(visit, "metrics"),
            reports=reports,
            shares=SHARES,
            modes=MODES,
            totals=_totals(reports),
            content=await _content(visit),
        )


def _chosen(visit: Visit) -> list[str]:
    named = visit.request.query_params.get("desk")
    return [named] if named is not None and named in visit.desks else sorted(visit.desks)


async def _content(visit: Visit) -> dict[str, int]:
    """How many customers were asked how it was, and what they said."""
    sums: dict[str, int] = {}
    for name in _chosen(visit):
        counts = await visit.desks[name].tickets.store.satisfaction()
        for answer, count in counts.items():
            sums[answer] = sums.get(answer, 0) + count
    return sums


def _totals(reports: list[dict[str, Any]]) -> dict[str, int]:
    """The figures of all categories together."""
    sums = {name: 0 for name, _, _ in SHARES}
    for report in reports:
        for category in report["categories"]:
            for name in sums:
                sums[name] += int(category["totals"].get(name, 0))
    return sums


def _as_csv(reports: list[dict[str, Any]]) -> Response:
    names = [name for name, _, _ in SHARES]
    out = StringIO()
    writer = csv.writer(out)
    writer.writerow([*_COLUMNS, *names])
    for report in reports:
        for category in report["categories"]:
            fields = category | {"desk": report["desk"]}
            own = [_cell(fields.get(name)) for name in _COLUMNS]
            writer.writerow([*own, *(category["totals"].get(name, 0) for name in names)])
    disposition = {"Content-Disposition": 'attachment; filename="metrics.csv"'}
    return Response(out.getvalue(), media_type="text/csv", headers={**HEADERS, **disposition})


def _cell(value: Any) -> Any:
    """A value that no spreadsheet takes for a formula."""
    if not isinstance(value, str):
        return value
    text = visible(value)
    return f"'{text}" if text.startswith(("=", "+", "-", "@")) else text
