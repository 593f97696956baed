"""How companies promise in German: `wir` or `ich` and a verb, in any order.

Patterns over one folded clause; the first that matches names the action.
"""

from deskhand.outgoing.promise_patterns import ActionPatterns

_WE = r"\b(?:wir|ich)\b"
_THEY = r"\b(?:kolleg\w+|team|abteilung|vorgesetzte\w*|techniker\w*|mitarbeiter\w*)\b"
_BE = r"\b(?:wird|werden|wurde|wurden|worden|ist|sind)\b"
_YOU = r"(?:\bsie (?:erhalten|bekommen|kriegen)\b|\b(?:erhalten|bekommen) sie\b)"
_NEW = (
    r"(?:ersatz\w*|(?:ein|eine|einen) neue[nrs]? \w+|neue[nrs]? (?:ware|artikel|gerat|"
    r"kanne|exemplar)\w*|anderes exemplar)"
)
_GIFT = r"(?:gutschein\w*|rabatt\w*|nachlass\w*|bonus\w*|preisnachlass\w*|guthaben\w*)"


def _conjugated(verb: str, participle: str) -> str:
    """Matches `wir erstatten`, `erstatten wir`, `wurde erstattet`."""
    return (
        rf"{_WE}.*\b(?:{verb}|{participle})|\b(?:{verb}|{participle})\w*\b.*{_WE}|"
        rf"{_BE}.*\b(?:{participle})\b"
    )


GERMAN: ActionPatterns = (
    (
        "reserve",
        _conjugated(
            r"reserviere[n]?|blocke[n]?|halte[n]?\b.*\bfrei|merke[n]?\b.*\bvor",
            r"reserviert|vorgemerkt|freigehalten|geblockt",
        ),
    ),
    (
        "reserve",
        rf"{_WE}.*\b(?:bestatig\w*|nehmen|annehmen|gebucht|eingetragen|"
        rf"buchen)\b.*\b(?:termin|einladung|besprechung|besuch)\w*|\b(?:termin|einladung|"
        rf"besprechung|besuch)\w*\b.*\b(?:bestatig\w+|nehmen wir|gebucht|eingetragen)\b",
    ),
    ("credit", rf"(?:{_WE}|{_YOU}|{_BE}).*\b{_GIFT}|\b{_GIFT}.*(?:{_WE}|{_YOU}|{_BE})"),
    (
        "refund",
        _conjugated(
            r"erstatte[n]?|uberweise[n]?|zahle[n]?.*zuruck|ubernehme[n]?.*(?:kosten|porto)|"
            r"ruckerstatte\w*",
            r"erstattet|zuruckerstattet|ruckerstattet|zuruckgezahlt|zuruckuberwiesen|"
            r"uberwiesen|gutgeschrieben|rückvergutet",
        ),
    ),
    (
        "refund",
        rf"\b(?:kosten|porto)\w*\b.*\bubernehme[n]? (?:wir|ich)\b|kosten.*ubernehmen wir|"
        rf"{_YOU}.*\b(?:geld|betrag|kaufpreis|erstattung|gutschrift|ruckerstattung)|"
        rf"\b(?:betrag|geld|euro|€|eur)\b.*\b(?:wird|werden)\b.*\b(?:konto|karte)",
    ),
    (
        "cancel",
        _conjugated(
            r"storniere[n]?|kundige[n]?|beende[n]?|annulliere[n]?",
            r"storniert|gekundigt|beendet|annulliert|aufgehoben|aufgelost",
        ),
    ),
    ("cancel", r"\bbetrachten sie\b.*\b(?:beendet|storniert|gekundigt|aufgelost)"),
    (
        "replace",
        _conjugated(r"tausche[n]?.*(?:um|aus)\b|ersetze[n]?", r"umgetauscht|ausgetauscht|ersetzt"),
    ),
    (
        "replace",
        rf"{_WE}.*\b{_NEW}|\b{_NEW}.*(?:{_WE}|\bunterwegs\b|\bauf dem weg\b)|"
        rf"{_YOU}.*\b{_NEW}",
    ),
    (
        "change",
        _conjugated(
            r"andere[n]?|aktualisiere[n]?|korrigiere[n]?|passe[n]?.*\ban\b|verlangere[n]?|"
            r"setze[n]?.*zuruck",
            r"geandert|aktualisiert|korrigiert|angepasst|umgestellt|verlangert|zuruckgesetzt|"
            r"entsperrt|freigeschaltet",
        ),
    ),
    (
        "escalate",
        _conjugated(
            r"leite[n]?.*weiter|gebe[n]?.*weiter|eskaliere[n]?|ubergebe[n]?",
            r"weitergeleitet|weitergegeben|eskaliert|ubergeben",
        ),
    ),
    (
        "contact",
        rf"(?:{_WE}|{_THEY}).*\b(?:melde[nt]?|ruf(?:e|en|t)|kontaktier(?:e|en|t)|"
        rf"informier(?:e|en|t)|gebe[n]?.*bescheid|antworte[n]?|setzt?.*in verbindung)\b|"
        rf"\b(?:melde[nt]?|ruf(?:e|en|t)|informiere[n]?)\b.*{_WE}|{_YOU}.*\b(?:anruf|"
        rf"ruckmeldung|antwort|nachricht)\b",
    ),
    (
        "send",
        _conjugated(
            r"sende[n]?|schicke[n]?|verschicke[n]?|maile[n]?|versende[n]?",
            r"gesendet|geschickt|verschickt|gemailt|versendet|zugesandt|zugeschickt",
        ),
    ),
    (
        "deliver",
        rf"{_YOU}|\b(?:bestellung|paket|sendung|lieferung|ware|sie|es|"
        rf"artikel)\b.*\b(?:kommt|trifft|ist bei ihnen|bei ihnen sein|geliefert|zugestellt|"
        rf"eintreffen|ankommen|da sein)\b|\bist (?:es|sie|das paket|ihr paket) bei ihnen\b|"
        rf"\bliefern wir\b|\bwir liefern\b|\brechnen sie\b.*\blieferung",
    ),
)
