"""A desk's calendar, as written in desk.yaml: where it lies, when somebody is there, what is
offered."""

from datetime import date, timedelta
from pathlib import Path
from typing import Annotated, Any
from zoneinfo import ZoneInfo

from pydantic import Discriminator, Field, Tag

from deskhand.config.sections.channels import Login
from deskhand.config.sections.section import DeskFile, Items, Section, Variable
from deskhand.measures import measure
from deskhand.model.frozen import Frozen
from deskhand.scheduling.hours import Hours, Opening, read_hours
from deskhand.scheduling.slots import Offering

TimeText = Annotated[str, Field(pattern=r"^[0-9]{1,5} (min|minutes?|hours?|days?|weeks?)$")]
DayText = Annotated[str, Field(pattern=r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$")]

Place = Annotated[str, Field(min_length=2, max_length=60)]


def _places_form(value: Any) -> str:
    return "holidays: one" if isinstance(value, str) else "holidays: list"


Places = Annotated[
    Annotated[Place, Tag("holidays: one")]
    | Annotated[Annotated[list[Place], Field(min_length=1)], Tag("holidays: list")],
    Discriminator(_places_form),
]


class CalDavSection(Section):
    """A calendar on a CalDAV server: `{url: https://dav.example.com/support/, user: ...,
    password_file: ...}`."""

    url: str = Field(pattern=r"^https?://[^\s@]+$", max_length=2000)
    """The calendar's own address, as `https://dav.example.com/calendars/support/meetings/`."""
    user: str = Field(min_length=1)
    """The name to log in with."""
    password_file: DeskFile | None = None
    """The file that holds the password, relative to the desk's folder."""
    password_env: Variable | None = None
    """The environment variable that holds the password, as `CALENDAR_PASSWORD`."""
    ca_file: DeskFile | None = None
    """Certificates to trust instead of the system's, relative to the desk's folder."""


class CalendarSection(Section):
    """The calendar whose free times are offered: in the desk's own database unless `caldav` or
    `ics` names another."""

    caldav: CalDavSection | None = None
    """A calendar on a CalDAV server: read, and what is agreed is written there."""
    ics: Items[DeskFile] | None = Field(default=None, min_length=1)
    """Calendar files that say when somebody is busy, relative to the desk's folder; they are
    only read."""
    database: bool | None = None
    """`true` for the calendar in the desk's own database, which is the default."""
    working_hours: dict[str, str] = Field(default={"mon-fri": "9:00-17:00"}, min_length=1)
    """When somebody is there: `{mon-thu: "9:00-12:00, 13:00-17:00", fri: "9:00-14:00"}`."""
    closed: list[DayText] = Field(default_factory=list[DayText])
    """Days on which nobody is there, as `[2026-12-24]`."""
    holidays: Places | None = None
    """Whose public holidays are days on which nobody is there: a country, as `CZ`, a region of
    one, as `DE-BY`, or a list of them; none if absent."""
    time_zone: str | None = None
    """The zone of the working hours, as `Europe/Prague`; the desk's if absent."""
    slot: TimeText = "30 min"
    """How long an appointment is, as `30 min`."""
    notice: TimeText = "4 hours"
    """How soon an appointment may begin, counted from now."""
    horizon: TimeText = "14 days"
    """How far ahead appointments are offered."""
    hold_for: TimeText = "2 days"
    """How long a time stays held while the reply that speaks of it waits."""
    title: str = Field(default="Appointment", min_length=1, max_length=200)
    """What an appointment is called in the calendar."""


class CalDavSpec(Frozen):
    url: str
    login: Login
    ca_file: Path | None = None


class CalendarSpec(Frozen):
    """A calendar that was checked; without `caldav` and `ics` it lies in the desk's own
    database."""

    caldav: CalDavSpec | None = None
    ics: tuple[Path, ...] = ()
    zone: str = "UTC"
    openings: dict[int, tuple[Opening, ...]] = Field(default_factory=dict)
    closed: frozenset[date] = frozenset()
    holidays: tuple[str, ...] = ()
    slot: timedelta = timedelta(minutes=30)
    notice: timedelta = timedelta(hours=4)
    horizon: timedelta = timedelta(days=14)
    hold_for: timedelta = timedelta(days=2)
    title: str = "Appointment"

    @property
    def offering(self) -> Offering:
        hours = Hours(ZoneInfo(self.zone), self.openings, self.closed, self.holidays)
        return Offering(hours, self.slot, self.notice, self.horizon)


def calendar_spec(written: CalendarSection, folder: Path, desk_zone: str) -> CalendarSpec:
    """The calendar with its hours and lengths read; it must have passed the checks."""
    section = written.beside(folder)
    closed = frozenset(date.fromisoformat(day) for day in section.closed)
    return CalendarSpec(
        caldav=None if section.caldav is None else _caldav_spec(section.caldav),
        ics=section.ics or (),
        zone=section.time_zone or desk_zone,
        openings=read_hours(section.working_hours),
        closed=closed,
        holidays=holiday_places(section),
        slot=length(section.slot),
        notice=length(section.notice),
        horizon=length(section.horizon),
        hold_for=length(section.hold_for),
        title=section.title,
    )


def holiday_places(section: CalendarSection) -> tuple[str, ...]:
    """The countries and regions whose public holidays the desk keeps."""
    written = section.holidays
    if written is None:
        return ()
    return (written,) if isinstance(written, str) else tuple(written)


def length(written: str) -> timedelta:
    """`30 min` as a length of time."""
    measured = measure(written)
    assert measured is not None  # the pattern of TimeText
    span: timedelta = measured[1]
    return span


def _caldav_spec(dav: CalDavSection) -> CalDavSpec:
    login = Login(user=dav.user, password_file=dav.password_file, password_env=dav.password_env)
    return CalDavSpec(url=dav.url, login=login, ca_file=dav.ca_file)
