"""A draft beside what the desk wrote: word by word, with what nothing backs and what is quoted."""

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import Literal, NamedTuple

Kind = Literal["same", "added", "removed"]
_TOKENS = re.compile(r"\S+\s*|\s+")
_MOST_TOKENS = 6000
"""Longer texts are shown as they are: comparing them would keep others waiting."""


class DraftPiece(NamedTuple):
    """Some words of the draft that are shown alike."""

    kind: Kind
    text: str
    loose: int = 0
    """The number of the finding that these words are about; 0 for none."""
    cite: int = 0
    """The number of the source that ends here; 0 for none."""


class Paragraph(NamedTuple):
    """A paragraph of a letter, or what it quotes."""

    is_quote: bool
    pieces: list[DraftPiece]

    @property
    def text(self) -> str:
        return "".join(piece.text for piece in self.pieces)


class Changes(NamedTuple):
    pieces: list[DraftPiece]
    out: int
    """How many words were taken out."""
    into: int
    """How many words were put in."""

    @property
    def blocks(self) -> list[Paragraph]:
        return blocks_of(self.pieces)


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
    pieces: list[DraftPiece] = []
    place = 0
    for kind, token in _compare(_TOKENS.findall(before), _TOKENS.findall(after)):
        end = place + (0 if kind == "removed" else len(token))
        number = 0
        if kind != "removed":
            here = (span.number for span in marked if span.start < end and place < span.end)
            number = next(here, 0)
        cite = 0 if kind == "removed" else _cited(cited, place, end)
        _add(pieces, DraftPiece(kind, token, number, cite))
        place = end
    return Changes(pieces, _words(pieces, "removed"), _words(pieces, "added"))


def _compare(before: Sequence[str], after: Sequence[str]) -> Iterator[tuple[Kind, str]]:
    if not before or len(before) + len(after) > _MOST_TOKENS:
        yield from (("same", token) for token in after)
        return
    for action, start, end, first, last in SequenceMatcher(
        None, _without_gaps(before), _without_gaps(after), autojunk=False
    ).get_opcodes():
        if action == "equal":
            yield from (("same", token) for token in after[first:last])
            continue
        yield from (("removed", token) for token in before[start:end])
        yield from (("added", token) for token in after[first:last])


def _without_gaps(tokens: Sequence[str]) -> list[str]:
    """The same words at the end of a text and before others: a blank after them is no change."""
    return [token.rstrip(" ") for token in tokens]


def _spans(text: str, parts: Sequence[str]) -> Iterator[_Span]:
    for number, part in enumerate(parts, start=1):
        words = part.split()
        if not words:
            continue
        match = re.search(r"\s+(?:>\s*)?".join(map(re.escape, words)), text)
        if match is not None:
            yield _Span(match.start(), match.end(), number)


def _cited(cited: dict[int, int], start: int, end: int) -> int:
    return next((number for at, number in cited.items() if start < at <= end), 0)


def _add(pieces: list[DraftPiece], piece: DraftPiece) -> None:
    """Join it to the last one where both are shown alike."""
    last = pieces[-1] if pieces else None
    if last is None or last.cite or (last.kind, last.loose) != (piece.kind, piece.loose):
        pieces.append(piece)
    else:
        pieces[-1] = last._replace(text=last.text + piece.text, cite=piece.cite)


def _words(pieces: Sequence[DraftPiece], kind: Kind) -> int:
    return sum(len(piece.text.split()) for piece in pieces if piece.kind == kind)


def blocks_of(pieces: Sequence[DraftPiece]) -> list[Paragraph]:
    """A letter by paragraphs: empty lines part them, and so do the signs before quoted lines."""
    blocks: list[Paragraph] = []
    goes_on = False
    for line in _lines(pieces):
        text = "".join(piece.text for piece in line)
        if not text.strip():
            goes_on = False
            continue
        is_quote = text.lstrip().startswith(">")
        shown = _unquoted(line) if is_quote else line
        if not goes_on or blocks[-1].is_quote != is_quote:
            blocks.append(Paragraph(is_quote, []))
        elif blocks[-1].pieces:
            last = blocks[-1].pieces[-1]
            blocks[-1].pieces[-1] = last._replace(text=f"{last.text}\n")
        blocks[-1].pieces.extend(shown)
        goes_on = True
    return blocks


def letter_blocks(text: str) -> list[Paragraph]:
    """The paragraphs of a text that nobody changed."""
    return blocks_of([DraftPiece("same", text)])


def _lines(pieces: Sequence[DraftPiece]) -> Iterator[list[DraftPiece]]:
    """The same pieces line by line; the source stays with the last words of its piece."""
    line: list[DraftPiece] = []
    for piece in pieces:
        parts = piece.text.split("\n")
        last = len(parts) - 1
        written = [number for number, part in enumerate(parts) if part.strip()]
        cited = written[-1] if written else last
        for number, part in enumerate(parts):
            cite = piece.cite if number == cited else 0
            if part or cite:
                line.append(piece._replace(text=part, cite=cite))
            if number < last:
                yield line
                line = []
    yield line


def _unquoted(line: Sequence[DraftPiece]) -> list[DraftPiece]:
    """A quoted line without its sign."""
    shown = list(line)
    for number, piece in enumerate(shown):
        if ">" in piece.text:
            shown[number] = piece._replace(text=piece.text.replace(">", "", 1).lstrip())
            break
    return shown
