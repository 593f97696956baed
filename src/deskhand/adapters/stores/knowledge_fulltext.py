"""The full-text indexes: FTS5 and tsvector. Terms are folded words; each goes in as a value,
never as syntax."""

from typing import Any, Protocol

import sqlalchemy as sa

_ONE_WORD = 0.0607927
"""What ts_rank gives for a word that is there once."""


Scored = list[tuple[int, float]]
"""Chunks by id, each with its score."""


class Words(Protocol):
    """A database's full-text index. All chunks of all desks are in it; the snapshot knows whose
    they are."""

    def begin(self, core: sa.Connection) -> None:
        """From here to `end` every statement sees the same state."""
        ...

    def end(self, core: sa.Connection) -> None: ...

    def count(self, core: sa.Connection, desk: str, term: str, most: int) -> int:
        """How many chunks hold a term, counted no further than `most`."""
        ...

    def find(self, core: sa.Connection, desk: str, weights: dict[str, float]) -> Scored:
        """Chunks with any of the terms and what those weigh in them, heaviest first."""
        ...


class SqliteWords:
    def begin(self, core: sa.Connection) -> None:
        core.exec_driver_sql("BEGIN")

    def end(self, core: sa.Connection) -> None:
        raw: Any = core.connection.driver_connection
        if raw.in_transaction:  # an error may have ended it
            core.exec_driver_sql("COMMIT")

    def count(self, core: sa.Connection, desk: str, term: str, most: int) -> int:
        result = core.exec_driver_sql(
            "SELECT count(*) FROM (SELECT 1 FROM kb_words WHERE kb_words MATCH ? LIMIT ?)",
            (_quoted(term), most),
        )
        return int(result.scalar_one())

    def find(
        self, core: sa.Connection, desk: str, weights: dict[str, float]
    ) -> list[tuple[int, float]]:
        asked = " OR ".join(_quoted(term) for term in weights)
        rows = core.exec_driver_sql(
            "SELECT rowid, -bm25(kb_words) AS score FROM kb_words WHERE kb_words MATCH ? ORDER BY"
            " score DESC, rowid",
            (asked,),
        )
        return [(row[0], row[1]) for row in rows]


def _quoted(term: str) -> str:
    return '"' + term.replace('"', '""') + '"'


class PostgresWords:
    def begin(self, core: sa.Connection) -> None:
        core.execute(sa.text("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY"))

    def end(self, core: sa.Connection) -> None:
        core.rollback()

    def count(self, core: sa.Connection, desk: str, term: str, most: int) -> int:
        query = sa.text(
            "SELECT count(*) FROM (SELECT 1 FROM kb_words WHERE desk = :desk"
            " AND lexemes @@ plainto_tsquery('simple', :term) LIMIT :most) AS found"
        )
        return int(core.execute(query, {"desk": desk, "term": term, "most": most}).scalar_one())

    def find(
        self, core: sa.Connection, desk: str, weights: dict[str, float]
    ) -> list[tuple[int, float]]:
        values: dict[str, object] = {"desk": desk}
        asked, weighed = [], []
        for number, (term, weight) in enumerate(weights.items()):
            values |= {f"t{number}": term, f"w{number}": weight / _ONE_WORD}
            asked.append(f"plainto_tsquery('simple', :t{number})")
            weighed.append(
                f"CAST(:w{number} AS float8) * ts_rank(lexemes, plainto_tsquery('simple',"
                f" :t{number}))"
            )
        query = sa.text(
            f"SELECT chunk, {' + '.join(weighed)} AS score FROM kb_words"  # noqa: S608 our own words, values are bound
            f" WHERE desk = :desk AND lexemes @@ ({' || '.join(asked)}) ORDER BY score DESC, chunk"
        )
        return [(row.chunk, row.score) for row in core.execute(query, values)]
