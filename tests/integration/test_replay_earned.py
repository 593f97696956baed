"""A replay meets the modes that were in force then, not those that desk.yaml allows at most."""

from pathlib import Path

from deskhand.model.queue import ReviewFilter
from deskhand.model.run import Decision
from tests.replay_kit import changes_of, recording, replayed, verdicts
from tests.trust_kit import write_desk

SETTINGS = "start: draft, promote_at: 0.5, fall_back_at: 0.1, at_least: 5, spot_check: 1"


async def test_runs_of_every_mode_replay_identically(tmp_path: Path) -> None:
    folder, database = write_desk(tmp_path, SETTINGS), tmp_path / "desk.db"
    async with recording(folder, database) as desk:
        trust, store = desk.desk.trust, desk.desk.store
        drafted = await desk.say("Where is it?")
        await desk.decide(drafted, Decision.EDIT, edit={"text": "It left."})
        await desk.say("And the other one?")
        await trust.promote("inquiry", "olga", force=True, reason="trying it")
        checked = await desk.say("Where is mine?")
        assert (await store.find_reviews(ReviewFilter(run_id=checked)))[0].payload[
            "waits"
        ] == "spot_check"
        await desk.decide(checked, Decision.APPROVE)
        await trust.lower("inquiry", "shadow", "olga", "for a while")
        shadowed = await desk.say("Where are they?")
        assert (await store.run(shadowed)).status == "done"
    found, _ = await replayed(database, folder)
    told = verdicts(found)
    assert len(told) == 4
    assert set(told.values()) == {"identical"}, [changes_of(found, run) for run in told]


async def test_a_mode_that_is_not_allowed_any_more_is_not_met(tmp_path: Path) -> None:
    folder = write_desk(tmp_path, SETTINGS.replace("start: draft", "start: auto"))
    async with recording(folder, tmp_path / "desk.db") as desk:
        checked = await desk.say("Where is mine?")
        await desk.decide(checked, Decision.APPROVE)
    file = folder / "desk.yaml"
    file.write_text(file.read_text().replace("inquiry: auto", "inquiry: draft"))
    found, _ = await replayed(tmp_path / "desk.db", folder)
    assert verdicts(found) == {checked: "changed"}
