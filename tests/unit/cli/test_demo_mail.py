"""The sample mail of the demo: written this week, whatever week it is."""

import re
from datetime import datetime, timedelta
from email.utils import parsedate_to_datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from deskhand.cli.demo_mail import dated_now
from deskhand.cli.terminal import program
from deskhand.mail import parse

ZONE = ZoneInfo("Europe/Prague")
SAMPLES = Path(__file__).parents[3] / "src" / "deskhand" / "desks" / "inbox" / "samples"
MOMENTS = [
    datetime(2026, 11, 16, 9, 0, tzinfo=ZONE),
    datetime(2027, 7, 4, 23, 30, tzinfo=ZONE),
    datetime(2028, 2, 29, 12, 0, tzinfo=ZONE),
]


@pytest.mark.parametrize("now", MOMENTS)
def test_every_sample_is_written_this_week_and_not_later_than_now(now: datetime) -> None:
    for file in SAMPLES.glob("*.eml"):
        headers = parse(dated_now(file.read_bytes(), now)).headers
        written = parsedate_to_datetime(headers["date"])
        assert now - timedelta(days=7) < written <= now, file.name


@pytest.mark.parametrize("now", MOMENTS)
def test_invitations_lie_ahead_on_the_same_weekday_and_hour(now: datetime) -> None:
    mail = dated_now((SAMPLES / "en-meeting-showroom.eml").read_bytes(), now).decode()
    start = re.search(r"DTSTART:(\S+)Z", mail)
    assert start is not None
    begins = datetime.fromisoformat(f"{start[1]}+00:00").astimezone(ZONE)
    assert now < begins < now + timedelta(days=14)
    assert (begins.strftime("%A"), begins.hour) == ("Tuesday", 15)


def test_a_command_is_printed_as_it_can_be_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    installed = tmp_path / "my env" / "bin" / "deskhand"
    installed.parent.mkdir(parents=True)
    installed.write_text("")
    installed.chmod(0o755)

    monkeypatch.setattr("sys.argv", ["my env/bin/deskhand", "demo"])
    monkeypatch.setenv("PATH", "/usr/bin")
    assert program() == "'my env/bin/deskhand'"

    monkeypatch.setenv("PATH", str(installed.parent))
    assert program() == "deskhand"

    monkeypatch.setattr("sys.argv", ["/somewhere/deskhand/cli/__main__.py", "demo"])
    assert program().endswith(" -m deskhand.cli")
