"""The zone in which somebody names his times: its name, its short form, or the town he is in."""

from collections.abc import Iterator
from typing import NamedTuple

from deskhand.language.meeting_times.meeting_phrases import compiled
from deskhand.language.slots.folded_text import FoldedText

_SHORT = {
    "est|edt|et|eastern(?: standard| daylight)? time|us eastern|eastern": "America/New_York",
    "cst|cdt|central(?: standard| daylight)? time": "America/Chicago",
    "mst|mdt|mountain(?: standard| daylight)? time": "America/Denver",
    "pst|pdt|pt|pacific(?: standard| daylight)?(?: time)?": "America/Los_Angeles",
    "utc|zulu": "UTC",
    "gmt|bst": "Europe/London",
    "cet|cest|mez|mesz|sec|selc|central european time|stredoevropskeho casu": "Europe/Paris",
    "eet|eest|oez": "Europe/Athens",
    "ist": "Asia/Kolkata",
    "jst": "Asia/Tokyo",
    "aest|aedt": "Australia/Sydney",
}
_PLACES = {
    "new york(?:u|er)?|nueva york|nyc|boston(?:er)?|washington|toronto|miami|atlanta": (
        "America/New_York"
    ),
    "chicago|houston|dallas|austin": "America/Chicago",
    "denver": "America/Denver",
    "los angeles|san francisco|seattle|vancouver|california": "America/Los_Angeles",
    "mexico": "America/Mexico_City",
    "sao paulo": "America/Sao_Paulo",
    "buenos aires": "America/Argentina/Buenos_Aires",
    "bogota|lima": "America/Bogota",
    "london|londoner|londyn|londyna|londynskeho|londres|uk|british|dublin|edinburgh|manchester": (
        "Europe/London"
    ),
    "lisbon|lissabon|lisboa|lisabon": "Europe/Lisbon",
    "canarias|canary islands|kanaren|las palmas|tenerife": "Atlantic/Canary",
    "paris|pariz|madrid|berlin(?:er)?|berlina|wien(?:er)?|vienna|viden|viena|prague|prag(?:er)?|"
    "prahy|praze|praga|prazskeho|roma?|rim|brussels|amsterdam|munich|munchen|zurich|warsaw|"
    "spanish|german|czech": "Europe/Paris",
    "athens|athen|helsinki|kyiv|kiev|bucharest|sofia": "Europe/Athens",
    "istanbul|turkey": "Europe/Istanbul",
    "moscow|moskau|moskva|moscu": "Europe/Moscow",
    "dubai|abu dhabi": "Asia/Dubai",
    "india|delhi|mumbai|bangalore": "Asia/Kolkata",
    "singapore|singapur": "Asia/Singapore",
    "hong kong": "Asia/Hong_Kong",
    "beijing|shanghai|china|peking": "Asia/Shanghai",
    "tokyo|tokio|japan": "Asia/Tokyo",
    "sydney|melbourne": "Australia/Sydney",
    "tel aviv|israel": "Asia/Jerusalem",
}
_OWN_TIME = (
    r"\b(?:my|our|local)(?: local)? time\b|\btime(?: zone)? here\b|\b(?:meiner|unserer|hiesiger) "
    r"(?:orts)?zeit\b|\bortszeit\b|\b(?:meho|naseho|mistniho) casu\b|\b(?:mi|nuestra) hora\b|"
    r"\bhora local\b"
)
_AT_PLACE = (
    r"\b({p})(?:'?s)? ?(?:local )?(?:time|zeit|casu)\b|\b(?:time|zeit|casu) (?:in|of|ve?|"
    r"von) ({p})\b|"
    r"\b(?:casu )(?:ve? |z )?({p})\b|\bhora (?:de|en|local de)(?: la| el| las| los)? ({p})\b|"
    r"\b(?:same|misma|mismo|gleiche[nr]?|selbe[nr]?|dieselbe|derselben|stejn\w+) "
    r"(?:time|time ?zone|hora|zona horaria|huso horario|zeit|uhrzeit|zeitzone|cas\w*|"
    r"casov\w+ pasm\w+) (?:as|que|wie|"
    r"jako)(?: (?:in|en|ve?))? ({p})\b"
)
_THERE = (
    r"\b(?:i'm|i am|we're|we are|based|located|live|calling|writing|sitze|bin|sind|wohne|jsem|jsme|"
    r"volame|volal\w*|estoy|estamos|vivo|llamo|llamamos)(?: \w+){0,3}? "
    r"(?:in|from|aus|ve?|z|ze|en|desde) (?:der |the |la )?({p})\b"
)


class ZoneSpot(NamedTuple):
    """A place in the folded text and the zone it names; None where it only says `my time`."""

    start: int
    end: int
    zone: str | None
    certain: bool
    """False where it only says where somebody is."""


def zone_spots(reading: FoldedText) -> Iterator[ZoneSpot]:
    """Every place that names a zone, or a town whose zone may be meant.

    A short form counts in capitals alone: German `ist` is a verb.
    """
    folded = reading.folded
    for forms, zone in _SHORT.items():
        for match in compiled(rf"\b(?:{forms})\b(?: ?[+-] ?[0-9]{{1,2}}\b)?").finditer(folded):
            shifted = match.group()[-1:].isdecimal()
            written = reading.given[reading.origin(match.start()) : reading.origin(match.end())]
            is_name = " " in written or (written[:1].isupper() and len(written) > 5)
            if not is_name and not written[:2].isupper():
                continue
            yield ZoneSpot(
                match.start(), match.end(), _offset(match.group()) if shifted else zone, True
            )
    for forms, zone in _PLACES.items():
        for match in compiled(_AT_PLACE.replace("{p}", forms)).finditer(folded):
            yield ZoneSpot(match.start(), match.end(), zone, True)
        for match in compiled(_THERE.replace("{p}", forms)).finditer(folded):
            yield ZoneSpot(match.start(), match.end(), zone, False)
    for match in compiled(_OWN_TIME).finditer(folded):
        yield ZoneSpot(match.start(), match.end(), None, True)


def _offset(written: str) -> str:
    """`UTC+3` as the zones of the tz database name it, with the sign the other way round."""
    plain = written.replace(" ", "")
    sign = "-" if "+" in plain else "+"
    hours = int("".join(filter(str.isdecimal, plain)))
    return f"Etc/GMT{sign}{hours}" if hours <= 12 else "UTC"
