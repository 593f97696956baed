"""A table as Rich lays it out in a pipe, for cells of everyday text."""

import re
import unicodedata
from collections.abc import Sequence

_MARKUP = re.compile(r"(\\*)\[([a-z#/@][^\[]*?)\]")
_GAP = 2


def plain_table(head: Sequence[str], rows: Sequence[Sequence[str]], width: int) -> list[str] | None:
    """The lines of a table without a frame; None where something must be cut, or where only Rich
    knows how wide a character is."""
    lines = [list(head)]
    for row in rows:
        lines.append([without_markup(cell) for cell in row])
    widths = [0] * len(head)
    for line in lines:
        for number, cell in enumerate(line):
            if not all(map(_is_one_wide, cell)):
                return None
            widths[number] = max(widths[number], len(cell))
    if sum(widths) + _GAP * (len(widths) - 1) > width:
        return None
    return [_joined(line, widths) for line in lines]


def escape_markup(text: str) -> str:
    """The text as Rich's markup, its brackets no tags."""
    escaped = _MARKUP.sub(lambda tag: f"{tag[1]}{tag[1]}\\[{tag[2]}]", text)
    if escaped.endswith("\\") and not escaped.endswith("\\\\"):
        return escaped + "\\"
    return escaped


def without_markup(cell: str) -> str:
    """What Rich shows of a text with tags such as `[bold]`."""
    shown, end = "", 0
    for tag in _MARKUP.finditer(cell):
        shown += cell[end : tag.start()].replace("\\[", "[")
        backslashes, is_escaped = divmod(len(tag[1]), 2)
        shown += "\\" * backslashes
        if is_escaped:
            shown += tag[0][len(tag[1]) :]
        end = tag.end()
    return shown + cell[end:].replace("\\[", "[")


def _joined(cells: Sequence[str], widths: Sequence[int]) -> str:
    """The cells with spaces up to each column's width, the gap behind all but the last."""
    padded = [cell.ljust(width) for cell, width in zip(cells, widths, strict=True)]
    return (" " * _GAP).join(padded)


def _is_one_wide(character: str) -> bool:
    if " " <= character <= "~":
        return True
    return (
        character.isprintable()
        and unicodedata.combining(character) == 0
        and unicodedata.east_asian_width(character) not in ("W", "F")
        and unicodedata.category(character) in ("Ll", "Lu", "Nd", "Pd", "Sm", "Po", "Pi", "Pf")
    )
