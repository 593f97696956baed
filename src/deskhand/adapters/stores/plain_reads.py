"""Reads in plain SQL that SQLite and PostgreSQL understand alike.

A store asks them on its database. A command that only looks asks them on a SQLite file, without
SQLAlchemy, whose import takes half a second.
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Any

from deskhand.adapters.stores.record_values import unpack
from deskhand.model.codes import ErrorCode
from deskhand.model.judgement import BY_PEOPLE, Figure, Judged, Judgement, ModeChange
from deskhand.model.notice import FailedNotice, NoticeState
from deskhand.model.run import ReviewKind, ReviewState, RunStatus
from deskhand.model.totals import Stop
from deskhand.model.waiting import AwayModel

Rows = Sequence[Sequence[Any]]
Ask = Callable[[str, Mapping[str, Any]], Awaitable[Rows]]
"""Carries out a statement whose values are named (`:desk`); returns all rows."""

MOST_NOTICES = 50
_KINDS = {str(kind): kind for kind in Judged}
_PEOPLE = ",".join(f"'{kind}'" for kind in BY_PEOPLE)
_RANKS = " ".join(f"WHEN '{kind}' THEN {rank}" for rank, kind in enumerate(BY_PEOPLE))

_CHANGES = (
    'SELECT category, number, mode, before, how, "by", reason, figures, at FROM mode_changes'
    " WHERE desk=:desk{of_category} ORDER BY at, category, number"
)
_ALL_CHANGES = _CHANGES.format(of_category="")
_CHANGES_OF_CATEGORY = _CHANGES.format(of_category=" AND category=:category")
JUDGEMENT_COLUMNS = (
    "runs.id, j.category, j.language, j.mode, j.judged, j.share, j.facts, j.counts, j.at, j.id"
)
_JUDGEMENTS = (
    f"SELECT {JUDGEMENT_COLUMNS} FROM judgements j"  # noqa: S608 our own columns
    " JOIN runs ON runs.position=j.run"
    " WHERE j.desk=:desk AND j.category=:category AND j.at>:since ORDER BY j.id DESC"
)
_DECIDED = (
    "SELECT category, language, worst, count(*), sum(share) FROM ("  # noqa: S608 our own words
    f"SELECT category, language, max(CASE judged {_RANKS} END) AS worst, max(share) AS share"
    f" FROM judgements WHERE desk=:desk AND judged IN ({_PEOPLE})"
    " GROUP BY run, category, language) AS decided GROUP BY category, language, worst"
)
_OTHERS = (
    "SELECT category, language, judged, count(*), sum(share) FROM judgements"  # noqa: S608
    f" WHERE desk=:desk AND judged NOT IN ({_PEOPLE}) GROUP BY category, language, judged"
)
_STOP = 'SELECT "by", reason, at FROM stops WHERE desk=:desk'
_FAILED_NOTICES = (
    "SELECT id, error, attempts, created_at FROM ("  # noqa: S608 our own words
    "SELECT id, error, attempts, created_at FROM notices"
    f" WHERE desk=:desk AND state='{NoticeState.FAILED}' AND created_at>=:since"
    " UNION ALL SELECT id, error, attempts, created_at FROM webhook_deliveries"
    f" WHERE desk=:desk AND state='{NoticeState.FAILED}' AND created_at>=:since"
    f") AS failed ORDER BY created_at DESC, id LIMIT {MOST_NOTICES}"
)
_MODELS_AWAY = (
    "SELECT waits_for, count(*), min(due_at), max(reason) FROM runs"  # noqa: S608 our own words
    f" WHERE desk=:desk AND due_at IS NOT NULL AND status='{RunStatus.QUEUED}'"
    " AND waits_for IS NOT NULL GROUP BY waits_for ORDER BY waits_for"
)
_SCREENED = (
    "SELECT count(*) FROM runs WHERE desk=:desk"  # noqa: S608 our own words
    f" AND status='{RunStatus.DONE}' AND error_code='{ErrorCode.AUTOMATIC_MAIL}'"
    " AND created_at>=:since"
)

_RUNS_IN_STATUS = (
    "SELECT count(*) FROM (SELECT 1 FROM runs WHERE status=:status AND desk=:desk"
    " AND pruned_at IS NULL LIMIT :most) AS counted"
)
_DUE_REVIEWS = (
    "SELECT 1 FROM reviews WHERE desk=:desk"  # noqa: S608 our own words
    f" AND state='{ReviewState.OPEN}'"
    f" AND ((expires_at<=:now AND fallback IS NOT NULL) OR kind='{ReviewKind.STOPPED}') LIMIT 1"
)


async def mode_changes(ask: Ask, desk: str, category: str | None = None) -> list[ModeChange]:
    """Changes of the mode, the oldest first."""
    if category is None:
        rows = await ask(_ALL_CHANGES, {"desk": desk})
    else:
        rows = await ask(_CHANGES_OF_CATEGORY, {"desk": desk, "category": category})
    return [_mode_change(row) for row in rows]


async def judgements(
    ask: Ask, desk: str, category: str, since: float, newest: int | None
) -> list[Judgement]:
    """Those after a moment, oldest first; the newest so many of them."""
    values = {"desk": desk, "category": category, "since": since}
    query = _JUDGEMENTS
    if newest is not None:
        query += " LIMIT :newest"
        values["newest"] = newest
    return [judgement_of(row) for row in reversed(await ask(query, values))]


async def figures(ask: Ask, desk: str) -> list[Figure]:
    """How often what was judged, by category and language. A run that people decided about more
    than once counts as the worst of it."""
    values = {"desk": desk}
    rows: list[Sequence[Any]] = []
    for category, language, rank, count, share in await ask(_DECIDED, values):
        rows.append((category, language, BY_PEOPLE[rank], count, share))
    return _figures([*rows, *await ask(_OTHERS, values)])


async def stop_of(ask: Ask, desk: str) -> Stop | None:
    """Who threw the desk's stop switch."""
    rows = await ask(_STOP, {"desk": desk})
    return Stop(*rows[0]) if rows else None


async def failed_notices(ask: Ask, desk: str, since: float) -> list[FailedNotice]:
    """Word to reviewers that was given up, the newest first."""
    rows = await ask(_FAILED_NOTICES, {"desk": desk, "since": since})
    return [
        FailedNotice(notice_id, error or "", attempts, created_at)
        for notice_id, error, attempts, created_at in rows
    ]


async def models_away(ask: Ask, desk: str) -> list[AwayModel]:
    """The models that runs wait for."""
    return [AwayModel(*row) for row in await ask(_MODELS_AWAY, {"desk": desk})]


async def has_due_reviews(ask: Ask, desk: str, now: float) -> bool:
    """Whether an open review's time is up, or waits for the desk to go on."""
    return bool(await ask(_DUE_REVIEWS, {"desk": desk, "now": now}))


async def count_screened(ask: Ask, desk: str, since: float) -> int:
    """How many messages were not answered because a program wrote them."""
    [[count]] = await ask(_SCREENED, {"desk": desk, "since": since})
    return int(count)


async def count_runs(ask: Ask, desk: str, status: str, most: int) -> int:
    """How many runs have this status, counted no further than `most`."""
    values = {"desk": desk, "status": status, "most": most}
    [[count]] = await ask(_RUNS_IN_STATUS, values)
    return int(count)


def judgement_of(row: Sequence[Any]) -> Judgement:
    """Rows of JUDGEMENT_COLUMNS, in that order; hundreds of them are read for a reply."""
    run_id, category, language, mode, judged, share, facts, counts, at, number = row
    return Judgement(
        run_id,
        category,
        language,
        mode,
        _KINDS[judged],
        share,
        bool(facts),
        bool(counts),
        at,
        number,
    )


def _mode_change(row: Sequence[Any]) -> ModeChange:
    category, number, mode, before, how, by, reason, packed, at = row
    return ModeChange(category, number, mode, before, how, by, reason, unpack(packed) or {}, at)


def _figures(rows: Iterable[Sequence[Any]]) -> list[Figure]:
    by_group: dict[tuple[str, str], dict[Judged, int]] = {}
    shares: dict[tuple[str, str, Judged], float] = {}
    for category, language, kind, count, share in rows:
        judged = Judged(kind)
        by_group.setdefault((category, language), {})[judged] = int(count)
        shares[category, language, judged] = float(share) / int(count)
    figures = []
    for (category, language), counts in sorted(by_group.items()):
        figure = Figure(
            category=category,
            language=language,
            counts=counts,
            edited_share=shares.get((category, language, Judged.EDITED), 0.0),
            compared_share=shares.get((category, language, Judged.COMPARED), 0.0),
        )
        figures.append(figure)
    return figures
