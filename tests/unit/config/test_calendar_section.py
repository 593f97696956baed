"""The calendar in desk.yaml: what is read from it, and what is told about mistakes."""

from datetime import date, timedelta
from pathlib import Path
from textwrap import dedent

import pytest

from deskhand.config.desk import DeskSpec, load_desk
from deskhand.errors import ConfigErrors

FLOWS = """
flows:
  inbox:
    stages:
      classify: {task: classify, categories: [inquiry, complaint]}
"""
CALDAV = "url: https://dav.acme.example/support/, user: support"


def loaded(folder: Path, text: str) -> DeskSpec:
    (folder / "desk.yaml").write_text(
        "desk: acme\ntime_zone: Europe/Prague\n" + dedent(text) + FLOWS
    )
    return load_desk(folder)


def test_without_a_word_the_calendar_is_in_the_database_and_has_office_hours(
    tmp_path: Path,
) -> None:
    calendar = loaded(tmp_path, "").calendar
    assert (calendar.caldav, calendar.ics, calendar.zone) == (None, (), "Europe/Prague")
    assert calendar.openings == dict.fromkeys(range(5), ((540, 1020),))
    assert calendar.slot == timedelta(minutes=30)
    assert calendar.notice == timedelta(hours=4)
    assert calendar.horizon == timedelta(days=14)


def test_everything_that_can_be_said(tmp_path: Path) -> None:
    text = f"""
    calendar:
      caldav: {{{CALDAV}, password_file: secrets/calendar, ca_file: ca.pem}}
      working_hours: {{mon-thu: "9:00-12:00, 13:00-17:00", fri: 9:00-14:00}}
      closed: [2026-12-24, "2026-12-25"]
      holidays: [US, NO, DE-BY]
      time_zone: America/New_York
      slot: 45 min
      notice: 1 day
      horizon: 3 weeks
      hold_for: 36 hours
      title: Call with a customer
    """
    calendar = loaded(tmp_path, text).calendar
    assert calendar.caldav is not None
    assert calendar.caldav.url == "https://dav.acme.example/support/"
    assert calendar.caldav.login.user == "support"
    assert calendar.caldav.login.password_file == tmp_path / "secrets" / "calendar"
    assert calendar.caldav.ca_file == tmp_path / "ca.pem"
    assert calendar.openings[4] == ((540, 840),)
    assert calendar.closed == {date(2026, 12, 24), date(2026, 12, 25)}
    assert calendar.holidays == ("US", "NO", "DE-BY")
    assert (calendar.zone, calendar.slot) == ("America/New_York", timedelta(minutes=45))
    assert (calendar.notice, calendar.horizon) == (timedelta(days=1), timedelta(weeks=3))
    assert (calendar.hold_for, calendar.title) == (timedelta(hours=36), "Call with a customer")


def test_one_country_need_not_be_a_list(tmp_path: Path) -> None:
    assert loaded(tmp_path, "calendar: {holidays: CZ}").calendar.holidays == ("CZ",)
    assert loaded(tmp_path, "").calendar.holidays == ()


def test_files_are_found_beside_the_desk(tmp_path: Path) -> None:
    (tmp_path / "team.ics").touch()
    assert loaded(tmp_path, "calendar: {ics: [team.ics]}").calendar.ics == (tmp_path / "team.ics",)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{database: true, ics: [desk.yaml]}", "several places: ics, database"),
        ("{database: false}", "names no calendar"),
        (f"{{caldav: {{{CALDAV}}}}}", "where the password lies"),
        (f"{{caldav: {{{CALDAV}, password_file: a, password_env: B}}}}", "several secrets"),
        (
            "{caldav: {url: 'http://dav.acme.example/', user: a, password_env: B}}",
            "for everybody to read",
        ),
        ("{caldav: {url: dav.acme.example, user: a, password_env: B}}", "url"),
        ("{ics: [no.ics]}", "there is no file no.ics"),
        ("{time_zone: Europe/Prag}", "did you mean `Europe/Prague`"),
        ("{working_hours: {monday: 9:00-17:00}}", "no weekday"),
        ("{working_hours: {mon: 9-17}}", "write `9:00-17:00`"),
        ("{slot: 9 hours}", "does not fit"),
        ("{slot: 1 min}", "cannot take 1 min"),
        ("{slot: half an hour}", "slot"),
        ("{notice: 20 days}", "make the horizon longer"),
        ("{horizon: 60 weeks}", "more than a year"),
        ("{closed: [2026-13-24]}", "there is no day"),
        ("{hours: 5}", "hours"),
        ("{holidays: XX}", "the public holidays of `XX` are not known"),
        ("{holidays: cz}", "write `CZ`"),
        ("{holidays: Czechia}", "write `CZ`"),
        ("{holidays: [CZ, DEU]}", "write `DE`"),
        ("{holidays: DE-XY}", "write `DE` alone, or one of DE-BB, DE-BE, DE-BW, DE-BY"),
        ("{holidays: AT-}", "write `AT` alone"),
        ("{holidays: 42}", "holidays"),
        ("{holidays: []}", "holidays"),
    ],
)
def test_a_mistake_is_told_with_its_line_and_what_to_write(
    tmp_path: Path, text: str, said: str
) -> None:
    with pytest.raises(ConfigErrors) as raised:
        loaded(tmp_path, f"calendar: {text}\n")
    assert len(raised.value.problems) == 1, raised.value
    (problem,) = raised.value.problems
    assert said in str(problem)
    assert problem.line == 3
    assert problem.fix
