"""A desk's modes and what they rest on, as one document for the CLI and the API."""

import asyncio
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from deskhand.engine.category_modes import CategoryModes, figures_of
from deskhand.model.documents import document
from deskhand.model.judgement import RETURNED, Figure, Judged, ModeChange
from deskhand.trust.standing import Standing

Document = dict[str, Any]

NO_CATEGORY = ""
"""Messages of which no stage said what they are about."""


async def modes_of(modes: CategoryModes) -> Document:
    """Every category with its mode, its figures and its next mode.

    Fields may be added, never renamed.
    """
    figures, changes = await asyncio.gather(modes.store.figures(), modes.store.mode_changes())
    standings = await modes.standings(figures, changes)
    return {
        "desk": modes.store.desk,
        "earned": modes.earned,
        "categories": [_category(standing, figures) for standing in standings],
        "changes": list(map(change_of, changes)),
    }


async def unattended_replies(modes: CategoryModes) -> str:
    """Says in one line which replies may leave without a person, by the modes in force."""
    names = await modes.categories(await modes.store.figures())
    by_name = {name: (await modes.place(name)).mode for name in (*names, NO_CATEGORY)}
    if "auto" not in by_name.values():
        return "nothing leaves without a person"
    alone = [name for name in names if name and _leaves_alone(name, by_name, modes.always_asked)]
    if by_name[NO_CATEGORY] != "auto":
        if not alone:
            return "nothing leaves without a person"
        return f"replies to {', '.join(alone)} may leave without a person; all others wait for one"
    kept = [name for name in names if name and name not in alone]
    if not kept:
        return "every reply may leave without a person"
    return f"every reply may leave without a person, except to {', '.join(kept)}"


def _leaves_alone(name: str, modes: Mapping[str, str], always_asked: Collection[str]) -> bool:
    return modes[name] == "auto" and name not in always_asked


def _category(standing: Standing, figures: Iterable[Figure]) -> Document:
    place = standing.current
    own = [figure for figure in figures if figure.category == place.category]
    return {
        "category": place.category,
        "mode": place.mode,
        "ceiling": place.ceiling,
        "next": place.next,
        "since": place.since or None,
        **figures_of(standing),
        "totals": _totals(own),
        "languages": {figure.language or "unknown": _totals([figure]) for figure in own},
    }


def _totals(figures: Iterable[Figure]) -> Document:
    """How often each judgement was made, and how much of a reply was changed on average."""
    counts: Counter[Judged] = Counter()
    edited_share = compared_share = 0.0
    for figure in figures:
        counts.update(figure.counts)
        edited_share += figure.edited_share * figure.counts.get(Judged.EDITED, 0)
        compared_share += figure.compared_share * figure.counts.get(Judged.COMPARED, 0)
    wrong = counts[Judged.WRONG] + sum(counts[kind] for kind in RETURNED)
    return {
        **{str(kind): counts[kind] for kind in Judged},
        "sent_and_right": counts[Judged.UNCHANGED] + counts[Judged.RIGHT],
        "sent_and_wrong": wrong,
        "not_looked_at": max(0, counts[Judged.SENT] - counts[Judged.RIGHT] - wrong),
        "edited_share": _mean(edited_share, counts[Judged.EDITED]),
        "compared_share": _mean(compared_share, counts[Judged.COMPARED]),
    }


def _mean(total: float, count: int) -> float | None:
    return round(total / count, 4) if count else None


def change_of(change: ModeChange) -> Document:
    return document(change)
