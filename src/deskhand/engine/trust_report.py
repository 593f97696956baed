"""A desk's modes and what they rest on, as one document for the CLI and the API."""

from collections import Counter
from collections.abc import Iterable
from typing import Any

from deskhand.engine.trust_modes import Trust, figures_of
from deskhand.model.documents import document
from deskhand.model.judgement import Figure, Judged, ModeChange

Document = dict[str, Any]


async def modes_of(trust: Trust) -> Document:
    """Every category with its mode, its figures and its next mode.

    Fields may be added, never renamed.
    """
    figures = await trust.store.figures()
    names = await trust.categories(figures)
    return {
        "desk": trust.store.desk,
        "earned": trust.earned,
        "categories": [await _category(trust, name, figures) for name in names],
        "changes": list(map(change_of, await trust.store.mode_changes())),
    }


async def _category(trust: Trust, name: str, figures: Iterable[Figure]) -> Document:
    standing = await trust.standing(name)
    place = standing.current
    own = [figure for figure in figures if figure.category == name]
    return {
        "category": name,
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
    return {
        **{str(kind): counts[kind] for kind in Judged},
        "edited_share": _mean(edited_share, counts[Judged.EDITED]),
        "compared_share": _mean(compared_share, counts[Judged.COMPARED]),
    }


def _mean(total: float, count: int) -> float | None:
    return round(total / count, 4) if count else None


def change_of(change: ModeChange) -> Document:
    return document(change)
