"""How long a meeting should last, as somebody writes it."""

from collections.abc import Iterator
from typing import NamedTuple

from deskhand.language.meeting_times.meeting_phrases import compiled
from deskhand.language.slots.numbers import number_words

LONGEST = 8 * 60
_FIXED: dict[str, dict[str, int]] = {
    "en": {
        r"half an hour|half-hour|half hour|30-minute": 30,
        r"(?:a )?quarter of an hour": 15,
        r"three[- ]quarters of an hour": 45,
        r"an hour and a half|one and a half hours|hour and a half": 90,
        r"an hour|one[- ]hour|hour-long|1-hour": 60,
    },
    "cs": {
        r"pul ?hodin\w*|pulhodink\w*": 30,
        r"ctvrt ?hodin\w*|ctvrthodink\w*": 15,
        r"tri ?ctvrte ?hodin\w*|trictvrtehodin\w*": 45,
        r"hodinu a pul|pul druhe hodiny|hodina a pul": 90,
        r"hodinov(?:y|ou|a|e|eho|em)|hodinka|hodinku|(?:na|asi|staci|jednu|jedna|zhruba|cca|"
        r"max\w*) "
        r"hodin[ua]|hodinu": 60,
    },
    "de": {
        r"(?:eine )?halbe stunde|halbstundig\w*|halben stunde": 30,
        r"(?:eine )?viertelstunde": 15,
        r"(?:eine )?dreiviertelstunde|drei ?viertel ?stunden?": 45,
        r"anderthalb stunden|eineinhalb stunden": 90,
        r"eine(?:r)? stunde|einstundig\w*": 60,
    },
    "es": {
        r"media hora|media horita": 30,
        r"(?:un )?cuarto de hora": 15,
        r"tres cuartos de hora": 45,
        r"(?:una )?hora y media": 90,
        r"una hora|una horita": 60,
    },
}
_UNITS: dict[str, tuple[str, str]] = {
    "en": (r"minutes?|mins?", r"hours?|hrs?"),
    "cs": (r"minut\w*|min", r"hodin[yu]?"),
    "de": (r"minuten?|min|minutige[snrm]?", r"stunden?"),
    "es": (r"minutos?|min", r"horas"),
}
_COMPOUND: dict[str, dict[str, int]] = {
    "en": {
        r"twenty[- ]five": 25,
        r"thirty[- ]five": 35,
        r"forty[- ]five": 45,
        r"seventy[- ]five": 75,
        r"ninety": 90,
    },
    "cs": {
        r"dvaceti": 20,
        r"triceti": 30,
        r"ctyriceti": 40,
        r"ctyricet pet|ctyriceti peti|petactyricet\w*": 45,
        r"padesati": 50,
        r"sedesati": 60,
        r"devadesati?": 90,
    },
    "de": {r"funfundzwanzig": 25, r"dreissig": 30, r"funfundvierzig": 45, r"neunzig": 90},
    "es": {r"veinticinco": 25, r"treinta y cinco": 35, r"cuarenta y cinco": 45, r"noventa": 90},
}
"""Numbers of minutes that are no single words, or declined ones."""
_AROUND: dict[str, str] = {
    "en": r"(?:for |about |around |(?:not |no )?(?:more|longer) than )?",
    "cs": r"(?:na |asi |staci |cca )?",
    "de": r"(?:fur |etwa |ca\.? )?",
    "es": r"(?:de |unos |unas |durante )?",
}


class DurationSpot(NamedTuple):
    """A place that says how long."""

    start: int
    end: int
    minutes: int


def duration_spots(folded: str, languages: tuple[str, ...]) -> Iterator[DurationSpot]:
    """Every place that names a length of minutes or hours; places may overlap."""
    for language in languages:
        around = _AROUND[language]
        for form, minutes in _FIXED[language].items():
            for match in compiled(rf"\b{around}(?:{form})\b").finditer(folded):
                yield DurationSpot(match.start(), match.end(), minutes)
        for form, minutes in _COMPOUND[language].items():
            unit = _UNITS[language][0]
            for match in compiled(rf"\b{around}(?:{form})[ -](?:{unit})\b").finditer(folded):
                yield DurationSpot(match.start(), match.end(), minutes)
        yield from _counted(folded, language)


def _counted(folded: str, language: str) -> Iterator[DurationSpot]:
    """45 minutes, two hours; `13 hodin` is a time of day."""
    words = number_words((language,))
    numbers = "|".join(sorted(words, key=len, reverse=True))
    minute_unit, hour_unit = _UNITS[language]
    pattern = (
        rf"\b{_AROUND[language]}([0-9]{{1,3}}|{numbers})[ -]?(?:({minute_unit})|({hour_unit}))\b"
    )
    for match in compiled(pattern).finditer(folded):
        number, _, hours = match.groups()
        count = int(number) if number.isdecimal() else words[number]
        minutes = count * (60 if hours else 1)
        if 0 < minutes <= LONGEST and not (hours and count > 8):
            yield DurationSpot(match.start(), match.end(), minutes)
