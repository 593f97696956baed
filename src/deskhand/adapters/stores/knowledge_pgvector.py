"""Vectors compared by PostgreSQL itself, where it has pgvector: exactly, so without an
approximate index."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

import sqlalchemy as sa

if TYPE_CHECKING:
    from deskhand.knowledge.snapshot import Vectors

_OLDEST = (0, 7)
"""The first version with half-precision vectors."""
_BATCH = 500


class Nearest(Protocol):
    """A database that compares vectors itself."""

    def ready(self, core: sa.Connection) -> bool: ...

    def prepare(self, core: sa.Connection) -> bool:
        """Make it ready if it can be; whether it is."""
        ...

    def add(
        self, core: sa.Connection, desk: str, article: int, vectors: Sequence[tuple[int, bytes]]
    ) -> None: ...

    def candidates(
        self,
        core: sa.Connection,
        desk: str,
        articles: Sequence[int] | None,
        vector: "Vectors",
        count: int,
    ) -> list[int]:
        """The nearest chunks, of these articles if any are named."""
        ...


class PgVector:
    """Its table is made when the first article is written to a database that has the extension
    or may create it."""

    def ready(self, core: sa.Connection) -> bool:
        return (
            core.execute(sa.text("SELECT to_regclass('kb_vectors') IS NOT NULL")).scalar() is True
        )

    def prepare(self, core: sa.Connection) -> bool:
        if self.ready(core):
            return True
        offered = core.execute(
            sa.text("SELECT default_version FROM pg_available_extensions WHERE name = 'vector'")
        )
        version = offered.scalar()
        if version is None or _numbers(version) < _OLDEST:
            return False
        try:
            with core.begin_nested():
                core.execute(sa.text("CREATE EXTENSION IF NOT EXISTS vector"))
                core.execute(
                    sa.text(
                        "CREATE TABLE IF NOT EXISTS kb_vectors (chunk bigint PRIMARY KEY REFERENCES"
                        " kb_chunks(position) ON DELETE CASCADE, desk text NOT NULL, article bigint"
                        " NOT NULL, vector halfvec NOT NULL)"
                    )
                )
        except (
            sa.exc.DBAPIError
        ):  # this user may not create extensions: we compare the vectors ourselves
            return False
        self._catch_up(core)
        return True

    def add(
        self, core: sa.Connection, desk: str, article: int, vectors: Sequence[tuple[int, bytes]]
    ) -> None:
        self._insert(core, [(chunk, desk, article, blob) for chunk, blob in vectors])

    def candidates(
        self,
        core: sa.Connection,
        desk: str,
        articles: Sequence[int] | None,
        vector: "Vectors",
        count: int,
    ) -> list[int]:
        among = "" if articles is None else " AND article = ANY(:articles)"
        query = sa.text(
            f"SELECT chunk FROM kb_vectors WHERE desk = :desk{among}"  # noqa: S608 no words of others in it
            " ORDER BY vector <#> CAST(:vector AS halfvec), chunk LIMIT :count"
        )
        values: dict[str, object] = {"desk": desk, "vector": _text(vector), "count": count}
        if articles is not None:
            values["articles"] = list(articles)
        return list(core.execute(query, values).scalars())

    def _catch_up(self, core: sa.Connection) -> None:
        """Chunks that were written before the extension was there."""
        query = sa.text(
            "SELECT position, desk, article, vector FROM kb_chunks WHERE position > :after"
            " ORDER BY position LIMIT :count"
        )
        after = 0
        while rows := core.execute(query, {"after": after, "count": _BATCH}).all():
            self._insert(core, [(row[0], row[1], row[2], row[3]) for row in rows])
            after = rows[-1][0]

    def _insert(self, core: sa.Connection, rows: Sequence[tuple[int, str, int, bytes]]) -> None:
        if not rows:
            return
        statement = sa.text(
            "INSERT INTO kb_vectors(chunk, desk, article, vector)"
            " VALUES (:chunk, :desk, :article, CAST(:vector AS halfvec)) ON CONFLICT DO NOTHING"
        )
        from deskhand.knowledge.snapshot import vectors_of

        core.execute(
            statement,
            [
                {
                    "chunk": chunk,
                    "desk": desk,
                    "article": article,
                    "vector": _text(vectors_of([blob])[0]),
                }
                for chunk, desk, article, blob in rows
            ],
        )


def _text(vector: "Vectors") -> str:
    import numpy as np

    numbers = np.asarray(vector, dtype=np.float32).astype(float).tolist()
    return f"[{','.join(map(repr, numbers))}]"


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".") if part.isdecimal())
