"""Finding tickets by words: in what a ticket keeps of itself, and in the whole of its messages.

A ticket's row holds its id, subject, a summary and numbers, wherever in a word they stand. The
whole messages are in the console's index of words, where the beginning of a word is enough.
"""

from typing import Any

import sqlalchemy as sa

from deskhand.adapters.stores import tables as t
from deskhand.adapters.stores.search_words import IN_MESSAGE, index_terms, written_terms
from deskhand.language.slots.folded_text import fold

MOST_WORDS = 10


def with_words(
    query: sa.Select[Any], core: sa.Connection, desk: str, written: str
) -> sa.Select[Any]:
    """Only tickets that have all of these words, each somewhere."""
    for word in fold(written).split()[:MOST_WORDS]:
        in_ticket = t.tickets.c.search_text.contains(word, autoescape=True)
        terms = index_terms(IN_MESSAGE, [word])
        if not terms:
            query = query.where(in_ticket)
            continue
        links = t.ticket_messages.c
        runs = _runs_with(core, written_terms(core, terms))
        said = sa.select(links.ticket).where(links.desk == desk, links.run.in_(runs))
        query = query.where(sa.or_(in_ticket, t.tickets.c.id.in_(said)))
    return query


def _runs_with(core: sa.Connection, asked: str) -> sa.Select[Any]:
    """The runs whose message has what is asked for, by the index."""
    if core.dialect.name == "postgresql":
        from sqlalchemy.dialects.postgresql import TSQUERY

        lexemes: sa.ColumnElement[Any] = sa.literal_column("search_runs.lexemes")
        has_words = lexemes.op("@@")(sa.cast(asked, TSQUERY))
        return sa.select(t.search_runs.c.run).where(has_words)
    words = sa.table("search_runs_words", sa.column("rowid", sa.Integer))
    matches = sa.literal_column("search_runs_words").op("MATCH")(asked)
    return sa.select(words.c.rowid).where(matches)
