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
        " sedm/sedmi osm/osmi devet/deviti deset/deseti/desiti jedenact/jedenacti dvanact/dvanacti",
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
    "es": "(?:el )?mediodia",
}


def _by_minutes(words: dict[str, int], form: str, sign: int = 1) -> dict[str, int]:
    """A way to count minutes from an hour, with every number of minutes put in."""
    return {form.format(word): sign * minutes for word, minutes in words.items()}


_MINUTES: dict[str, dict[str, int]] = {
    "en": {"five": 5, "ten": 10, "twenty": 20, "twenty-five": 25, "twenty five": 25},
    "de": {"funf": 5, "fuenf": 5, "zehn": 10, "zwanzig": 20, "5": 5, "10": 10, "20": 20},
    "es": {
        "cinco": 5,
        "diez": 10,
        "cuarto": 15,
        "veinte": 20,
        "veinticinco": 25,
        "media": 30,
        "treinta": 30,
        "quince": 15,
        "cuarenta": 40,
        "cuarenta y cinco": 45,
    },
}
HALF_TO: dict[str, dict[str, int]] = {
    "en": {r"half past": 30, r"quarter past": 15, r"a quarter past": 15}
    | _by_minutes(_MINUTES["en"], r"{}(?: minutes)? past")
    | {r"5 past": 5, r"10 past": 10, r"20 past": 20, r"25 past": 25},
    "cs": {r"pul": -30},
    "de": {
        r"halb": -30,
        r"viertel nach": 15,
        r"dreiviertel": -15,
        r"drei viertel": -15,
        r"viertel": -45,
    }
    | _by_minutes(_MINUTES["de"], r"{}(?: minuten)? nach")
    | {
        r"funf vor halb": -35,
        r"funf nach halb": -25,
        r"zehn vor halb": -40,
        r"zehn nach halb": -20,
    },
    "es": {},
}
"""Before the hour: the minutes by which it is later."""
QUARTER_TO: dict[str, dict[str, int]] = {
    "en": {r"quarter to": -15, r"a quarter to": -15}
    | _by_minutes(_MINUTES["en"], r"{}(?: minutes)? to", -1),
    "cs": {r"tri ?ctvrte na": -15, r"ctvrt na": -45},
    "de": {r"viertel vor": -15} | _by_minutes(_MINUTES["de"], r"{}(?: minuten)? vor", -1),
    "es": {},
}
MINUTES_PAST: dict[str, dict[str, int]] = {
    "en": {
        r"ten": 10,
        r"fifteen": 15,
        r"twenty": 20,
        r"thirty": 30,
        r"forty": 40,
        r"forty-five": 45,
        r"forty five": 45,
        r"fifty": 50,
    },
    "cs": {r"patnact": 15, r"tricet": 30, r"ctyricet pet": 45},
    "de": {
        r"uhr zehn": 10,
        r"uhr funfzehn": 15,
        r"uhr 15": 15,
        r"uhr zwanzig": 20,
        r"uhr dreissig": 30,
        r"uhr dreisig": 30,
        r"uhr 30": 30,
        r"uhr funfundvierzig": 45,
        r"uhr 45": 45,
    },
    "es": _by_minutes(_MINUTES["es"], r"y {}") | _by_minutes(_MINUTES["es"], r"menos {}", -1),
}
"""Behind the hour."""
ABOUT: dict[str, str] = {
    "en": r"about|around|approximately|approx\.?|roughly|circa",
    "cs": r"asi|zhruba|priblizne|cca\.?|kolem|okolo|rekneme",
    "de": r"so gegen|so etwa|so um|etwa|circa|ca\.?|ungefahr|gegen|rund|so",
    "es": r"mas o menos|aproximadamente|sobre|hacia|eso de",
}
"""Between a preposition and a time: it makes a limit no other limit."""
NARROWLY: dict[str, str] = {
    "en": r"(?:shortly|just|right|straight|soon|immediately|minutes|hours?|bit|little) $",
    "cs": r"\b(?:kratce|tesne|hned|ihned|chvili|chvilku|kousek|minut\w*|hodin\w*) $",
    "de": r"\b(?:kurz|knapp|gleich|direkt|unmittelbar|minuten|stunden?) $",
    "es": r"\b(?:poco|justo|inmediatamente|minutos|horas?|nada mas) $",
}
"""Before `after four` or `before four`: it is close to four, which is no wide limit."""
NO_HOUR: dict[str, str] = {
    "en": r"^ (?:of|point|stage|place|go|more|another|side|thing|or two|way)\b",
    "cs": r"^ (?:polovin\w*|pulc\w*|rade|treti\w*|moznost\w*|schuzc\w*|objednav\w*|patr\w*|"
    r"nabid\w*|variant\w*|verz\w*|navstev\w*|stran\w*|faz\w*|cast\w*|zasil\w*|dodav\w*|"
    r"faktur\w*|upomin\w*|zmen\w*|zavad\w*|reklamac\w*|zprav\w*|osob\w*|adres\w*|pobock\w*)",
    "de": r"^ (?:paar|bisschen|drittel|weitere[nrs]?|davon)\b",
    "es": r"^ (?:de (?:ell|nosotr|mis|las|los|nuestr)\w*|mas|vez|veces|persona\w*)\b",
}
"""Behind a word that is then no hour: `in the second half`, `at one point`."""


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
        r"\b(?:until|till|by|before|up to) midnight\b": (0, _DAY),
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
        r"\b(?:pozd(?:e|eji)|pozdni) dopoledne\b": (_hour(10), _hour(12)),
        r"\b(?:brzy|brzke|brzo|casne|casnem) odpoledne?\b": (_hour(12), _hour(15)),
        r"\bdo pulnoci\b": (0, _DAY),
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
        r"\b(?:am )?spate[nr]? vormittags?\b": (_hour(10), _hour(12)),
        r"\b(?:am )?fruhe[nr]? vormittags?\b": _EARLY,
        r"\bbis mitternacht\b": (0, _DAY),
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
        r"\bantes de mediodia\b": _MORNING,
        r"\bantes de (?:comer|almorzar|la comida)\b": (0, _hour(13)),
        r"\b(?:esa|aquella)(?: misma)? (tarde)\b|\b(?:toda )?la tarde\b": _AFTERNOON,
        r"\b(?:a|en) la hora de(?:l| la)? (?:comer|comida|almuerzo|almorzar)\b": _LATE_LUNCH,
        r"\bdespues de (?:comer|almorzar|la comida)\b": _AFTER_LUNCH,
        r"\ba ultima hora(?: de la tarde)?\b": _LATE,
        r"\ba ultima hora de la manana\b": (_hour(11), _hour(12)),
        r"\ba primera hora de la tarde\b": (_hour(15), _hour(16)),
        r"\bhasta (?:el )?mediodia\b|\bantes del mediodia\b": _MORNING,
        r"\b(?:a partir|despues) del mediodia\b|\b(?:desde|pasado) (?:el )?mediodia\b": _AFTERNOON,
        r"\bhasta (?:la )?medianoche\b": (0, _DAY),
        r"\bpor las? noches?\b": _EVENING,
        r"\bcualquier (?:hora|momento)\b|\ba cualquier hora\b|\ben cualquier momento\b|"
        r"\btodo el dia\b": (
            0,
            _DAY,
        ),
    },
}
"""Parts of the day, from a minute to another."""
