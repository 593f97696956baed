"""Bringing files in: only what changed, and nothing lost by an error."""

import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from deskhand.errors import ConfigError
from deskhand.knowledge.changed_answers import AnswerChange, changed_answers
from deskhand.knowledge.ingest import Indexer
from deskhand.knowledge.search import KnowledgeBase
from deskhand.ports import KnowledgeStore
from deskhand.wiring import knowledge_store, open_database, open_store
from tests.kit import a_message
from tests.knowledge_kit import HashingEmbedder, write


@pytest.fixture
def home(tmp_path: Path) -> Path:
    home = tmp_path / "desk" / "knowledge"
    write(home, "refunds.md", "---\nid: refunds\n---\nMoney back in five days.")
    write(home, "account/password.md", "Reset your password.")
    write(home, ".hidden/secret.md", "no")
    write(home, "picture.png", "no")
    return home


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[KnowledgeStore]:
    async with open_database(str(tmp_path / "d.db")) as database:
        yield knowledge_store(database, "desk")


def indexer(
    store: KnowledgeStore, home: Path, embedder: HashingEmbedder | None = None, model: str = "m"
) -> Indexer:
    return Indexer(store, home, embedder or HashingEmbedder(), model)


async def ids(store: KnowledgeStore) -> dict[str, str]:
    return {one.article.id: one.article.source for one in await store.articles()}


async def test_a_folder_is_indexed_and_unchanged_files_cost_nothing(
    store: KnowledgeStore, home: Path
) -> None:
    embedder = HashingEmbedder()
    told: list[tuple[int, int]] = []
    report = await Indexer(store, home, embedder, "m", lambda *done: told.append(done)).add([home])
    assert (report.added, report.chunks, report.problems) == (
        ["account/password", "refunds"],
        2,
        [],
    )
    assert told == [(2, 2)]
    assert await ids(store) == {"account/password": "account/password.md", "refunds": "refunds.md"}
    embedder.embedded.clear()
    report = await indexer(store, home, embedder).rebuild()
    assert (sorted(report.unchanged), report.chunks, embedder.embedded) == (
        ["account/password", "refunds"],
        0,
        [],
    )


async def test_only_what_changed_is_embedded(store: KnowledgeStore, home: Path) -> None:
    await indexer(store, home).add([home])
    write(home, "refunds.md", "---\nid: refunds\n---\nOnly vouchers.")
    write(home, "new.txt", "New.")
    (home / "account" / "password.md").unlink()
    embedder = HashingEmbedder()
    report = await indexer(store, home, embedder).rebuild()
    assert (report.added, report.changed, report.removed) == (
        ["new"],
        ["refunds"],
        ["account/password"],
    )
    assert "Reset your password." not in embedder.embedded
    hits = await KnowledgeBase(store, HashingEmbedder).search("money password vouchers", limit=10)
    assert {hit.text for hit in hits} == {"Only vouchers.", "New."}


async def test_another_model_or_a_wish_embeds_everything_again(
    store: KnowledgeStore, home: Path
) -> None:
    await indexer(store, home).add([home])
    assert len((await indexer(store, home, model="other").rebuild()).changed) == 2
    assert len((await indexer(store, home, model="other").rebuild(everything=True)).changed) == 2


async def test_an_error_in_one_file_stops_no_other_and_loses_nothing(
    store: KnowledgeStore, home: Path
) -> None:
    await indexer(store, home).add([home])
    write(home, "refunds.md", b"---\nid: refunds\n---\n\xff")
    write(home, "new.md", "New.")
    write(home, "broken.pdf", b"%PDF-1.4 garbage")
    write(home, "bad.md", "---\nlanguage: 12\nid: b b\n---\nText")
    report = await indexer(store, home).rebuild()
    assert report.added == ["new"]
    assert report.removed == []
    assert sorted(Path(str(problem.file)).name for problem in report.problems) == [
        "bad.md",
        "bad.md",
        "broken.pdf",
        "refunds.md",
    ]
    hits = await KnowledgeBase(store, HashingEmbedder).search("money back")
    assert hits[0].text == "Money back in five days."


async def test_an_id_belongs_to_one_file(store: KnowledgeStore, home: Path, tmp_path: Path) -> None:
    write(home, "zz-copy.md", "---\nid: refunds\n---\nCopy.")
    report = await indexer(store, home).add([home])
    [problem] = report.problems
    assert "zz-copy.md" in str(problem)
    assert "`refunds` is taken by refunds.md" in str(problem)
    other = write(tmp_path, "other/refunds.md", "Elsewhere.")
    report = await indexer(store, home).add([other])
    assert "is taken by refunds.md" in str(report.problems[0])
    assert (await ids(store))["refunds"] == "refunds.md"


async def test_a_renamed_file_or_id_moves_the_article(store: KnowledgeStore, home: Path) -> None:
    await indexer(store, home).add([home])
    (home / "refunds.md").rename(home / "money.md")
    write(home, "account/password.md", "---\nid: pass\n---\nReset your password.")
    report = await indexer(store, home).rebuild()
    assert (report.changed, report.added, report.removed) == (
        ["refunds"],
        ["pass"],
        ["account/password"],
    )
    assert await ids(store) == {"refunds": "money.md", "pass": "account/password.md"}


async def test_files_from_elsewhere_are_kept_until_they_are_gone(
    store: KnowledgeStore, home: Path, tmp_path: Path
) -> None:
    elsewhere = write(tmp_path, "other/guide.md", "A guide.")
    await indexer(store, home).add([elsewhere])
    await indexer(store, home).add([home])
    assert (await ids(store))["guide"] == str(elsewhere)
    assert (await indexer(store, home).rebuild()).removed == []
    elsewhere.unlink()
    assert (await indexer(store, home).rebuild()).removed == ["guide"]


async def test_a_missing_folder_removes_nothing(store: KnowledgeStore, home: Path) -> None:
    await indexer(store, home).add([home])
    home.rename(home.with_name("elsewhere"))
    with pytest.raises(ConfigError, match="no such folder"):
        await indexer(store, home).rebuild()
    assert len(await ids(store)) == 2


async def test_what_is_not_there_is_told(store: KnowledgeStore, home: Path) -> None:
    report = await indexer(store, home).add([home / "nothing.md", home / "refunds.md"])
    assert "no such file" in str(report.problems[0])
    assert report.added == ["refunds"]


async def test_a_file_name_that_is_not_utf8_is_told(store: KnowledgeStore, home: Path) -> None:
    try:
        with open(os.fsencode(home) + b"/\xff.md", "wb") as file:  # noqa: PTH123
            file.write(b"text")
    except OSError:
        pytest.skip("this file system takes UTF-8 names only")
    report = await indexer(store, home).add([home])
    assert "name is not UTF-8" in str(report.problems[0])
    assert len(report.added) == 2


async def test_answers_are_listed_whose_articles_changed(tmp_path: Path, home: Path) -> None:
    async with open_database(str(tmp_path / "d.db")) as database:
        store = knowledge_store(database, "desk")
        await indexer(store, home).add([home])
        base = KnowledgeBase(store, HashingEmbedder)
        run = (await open_store(database, "desk").accept(a_message(), flow="f")).run_id
        await base.record_sources(run, await base.search("money password", limit=10))
        assert await changed_answers(store, home) == []
        write(home, "refunds.md", "---\nid: refunds\ntitle: Money\n---\nOnly vouchers.")

        async def listed() -> list[tuple[str, str, AnswerChange]]:
            return [
                (one.used.run_id, one.used.article, one.change)
                for one in await changed_answers(store, home)
            ]

        assert await listed() == [(run, "refunds", AnswerChange.EDITED)]
        (home / "account" / "password.md").unlink()
        await indexer(store, home).rebuild()
        assert await listed() == [
            (run, "account/password", AnswerChange.REMOVED),
            (run, "refunds", AnswerChange.CHANGED),
        ]
