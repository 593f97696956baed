"""Metrics: what people made of the desk's replies, and what has earned more trust."""

import csv
from datetime import datetime, timedelta
from io import StringIO
from typing import Any

from starlette.responses import Response

from deskhand.engine.trust_report import modes_of
from deskhand.ports.console import ConsoleFeed
from deskhand.trust.standing import MODES
from deskhand.web.console.day_chart import DayChart, day_chart
from deskhand.web.console.frame import HEADERS, Frame
from deskhand.web.console.labels import visible
from deskhand.web.console.session import Visit
from deskhand.web.console.translation import chosen_zone

PLACE = "/metrics/"
SHARES = (
    ("sent", "by itself", "f1"),
    ("unchanged", "unchanged", "f2"),
    ("edited", "edited", "f3"),
    ("rejected", "rejected", "f4"),
)
"""What became of replies: the name of the figure, in words, and its colour."""
_COLUMNS = ("desk", "category", "mode", "ceiling", "judged", "good", "lower", "bar", "why")


DAYS = 28
"""Days of the chart."""


class MetricsPages:
    def __init__(self, frame: Frame, feed: ConsoleFeed) -> None:
        self._frame = frame
        self._feed = feed

    async def metrics(self, visit: Visit) -> Response:
        """Every category of the chosen desks; as CSV where somebody asks for it."""
        reports = [await modes_of(visit.desks[name].trust) for name in _chosen(visit)]
        chart = await self._days(visit)
        wanted = visit.request.query_params.get("format")
        if wanted == "csv":
            return _as_csv(reports)
        if wanted == "days":
            return _days_as_csv(chart)
        return self._frame.html(
            visit.request,
            "metrics.html",
            **await self._frame.around(visit, "metrics"),
            reports=reports,
            shares=SHARES,
            modes=MODES,
            totals=_totals(reports),
            content=await _content(visit),
            chart=chart,
        )

    async def _days(self, visit: Visit) -> DayChart:
        """What became of replies on each of the last days, as the reader's zone has them."""
        now = datetime.now(chosen_zone(visit.request))
        shift = now.utcoffset() or timedelta()
        offset = shift.total_seconds()
        last = int((now.timestamp() + offset) // 86400)
        since = (last - DAYS + 1) * 86400 - offset
        found = await self._feed.judged_by_day(_chosen(visit), since, offset)
        return day_chart(found, last, DAYS, [(name, fill) for name, _, fill in SHARES])


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


def _days_as_csv(chart: DayChart) -> Response:
    names = [name for name, _, _ in SHARES]
    out = StringIO()
    writer = csv.writer(out)
    writer.writerow(["day", *names])
    for day, counts in zip(chart.days, chart.counts, strict=True):
        writer.writerow([day.isoformat(), *(counts[name] for name in names)])
    disposition = {"Content-Disposition": 'attachment; filename="replies-by-day.csv"'}
    return Response(out.getvalue(), media_type="text/csv", headers={**HEADERS, **disposition})


def _cell(value: Any) -> Any:
    """A value that no spreadsheet takes for a formula."""
    if not isinstance(value, str):
        return value
    text = visible(value)
    return f"'{text}" if text.startswith(("=", "+", "-", "@")) else text
