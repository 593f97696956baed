"""What makes a calendar wrong: two places at once, hours nobody can read, slots that fit
nowhere."""

from datetime import date, timedelta
from urllib.parse import urlsplit
from zoneinfo import available_timezones

from deskhand.config.rules.finding import ConfigFinding, ConfigFindings, DeskDraft
from deskhand.config.sections.calendar import (
    CalDavSection,
    CalendarSection,
    holiday_places,
    length,
)
from deskhand.config.suggestions import did_you_mean
from deskhand.scheduling.hours import HoursUnreadable, read_hours
from deskhand.scheduling.public_holidays import HolidaysUnknown, check_place

_PLACE = ("calendar",)
_THIS_MACHINE = ("localhost", "127.0.0.1", "::1")
_LONGEST_SLOT = timedelta(hours=24)
_LONGEST_HORIZON = timedelta(days=366)


def calendar_findings(draft: DeskDraft) -> ConfigFindings:
    section = draft.desk.calendar
    yield from _kind(section)
    if section.caldav is not None:
        yield from _caldav(section.caldav)
    yield from _files(draft, section)
    yield from _zone(section)
    yield from _hours(section)
    yield from _lengths(section)
    yield from _holidays(section)
    for index, day in enumerate(section.closed):
        try:
            date.fromisoformat(day)
        except ValueError:
            yield ConfigFinding(
                (*_PLACE, "closed", index), f"there is no day {day}", "write a day as `2026-12-24`"
            )


def _kind(section: CalendarSection) -> ConfigFindings:
    kinds = [name for name in ("caldav", "ics", "database") if getattr(section, name)]
    if len(kinds) > 1:
        problem = f"the calendar lies in several places: {', '.join(kinds)}"
        yield ConfigFinding((*_PLACE, kinds[1]), problem, "keep one of them")
    if section.database is False:
        fix = "name another with `caldav` or `ics`, or remove the line"
        yield ConfigFinding((*_PLACE, "database"), "`database: false` names no calendar", fix)


def _caldav(dav: CalDavSection) -> ConfigFindings:
    place = (*_PLACE, "caldav")
    ways = [key for key in ("password_file", "password_env") if getattr(dav, key) is not None]
    if not ways:
        fix = "add `password_file: secrets/calendar` or `password_env: NAME`"
        yield ConfigFinding(place, "nothing says where the password lies", fix, place)
    if len(ways) > 1:
        yield ConfigFinding(
            (*place, ways[1]), f"there are several secrets: {', '.join(ways)}", "keep one of them"
        )
    url = urlsplit(dav.url)
    if url.scheme == "http" and (url.hostname or "") not in _THIS_MACHINE:
        problem = f"`http` would send the password to {url.hostname} for everybody to read"
        yield ConfigFinding((*place, "url"), problem, "write `https://...`")


def _files(draft: DeskDraft, section: CalendarSection) -> ConfigFindings:
    for index, file in enumerate(section.ics or ()):
        if not (draft.folder / file).is_file():
            fix = "name a file that is there, relative to the desk's folder"
            yield ConfigFinding((*_PLACE, "ics", index), f"there is no file {file}", fix)


def _zone(section: CalendarSection) -> ConfigFindings:
    zone = section.time_zone
    if zone is not None and zone not in available_timezones():
        fix = did_you_mean(zone, available_timezones(), otherwise="remove it")
        yield ConfigFinding((*_PLACE, "time_zone"), f"there is no time zone `{zone}`", fix)


def _hours(section: CalendarSection) -> ConfigFindings:
    place = (*_PLACE, "working_hours")
    try:
        openings = read_hours(section.working_hours)
    except HoursUnreadable as error:
        problem, _, fix = str(error).partition("; ")
        yield ConfigFinding(
            place, problem, fix or "write hours that do not overlap, as `9:00-12:00, 13:00-17:00`"
        )
        return
    longest = max(end - start for day in openings.values() for start, end in day)
    if length(section.slot) > timedelta(minutes=longest):
        problem = f"a slot of {section.slot} does not fit into any of the working hours"
        yield ConfigFinding((*_PLACE, "slot"), problem, "make it shorter")


def _holidays(section: CalendarSection) -> ConfigFindings:
    for index, place in enumerate(holiday_places(section)):
        try:
            check_place(place)
        except HolidaysUnknown as error:
            yield ConfigFinding((*_PLACE, "holidays", index), error.problem, error.fix)


def _lengths(section: CalendarSection) -> ConfigFindings:
    slot, horizon = length(section.slot), length(section.horizon)
    if not timedelta(minutes=5) <= slot <= _LONGEST_SLOT:
        yield ConfigFinding(
            (*_PLACE, "slot"), f"a slot cannot take {section.slot}", "write something like `30 min`"
        )
    if length(section.notice) + slot > horizon:
        problem = (
            f"nothing lies between a notice of {section.notice} and a horizon of {section.horizon}"
        )
        yield ConfigFinding((*_PLACE, "horizon"), problem, "make the horizon longer")
    if horizon > _LONGEST_HORIZON:
        yield ConfigFinding(
            (*_PLACE, "horizon"), "the horizon is more than a year away", "write `60 days` or so"
        )
    if length(section.hold_for) < timedelta(minutes=1):
        yield ConfigFinding(
            (*_PLACE, "hold_for"), "nothing can be held for no time", "write `2 days` or so"
        )
