"""A draft beside what the desk wrote: word by word, with what nothing backs and what is quoted."""

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import Literal, NamedTuple

Kind = Literal["same", "added", "removed"]
_TOKENS = re.compile(r"\S+\s*|\s+")
_MOST_TOKENS = 6000
"""Longer texts are shown as they are: comparing them would keep others waiting."""


class Piece(NamedTuple):
    """Some words of the draft that are shown alike."""

    kind: Kind
    text: str
    loose: int = 0
    """The number of the finding that these words are about; 0 for none."""
    cite: int = 0
    """The number of the source that ends here; 0 for none."""


class Changes(NamedTuple):
    pieces: list[Piece]
    out: int
    """How many words were taken out."""
    into: int
    """How many words were put in."""


class _Span(NamedTuple):
    start: int
    end: int
    number: int


def changes_of(
    before: str, after: str, loose: Sequence[str] = (), quotes: Sequence[str] = ()
) -> Changes:
    """How `after` differs from `before`.

    `loose` are words that nothing backs, `quotes` what sources say; both are marked where they
    stand in `after`, numbered from 1.
    """
    marked = list(_spans(after, loose))
    cited = {span.end: span.number for span in _spans(after, quotes)}
    pieces: list[Piece] = []
    place = 0
    for kind, token in _compare(_TOKENS.findall(before), _TOKENS.findall(after)):
        end = place + (0 if kind == "removed" else len(token))
        number = 0
        if kind != "removed":
            number = next((one.number for one in marked if one.start < end and place < one.end), 0)
        cite = 0 if kind == "removed" else _cited(cited, place, end)
        _add(pieces, Piece(kind, token, number, cite))
        place = end
    return Changes(pieces, _words(pieces, "removed"), _words(pieces, "added"))


def _compare(before: Sequence[str], after: Sequence[str]) -> Iterator[tuple[Kind, str]]:
    if not before or len(before) + len(after) > _MOST_TOKENS:
        yield from (("same", token) for token in after)
        return
    for action, start, end, first, last in SequenceMatcher(
        None, before, after, autojunk=False
    ).get_opcodes():
        if action == "equal":
            yield from (("same", token) for token in after[first:last])
            continue
        yield from (("removed", token) for token in before[start:end])
        yield from (("added", token) for token in after[first:last])


def _spans(text: str, parts: Sequence[str]) -> Iterator[_Span]:
    for number, part in enumerate(parts, start=1):
        words = part.split()
        if not words:
            continue
        found = re.search(r"\s+(?:>\s*)?".join(map(re.escape, words)), text)
        if found is not None:
            yield _Span(found.start(), found.end(), number)


def _cited(cited: dict[int, int], start: int, end: int) -> int:
    return next((number for at, number in cited.items() if start < at <= end), 0)


def _add(pieces: list[Piece], piece: Piece) -> None:
    """Join it to the last one where both are shown alike."""
    last = pieces[-1] if pieces else None
    if last is None or last.cite or (last.kind, last.loose) != (piece.kind, piece.loose):
        pieces.append(piece)
    else:
        pieces[-1] = last._replace(text=last.text + piece.text, cite=piece.cite)


def _words(pieces: Sequence[Piece], kind: Kind) -> int:
    return sum(len(piece.text.split()) for piece in pieces if piece.kind == kind)
