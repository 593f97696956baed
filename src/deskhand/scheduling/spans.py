"""Spans of time: put together, and cut to a frame."""

from collections.abc import Iterable

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
