"""Free times in a customer's language."""

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import Any

_WORDS: Mapping[str, tuple[str, str, str, str]] = {
    "en": (
        "Monday Tuesday Wednesday Thursday Friday Saturday Sunday",
        "January February March April May June July August September October November December",
        "{weekday} {day} {month} {year}",
        "{day}, {time}",
    ),
    "cs": (
        "pondělí úterý středa čtvrtek pátek sobota neděle",
        "ledna února března dubna května června července srpna září října listopadu prosince",
        "{weekday} {day}. {month} {year}",
        "{day} v {time}",
    ),
    "de": (
        "Montag Dienstag Mittwoch Donnerstag Freitag Samstag Sonntag",
        "Januar Februar März April Mai Juni Juli August September Oktober November Dezember",
        "{weekday}, {day}. {month} {year}",
        "{day}, {time} Uhr",
    ),
    "es": (
        "lunes martes miércoles jueves viernes sábado domingo",
        "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
        "{weekday} {day} de {month} de {year}",
        "{day}, {time} h",
    ),
    "fr": (
        "lundi mardi mercredi jeudi vendredi samedi dimanche",
        "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
        "{weekday} {day} {month} {year}",
        "{day}, {time}",
    ),
}


def offer(data: Any, language: str) -> list[str]:
    """The times that a tool's `slots` offer, a line each with the time zone; nothing where there
    are none to read."""
    slots = data.get("slots") if isinstance(data, Mapping) else None
    zone = str(data.get("time_zone") or "") if isinstance(data, Mapping) else ""
    return _lines(slots, zone, language) if isinstance(slots, list) else []


def _lines(slots: Sequence[Any], zone: str, language: str) -> list[str]:
    offered = [slot for slot in slots if isinstance(slot, Mapping)]
    suffix = f" ({zone})" if zone else ""
    try:
        return [f"{_start_in_words(slot, language)}{suffix}{_theirs(slot)}" for slot in offered]
    except ValueError:
        return []


def _start_in_words(slot: Mapping[str, Any], language: str) -> str:
    return in_words(datetime.fromisoformat(str(slot.get("start"))), language)


def _theirs(slot: Mapping[str, Any]) -> str:
    """The same time on the customer's clock, with the day where that is another."""
    if not slot.get("theirs"):
        return ""
    here = datetime.fromisoformat(str(slot.get("start")))
    there = datetime.fromisoformat(str(slot["theirs"]))
    clock = f"{there:%H:%M}".removeprefix("0")
    day = "" if here.date() == there.date() else f"{there.day}.{there.month}. "
    return f" = {day}{clock} ({slot.get('their_zone')})"


def in_words(moment: datetime, language: str) -> str:
    form = _WORDS.get(language, _WORDS["en"])[3]
    time = f"{moment:%H:%M}".removeprefix("0")
    return form.format(day=day_in_words(moment, language), time=time)


def day_in_words(day: date, language: str) -> str:
    weekdays, months, form, _ = _WORDS.get(language, _WORDS["en"])
    return form.format(
        weekday=weekdays.split()[day.weekday()],
        day=day.day,
        month=months.split()[day.month - 1],
        year=day.year,
    )
