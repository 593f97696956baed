"""Spans of time: put together, and taken out of one another."""

from collections.abc import Iterable, Iterator

from deskhand.model.booking import Span


def merged(spans: Iterable[Span]) -> list[Span]:
    """In order, without overlaps; what touches becomes one, what is empty goes."""
    merged_spans: list[Span] = []
    for span in sorted(span for span in spans if span.start < span.end):
        if merged_spans and span.start <= merged_spans[-1].end:
            merged_spans[-1] = Span(merged_spans[-1].start, max(merged_spans[-1].end, span.end))
        else:
            merged_spans.append(span)
    return merged_spans


def within(spans: Iterable[Span], frame: Span) -> list[Span]:
    """The parts of the spans that lie inside the frame."""
    cut = (Span(max(span.start, frame.start), min(span.end, frame.end)) for span in spans)
    return [part for part in cut if part.start < part.end]


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
