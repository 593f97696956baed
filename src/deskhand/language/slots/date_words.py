"""Words for days, weeks and months in the languages we read, folded when they are compiled."""

MONTHS: dict[str, str] = {
    "en": (
        "january/jan february/feb march/mar april/apr may june/jun july/jul august/aug"
        " september/sept/sep october/oct november/nov december/dec"
    ),
    "cs": (
        "leden/ledna/lednu únor/února/únoru březen/března/březnu duben/dubna/dubnu"
        " květen/května/květnu červen/června/červnu červenec/července/červenci srpen/srpna/srpnu"
        " září říjen/října/říjnu listopad/listopadu prosinec/prosince/prosinci"
    ),
    "de": (
        "januar/jänner/jaenner/jan februar/feb märz/maerz/mär april/apr mai juni/jun juli/jul"
        " august/aug september/sept/sep oktober/okt november/nov dezember/dez"
    ),
    "es": (
        "enero/ene febrero/feb marzo/mar abril/abr mayo/may junio/jun julio/jul agosto/ago "
        "septiembre/setiembre/sept/sep octubre/oct noviembre/nov diciembre/dic"
    ),
    "fr": (
        "janvier/janv février/févr/fev mars avril/avr mai juin juillet/juil août septembre/sept"
        " octobre/oct novembre/nov décembre/déc"
    ),
    "pl": (
        "styczeń/stycznia/styczniu/sty luty/lutego/lutym/lut marzec/marca/marcu"
        " kwiecień/kwietnia/kwietniu/kwi maj/maja/maju czerwiec/czerwca/czerwcu/cze"
        " lipiec/lipca/lipcu/lip sierpień/sierpnia/sierpniu wrzesień/września/wrześniu/wrz"
        " październik/października/październiku/paź listopad/listopada/listopadzie/lis"
        " grudzień/grudnia/grudniu/gru"
    ),
}
"""January to December, spellings apart by `/`."""

WEEKDAYS: dict[str, str] = {
    "en": "monday/mondays tuesday wednesday thursday friday saturday sunday",
    "cs": (
        "pondělí/pondělek/pondělka úterý/úterek/úterka středa/středu/středy/středě"
        " čtvrtek/čtvrtka/čtvrtku pátek/pátku/pátku sobota/sobotu/soboty/sobotě neděle/neděli"
    ),
    "de": (
        "montag/montags dienstag/dienstags mittwoch/mittwochs donnerstag/donnerstags"
        " freitag/freitags samstag/samstags/sonnabend sonntag/sonntags"
    ),
    "es": "lunes martes miércoles jueves viernes sábado domingo",
    "fr": "lundi mardi mercredi jeudi vendredi samedi dimanche",
    "pl": (
        "poniedziałek/poniedziałku/poniedziałkiem wtorek/wtorku środa/środę/środy czwartek/czwartku"
        " piątek/piątku sobota/sobotę/soboty niedziela/niedzielę/niedzieli"
    ),
}
"""Monday to Sunday."""

NEAR_DAYS: dict[str, dict[str, int]] = {
    "en": {
        "today": 0,
        "tonight": 0,
        "tomorrow": 1,
        "tmrw": 1,
        "tomorow": 1,
        "day after tomorrow": 2,
        "overmorrow": 2,
        "yesterday": -1,
        "last night": -1,
        "day before yesterday": -2,
    },
    "cs": {
        "dnes": 0,
        "dneska": 0,
        "dnešek": 0,
        "dnešního dne": 0,
        "zítra": 1,
        "zejtra": 1,
        "zítřka": 1,
        "zítřek": 1,
        "pozítří": 2,
        "popozítří": 3,
        "včera": -1,
        "včerejška": -1,
        "předevčírem": -2,
    },
    "de": {
        "heute": 0,
        "morgen": 1,
        "übermorgen": 2,
        "uebermorgen": 2,
        "gestern": -1,
        "vorgestern": -2,
    },
    "es": {
        "hoy": 0,
        "mañana": 1,
        "pasado mañana": 2,
        "ayer": -1,
        "anoche": -1,
        "anteayer": -2,
        "antes de ayer": -2,
        "antier": -2,
    },
    "fr": {
        "aujourd'hui": 0,
        "aujourdhui": 0,
        "ce soir": 0,
        "demain": 1,
        "après-demain": 2,
        "après demain": 2,
        "hier": -1,
        "avant-hier": -2,
        "avant hier": -2,
    },
    "pl": {
        "dziś": 0,
        "dzisiaj": 0,
        "dzisiejszym": 0,
        "jutro": 1,
        "jutra": 1,
        "pojutrze": 2,
        "wczoraj": -1,
        "przedwczoraj": -2,
    },
}
"""Days counted from today."""
FALSE_FRIENDS = {"hier"}
"""Read only where the language is known: German `hier` is `here`."""
NOT_AFTER: dict[str, str] = {
    "morgen": (
        "guten|schonen|am|heute|gestern|jeden|fruhen|diesen|montag|dienstag|mittwoch|donnerstag|freitag|samstag|"
        "sonntag"
    ),
    "manana": "la|cada|buena|esta|hoy",
}
"""Words that make the next one the morning."""

SPANS: dict[str, dict[str, str]] = {
    "en": {
        "day": "days?",
        "week": "weeks?",
        "month": "months?",
        "year": "years?",
        "workday": "(?:business|working) days?",
    },
    "cs": {
        "day": "den|dny|dni|dnu|dnem|dnech",
        "week": "tyden|tydny|tydnu|tydne|tydnem|tydnech",
        "month": "mesice?|mesicu|mesicem",
        "year": "rok|roky|roku|let|rokem|lety",
    },
    "de": {"day": "tage?n?", "week": "wochen?", "month": "monate?n?", "year": "jahre?n?"},
    "es": {"day": "dias?", "week": "semanas?", "month": "mes|meses", "year": "anos?"},
    "fr": {"day": "jours?", "week": "semaines?", "month": "mois", "year": "ans?|annees?"},
    "pl": {
        "day": "dzien|dni|dniem|dniami",
        "week": "tydzien|tygodni[ae]?|tygodniem|tygodniu|tygodniami",
        "month": "miesiac[ae]?|miesiecy|miesiacem|miesiacu",
        "year": "rok|roku|lata|lat|rokiem",
    },
}
"""Patterns for lengths of time."""

AHEAD: dict[str, tuple[str, ...]] = {
    "en": ("in {n} {u}(?: time)?", "{n} {u} from (?:now|today)", "{n} {u} later"),
    "cs": ("za (?:{n} )?{u}",),
    "de": ("in {n} {u}",),
    "es": ("(?:en|dentro de) {n} {u}",),
    "fr": ("(?:dans|d'ici) {n} {u}",),
    "pl": ("za (?:{n} )?{u}",),
}
AGO: dict[str, tuple[str, ...]] = {
    "en": ("{n} {u} (?:ago|before today|back)",),
    "cs": ("pred (?:{n} )?{u}",),
    "de": ("vor {n} {u}",),
    "es": ("hace {n} {u}", "{n} {u} atras"),
    "fr": ("il y a {n} {u}",),
    "pl": ("(?:{n} )?{u} temu", "przed (?:{n} )?{u}"),
}
FEW: dict[str, str] = {"en": "a|an", "cs": "", "de": "", "es": "", "fr": "", "pl": ""}
"""Words for one that are no number words."""

NEXT: dict[str, str] = {
    "en": "next|coming|upcoming|following",
    "cs": "pristi|pristim|pristiho|nasledujici|nadchazejici",
    "de": "na(?:e)?chste[nrsm]?|kommende[nrsm]?",
    "es": "proxim[oa]",
    "fr": "prochaine?",
    "pl": "przyszl(?:y|a|ym|e|ej|ego)|nastepn(?:y|a|ym|e|ej|ego)|najblizsz(?:y|a|ym|e|ej|ego)",
}
LAST: dict[str, str] = {
    "en": "last|past|previous",
    "cs": "minul(?:y|ou|e|a|em|eho)|posledni",
    "de": "letzte[nrsm]?|vergangene[nrsm]?|vorige[nrsm]?",
    "es": "pasad[oa]|ultim[oa]",
    "fr": "derniere?|passee?",
    "pl": (
        "zeszl(?:y|a|ym|e|ej|ego)|ubiegl(?:y|a|ym|e|ej|ego)|ostatni(?:a|m|ego|ej)?|minion(?:y|a|ym|e|ej|ego)"
    ),
}
THIS: dict[str, str] = {
    "en": "this",
    "cs": "tento|tuto|toto|tenhle|tuhle|tomto|tohoto",
    "de": "diese[nrsm]?",
    "es": "est[ea]",
    "fr": "ce|cet|cette",
    "pl": "ten|te|to|tym|tej|ta|biezac(?:y|ym|ego)",
}
AFTERWARDS: dict[str, tuple[str, str]] = {
    "es": ("que viene|proxim[oa]", "pasad[oa]"),
    "fr": ("prochaine?|qui vient", "derniere?|passee?"),
}
"""What stands after the noun: next, last."""
