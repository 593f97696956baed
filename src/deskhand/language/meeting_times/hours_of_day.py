"""Sets of times of day: stretches of minutes and single times, cut and joined."""

from collections.abc import Iterable, Iterator

from deskhand.language.meeting_times.clock_times import DAY, TimeSpot

Piece = tuple[int | None, int, int]
"""One time of day, or None and a stretch of minutes in which a meeting may lie."""
HoursOfDay = frozenset[Piece]

WHOLE: HoursOfDay = frozenset({(None, 0, DAY)})
_AROUND = 60
"""Minutes after a time that is refused which are refused with it."""


def of_spots(spots: Iterable[TimeSpot]) -> HoursOfDay:
    return frozenset((spot.at, spot.first, spot.last) for spot in spots)


def both(left: HoursOfDay, right: HoursOfDay) -> HoursOfDay:
    """What is in both."""
    cut = [_cut(piece, other) for piece in left for other in right]
    return frozenset(piece for piece in cut if piece is not None)


def _cut(left: Piece, right: Piece) -> Piece | None:
    if left[0] is None and right[0] is None:
        first, last = max(left[1], right[1]), min(left[2], right[2])
        return (None, first, last) if first < last else None
    single, wide = (left, right) if left[0] is not None else (right, left)
    at = single[0]
    if at is None or (wide[0] is not None and wide[0] != at):
        return None
    return single if wide[0] is not None or wide[1] <= at < wide[2] else None


def without(hours: HoursOfDay, refused: HoursOfDay) -> HoursOfDay:
    """What is left of hours beside those that are refused."""
    for at, first, last in refused:
        start, end = (first, last) if at is None else (at, at + _AROUND)
        left = (part for piece in hours for part in _beside(piece, start, end))
        hours = frozenset(left)
    return hours


def _beside(piece: Piece, start: int, end: int) -> Iterator[Piece]:
    at, first, last = piece
    if at is not None:
        if not start <= at < end:
            yield piece
        return
    if first < min(last, start):
        yield None, first, min(last, start)
    if max(first, end) < last:
        yield None, max(first, end), last
