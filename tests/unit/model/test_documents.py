"""Records as documents: times told, and nothing else touched."""

import random
from dataclasses import dataclass
from datetime import UTC, datetime

from deskhand.model.documents import document, iso_at, with_times
from deskhand.model.run import Event, Run, RunStatus

DAY = 1_800_000_000.0


def test_times_of_a_record_are_iso_in_utc() -> None:
    run = Run(
        id="run_1",
        desk="shop",
        conversation="c",
        position=1,
        message_key="k",
        flow="main",
        status=RunStatus.SENT,
        created_at=DAY,
        updated_at=DAY + 0.5,
    )
    told = document(run)
    assert (told["created_at"], told["updated_at"]) == (
        "2027-01-15T08:00:00.000+00:00",
        "2027-01-15T08:00:00.500+00:00",
    )
    assert (told["id"], told["position"], told["status"]) == ("run_1", 1, "sent")


def test_what_others_wrote_into_it_is_left_alone() -> None:
    told = document(Event("review.snoozed", payload={"until": DAY, "at": 3}, at=DAY))
    assert told["at"] == iso_at(DAY)
    assert told["payload"] == {"until": DAY, "at": 3}


@dataclass(frozen=True)
class Folder:
    made_at: float | None
    events: tuple[Event, ...]


def test_records_inside_a_record_are_told_too() -> None:
    told = document(Folder(None, (Event("x", at=DAY),)))
    assert told["made_at"] is None
    assert told["events"][0]["at"] == iso_at(DAY)


def test_a_row_of_a_view_has_its_own_times_told() -> None:
    row = {"started_at": DAY, "iterations": 3, "tool_calls_log": [{"at": 1}], "finished_at": None}
    assert with_times(row) == {**row, "started_at": iso_at(DAY)}


def test_a_moment_is_told_as_the_standard_library_tells_it() -> None:
    chance = random.Random(80)
    moments = [chance.uniform(0, 4_000_000_000) for _ in range(5_000)]
    moments += [1_800_000_000.9999996, 1_800_000_000.002, 1_800_000_000, 0, -1.5]
    for moment in moments:
        told = datetime.fromtimestamp(moment, UTC).isoformat(timespec="milliseconds")
        assert iso_at(moment) == told
