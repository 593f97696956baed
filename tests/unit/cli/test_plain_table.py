"""A plain table is, to the letter, what Rich writes into a pipe."""

import io
from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console
from rich.markup import escape, render
from rich.table import Table

from deskhand.cli.plain_table import escape_markup, plain_table, without_markup

TEXTS = st.text(st.sampled_from("ab/[]\\ #@–ž9:,"), max_size=12)
CELLS = st.one_of(TEXTS.map(escape), TEXTS.map(lambda text: f"[bold]{escape(text)}[/]"))


def rich_lines(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    for name in head:
        table.add_column(name, no_wrap=True)
    for row in rows:
        table.add_row(*row)
    written = io.StringIO()
    Console(file=written, width=180, highlight=False, emoji=False).print(table)
    return written.getvalue().splitlines()


@given(st.lists(st.tuples(CELLS, CELLS, CELLS), max_size=4))
def test_a_plain_table_is_what_rich_writes(rows: list[tuple[str, str, str]]) -> None:
    head = ("category", "mode", "left")
    assert plain_table(head, rows, 180) == rich_lines(head, rows)


@given(TEXTS)
def test_text_is_escaped_as_rich_does_it(text: str) -> None:
    assert escape_markup(text) == escape(text)
    assert without_markup(escape_markup(text)) == render(escape(text), emoji=False).plain


def test_what_must_be_cut_or_is_wide_is_left_to_rich() -> None:
    assert plain_table(("a",), [("x" * 181,)], 180) is None
    assert plain_table(("a",), [("表",)], 180) is None
    assert plain_table(("a",), [("e\N{COMBINING ACUTE ACCENT}",)], 180) is None
    assert plain_table(("a",), [("two\nlines",)], 180) is None
