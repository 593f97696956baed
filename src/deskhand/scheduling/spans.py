"""Spans of time: put together, and taken out of one another."""

from collections.abc import Iterable, Iterator

from deskhand.model.booking import Span


def merged(spans: Iterable[Span]) -> list[Span]:
    """In order, without overlaps; what touches becomes one, what is empty goes."""
    found: list[Span] = []
    for span in sorted(one for one in spans if one.start < one.end):
        if found and span.start <= found[-1].end:
            found[-1] = Span(found[-1].start, max(found[-1].end, span.end))
        else:
            found.append(span)
    return found


def within(spans: Iterable[Span], frame: Span) -> list[Span]:
    """The parts of the spans that lie inside the frame."""
    cut = (Span(max(one.start, frame.start), min(one.end, frame.end)) for one in spans)
    return [one for one in cut if one.start < one.end]


def without(spans: Iterable[Span], taken: Iterable[Span]) -> list[Span]:
    """What is left of the spans when the taken ones are cut out."""
    left = merged(spans)
    for busy in merged(taken):
        left = [part for span in left for part in _cut(span, busy)]
    return left


def _cut(span: Span, busy: Span) -> Iterator[Span]:
    if not span.overlaps(busy):
        yield span
        return
    if span.start < busy.start:
        yield Span(span.start, busy.start)
    if busy.end < span.end:
        yield Span(busy.end, span.end)
