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
    starts = [slot.get("start") for slot in slots if isinstance(slot, Mapping)]
    try:
        moments = [datetime.fromisoformat(str(start)) for start in starts]
    except ValueError:
        return []
    suffix = f" ({zone})" if zone else ""
    return [f"{in_words(moment, language)}{suffix}" for moment in moments]


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
