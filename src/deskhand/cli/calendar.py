"""`deskhand calendar`: which times are free, and which a desk's conversations hold."""

import time
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from deskhand.cli import options
from deskhand.cli.terminal import console, print_json, print_table, run_async
from deskhand.model.documents import iso_at

if TYPE_CHECKING:
    from deskhand.model.booking import Booking, Span
    from deskhand.scheduling.slots import Offering
    from deskhand.wiring import LoadedDesk

app = typer.Typer(help="Which times are free, and which are held.", no_args_is_help=True)


@app.command("free")
def free(
    desk: options.Desk,
    day: Annotated[
        str | None, typer.Option("--day", help="Only this day, as 2026-11-16.", metavar="DAY")
    ] = None,
    limit: Annotated[int, typer.Option("--limit", min=1, max=1000, help="How many at most.")] = 20,
    database: options.Database = None,
    as_json: options.Json = False,
) -> None:
    """List the free slots; exit 1 when there is none."""
    from deskhand.errors import ConfigError
    from deskhand.tools.calendar_tools import shown
    from deskhand.wiring import read_desk

    try:
        only = None if day is None else date.fromisoformat(day)
    except ValueError:
        raise ConfigError(f"{day!r} is no day", fix="write it as 2026-11-16") from None
    loaded = read_desk(desk)
    offering = loaded.spec.calendar.offering
    slots = run_async(_free(loaded, database))
    if only is not None:
        slots = [
            slot for slot in slots if slot.start.astimezone(offering.hours.zone).date() == only
        ]
    shown_slots = [shown(slot, offering) for slot in slots[:limit]]
    holidays = _holidays(offering, only)
    if as_json:
        print_json(
            {
                "time_zone": loaded.spec.calendar.zone,
                "free": len(slots),
                "slots": shown_slots,
                "holidays": [{"date": str(day), "name": name} for day, name in holidays.items()],
            }
        )
    elif not shown_slots:
        reason = f": {only} is a public holiday ({holidays[only]})" if only in holidays else ""
        console().print(f"no slot is free{reason}")
    else:
        for slot in shown_slots:
            weekday = date.fromisoformat(slot["date"]).strftime("%a")
            console().print(
                f"{weekday} {slot['date']} {slot['time']}-{slot['end'][11:16]} "
                f" [dim]{slot['id']}[/]"
            )
        console().print(f"[dim]{len(slots)} free, on the clock of {loaded.spec.calendar.zone}[/]")
    raise typer.Exit(0 if shown_slots else 1)


@app.command("show")
def show(
    desk: options.Desk, database: options.Database = None, as_json: options.Json = False
) -> None:
    """List the times that conversations hold from now on, and how much else is busy."""
    from deskhand.scheduling.spans import merged
    from deskhand.wiring import read_desk

    loaded = read_desk(desk)
    spec = loaded.spec.calendar
    where, held, busy = run_async(_show(loaded, database))
    zone = spec.offering.hours.zone
    if as_json:
        spans = []
        for span in merged(busy):
            spans.append([moment.astimezone(zone).isoformat(timespec="minutes") for moment in span])
        bookings = [_document(booking, zone) for booking in held]
        print_json({"calendar": where, "time_zone": spec.zone, "bookings": bookings, "busy": spans})
        return
    console().print(f"{where}  [dim]{spec.zone}[/]", soft_wrap=True)
    if not held:
        console().print("nothing is held")
    else:
        rows = []
        for booking in held:
            start = booking.span.start.astimezone(zone)
            end = booking.span.end.astimezone(zone)
            holder = (booking.holder or "").replace("[", r"\[")
            span_words = f"{start:%a %Y-%m-%d %H:%M}-{end:%H:%M}"
            rows.append((span_words, str(booking.state), booking.run_id, holder))
        print_table(("when", "state", "run"), ("for",), rows)
    console().print(f"[dim]{len(merged(busy))} busy stretches within {spec.horizon.days} days[/]")


def _document(booking: "Booking", zone: Any) -> dict[str, Any]:
    return {
        "key": booking.key,
        "run": booking.run_id,
        "conversation": booking.conversation,
        "for": booking.holder,
        "start": booking.span.start.astimezone(zone).isoformat(timespec="minutes"),
        "end": booking.span.end.astimezone(zone).isoformat(timespec="minutes"),
        "state": booking.state,
        "expires_at": None if booking.expires_at is None else iso_at(booking.expires_at),
    }


def _holidays(offering: "Offering", only: date | None) -> "dict[date, str]":
    """The public holidays in the days that can be offered, or the one that is asked for."""
    if only is None:
        return offering.hours.missed_holidays(offering.frame(datetime.now(UTC)))
    name = offering.hours.holiday(only)
    return {} if name is None else {only: name}


async def _free(loaded: "LoadedDesk", database: str | None) -> "list[Span]":
    from deskhand.wiring import looking_at_calendar

    now = datetime.fromtimestamp(time.time(), UTC)
    offering = loaded.spec.calendar.offering
    async with looking_at_calendar(loaded.spec, database or options.DEFAULT_DATABASE) as calendar:
        return offering.free(now, await calendar.busy(offering.frame(now)))


async def _show(
    loaded: "LoadedDesk", database: str | None
) -> "tuple[str, list[Booking], list[Span]]":
    from deskhand.model.booking import BookingState, Span
    from deskhand.wiring import looking_at_calendar

    now = datetime.fromtimestamp(time.time(), UTC)
    async with looking_at_calendar(loaded.spec, database or options.DEFAULT_DATABASE) as calendar:
        held = await calendar.bookings(after=now.timestamp())
        busy = await calendar.busy(Span(now, now + loaded.spec.calendar.horizon))
        return (
            await calendar.check(),
            [booking for booking in held if booking.state is not BookingState.RELEASED],
            busy,
        )
