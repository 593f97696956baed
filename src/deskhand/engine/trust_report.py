"""A desk's modes and what they rest on, as one document: the CLI prints it, the API answers with
it."""

from collections.abc import Iterable
from typing import Any

from deskhand.engine.trust_modes import Trust, figures_of
from deskhand.model.documents import document
from deskhand.model.judgement import Figure, Judged, ModeChange

Document = dict[str, Any]


async def modes_of(trust: Trust) -> Document:
    """Every category with its mode, its figures and where it could go. Fields may be added,
    never renamed."""
    figures = await trust.store.figures()
    return {
        "desk": trust.store.desk,
        "earned": trust.earned,
        "categories": [
            await _category(trust, name, figures) for name in await trust.categories(figures)
        ],
        "changes": [change_of(change) for change in await trust.store.mode_changes()],
    }


async def _category(trust: Trust, name: str, figures: Iterable[Figure]) -> Document:
    standing = await trust.standing(name)
    place, own = standing.current, [figure for figure in figures if figure.category == name]
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
    """How often what happened, ever, and how much was changed where something was."""
    figures = list(figures)
    counts = {str(kind): sum(figure.counts.get(kind, 0) for figure in figures) for kind in Judged}
    shares = {
        "edited_share": sum(
            figure.edited_share * figure.counts.get(Judged.EDITED, 0) for figure in figures
        ),
        "compared_share": sum(
            figure.compared_share * figure.counts.get(Judged.COMPARED, 0) for figure in figures
        ),
    }
    edited, compared = counts[Judged.EDITED], counts[Judged.COMPARED]
    return {
        **counts,
        "edited_share": round(shares["edited_share"] / edited, 4) if edited else None,
        "compared_share": round(shares["compared_share"] / compared, 4) if compared else None,
    }


def change_of(change: ModeChange) -> Document:
    return document(change)
