"""How the languages we read name hours, halves of them and parts of the day; over folded text."""

_DAY = 24 * 60


def _hours(*forms: str) -> dict[str, int]:
    """One to twelve, spellings apart by `/`."""
    words: dict[str, int] = {}
    for form in forms:
        for number, spellings in enumerate(form.split(), start=1):
            words |= dict.fromkeys(spellings.split("/"), number)
    return words


HOUR_WORDS: dict[str, dict[str, int]] = {
    "en": _hours("one two three four five six seven eight nine ten eleven twelve"),
    "cs": _hours(
        "jedna/jednu/jedne/jednou dve/dvou/dvema tri/tremi ctyri/ctyr/ctyrmi pet/peti sest/sesti"
        " sedm/sedmi osm/osmi devet/deviti deset/deseti jedenact/jedenacti dvanact/dvanacti",
        "prvni druhe/druhou treti ctvrte/ctvrtou pate/patou seste/sestou sedme/sedmou osme/osmou"
        " devate/devatou desate/desatou jedenacte/jedenactou dvanacte/dvanactou",
    ),
    "de": _hours("eins/ein zwei drei vier funf/fuenf sechs sieben acht neun zehn elf zwolf/zwoelf"),
    "es": _hours("una dos tres cuatro cinco seis siete ocho nueve diez once doce"),
}
SUFFIXES: dict[str, str] = {
    "en": r"a\.?m\.?|p\.?m\.?|o'clock(?: in the (?:morning|afternoon|evening))?|"
    r"(?:am |pm )?in the (?:morning|afternoon|evening)",
    "cs": r"(?:\.? ?hodin\w*|hod\.?|h)(?: (?:rano|dopoledne|odpoledne|vecer))?|rano|dopoledne|"
    r"odpoledne|vecer",
    "de": r"uhr(?: (?:morgens|vormittags|mittags|nachmittags|abends|fruh))?|"
    r"(?:morgens|vormittags|nachmittags|abends)|h",
    "es": r"(?:h|hs|horas|hrs)(?: de la (?:manana|tarde|noche))?|de la (?:manana|tarde|noche)|"
    r"a\.m\.|p\.m\.|am|pm",
}
"""What may stand behind an hour."""
NOON: dict[str, str] = {
    "en": "noon|midday",
    "cs": "poledne|polednem|poledni",
    "de": "mittag|12 uhr mittags",
    "es": "mediodia",
}
HALF_TO: dict[str, dict[str, int]] = {
    "en": {r"half past": 30, r"quarter past|a quarter past": 15},
    "cs": {r"pul": -30},
    "de": {r"halb": -30, r"viertel nach": 15, r"dreiviertel": -15},
    "es": {},
}
"""Before the hour: the minutes by which it is later."""
QUARTER_TO: dict[str, dict[str, int]] = {
    "en": {r"quarter to|a quarter to": -15},
    "cs": {r"tri ?ctvrte na": -15, r"ctvrt na": -45},
    "de": {r"viertel vor": -15},
    "es": {},
}
MINUTES_PAST: dict[str, dict[str, int]] = {
    "en": {r"thirty": 30, r"fifteen": 15, r"forty-five": 45},
    "cs": {r"tricet": 30},
    "de": {r"uhr dreissig|uhr dreisig": 30},
    "es": {r"y media": 30, r"y cuarto": 15, r"menos cuarto": -15, r"y veinte": 20, r"y diez": 10},
}
"""Behind the hour."""


def _hour(number: float) -> int:
    return round(number * 60)


_MORNING = (0, _hour(12))
_AFTERNOON = (_hour(12), _DAY)
_LATE = (_hour(15), _DAY)
_EARLY = (0, _hour(10))
_EVENING = (_hour(17), _DAY)
_AFTER_LUNCH = (_hour(13), _DAY)
_LATE_LUNCH = (_hour(13), _hour(16))
_LUNCH = (_hour(12), _hour(14))

PARTS: dict[str, dict[str, tuple[int, int]]] = {
    "en": {
        r"\b(?:in the |every )?mornings?\b|\bbefore (?:noon|lunch\w*|midday)\b|\ba\.m\.(?:$|"
        r"[ ,])": _MORNING,
        r"\bearly (?:in the )?mornings?\b|\bfirst thing(?: in the morning)?\b": _EARLY,
        r"\blate mornings?\b": (_hour(10), _hour(12)),
        r"\b(?:in the |every )?afternoons?\b|\bafter (?:noon|midday)\b": _AFTERNOON,
        r"\bafter lunch\w*\b": _AFTER_LUNCH,
        r"\bearly (?:in the )?afternoons?\b": (_hour(12), _hour(15)),
        r"\blate(?:r)? (?:in the )?afternoons?\b|\bend of (?:the )?day\b": _LATE,
        r"\b(?:in the )?evenings?\b": _EVENING,
        r"\b(?:over |around |at |during )?(?:lunch|lunch ?time)\b": _LUNCH,
        r"\b(?:at )?any ?time(?: of (?:the )?day)?\b|\bthe (?:whole|entire) day\b|\ball day\b": (
            0,
            _DAY,
        ),
    },
    "cs": {
        r"\b(?:kazde )?dopoledn\w*\b|\bdopo\b|\brano\b|"
        r"\b(?:pred (?:polednem|obedem)|do obeda)\b": _MORNING,
        r"\bbrzy rano\b|\bhned rano\b": _EARLY,
        r"\b(?:kazde )?odpoledn\w*\b|\bodpo\b|\bpo poledni\b": _AFTERNOON,
        r"\bpo obede\b": _AFTER_LUNCH,
        r"\bpozd(?:e|eji) odpoledne\b|\bpozdni odpoledne\b": _LATE,
        r"\bvecer\b|\bpodvecer\b|\bk veceru\b": _EVENING,
        r"\bkolem obeda\b|\bpres obed\b|\bv dobe obeda\b": _LUNCH,
        r"\bkdykoliv?\b|\bcely den\b": (0, _DAY),
    },
    "de": {
        r"\b(?:am |den |jede[nr] )?vormittags?\b|\bmorgens\b|\bam (?:fruhen )?morgen\b|"
        r"\bin der fruh\b|"
        r"\bfruh\b|\bvormittage?n?\b|\bfruhmorgens\b": _MORNING,
        r"\b(?:am |den |jede[nr] )?nachmittags?\b|\bnachmittage?n?\b": _AFTERNOON,
        r"\ban (?:dem|diesem|jenem) morgen\b|\bvor (?:dem mittag\w*|der mittagspause)\b": _MORNING,
        r"\bnach dem mittag\w*\b|\bnach der mittagspause\b": _AFTER_LUNCH,
        r"\b(?:am )?spate[nr]? nachmittags?\b": _LATE,
        r"\b(?:am )?fruhe[nr]? nachmittags?\b": (_hour(12), _hour(15)),
        r"\babends\b|\bam (?:fruhen )?abend\b": _EVENING,
        r"\bmittags\b|\b(?:uber|in der|zur) mittag(?:spause|szeit)?\b|\bam mittag\b": _LUNCH,
        r"\bjederzeit\b|\b(?:den )?ganzen tag\b|\bganztags\b": (0, _DAY),
    },
    "es": {
        r"\b(?:por|en|a) las? mananas?\b|\blas mananas\b|\bcualquier manana\b|\b(?:una|"
        r"alguna) manana\b": (_MORNING),
        r"\b(?:a|hasta) primera hora(?: de la manana)?\b": _EARLY,
        r"\b(?:por|en|a) las? tardes?\b|\blas tardes\b|\bcualquier tarde\b|\b(?:una|"
        r"alguna) tarde\b": (_AFTERNOON),
        r"\b(?:esa|aquella)(?: misma)? manana\b|\b(?:toda )?la manana\b|"
        r"\bantes de (?:comer|almorzar|la comida|mediodia)\b": _MORNING,
        r"\b(?:esa|aquella)(?: misma)? (tarde)\b|\b(?:toda )?la tarde\b": _AFTERNOON,
        r"\b(?:a|en) la hora de(?:l| la)? (?:comer|comida|almuerzo|almorzar)\b": _LATE_LUNCH,
        r"\bdespues de (?:comer|almorzar|la comida)\b": _AFTER_LUNCH,
        r"\ba ultima hora(?: de la tarde)?\b": _LATE,
        r"\bpor las? noches?\b": _EVENING,
        r"\bcualquier (?:hora|momento)\b|\ba cualquier hora\b|\ben cualquier momento\b|"
        r"\btodo el dia\b": (
            0,
            _DAY,
        ),
    },
}
"""Parts of the day, from a minute to another."""
