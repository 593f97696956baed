"""The SQLite file in trouble: locked, read-only, full, damaged. A clear error, nothing half
written, nothing lost."""

import asyncio
import os
import sqlite3
import subprocess
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from deskhand import crashpoints
from deskhand.adapters.stores import sqlite_database
from deskhand.adapters.stores.sqlite import SqliteStore
from deskhand.adapters.stores.sqlite_database import SqliteDatabase, Tx
from deskhand.agents.parts import Parts
from deskhand.engine.audit import verify_desk
from deskhand.errors import StoreUnavailable
from deskhand.model.envelope import Envelope
from deskhand.model.run import RunStatus
from tests.kit import a_flow, a_message, chain_of, engine
from tests.waiting import PATIENCE


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite_database, "BUSY_MS", 50)


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[SqliteDatabase]:
    opened = await SqliteDatabase.open(tmp_path / "d.db")
    await opened.write(
        lambda tx: tx.raw.execute("CREATE TABLE notes(id INTEGER PRIMARY KEY, text TEXT)").close()
    )
    yield opened
    await opened.close()


def note(number: int | None, text: str = "x") -> Any:
    def op(tx: Tx) -> int | None:
        tx.raw.execute("INSERT INTO notes VALUES(?,?)", (number, text))
        return number

    return op


async def notes(database: SqliteDatabase) -> list[int]:
    return await database.read(
        lambda tx: [row[0] for row in tx.raw.execute("SELECT id FROM notes ORDER BY id")]
    )


# --- the writer


async def test_many_writers_share_a_few_commits(database: SqliteDatabase) -> None:
    commits, writes = database.commits, database.writes
    answers = await asyncio.gather(
        *(database.write(note(number), single=True) for number in range(1000))
    )
    assert answers == list(range(1000)), "each gets its own result"
    assert database.writes - writes == 1000
    assert database.commits - commits <= 50
    assert len(await notes(database)) == 1000


async def test_writes_are_carried_out_in_the_order_they_were_handed_in(
    database: SqliteDatabase,
) -> None:
    done: list[int] = []

    def op(number: int) -> Any:
        return lambda tx: done.append(number)

    await asyncio.gather(*(database.write(op(number)) for number in range(1500)))
    assert done == list(range(1500))


async def test_a_result_is_there_only_after_its_commit(database: SqliteDatabase) -> None:
    await database.write(note(1))
    other = sqlite3.connect(database.path)
    assert other.execute("SELECT count(*) FROM notes").fetchone() == (1,)
    other.close()


def two_notes_then(error: Exception) -> Any:
    def op(tx: Tx) -> None:
        tx.raw.execute("INSERT INTO notes VALUES(100, 'half')")
        tx.raw.execute("INSERT INTO notes VALUES(101, 'half')")
        raise error

    return op


async def test_an_operation_that_fails_undoes_itself_and_nothing_else(
    database: SqliteDatabase,
) -> None:
    answers = await asyncio.gather(
        database.write(note(1)),
        database.write(two_notes_then(ValueError("mine"))),
        database.write(note(2), single=True),
        database.write(note(1), single=True),
        database.write(lambda tx: tx.raw.execute("INSERT INTO nowhere VALUES(1)")),
        database.write(note(3)),
        return_exceptions=True,
    )
    assert [answer for answer in answers if isinstance(answer, int)] == [1, 2, 3]
    refused = [type(answer) for answer in (answers[1], answers[3], answers[4])]
    assert refused == [ValueError, sqlite3.IntegrityError, StoreUnavailable]
    assert await notes(database) == [1, 2, 3]


async def test_a_commit_that_fails_undoes_its_batch_and_the_next_one_works(
    database: SqliteDatabase,
) -> None:
    def fail() -> None:
        raise sqlite3.OperationalError("disk I/O error")

    crashpoints.arm("journal.before_commit", fail)
    try:
        with pytest.raises(
            StoreUnavailable, match="the disk reports an error; check it and its free space"
        ):
            await database.write(note(1))
    finally:
        crashpoints.disarm()
    assert await notes(database) == []
    assert await database.write(note(1)) == 1


async def test_after_closing_everything_is_refused_and_what_was_handed_in_is_kept(
    tmp_path: Path,
) -> None:
    opened = await SqliteDatabase.open(tmp_path / "d.db")
    await opened.write(
        lambda tx: tx.raw.execute("CREATE TABLE notes(id INTEGER PRIMARY KEY, text TEXT)").close()
    )
    pending = [asyncio.create_task(opened.write(note(number))) for number in range(20)]
    await asyncio.sleep(0)
    await opened.close()
    await opened.close()
    assert await asyncio.gather(*pending) == list(range(20))
    with pytest.raises(StoreUnavailable, match="is closed"):
        await opened.write(note(99))
    with pytest.raises(StoreUnavailable, match="is closed"):
        await opened.read(lambda tx: None)
    raw = sqlite3.connect(tmp_path / "d.db")
    assert raw.execute("SELECT count(*) FROM notes").fetchone() == (20,)
    raw.close()


async def test_reading_cannot_write(database: SqliteDatabase) -> None:
    with pytest.raises(StoreUnavailable, match="readonly"):
        await database.read(lambda tx: tx.raw.execute("DELETE FROM notes"))


async def test_a_waiter_who_left_does_not_disturb_the_others(database: SqliteDatabase) -> None:
    writes = [asyncio.create_task(database.write(note(number))) for number in range(10)]
    await asyncio.sleep(0)
    writes[3].cancel()
    await asyncio.gather(*writes, return_exceptions=True)
    assert set(await notes(database)) >= {0, 1, 2, 4, 5, 6, 7, 8, 9}


# --- locked


@contextmanager
def locked(path: Path) -> Iterator[None]:
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    try:
        yield
    finally:
        other.execute("ROLLBACK")
        other.close()


async def test_a_locked_file_says_so_and_takes_writes_after_its_release(
    database: SqliteDatabase,
) -> None:
    with locked(database.path):
        answers = await asyncio.gather(
            *(database.write(note(n)) for n in range(5)), return_exceptions=True
        )
        assert all(isinstance(answer, StoreUnavailable) for answer in answers)
        assert "locked: another program holds the file; close it or wait" in str(answers[0])
        assert str(database.path) in str(answers[0])
        assert await notes(database) == [], "reading goes on"
    await database.write(note(7))
    assert await notes(database) == [7]


async def test_a_short_lock_is_waited_out(database: SqliteDatabase) -> None:
    await database.write(lambda tx: tx.raw.execute("PRAGMA busy_timeout=5000").close(), single=True)
    with locked(database.path):
        write = asyncio.create_task(database.write(note(1)))
        await asyncio.sleep(0.1)
        assert not write.done()
    assert await write == 1


async def test_a_file_locked_for_itself_by_another_program_cannot_be_opened(tmp_path: Path) -> None:
    path = tmp_path / "d.db"
    await (await SqliteDatabase.open(path)).close()
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("PRAGMA locking_mode=EXCLUSIVE")
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreUnavailable, match="another program holds the file"):
        await SqliteDatabase.open(path)
    other.close()
    await (await SqliteDatabase.open(path)).close()


def working(seen: list[str]) -> Any:
    async def one(env: Envelope, ctx: Any, settings: Any) -> dict[str, Any]:
        seen.append("one")
        return {"text": "x" * 2000}

    async def two(env: Envelope, ctx: Any, settings: Any) -> dict[str, Any]:
        await asyncio.sleep(0.02)
        return {"text": "y" * 2000}

    parts = Parts(services={"one": one, "two": two})
    return lambda gate: a_flow(chain_of(["one", "two"]), parts)


async def test_runs_in_flight_wait_for_a_locked_file_and_finish(tmp_path: Path) -> None:
    async with engine(tmp_path / "d.db", working([])) as desk:
        ids = [(await desk.dispatcher.submit(a_message(number))).run_id for number in range(8)]
        with locked(desk.database.path):
            with pytest.raises(StoreUnavailable):
                await desk.dispatcher.submit(a_message("refused"))
            await asyncio.sleep(0.5)
        async with asyncio.timeout(PATIENCE):
            statuses = [await desk.dispatcher.wait(run_id) for run_id in ids]
            await desk.work(a_message("refused"))
        assert set(statuses) == {RunStatus.DONE}
        assert [len(await desk.store.rows(run_id)) for run_id in ids] == [2] * 8
        assert (await verify_desk(desk.store)).ok


# --- read-only


@contextmanager
def unwritable(path: Path) -> Iterator[None]:
    """Not even for root, whom permissions do not stop."""
    mode = path.stat().st_mode
    if os.geteuid() == 0:
        if subprocess.run(["chattr", "+i", path], capture_output=True, check=False).returncode != 0:
            pytest.skip("this file system cannot make a file immutable")
    else:
        path.chmod(mode & ~0o222)
    try:
        yield
    finally:
        if os.geteuid() == 0:
            subprocess.run(["chattr", "-i", path], check=True)
        else:
            path.chmod(mode)


async def test_a_read_only_file_can_be_read_and_says_what_to_do_when_written(
    tmp_path: Path,
) -> None:
    path = tmp_path / "d.db"
    database = await SqliteDatabase.open(path)
    await SqliteStore(database, "desk").accept(a_message(1), flow="flow")
    await database.close()
    with unwritable(path):
        database = await SqliteDatabase.open(path)
        store = SqliteStore(database, "desk")
        assert len(await store.runs()) == 1
        for _ in range(2):
            with pytest.raises(
                StoreUnavailable, match="read-only; make both writable for this user"
            ):
                await store.accept(a_message(2), flow="flow")
        await database.close()
        with pytest.raises(StoreUnavailable, match="make both writable for this user"):
            async with engine(path, working([])):
                pass
    async with engine(path, working([]), desk="desk") as desk:
        await desk.work(a_message(2))
        assert len(await desk.store.runs()) == 2


async def test_a_read_only_folder_says_what_to_do(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    with (
        unwritable(folder),
        pytest.raises(StoreUnavailable, match="may not be written; create it or choose another"),
    ):
        await SqliteDatabase.open(folder / "d.db")
    path = folder / "d.db"
    await (await SqliteDatabase.open(path)).close()
    with unwritable(folder), pytest.raises(StoreUnavailable, match=r"writable|may not be written"):
        await SqliteDatabase.open(path)


# --- full


async def pages(database: SqliteDatabase, spare: int | None) -> None:
    """Leave room for this many more pages; None for as many as there is disk."""

    def op(tx: Tx) -> None:
        used = tx.raw.execute("PRAGMA page_count").fetchone()[0]
        tx.raw.execute(
            f"PRAGMA max_page_count={1_000_000 if spare is None else used + spare}"
        ).close()

    await database.write(op, single=True)


async def test_what_does_not_fit_is_refused_whole_and_fits_again_later(
    database: SqliteDatabase,
) -> None:
    await pages(database, 2)

    def large(tx: Tx) -> None:
        for number in range(100, 120):
            tx.raw.execute("INSERT INTO notes VALUES(?,?)", (number, "x" * 8000))

    before = await notes(database)
    with pytest.raises(
        StoreUnavailable, match="the disk is full; make room, nothing accepted so far is lost"
    ):
        await database.write(large)
    assert await notes(database) == before, "nothing half written"
    await pages(database, None)
    await database.write(large)
    assert len(await notes(database)) == 20


async def test_a_desk_on_a_full_disk_loses_nothing_and_goes_on(tmp_path: Path) -> None:
    async with engine(tmp_path / "d.db", working([])) as desk:
        await pages(desk.database, 12)
        accepted: list[str] = []
        refused: list[Any] = []
        for number in range(60):
            try:
                accepted.append(
                    (await desk.dispatcher.submit(a_message(number, body="z" * 3000))).run_id
                )
            except StoreUnavailable as error:
                refused.append((number, error))
        assert accepted
        assert refused
        assert "the disk is full" in str(refused[0][1])
        await asyncio.sleep(0.3)
        await pages(desk.database, None)
        async with asyncio.timeout(PATIENCE):
            for number, _ in refused:
                accepted.append(
                    (await desk.dispatcher.submit(a_message(number, body="z" * 3000))).run_id
                )
            statuses = [await desk.dispatcher.wait(run_id) for run_id in accepted]
        assert set(statuses) == {RunStatus.DONE}
        assert len(set(accepted)) == len(accepted) == 60
        assert [len(await desk.store.rows(run_id)) for run_id in accepted] == [2] * 60
        assert (await verify_desk(desk.store)).ok


@contextmanager
def small_disk(folder: Path, size: str) -> Iterator[None]:
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", folder], capture_output=True
    )
    if mounted.returncode != 0:
        pytest.skip("this user may not mount a small disk")
    try:
        yield
    finally:
        subprocess.run(["umount", folder], check=True)


async def test_a_disk_that_is_really_full(tmp_path: Path) -> None:
    folder = tmp_path / "disk"
    with small_disk(folder, "3m"):
        async with engine(folder / "d.db", working([])) as desk:
            filler = folder / "filler"
            room = os.statvfs(folder)
            filler.write_bytes(b"\0" * (room.f_bavail * room.f_frsize - 200_000))
            accepted: list[str] = []
            refused: list[str] = []
            for number in range(150):
                try:
                    accepted.append(
                        (await desk.dispatcher.submit(a_message(number, body="z" * 3000))).run_id
                    )
                except StoreUnavailable as error:
                    refused.append(str(error))
            assert refused
            assert all("the disk" in words for words in refused)
            await asyncio.sleep(0.3)
            filler.unlink()
            async with asyncio.timeout(PATIENCE):
                statuses = [await desk.dispatcher.wait(run_id) for run_id in accepted]
            assert set(statuses) == {RunStatus.DONE}
            assert len(await desk.store.runs(limit=500)) == len(accepted)
            assert (await verify_desk(desk.store)).ok


# --- not what it should be


async def test_what_is_not_a_database_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "d.db"
    path.write_bytes(b"my diary, page one\n" * 1000)
    with pytest.raises(StoreUnavailable, match="this is not a SQLite file; choose another path"):
        await SqliteDatabase.open(path)
    assert path.read_bytes().startswith(b"my diary")


@pytest.mark.parametrize("place", ["missing/d.db", "."])
async def test_a_folder_that_is_missing_or_in_the_way_says_so(tmp_path: Path, place: str) -> None:
    with pytest.raises(StoreUnavailable, match="the folder does not exist or may not be written"):
        await SqliteDatabase.open(tmp_path / place)


async def test_a_damaged_page_is_an_error_and_not_wrong_data(tmp_path: Path) -> None:
    path = tmp_path / "d.db"
    database = await SqliteDatabase.open(path)
    store = SqliteStore(database, "desk")
    for number in range(200):
        await store.accept(a_message(number, body="x" * 500), flow="flow")
    await database.checkpoint()
    await database.close()
    raw = bytearray(path.read_bytes())
    raw[len(raw) // 2 :] = b"\xa5" * (len(raw) - len(raw) // 2)
    path.write_bytes(raw)
    with pytest.raises(StoreUnavailable, match="the file is damaged; restore it from a backup"):
        await everything_read(path)


async def everything_read(path: Path) -> None:
    database = await SqliteDatabase.open(path)
    try:
        await verify_desk(SqliteStore(database, "desk"))
    finally:
        await database.close()


async def test_a_checkpoint_in_trouble_is_explained(
    database: SqliteDatabase, tmp_path: Path
) -> None:
    database.path = tmp_path / "missing" / "d.db"
    with pytest.raises(StoreUnavailable, match="unable to open"):
        await database.checkpoint()
    database.path = tmp_path / "d.db"
