"""A desk that listens has read its lists before the first message comes."""

from pathlib import Path

from deskhand.mail import public_suffixes
from deskhand.scheduling import public_holidays
from deskhand.wiring import open_desk, read_desk
from deskhand.wiring.databases import scratch_database
from deskhand.wiring.serving import read_tables

NOW = 1_800_000_000.0


async def test_no_message_waits_for_the_list_of_endings(tmp_path: Path) -> None:
    public_suffixes._public_suffix_list.cache_clear()
    async with (
        scratch_database() as database,
        open_desk(read_desk("sample"), database, outbox=tmp_path, listen=True),
    ):
        assert public_suffixes._public_suffix_list.cache_info().currsize == 1


def test_no_message_waits_for_the_holidays_of_the_desks_places() -> None:
    public_holidays._holidays.cache_clear()
    spec = read_desk("inbox").spec
    read_tables(spec, NOW)
    places = spec.calendar.offering.hours.holidays
    assert places
    assert public_holidays._holidays.cache_info().currsize == len(places)
