import asyncio
from pathlib import Path

from deskhand.model.notice import NoticeState
from deskhand.wiring import notices_of, open_database
from tests.cli_kit import SAMPLES, Cli, write_message


def test_a_stopped_desk_holds_and_a_resumed_one_goes_on(
    cli: Cli, parcels: Path, tmp_path: Path
) -> None:
    database, outbox = tmp_path / "desk.db", tmp_path / "outbox"
    live = ("--desk", parcels, "--live", "--database", database, "--outbox", outbox, "--json")
    assert cli("run", SAMPLES / "order-status.eml", *live).json["status"] == "sent"
    stopped = cli(
        "stop",
        "sample",
        "--reason",
        "wrong prices",
        "--by",
        "eve",
        "--database",
        database,
        "--json",
    ).json
    assert (stopped["desk"], stopped["stopped"]["by"], stopped["stopped"]["reason"]) == (
        "sample",
        "eve",
        "wrong prices",
    )
    held = cli(
        "run", write_message(tmp_path / "m.json", body="Where is my parcel P-1001?"), *live
    ).json
    assert (held["status"], held["review"]["kind"]) == ("waiting_review", "stopped")
    assert len(list(outbox.glob("*.eml"))) == 1
    assert "stopped by eve" in cli("runs", "list", "--database", database).out
    checked = cli("doctor", "--database", database, "--port", "0", "--json")
    assert checked.code == 1
    assert [check["fix"] for check in checked.json["checks"] if not check["ok"]] == [
        "deskhand resume sample"
    ]
    resumed = cli("resume", "sample", "--database", database, "--json").json
    assert resumed == {"desk": "sample", "resumed": True, "released": 1}
    assert cli("resume", "sample", "--database", database).code == 1


def test_a_desk_nobody_knows_is_a_slip(cli: Cli, tmp_path: Path) -> None:
    database = tmp_path / "desk.db"
    cli(
        "run",
        SAMPLES / "order-status.eml",
        "--desk",
        "sample",
        "--live",
        "--database",
        database,
        "--outbox",
        tmp_path,
    )
    said = cli("stop", "smaple", "--database", database)
    assert said.code == 2
    assert "there is no desk 'smaple'" in said.err


def test_word_that_never_reached_a_reviewer_is_found(cli: Cli, tmp_path: Path) -> None:
    database = tmp_path / "desk.db"
    cli(
        "run",
        SAMPLES / "order-status.eml",
        "--desk",
        "sample",
        "--live",
        "--database",
        database,
        "--outbox",
        tmp_path,
    )

    async def fail() -> None:
        async with open_database(str(database)) as opened:
            notices = notices_of(opened, "sample")
            await notices.put("digest-sample-1", {"to": "lead@acme.example"})
            await notices.settle("digest-sample-1", NoticeState.FAILED, error="no such user")

    asyncio.run(fail())
    checked = cli("doctor", "--database", database, "--port", "0", "--json")
    assert checked.code == 1
    [found] = [check for check in checked.json["checks"] if not check["ok"]]
    assert (found["name"], found["fix"].startswith("check `reviews.notify`")) == ("reviewers", True)
    assert "sample: 1 given up within a week; the last, a digest of" in found["found"]
    assert found["found"].endswith("no such user")
