"""What was recorded, once more: identical through the same desk, and exactly the difference
through another."""

from pathlib import Path

import pytest

from deskhand.evals.recorded_runs import RunRange
from deskhand.model.run import Decision, RunStatus
from deskhand.wiring import open_database, open_store
from tests.automatic import automatic_copy
from tests.eval_kit import a_desk
from tests.replay_kit import changes_of, recording, replayed, verdicts

HELD = "I want my money back for P-1"
REFUND = "Parcel P-1002 is cracked, I want a refund."


@pytest.fixture
def sample(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SAMPLE_RETURNS", str(tmp_path / "returns"))
    folder = tmp_path / "sample"
    automatic_copy("sample", folder)
    return folder


async def all_kinds(folder: Path, database: Path) -> dict[str, str]:
    """Everything that can happen to a message of the sample desk; run ids by what happened."""
    runs: dict[str, str] = {}
    async with recording(folder, database) as desk:
        store = desk.desk.store
        runs["answered"] = await desk.say("Where is my parcel P-1001?")
        runs["spam"] = await desk.say("You have won the lottery")
        runs["waits"] = await desk.say("Do you sell gift cards?")
        for decision, more in (
            (Decision.APPROVE, {}),
            (Decision.EDIT, {"edit": {"text": "Sorry! Your shop"}}),
            (Decision.REJECT, {"note": "no"}),
            (Decision.TAKE_OVER, {}),
        ):
            runs[decision] = await desk.say(REFUND, f"conversation-{decision}")
            await desk.decide(runs[decision], decision, **more)
        runs["silent"] = await desk.say("Hello?", f"conversation-{Decision.TAKE_OVER}")
        await store.give_back(f"conversation-{Decision.TAKE_OVER}", "eve")
        await store.requeue(runs["silent"], "eve")
        await desk.go_on(runs["silent"])
        runs["revised"] = await desk.say(REFUND)
        await desk.decide(runs["revised"], Decision.REVISE, note="Shorter, please.")
        await desk.decide(runs["revised"], Decision.APPROVE)
        runs["asked"] = await desk.say("Where is my parcel?", "asking")
        runs["adopted"] = await desk.say("It is P-1003", "asking")
        runs["stale"] = await desk.say(REFUND, "twice")
        runs["both"] = await desk.say("And when will you pay?", "twice")
        await desk.decide(runs["both"], Decision.APPROVE)
        runs["cancelled"] = await desk.say("Do you have a shop in Prague?")
        await store.cancel(runs["cancelled"], "eve")
    return runs


async def test_an_unchanged_desk_replays_every_kind_of_run_identically(
    sample: Path, tmp_path: Path
) -> None:
    runs = await all_kinds(sample, tmp_path / "desk.db")
    found, _ = await replayed(tmp_path / "desk.db", sample)
    assert verdicts(found) == dict.fromkeys(runs.values(), "identical")
    assert (found.decisions_left_out, found.tool_results_missing, found.skipped) == (0, 0, [])
    assert found.decisions == 9
    assert not (tmp_path / "returns").exists() or len(list((tmp_path / "returns").iterdir())) == 7


async def test_a_run_is_replayed_with_what_it_built_on(sample: Path, tmp_path: Path) -> None:
    runs = await all_kinds(sample, tmp_path / "desk.db")
    for name in ("adopted", "both", "silent"):
        found, _ = await replayed(tmp_path / "desk.db", sample, RunRange(runs[name]))
        assert verdicts(found) == {runs[name]: "identical"}


async def test_a_changed_route_is_told_for_the_messages_it_concerns(
    sample: Path, tmp_path: Path
) -> None:
    runs = await all_kinds(sample, tmp_path / "desk.db")
    text = (sample / "desk.yaml").read_text()
    (sample / "desk.yaml").write_text(text.replace("auto_send_at: 0.8", "auto_send_at: 0.2"))
    found, _ = await replayed(tmp_path / "desk.db", sample)
    changed = {run for run, verdict in verdicts(found).items() if verdict == "changed"}
    assert changed == {runs["waits"], runs["cancelled"], runs["silent"]}
    assert changes_of(found, runs["waits"])["status"] == ("waiting_review", "needs_review")


async def test_a_decision_stands_only_where_the_question_is_the_same(
    sample: Path, tmp_path: Path
) -> None:
    runs = await all_kinds(sample, tmp_path / "desk.db")
    rules = (sample / "brain.yaml").read_text()
    (sample / "brain.yaml").write_text(
        rules.replace("we are sorry about parcel", "we regret what happened to")
    )
    found, _ = await replayed(tmp_path / "desk.db", sample)
    refunds = {
        runs[name] for name in ("revised", "stale", "both", "silent", *Decision) if name in runs
    }
    assert {run for run, verdict in verdicts(found).items() if verdict == "changed"} == refunds
    assert changes_of(found, runs[Decision.APPROVE])["status"] == ("sent", "waiting_review")
    assert found.decisions_left_out >= 6


async def test_a_held_call_and_what_was_decided_about_it(tmp_path: Path) -> None:
    folder = a_desk(tmp_path / "desk")
    tools = (folder / "tools.py").read_text()
    (folder / "tools.py").write_text(
        tools.replace(
            'raise AssertionError("an eval must never get here")', "return {'paid': amount}"
        )
    )
    async with recording(folder, tmp_path / "desk.db") as desk:
        approved = await desk.say(HELD, customer_id="ann")
        await desk.decide(approved, Decision.APPROVE)
        rejected = await desk.say(HELD, customer_id="ann")
        await desk.decide(rejected, Decision.REJECT, note="too much")
        assert (await desk.desk.store.run(approved)).status is RunStatus.SENT
    found, _ = await replayed(tmp_path / "desk.db", folder)
    assert verdicts(found) == {approved: "identical", rejected: "identical"}
    (folder / "tools.py").write_text(
        tools.replace('effect="irreversible", risk="high"', 'effect="reversible"')
    )
    found, _ = await replayed(tmp_path / "desk.db", folder)
    assert changes_of(found, rejected)["verdicts"][1] == [
        {"tool": "find_order", "verdict": "allow", "rule": "allowed"},
        {"tool": "refund", "verdict": "allow", "rule": "allowed"},
    ]


async def test_what_was_looked_up_then_counts_not_what_is_there_now(tmp_path: Path) -> None:
    """The order was on its way when the customer asked; by now it is delivered."""
    folder = a_desk(tmp_path / "desk")
    async with recording(folder, tmp_path / "desk.db") as desk:
        run = await desk.say("Where is my order P-1?")
    tools = (folder / "tools.py").read_text()
    (folder / "tools.py").write_text(tools.replace("on its way", "delivered"))
    found, _ = await replayed(tmp_path / "desk.db", folder)
    assert verdicts(found) == {run: "identical"}
    assert (found.tool_results, found.tool_results_missing) == (1, 0)


async def test_another_call_than_was_recorded_is_captured_and_counted(tmp_path: Path) -> None:
    folder = a_desk(tmp_path / "desk")
    async with recording(folder, tmp_path / "desk.db") as desk:
        run = await desk.say("Where is my order P-1?")
    rules = (folder / "brain.yaml").read_text()
    (folder / "brain.yaml").write_text(
        rules.replace("{values: {order: P-1}", "{values: {order: P-2}")
    )
    found, _ = await replayed(tmp_path / "desk.db", folder)
    assert found.tool_results_missing == 1
    assert changes_of(found, run)["tools"] == (
        [{"tool": "find_order", "arguments": {"order": "P-1"}}],
        [{"tool": "find_order", "arguments": {"order": "P-2"}}],
    )


async def test_failures_and_retries_replay_as_they_were(tmp_path: Path) -> None:
    """A service that fails twice of three times, one that needs a machine far away, one that
    takes too long, and a reply that waits because it cannot leave."""
    folder = a_desk(tmp_path / "desk")
    (folder / "desk.yaml").write_text(FAULTY)
    (folder / "tools.py").write_text(FAULTY_TOOLS.replace("COUNTER", str(tmp_path / "counter")))
    (tmp_path / "blocked").write_text("a file where the outbox should be")
    async with recording(folder, tmp_path / "desk.db", outbox=tmp_path / "blocked") as desk:
        runs = [await desk.say(text) for text in ("shaky", "far away", "too slow", "undelivered")]
        stored = [await desk.desk.store.run(run) for run in runs]
    assert [(run.status, run.error_code) for run in stored] == [
        ("done", None),
        ("done", None),
        ("needs_review", "stage_timeout"),
        ("waiting_review", None),
    ]
    (tmp_path / "counter").unlink()
    found, _ = await replayed(tmp_path / "desk.db", folder)
    assert verdicts(found) == dict.fromkeys(runs, "identical")


FAULTY = """
desk: shop
mode: auto
brain: {scripted: brain.yaml}
flows:
  main:
    stages:
      draft:
        task: draft
        routes:
          - when: {raw_input: shaky}
            to: shaky
          - when: {raw_input: far away}
            to: far
          - when: {raw_input: too slow}
            to: slow
        next: dispatch
      shaky: {service: shaky, next: end}
      far: {service: far, next: end}
      slow: {service: slow, timeout: 0.2, attempts: 1, next: end}
      dispatch: {service: dispatch, attempts: 1}
"""
FAULTY_TOOLS = '''
import asyncio
import socket
from contextlib import suppress
from pathlib import Path

from deskhand import service

COUNT = Path("COUNTER")


@service("shaky")
async def shaky(envelope, ctx, settings):
    COUNT.write_text((COUNT.read_text() if COUNT.exists() else "") + "x")
    if len(COUNT.read_text()) < 2:
        raise OSError("not yet")
    return {"tried": "often"}


@service("far")
async def far(envelope, ctx, settings):
    """A datagram socket that connects sends nothing, but it is as good as any to be refused."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as out, suppress(OSError):
        out.connect(("203.0.113.1", 9))
    return {"seen": "the world"}


@service("slow")
async def slow(envelope, ctx, settings):
    await asyncio.sleep(60)
'''


async def test_what_was_erased_or_is_at_work_is_left_out_by_name(
    sample: Path, tmp_path: Path
) -> None:
    async with recording(sample, tmp_path / "desk.db") as desk:
        gone = await desk.say("Where is my parcel P-1001?", **{"from": "bob@example.com"})
        kept = await desk.say("Where is my parcel P-1001?")
        await desk.desk.store.erase("bob@example.com", "officer")
    found, _ = await replayed(tmp_path / "desk.db", sample)
    assert verdicts(found) == {kept: "identical"}
    assert found.skipped == [{"run": gone, "why": "it was erased"}]


async def test_the_window_is_by_time_of_acceptance(sample: Path, tmp_path: Path) -> None:
    async with recording(sample, tmp_path / "desk.db") as desk:
        runs = [await desk.say("Where is my parcel P-1001?") for _ in range(3)]
    async with open_database(str(tmp_path / "desk.db")) as database:
        at = (await open_store(database, "sample").run(runs[1])).created_at
    for window, expected in (
        (RunRange(since=at), runs[1:]),
        (RunRange(until=at), runs[:1]),
        (RunRange(since=at + 99), []),
    ):
        found, _ = await replayed(tmp_path / "desk.db", sample, window)
        assert sorted(verdicts(found)) == sorted(expected)


async def test_what_a_cap_or_the_stop_switch_held_is_held_again(
    sample: Path, tmp_path: Path
) -> None:
    """Two replies a day may leave; then the desk is stopped, and later resumed."""
    text = (sample / "desk.yaml").read_text()
    (sample / "desk.yaml").write_text(text + "\ncaps: {day: {sends: 2}}\n")
    async with recording(sample, tmp_path / "desk.db") as desk:
        store = desk.desk.store
        free = [await desk.say("Where is my parcel P-1001?") for _ in range(2)]
        capped = await desk.say("Where is my parcel P-1003?")
        assert (await store.run(capped)).status is RunStatus.WAITING_REVIEW
        await desk.decide(capped, Decision.APPROVE)
        await store.stop("eve", "fire drill")
        stopped = await desk.say(REFUND)
        await store.resume("eve")
        await desk.go_on(stopped)
    found, _ = await replayed(tmp_path / "desk.db", sample)
    assert verdicts(found) == dict.fromkeys([*free, capped, stopped], "identical")


async def test_mail_that_programs_send_is_left_alone_again(sample: Path, tmp_path: Path) -> None:
    async with recording(sample, tmp_path / "desk.db") as desk:
        away = await desk.say(
            "I am on holiday until Monday. P-1001", headers={"auto-submitted": "auto-replied"}
        )
        assert (await desk.desk.store.run(away)).status is RunStatus.DONE
    found, _ = await replayed(tmp_path / "desk.db", sample)
    assert verdicts(found) == {away: "identical"}
