"""What the black box has played, and what it counts."""

import asyncio
import sqlite3
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path

import pytest

from deskhand.model.run import NewReview, ReviewKind, RunStatus
from deskhand.wiring import open_database, open_store
from deskhand.wiring.databases import DeskStore
from tests.chaos.findings import Answers, Findings, HandedIn, count_findings, errors_in
from tests.chaos.played import BlackBoxTally
from tests.chaos.run_counts import run_counts
from tests.kit import a_message


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[DeskStore]:
    async with open_database(str(tmp_path / "desk.db")) as database:
        yield open_store(database, "mails")


async def _ended(
    store: DeskStore, number: int, status: RunStatus, review: NewReview | None = None
) -> str:
    run = (await store.accept(a_message(number), flow="answer")).run_id
    await store.claim(run, {"answer": "1"})
    await store.finish(run, status, review=review)
    return run


async def _findings(store: DeskStore, handed_in: HandedIn, answers: Answers) -> Findings:
    findings = Findings()
    await count_findings(findings, handed_in, answers, store)
    return findings


async def test_what_has_no_answer_and_is_with_nobody_is_lost(store: DeskStore) -> None:
    hand_over = NewReview(ReviewKind.HAND_OVER, "in five crashes", {})
    sent = await _ended(store, 1, RunStatus.SENT)
    vanished = await _ended(store, 2, RunStatus.SENT)
    failed = await _ended(store, 3, RunStatus.FAILED, hand_over)
    forgotten = await _ended(store, 4, RunStatus.FAILED)
    posted = {sent, vanished, failed, forgotten}

    findings = await _findings(store, HandedIn(posted), Answers(Counter([sent]), Counter()))

    assert (findings.lost, findings.with_a_person, findings.failed) == (2, 1, 2)
    assert findings.doubled == findings.stuck == 0


async def test_a_mail_is_lost_though_others_are_with_a_person(store: DeskStore) -> None:
    hand_over = NewReview(ReviewKind.HAND_OVER, "answered before", {})
    await _ended(store, 1, RunStatus.NEEDS_REVIEW, hand_over)
    await _ended(store, 2, RunStatus.SENT)
    mails = HandedIn(mails={"m1", "m2", "m3"})

    assert (await _findings(store, mails, Answers(Counter(), Counter(["m2"])))).lost == 1
    assert (await _findings(store, mails, Answers(Counter(), Counter(["m2", "m3"])))).lost == 0


async def test_a_second_answer_is_one_too_many(store: DeskStore) -> None:
    run = await _ended(store, 1, RunStatus.SENT)
    answers = Answers(Counter([run, run]), Counter(["m2", "m2", "m2"]))

    assert (await _findings(store, HandedIn({run}), answers)).doubled == 3


async def test_a_run_that_never_came_to_rest_is_stuck(store: DeskStore) -> None:
    run = (await store.accept(a_message(), flow="answer")).run_id

    findings = await _findings(store, HandedIn(), Answers(Counter([run]), Counter()))

    assert findings.stuck == 1


def test_an_interrupted_tally_goes_on_with_the_same_code_only(tmp_path: Path) -> None:
    BlackBoxTally(tmp_path / "tally", "a").add("seed0", Findings(kills=3))

    assert BlackBoxTally(tmp_path / "tally", "a").played["seed0"]["kills"] == 3
    assert not BlackBoxTally(tmp_path / "tally", "b").played


def test_tallies_of_processes_side_by_side_keep_the_games_of_all(tmp_path: Path) -> None:
    first, second = (BlackBoxTally(tmp_path / "tally", "a") for _ in range(2))
    first.add("seed0-sqlite", Findings(kills=3, in_flight=40))
    second.add("seed0-two_workers", Findings(kills=4, in_flight=50))

    assert set(first.played) == set(second.played) == {"seed0-sqlite", "seed0-two_workers"}
    assert "2 games, 7 kills with 90 runs in flight" in str(first)


def test_half_a_file_of_a_killed_process_is_no_game(tmp_path: Path) -> None:
    tally = BlackBoxTally(tmp_path, "a")
    tally.add("seed0", Findings())
    (tmp_path / "seed1.new-17").write_text('{"code": "a", "fin')

    assert set(tally.played) == {"seed0"}


def test_a_process_that_died_by_itself_is_not_well() -> None:
    assert Findings(kills=12, with_a_person=3).is_well
    assert not Findings(died=["with exit code 1"]).is_well


def test_errors_in_a_log_are_counted_by_kind(tmp_path: Path) -> None:
    log = tmp_path / "serve.log"
    log.write_text(
        "23:50:00 info    draft: success\n"
        "23:50:01 error   run run_06gzc8 failed\n"
        "23:50:02 error   run run_07abc9 failed\n"
        "Traceback (most recent call last):\n"
        "sqlalchemy.exc.OperationalError: database is locked\n"
    )

    assert errors_in(log) == {
        "error   run * failed": 2,
        "sqlalchemy.exc.OperationalError: database is locked": 1,
    }


async def test_runs_are_counted_by_status_in_a_file_that_is_replaced(tmp_path: Path) -> None:
    file = tmp_path / "desk.db"
    _write(file, "sent", "sent", "running")

    async with run_counts(str(file), "mails") as counts:
        assert await counts() == {RunStatus.SENT: 2, RunStatus.RUNNING: 1}
        _write(tmp_path / "other.db", "queued")
        await asyncio.to_thread((tmp_path / "other.db").replace, file)
        assert await counts() == {RunStatus.QUEUED: 1}


def _write(file: Path, *statuses: str) -> None:
    with closing(sqlite3.connect(file, isolation_level=None)) as connection:
        connection.execute("CREATE TABLE runs (desk TEXT, status TEXT)")
        rows = [("mails", status) for status in statuses]
        connection.executemany("INSERT INTO runs VALUES (?, ?)", [*rows, ("other", "sent")])
