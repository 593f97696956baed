"""What every index of articles must do, in whatever database it lies."""

import asyncio
import random
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sqlalchemy as sa

from deskhand.adapters.stores.knowledge import SqlKnowledgeStore
from deskhand.adapters.stores.knowledge_fulltext import PostgresWords, SqliteWords
from deskhand.adapters.stores.knowledge_pgvector import PgVector
from deskhand.adapters.stores.postgres import PostgresStore
from deskhand.adapters.stores.postgres_database import PostgresDatabase
from deskhand.adapters.stores.sqlite import SqliteStore
from deskhand.adapters.stores.sqlite_database import SqliteDatabase
from deskhand.errors import NotFound
from deskhand.knowledge.search import KnowledgeBase
from deskhand.model.knowledge import Hit, KnowledgeQuery
from tests.kit import a_message
from tests.knowledge_kit import HashingEmbedder, an_article
from tests.servers import new_database, postgres_programs

Open = Callable[..., Awaitable[SqlKnowledgeStore]]
"""`open_index(desk="desk")`: another index on the same database, as another process would open
it."""


@pytest.fixture(params=["sqlite", "postgres", "pgvector"])
async def open_index(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Open]:
    databases: list[Any] = []
    url = ""
    if request.param != "sqlite":
        if postgres_programs() is None:
            pytest.skip("PostgreSQL's server is not installed (Debian: apt-get install postgresql)")
        url = await asyncio.to_thread(new_database)

    async def opened(desk: str = "desk") -> SqlKnowledgeStore:
        if request.param == "sqlite":
            file = await SqliteDatabase.open(tmp_path / "index.db")
            databases.append(file)
            return SqlKnowledgeStore(file, desk, SqliteWords())
        server = await PostgresDatabase.open(url)
        databases.append(server)
        nearest = PgVector() if request.param == "pgvector" else None
        if nearest is not None and not await server.write_core(nearest.prepare):
            pytest.skip("PostgreSQL has no pgvector")
        return SqlKnowledgeStore(server, desk, PostgresWords(), nearest)

    yield opened
    for database in databases:
        await database.close()


@pytest.fixture
async def index(open_index: Open) -> SqlKnowledgeStore:
    return await open_index()


def base(index: SqlKnowledgeStore, now: float | None = None) -> KnowledgeBase:
    return KnowledgeBase(index, HashingEmbedder, time.time if now is None else lambda: now)


def found(hits: list[Hit]) -> list[str]:
    return [hit.article for hit in hits]


REFUND = an_article(
    "refunds", "You can return goods within thirty days.", "Money is back on your card soon.", title="Refunds",  # noqa: E501
    category="Billing",
)  # fmt: skip
PASSWORD = an_article(
    "password", "Reset your password by e-mail.", title="Sign in", category="account"
)
GERMAN = an_article(
    "versand", "Wir versenden innerhalb von zwei Tagen.", title="Versand", language="de"
)


async def test_a_hit_can_be_quoted_and_cited(index: SqlKnowledgeStore) -> None:
    await index.put([REFUND, PASSWORD, GERMAN], "test")
    hit = (await base(index).search("return goods"))[0]
    assert (hit.article, hit.title, hit.heading_path) == ("refunds", "Refunds", ("Part 1",))
    assert hit.text == "You can return goods within thirty days."
    assert hit.citation == "Refunds › Part 1 [refunds]"
    assert hit.content_hash == REFUND[0].content_hash
    assert (hit.category, hit.language) == ("Billing", "en")
    assert 0.9 < hit.score <= 1.0
    assert hit.coverage > 0.9
    assert 0.3 < hit.similarity <= 1.0


async def test_scores_fall_from_one_to_nought(index: SqlKnowledgeStore) -> None:
    await index.put([REFUND, PASSWORD, GERMAN], "test")
    scores = [hit.score for hit in await base(index).search("money card password", limit=50)]
    assert scores == sorted(scores, reverse=True)
    assert all(0 < score <= 1 for score in scores)


async def test_an_empty_index_finds_nothing(index: SqlKnowledgeStore) -> None:
    assert await index.is_empty()
    assert await base(index).search("anything") == []
    assert await index.articles() == []


async def test_filters_by_category_and_language(index: SqlKnowledgeStore) -> None:
    await index.put([REFUND, PASSWORD, GERMAN], "test")
    ask = base(index).search
    assert set(found(await ask("password", category="billing"))) == {"refunds"}
    assert found(await ask("password", language="de-AT")) == ["versand"]
    assert found(await ask("password", category="account", language="en")) == ["password"]
    assert await ask("password", category="nothing of ours") == []
    assert set(found(await ask("password", limit=10))) == {"refunds", "password", "versand"}


async def test_expired_articles_never_come(index: SqlKnowledgeStore) -> None:
    await index.put([an_article("old", "Christmas sale", valid_until=1000.0), PASSWORD], "test")
    assert "old" in found(await base(index, now=999.0).search("christmas sale"))
    assert "old" not in found(await base(index, now=1000.0).search("christmas sale"))
    assert [one.article.id for one in await index.articles()] == ["old", "password"]


async def test_words_are_found_without_their_accents(index: SqlKnowledgeStore) -> None:
    await index.put([an_article("cs", "Obnovení přístupu a přihlášení"), PASSWORD, REFUND], "test")
    for question in ("PRIHLASENI", "přihlášení", "Prˇihla´s\u030cení přihlášení"):
        hit = (await base(index).search(question))[0]
        assert (hit.article, hit.coverage > 0) == ("cs", True)


HOSTILE = [
    '"',
    '""',
    "'",
    "''; DROP TABLE kb_chunks; --",
    "NEAR",
    "NEAR(a b, 2)",
    "a NEAR/2 b",
    "*",
    "pass*",
    "-password",
    "^password",
    "words:password",
    "{words}: password",
    "AND",
    "OR",
    "NOT password",
    "password OR",
    "(password",
    "password)",
    "a & | ! <-> b",
    "password:*A",
    "\\",
    "\\'",
    "%s %(x)s :t0 ?1 $1",
    "{}",
    "\u202epassword",
    "🎉",
    "🎉🎉 🙂",
    "日本語のパスワード",
    "รหัสผ่าน",
    "pass\x00word",
    "\x00",
    "\x1b[31mred",
    "\ud800",
    "a" * 100_000,
    "_ _ _",
    "½ ² Ⅷ ß ﬁ",
]


async def test_syntax_and_odd_characters_are_only_text(index: SqlKnowledgeStore) -> None:
    await index.put([REFUND, PASSWORD], "test")
    for question in HOSTILE:
        assert set(found(await base(index).search(question))) <= {"refunds", "password"}, question
        both = found(await base(index).search(f"password {question}"))
        assert set(both) == {"refunds", "password"}, question
    assert len(await index.articles()) == 2


async def test_an_empty_question_finds_nothing(index: SqlKnowledgeStore) -> None:
    await index.put([REFUND], "test")
    for question in ("", " ", "\n\t", "\x00\x01", "\u200b"):
        assert await base(index).search(question) == []


async def test_a_question_of_a_megabyte_is_answered_by_its_beginning(
    index: SqlKnowledgeStore,
) -> None:
    await index.put([REFUND, PASSWORD], "test")
    hits = await base(index).search("reset password " + "lorem ipsum " * 90_000)
    assert hits[0].article == "password"


async def test_an_article_takes_the_place_of_the_one_with_its_id(index: SqlKnowledgeStore) -> None:
    await index.put([REFUND, PASSWORD], "test")
    await index.put([an_article("refunds", "Only vouchers.", title="Refunds")], "later")
    assert [(one.article.id, one.chunks, one.built_with) for one in await index.articles()] == [
        ("password", 1, "test"),
        ("refunds", 1, "later"),
    ]
    texts = [
        hit.text for hit in await base(index).search("return goods within thirty days", limit=10)
    ]
    assert sorted(texts) == ["Only vouchers.", "Reset your password by e-mail."]


async def test_removed_articles_are_not_found(index: SqlKnowledgeStore) -> None:
    await index.put([REFUND, PASSWORD], "test")
    assert await index.remove(["refunds", "never was"]) == 1
    assert await index.remove([]) == 0
    assert found(await base(index).search("return goods")) == ["password"]
    await index.remove(["password"])
    assert await base(index).search("return goods") == []
    await index.put([REFUND], "test")
    assert set(found(await base(index).search("return goods"))) == {"refunds"}


async def test_desks_do_not_see_each_other(open_index: Open) -> None:
    ours, theirs = await open_index("ours"), await open_index("theirs")
    await ours.put([REFUND], "test")
    await theirs.put([PASSWORD, an_article("refunds", "Theirs alone")], "test")
    assert set(found(await base(ours).search("password theirs", limit=10))) == {"refunds"}
    texts = {chunk.chunk.text for chunk in REFUND[1]}
    assert {hit.text for hit in await base(ours).search("theirs", limit=10)} == texts
    await theirs.remove(["refunds"])
    assert found(await base(ours).search("return goods"))[0] == "refunds"


async def test_what_another_process_changes_is_noticed(open_index: Open) -> None:
    here, there = await open_index(), await open_index()
    await here.put([REFUND], "test")
    assert set(found(await base(there).search("password"))) == {"refunds"}
    await here.put([PASSWORD], "test")
    assert found(await base(there).search("password"))[0] == "password"
    await here.remove(["refunds"])
    assert found(await base(there).search("return goods")) == ["password"]


async def test_a_search_during_edits_sees_one_version_of_each_article(open_index: Open) -> None:
    reader, writer = await open_index(), await open_index()
    editions = [
        an_article("guide", f"edition{number} alpha", f"edition{number} omega")
        for number in range(40)
    ]
    await writer.put([editions[0]], "test")
    over = False

    async def edit() -> None:
        nonlocal over
        for edition in editions:
            await writer.put([edition], "test")
        over = True

    async def look() -> int:
        seen = 0
        while not over:
            hits = await base(reader).search("alpha omega edition1 edition2", limit=10)
            assert len(hits) == 2
            assert len({hit.content_hash for hit in hits}) == 1
            assert {hit.text.split()[0] for hit in hits} == {
                editions[seen_in(hits)][1][0].chunk.text.split()[0]
            }
            seen += 1
            await asyncio.sleep(0)
        return seen

    def seen_in(hits: list[Hit]) -> int:
        return next(
            n for n, one in enumerate(editions) if one[0].content_hash == hits[0].content_hash
        )

    results = await asyncio.gather(edit(), look(), look())
    assert sum(number or 0 for number in results) > 5


async def test_vectors_are_searched_exactly(index: SqlKnowledgeStore) -> None:
    chosen = random.Random(7)
    vocabulary = [f"word{number}" for number in range(300)]
    texts = [" ".join(chosen.choices(vocabulary, k=12)) for _ in range(600)]
    await index.put(
        [an_article(f"a{number}", *texts[number : number + 3]) for number in range(0, 600, 3)],
        "test",
    )
    read = sa.text("SELECT position, vector FROM kb_chunks ORDER BY position")
    rows = await index._database.read_core(lambda core: core.execute(read).all())
    matrix = (
        np.frombuffer(b"".join(row[1] for row in rows), dtype="<f2")
        .reshape(len(rows), -1)
        .astype(np.float32)
    )
    for _ in range(5):
        vector = HashingEmbedder().embed([" ".join(chosen.choices(vocabulary, k=4))])[0]
        hits = await index.search(KnowledgeQuery((), vector, time.time(), limit=10))
        order = np.argsort(-(matrix @ vector), kind="stable")[:10]
        assert [hit.similarity for hit in hits] == pytest.approx(
            (matrix @ vector)[order].tolist(), abs=1e-5
        )
        text_of = {row[0]: number for number, row in enumerate(rows)}
        ranked = [texts[text_of[rows[place][0]]] for place in order]
        assert [hit.text for hit in hits] == ranked


async def test_very_common_words_are_not_looked_up(index: SqlKnowledgeStore) -> None:
    await index.put([an_article(f"a{n}", f"please topic{n}") for n in range(500)], "test")
    rare, common = "topic77", "please"
    hits = await index.search(KnowledgeQuery((rare, common), None, time.time(), limit=50))
    assert found(hits) == ["a77"]
    assert await index.search(KnowledgeQuery((common,), None, time.time(), limit=50)) == []
    vector = HashingEmbedder().embed([common])[0]
    assert len(await index.search(KnowledgeQuery((common,), vector, time.time(), limit=50))) == 50


def runs_of(index: SqlKnowledgeStore) -> SqliteStore | PostgresStore:
    database: Any = index._database
    return (SqliteStore if isinstance(database, SqliteDatabase) else PostgresStore)(
        database, index.desk
    )


async def test_which_answers_used_an_article_is_recorded(index: SqlKnowledgeStore) -> None:
    await index.put([REFUND, PASSWORD], "test")
    runs = runs_of(index)
    first = (await runs.accept(a_message(1), flow="flow")).run_id
    second = (await runs.accept(a_message(2), flow="flow")).run_id
    hits = await base(index).search("return goods password", limit=10)
    await index.record_sources(first, hits)
    await index.record_sources(first, hits)
    await index.record_sources(second, [hit for hit in hits if hit.article == "password"])
    texts = [hit.text for hit in hits if hit.article == "password"]
    used = await index.texts_used(second)
    assert set(texts) <= {cited.text for cited in used}
    assert await index.texts_used("run_nowhere") == []
    assert await index.used() == [
        ("password", PASSWORD[0].content_hash),
        ("refunds", REFUND[0].content_hash),
    ]
    uses = await index.answers_using("password", PASSWORD[0].content_hash)
    assert [use.run_id for use in uses] == [first, second]
    assert await index.answers_using("password", "other") == []
    with pytest.raises(NotFound, match="no run"):
        await index.record_sources("run_nowhere", hits)
