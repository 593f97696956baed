"""Metrics: what became of messages, how fast and at what cost, and what has earned more trust."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from starlette.responses import Response

from deskhand.engine.trust_report import modes_of
from deskhand.model.figures import Became, Dimension, FigureFilter, Figures, Looked
from deskhand.ports.console import ConsoleFeed
from deskhand.trust.standing import MODES
from deskhand.web.api.access import ServedDesk
from deskhand.web.console.day_chart import DayChart, day_chart
from deskhand.web.console.frame import Frame
from deskhand.web.console.labels import duration
from deskhand.web.console.line_chart import Spark, spark, time_chart
from deskhand.web.console.metrics_csv import days_csv, split_csv, trust_csv
from deskhand.web.console.screened_page import read_before
from deskhand.web.console.session import Visit

PAGE = 50
SERIES = (
    (Became.SENT, "by itself", "f1"),
    (Became.UNCHANGED, "unchanged", "f2"),
    (Became.EDITED, "edited", "f3"),
    (Became.REJECTED, "rejected", "f4"),
    (Became.PERSON, "a person", "f5"),
    (Became.NOTHING, "nothing to send", "f-line"),
    (Became.OPEN, "open", "f-track"),
)
"""What became of messages: the name of the figure, in words, and its colour."""
WORDS = {became: words for became, words, _ in SERIES}
SHARES = tuple((str(became), words, fill) for became, words, fill in SERIES[:4])
"""What people did with replies."""
PERIODS = {"7": "7 days", "28": "4 weeks", "91": "Quarter"}
DIMENSIONS = {
    Dimension.CATEGORY: "Category",
    Dimension.LANGUAGE: "Language",
    Dimension.CHANNEL: "Channel",
    Dimension.DESK: "Desk",
}
EVERY = {
    Dimension.CATEGORY: "All categories",
    Dimension.LANGUAGE: "All languages",
    Dimension.CHANNEL: "All channels",
}
RIGHT = "{right} of {looked} looked at were right"
LATE = "{count} too late"
TILES = (
    "Messages",
    "Sent by itself",
    "Approved unchanged",
    "First reply, median",
    "In time",
    "Cost a message",
    "Open now",
)
NONE = "-"
"""Stands in an address for messages of which nobody said it."""
FILES = ("csv", "days", "split")


@dataclass(frozen=True, slots=True)
class Chosen:
    """What somebody wants to see."""

    wanted: FigureFilter
    days: int
    by: Dimension
    query: dict[str, str]
    """What the address says of it, for links that go on from here."""

    @property
    def before(self) -> FigureFilter:
        """The filter of as many days before these."""
        first, last = self.wanted.first_day - self.days, self.wanted.first_day - 1
        return replace(self.wanted, first_day=first, last_day=last)


@dataclass(frozen=True, slots=True)
class Tile:
    """A figure, how it changed, and the list behind it."""

    words: str
    value: float | None
    kind: str
    """How it is written: `share`, `time`, `cost` or `count`."""
    change: float | None
    good: int
    """1 where more is better, -1 where less is, 0 where it is neither."""
    line: Spark | None
    opens: dict[str, str]
    """What the address of the list says beside what was chosen."""
    note: tuple[str, dict[str, Any], dict[str, str]] | None = None
    """A phrase with its values, and the list behind it."""


Read = Callable[[Figures], float | None]


class MetricsPages:
    def __init__(self, frame: Frame, feed: ConsoleFeed) -> None:
        self._frame = frame
        self._feed = feed

    async def metrics(self, visit: Visit) -> Response:
        """The figures of the chosen days; as CSV where somebody asks for it."""
        chosen = _chosen(visit)
        wanted_file = visit.request.query_params.get("format")
        if wanted_file in FILES:
            return await self._file(wanted_file, chosen, visit)
        # The first look counts what has not been counted yet; the others rest on it.
        days, parts = await self._feed.figures_by_day_and(chosen.wanted, chosen.by)
        before, waiting, values, around = await asyncio.gather(
            self._feed.figures_by_day(chosen.before),
            self._feed.count_open(chosen.wanted),
            self._feed.figure_values(chosen.wanted),
            self._frame.around(visit, "metrics"),
        )
        desks = [visit.desks[name] for name in chosen.wanted.desks]
        reports = await asyncio.gather(*(modes_of(desk.trust) for desk in desks))
        total = _sum(days)
        return self._frame.html(
            visit.request,
            "metrics.html",
            **around,
            chosen=chosen,
            periods=PERIODS,
            dimensions=DIMENSIONS,
            every=EVERY,
            values=values,
            unsaid=NONE,
            total=total,
            tiles=_tiles(days, total, _sum(before), chosen, waiting),
            chart=_chart(days, chosen),
            series=SERIES,
            words_of=WORDS,
            replies=_reply_lines(days, chosen),
            parts=sorted(parts.items(), key=lambda part: (-part[1].messages, part[0])),
            reports=reports,
            shares=SHARES,
            modes=MODES,
            content=await _content(desks),
            first_date=_date(chosen.wanted.first_day),
            last_date=_date(chosen.wanted.last_day),
        )

    async def _file(self, name: str, chosen: Chosen, visit: Visit) -> Response:
        if name == "csv":
            desks = [visit.desks[desk] for desk in chosen.wanted.desks]
            return trust_csv([await modes_of(desk.trust) for desk in desks])
        if name == "split":
            return split_csv(chosen.by, await self._feed.figures_by(chosen.wanted, chosen.by))
        return days_csv(_each_day(await self._feed.figures_by_day(chosen.wanted), chosen))

    async def list(self, visit: Visit) -> Response:
        """The messages behind a figure, the newest first."""
        params = visit.request.query_params
        chosen = _chosen(visit)
        wanted = _narrowed(chosen.wanted, params)
        counted_runs = await self._feed.counted_runs(wanted, read_before(params), PAGE + 1)
        shown = counted_runs[:PAGE]
        messages: dict[str, Any] = {}
        for desk in {row.desk for row in shown}:
            ids = [row.run_id for row in shown if row.desk == desk]
            messages |= await visit.desks[desk].store.messages(ids)
        rows = [(row, messages.get(row.run_id), _date(row.day)) for row in shown]
        first_date = _date(wanted.first_day) if wanted.first_day else None
        more = shown[-1].run if len(counted_runs) > PAGE else None
        narrowing = {name: params[name] for name in NARROWING if name in params}
        return self._frame.html(
            visit.request,
            "metrics_list.html",
            **await self._frame.around(visit, "metrics"),
            chosen=chosen,
            rows=rows,
            more=more,
            narrowing=narrowing,
            heading=_heading(wanted),
            became=WORDS,
            first_date=first_date,
            last_date=_date(wanted.last_day),
        )


NARROWING = ("became", "looked", "in_time", "slower", "day", "ever")


def _narrowed(wanted: FigureFilter, params: Mapping[str, str]) -> FigureFilter:
    """What the address says of the list beside the chosen days."""
    became, looked = params.get("became"), params.get("looked")
    if became in list(Became):
        wanted = replace(wanted, became=Became(became))
    if looked in list(Looked):
        wanted = replace(wanted, looked_at=Looked(looked))
    if params.get("in_time") in ("yes", "no"):
        wanted = replace(wanted, in_time=params["in_time"] == "yes")
    slower = _whole(params.get("slower"))
    if slower is not None:
        wanted = replace(wanted, slower_than=float(slower))
    if params.get("ever") == "yes":
        wanted = replace(wanted, first_day=0)
    day = _whole(params.get("day"))
    if day is not None:
        wanted = replace(wanted, first_day=day, last_day=day)
    return wanted


def _heading(wanted: FigureFilter) -> str:
    """What the list holds, in words."""
    if wanted.looked_at is Looked.RIGHT:
        return RIGHT_ONES
    if wanted.looked_at is Looked.WRONG:
        return WRONG_ONES
    if wanted.in_time is not None:
        return IN_TIME if wanted.in_time else TOO_LATE
    if wanted.slower_than is not None:
        return FIRST_REPLIES
    return "Messages" if wanted.became is None else HEADINGS[wanted.became]


RIGHT_ONES, WRONG_ONES = "Sent by itself, and right", "Sent by itself, and wrong"
IN_TIME, TOO_LATE, FIRST_REPLIES = "Answered in time", "Answered too late", "First replies"
HEADINGS = {
    Became.SENT: "Sent by itself",
    Became.UNCHANGED: "Approved unchanged",
    Became.EDITED: "Edited",
    Became.REJECTED: "Rejected",
    Became.PERSON: "Answered by a person",
    Became.NOTHING: "Nothing to send",
    Became.OPEN: "Open",
}


def _whole(written: str | None) -> int | None:
    """A number of at most six digits, be it days or seconds."""
    is_number = written is not None and written.isascii() and written.isdecimal()
    return int(written) if written and is_number and len(written) < 7 else None


def _chosen(visit: Visit) -> Chosen:
    params = visit.request.query_params
    named = params.get("desk")
    desks = tuple(sorted(visit.desks))
    query: dict[str, str] = {}
    if named is not None and named in visit.desks:
        desks, query = (named,), {"desk": named}
    period = params.get("period", "")
    days = int(period) if period in PERIODS else 28
    if period in PERIODS:
        query["period"] = period
    values: dict[str, str] = {}
    for dimension in EVERY:
        said = params.get(dimension.value, "").replace("\0", "")[:200]
        if said:
            values[dimension.value] = "" if said == NONE else said
            query[dimension.value] = said
    by = params.get("by")
    split = Dimension(by) if by in list(Dimension) else Dimension.CATEGORY
    if by in list(Dimension):
        query["by"] = split.value
    today = _today(visit, desks)
    wanted = FigureFilter(
        desks,
        today - days + 1,
        today,
        category=values.get("category"),
        language=values.get("language"),
        channel=values.get("channel"),
    )
    return Chosen(wanted, days, split, query)


def _today(visit: Visit, desks: tuple[str, ...]) -> int:
    """The number of the day that it is where the first of the desks stands."""
    zone = ZoneInfo(visit.desks[desks[0]].spec.time_zone) if desks else ZoneInfo("UTC")
    return datetime.now(zone).toordinal() - _EPOCH


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC).toordinal()


def _date(day: int) -> Any:
    return (datetime(1970, 1, 1, tzinfo=UTC) + timedelta(days=day)).date()


def _sum(days: Mapping[Any, Figures]) -> Figures:
    total = Figures()
    for figures in days.values():
        total.add(figures)
    return total


def _each_day(days: Mapping[int, Figures], chosen: Chosen) -> list[tuple[Any, Figures]]:
    wanted = chosen.wanted
    numbers = range(wanted.first_day, wanted.last_day + 1)
    return [(_date(day), days.get(day, Figures())) for day in numbers]


def _chart(days: Mapping[int, Figures], chosen: Chosen) -> DayChart:
    day_counts: list[tuple[int, str, int]] = []
    for day, figures in days.items():
        day_counts += [(day, became.value, count) for became, count in figures.became.items()]
    series = [(became.value, fill) for became, _, fill in SERIES]
    return day_chart(day_counts, chosen.wanted.last_day, chosen.days, series)


def _reply_lines(days: Mapping[int, Figures], chosen: Chosen) -> dict[str, Any]:
    """How long first replies took, day by day."""
    each = [figures for _, figures in _each_day(days, chosen)]
    half = [sums.took(0.5) for sums in each]
    nine = [sums.took(0.9) for sums in each]
    chart = time_chart([half, nine])
    scale = [(y, duration(seconds)) for y, seconds in chart.lines]
    ends = [(x, y, duration(seconds)) for x, y, seconds in chart.ends]
    has_any = any(value is not None for value in half)
    return {"chart": chart, "scale": scale, "ends": ends, "has_any": has_any}


def _tiles(
    days: Mapping[int, Figures], total: Figures, before: Figures, chosen: Chosen, waiting: int
) -> list[Tile]:
    each = [figures for _, figures in _each_day(days, chosen)]
    looked = total.right + total.wrong
    right = None
    if looked:
        values = {"right": total.right, "looked": looked}
        right = (RIGHT, values, {"looked": "right"})
    late = None
    if total.late:
        late = (LATE, {"count": total.late}, {"in_time": "no"})

    def tile(
        words: str, kind: str, good: int, read: Read, opens: dict[str, str], **more: Any
    ) -> Tile:
        now, then = read(total), read(before)
        change = None if now is None or then is None else now - then
        line = spark([read(sums) for sums in each])
        return Tile(words, now, kind, change, good, line, opens, **more)

    return [
        tile("Messages", "count", 0, lambda sums: sums.messages, {}),
        tile(
            "Sent by itself",
            "share",
            1,
            lambda sums: sums.share_of(Became.SENT),
            {"became": "sent"},
            note=right,
        ),
        tile(
            "Approved unchanged",
            "share",
            1,
            lambda sums: sums.unchanged_share,
            {"became": "unchanged"},
        ),
        tile("First reply, median", "time", -1, lambda sums: sums.took(0.5), {"slower": "0"}),
        tile("In time", "share", 1, lambda sums: sums.in_time_share, {"in_time": "yes"}, note=late),
        tile("Cost a message", "cost", -1, lambda sums: sums.cost_each, {}),
        Tile(
            "Open now",
            waiting,
            "count",
            None,
            -1,
            spark(_backlog(each, waiting)),
            {"became": "open", "ever": "yes"},
        ),
    ]


def _backlog(each: list[Figures], waiting: int) -> list[float | None]:
    """How many messages were open at the end of each day, counted back from now."""
    left: list[float | None] = []
    for figures in reversed(each):
        left.append(float(waiting))
        waiting = max(0, waiting - figures.messages + figures.ended)
    return left[::-1]


async def _content(desks: Sequence[ServedDesk]) -> dict[str, int]:
    """How many customers were asked how it was, and what they said."""
    sums: dict[str, int] = {}
    of_desks = await asyncio.gather(*(desk.tickets.store.satisfaction() for desk in desks))
    for counts in of_desks:
        for answer, count in counts.items():
            sums[answer] = sums.get(answer, 0) + count
    return sums
