"""Words about appointments in the languages we read; patterns over folded text."""

from functools import cache
from typing import Any

import re2

LANGUAGES = ("en", "cs", "de", "es")

AT: dict[str, str] = {
    "en": r"at|@",
    "cs": r"ve?|kolem|okolo",
    "de": r"um|gegen",
    "es": r"(?:a|sobre|hacia) las?",
}
AFTER: dict[str, str] = {
    "en": r"after|from|no earlier than|past|any ?time after|"
    r"starting(?: at| from)?|from about",
    "cs": r"po|od|nejdrive?j?(?: v| ve| od| po)?|az (?:po|od|ve?)",
    "de": r"nach|ab|fruhestens(?: um| ab)?|erst (?:ab|nach|um)",
    "es": r"(?:solo )?(?:despues|pasadas|a partir) de (?:mas o menos |aproximadamente )?las?|"
    r"desde las?|pasadas las?",
}
BEFORE: dict[str, str] = {
    "en": r"before|until|till|by|(?:no|not) later than|up to",
    "cs": r"pred|do|do nejpozdeji|nejpozdeji(?: do| ve?)?|ne pozdeji nez(?: ve?| do)?",
    "de": r"vor|bis|bis spatestens(?: um)?|spatestens(?: um| bis)?|nicht spater als(?: um)?",
    "es": r"antes de las?|hasta las?|no mas tarde de las?|"
    r"(?:a mas tardar|como (?:muy )?tarde) a las?",
}
BETWEEN: dict[str, tuple[str, str]] = {
    "en": (r"between|from|say|at|around", r"and|to|till|until|-"),
    "cs": (r"mezi|od|rekneme|kolem", r"a|az do|do|az|-"),
    "de": (r"zwischen|von|ab|sagen wir|um", r"und|bis|-"),
    "es": (r"entre las?|de las?|desde las?|de|digamos", r"y las?|a las?|hasta las?|hasta|y|a|-"),
}

DAY_OF_MONTH: dict[str, str] = {
    "en": r"(?:\bthe|\bon) ([0-9]{1,2})(?:st|nd|rd|th)\b",
    "cs": r"\b(?:dne |od |do |na |po )?([0-9]{1,2})\.(?: t\. ?m\.)?(?:$|[ ,;?!\n])",
    "de": r"\b(?:am|vom|den|dem|ab|zum) ([0-9]{1,2})\.(?:$|[ ,;?!\n])",
    "es": r"\b(?:el|del|al|dia) (?:dia )?([0-9]{1,2})\b",
}
"""A day whose month is not said; what follows must not be one."""
WEEK_OF: dict[str, str] = {
    "en": r"\bweek (?:of|from|starting|beginning|commencing|around|"
    r"with)(?: on)?(?: \w+day,?)?(?: the)? $",
    "cs": r"\btydnu? (?:od|kolem|s|zacinajici(?:m)?|pocinaje)(?: \w+)? $",
    "de": r"\bwoche (?:vom|ab|ab dem|um den|mit dem|des)(?: \w+tag,?)?(?: dem| den)? $",
    "es": r"\bsemana (?:del|de|que empieza el|a partir del|que comienza el)(?: \w+)?(?: dia)? $",
}
"""Before a day: the whole week is meant."""
WEEK_NUMBER: dict[str, str] = {
    "en": r"\b(?:calendar week|week|cw) (?:no\.? ?|number )?([0-9]{1,2})\b",
    "cs": r"\b([0-9]{1,2})\. ?(?:kalendarni(?:m|ho)? )?tyd(?:en|nu|ni)\b",
    "de": r"\b(?:kw|kalenderwoche|woche) ?([0-9]{1,2})\b",
    "es": r"\bsemana (?:numero |n\.? ?)?([0-9]{1,2})\b",
}
COMING_WEEKS: dict[str, str] = {
    "en": r"\b(?:next|coming|following) ({n}|couple of|few) (weeks?|days?)\b",
    "cs": r"\b(?:pristi\w*|nasledujici\w*|nejblizsi\w*|dalsi\w*) ({n}|par) (tydn\w*|dn\w*|dni)\b",
    "de": r"\b(?:nachsten|kommenden|folgenden) ({n}|paar) (wochen?|tagen?)\b",
    "es": r"\b(?:proxim[oa]s|siguientes) ({n}) (semanas?|dias?)\b",
}
END_OF_WEEK: dict[str, tuple[str, str]] = {
    "en": (r"\b(?:early|beginning of|start of)(?: the)? $", r"\b(?:late|end of|later)(?: the)? $"),
    "cs": (r"\b(?:zacatkem|na zacatku|pocatkem) $", r"\b(?:koncem|na konci) $"),
    "de": (r"\banfang(?: der)? $", r"\bende(?: der)? $"),
    "es": (
        r"\b(?:a principios|al principio|a comienzos) de(?: la)? $",
        r"\b(?:a finales|al final) de(?: la)? $",
    ),
}
"""Before a week: its first or its last days."""

HOLIDAYS: dict[str, dict[str, str]] = {
    "easter": {
        "en": r"easter",
        "cs": r"velikonoc\w*",
        "de": r"ostern|osterfeiertage?n?",
        "es": r"semana santa|pascua(?: de resurreccion)?",
    },
    "pentecost": {
        "en": r"pentecost|whitsun",
        "cs": r"letnic\w*",
        "de": r"pfingsten|pfingstfeiertage?n?",
        "es": r"pentecostes",
    },
    "christmas": {
        "en": r"christmas|xmas",
        "cs": r"vanoc\w*",
        "de": r"weihnachten|weihnachtsfeiertage?n?",
        "es": r"navidad(?:es)?",
    },
    "new_year": {
        "en": r"new year(?:'?s)?",
        "cs": r"nov(?:y|em|eho) ro(?:k|ce|ku)|silvestr\w*",
        "de": r"neujahr|jahreswechsel|silvester",
        "es": r"ano nuevo|reyes|fin de ano",
    },
}
AFTER_HOLIDAY: dict[str, str] = {
    "en": r"\bafter(?: the)? $",
    "cs": r"\bpo $",
    "de": r"\bnach(?: den| dem)? $",
    "es": r"\bdespues de(?: la| las| los)? $|\btras(?: la| las)? $|\bpasad[oa](?: la)? $",
}
BEFORE_HOLIDAY: dict[str, str] = {
    "en": r"\bbefore(?: the)? $",
    "cs": r"\bpred $",
    "de": r"\bvor(?: den| dem)? $",
    "es": r"\bantes de(?: la| las| los)? $",
}

ORDINALS: dict[str, str] = {
    "en": r"(?:first|1st|option 1|number 1|no\. 1)/(?:second|2nd|option 2|number 2|"
    r"no\. 2)/(?:third|last|3rd|option 3|number 3|no\. 3)",
    "cs": r"(?:prvni\w*|varianta 1|c\. 1)/(?:druh[yoae]\w*|varianta 2|c\. 2)/(?:treti\w*|"
    r"posledni\w*|varianta 3|c\. 3)",
    "de": r"(?:erste[nrs]?|variante 1|nr\. 1|option 1)/(?:zweite[nrs]?|variante 2|nr\. 2|option 2)/"
    r"(?:dritte[nrs]?|letzte[nrs]?|variante 3|nr\. 3|option 3)",
    "es": r"(?:primer[oa]?|opcion 1)/(?:segund[oa]|opcion 2)/(?:tercer[oa]?|ultim[oa]|opcion 3)",
}
"""The first, second and last of three."""
OFFER_NOUN: dict[str, str] = {
    "en": r"one|option|slot|time|date|appointment|suggestion|proposal",
    "cs": r"termin\w*|moznost\w*|variant\w*|navrh\w*|cas\w*|z nich|z nabizen\w*",
    "de": r"termin\w*|vorschlag\w*|moglichkeit\w*|option\w*|variante\w*|zeit\w*|der drei|davon",
    "es": r"opcion\w*|propuesta\w*|hora\w*|fecha\w*|cita\w*|de ellas|de las tres",
}
ALONE: dict[str, str] = {
    "en": r"^(?:hi|hello|thanks|thank you|great|perfect|ok|okay|yes)?[ ,.!]*(?:i(?:'d|"
    r" would)? (?:take|like|choose|prefer) |"
    r"let's (?:take|do) )?the (?:{o})(?: please| works| is fine|"
    r" suits)?[ ,.!]*(?:thanks|thank you|please)?[.!]*$",
    "cs": r"^(?:dekuji|diky|dobry den|super|ano)?[ ,.!]*(?:beru |volim |prosim |bereme |"
    r"hodi se |vyhovuje )?(?:ten |to |ta )?"
    r"(?:{o})(?: prosim)?[.!]*$",
    "de": r"^(?:danke|super|ja|prima|hallo)?[ ,.!]*(?:ich nehme |wir nehmen |bitte )?(?:den|"
    r"der|die|das) (?:{o})"
    r"(?: bitte| passt)?[.!]*$",
    "es": r"^(?:gracias|perfecto|si|hola)?[ ,.!]*(?:prefiero |elijo |tomo )?(?:la|"
    r"el) (?:{o})(?: por favor)?[.!]*$",
}
"""A sentence that says nothing but which one."""

NUMBER = (
    r"[0-9]{1,2}|two|three|four|dva|dve|dvou|tri|trech|ctyri|ctyrech|zwei|drei|vier|dos|tres|cuatro"
)
COUNTS = {
    "two": 2,
    "three": 3,
    "four": 4,
    "dva": 2,
    "dve": 2,
    "dvou": 2,
    "tri": 3,
    "trech": 3,
    "ctyri": 4,
    "ctyrech": 4,
    "zwei": 2,
    "drei": 3,
    "vier": 4,
    "dos": 2,
    "tres": 3,
    "cuatro": 4,
    "couple of": 2,
    "few": 3,
    "par": 3,
    "paar": 3,
}


def spoken(language: str | None) -> tuple[str, ...]:
    """The languages whose words count: the text's own if it is one of ours, else all."""
    primary = (language or "").lower().partition("-")[0]
    return (primary,) if primary in LANGUAGES else LANGUAGES


@cache
def compiled(pattern: str) -> Any:
    return re2.compile(pattern)


def any_of(table: dict[str, str], languages: tuple[str, ...]) -> Any:
    return compiled("|".join(table[language] for language in languages))
