"""How companies promise in Czech: the ending of the verb says who.

Patterns over one folded clause; the first that matches names the action.
"""

from deskhand.outgoing.promise_patterns import ActionPatterns

_NEW = r"(?:nahrad\w+|nov(?:y|a|ou|e|eho|ym) \w+|jin(?:y|ou|e) kus|vymen\w+)"
_GIFT = r"(?:slev\w*|poukaz\w*|voucher\w*|kupon\w*|kredit\w*|bonus\w*|darkov\w+)"
_PAST = r"(?:l|la|li|ly)\b"


def _conjugated(perfective: str, past: str, passive: str) -> str:
    """Matches `vratime`, `vratil jsem`, `jsme vratili`, `bude vraceno`; nothing with `ne-`."""
    return (
        rf"\b(?:{perfective})(?:m|me|eme|ime|ame|u|im|am)\b|"
        rf"\b(?:{past}){_PAST}.*\b(?:jsem|jsme)\b|\b(?:jsem|jsme)\b.*\b(?:{past}){_PAST}|"
        rf"\b(?:bud(?:e|ou)|byl[aoiy]?|je|jsou)\b.*\b(?:{passive})(?:n|na|no|ny|ni|t|ta|to|ty|ti)\b"
    )


CZECH: ActionPatterns = (
    (
        "reserve",
        _conjugated(
            "rezervuj|zarezervuj|zamluv|zablokuj|drz",
            "rezervova|zarezervova|zamluvi|zablokova|podrze",
            "rezervova|zarezervova|zamluve|zablokova",
        ),
    ),
    (
        "reserve",
        r"\b(?:potvrzuj|potvrd|prijim|prijm)\w*(?:m|me)\b.*\b(?:termin|schuzk|pozvan|cas|"
        r"navstev)\w*|\b(?:termin|schuzk|pozvan)\w*\b.*\b(?:potvrzujeme|prijimame|"
        r"je potvrzen\w*)",
    ),
    (
        "credit",
        rf"\b(?:pripis|prida|posk\w+|dava|da|posila|posle|nabiz\w+|nabidne|uplatni|"
        rf"prizna)\w*(?:m|me|li|l|la)\b.*\b{_GIFT}|\b(?:mate|ziskate|ziskavate|dostanete|"
        rf"dostavate|obdrzite)\b.*\b{_GIFT}|{_GIFT}.*\b(?:byl[ao]?|bude)\b.*\b(?:pripsan|"
        rf"uplatnen|pridan)",
    ),
    (
        "refund",
        _conjugated(
            "vrat|vrac|refundu|proplat|proplac|uhrad|prevede|preved",
            "vrati|vrace|refundova|proplati|uhradi|preved",
            "vrace|refundova|proplace|uhraze|preveden",
        ),
    ),
    (
        "refund",
        r"\b(?:posle|posila|zasle|zasila|odesle|odesila|prevad[ie])\w*\b.*\bzpet\b|"
        r"\b(?:dostanete|obdrzite)\b.*\b(?:penize|castk\w+|zpet)\b|\b(?:penize|"
        r"castk\w+)\b.*\b(?:budete mit|budou|bude)\b",
    ),
    (
        "cancel",
        _conjugated(
            "zrus|zruse|stornu|ukonc|vypovi|vypov",
            "zrusi|stornova|ukonci|vypovede",
            "zruse|stornova|ukonce|vypoveze",
        ),
    ),
    ("cancel", r"\bpovazujte\b.*\b(?:ukoncen|zrusen|stornovan)"),
    ("replace", _conjugated("vymen|nahrad", "vymeni|nahradi", "vymene|nahraze")),
    (
        "replace",
        rf"\b(?:posle|posila|zasle|zasila|odesle|odesila|doda|expedu)\w*\b.*\b{_NEW}|"
        rf"\b{_NEW}\b.*\bna ceste\b|\b{_NEW}.*\b(?:posle|posila|zasle|odesle)\w*m|"
        rf"\b(?:dostanete|obdrzite)\b.*\b{_NEW}",
    ),
    (
        "change",
        _conjugated(
            "zmen|uprav|oprav|aktualizu|nastav|odblok|aktivu|prodlouz",
            "zmeni|upravi|opravi|aktualizova|nastavi|odblokova|aktivova|prodlouzi",
            "zmene|upraven|upra|opraven|aktualizova|nastaven|odblokova|aktivova|prodlouze",
        ),
    ),
    (
        "escalate",
        _conjugated(
            "preda|predava|postoup|eskalu|prepos|preposle|preposila",
            "preda|predava|postoupi|eskalova|preposla",
            "preda|postoupe|eskalova|preposla",
        ),
    ),
    (
        "contact",
        r"\b(?:ozve|zavola|kontaktu|napis|spoji|informu|da|sdeli|odpovi)(?:me|eme|u|ji|m|"
        r"ime)?\b.*\b(?:vam|vas|zpet|s vami)\b|\b(?:vam|vas|se)\b.*\b(?:ozve|ozveme|ozvu|"
        r"zavola|zavolame|zavolam|kontaktovat|kontaktuje\w*|spoji|spojime|napise|napiseme|"
        r"informovat|informuje\w*|odpovime|vedet)\b",
    ),
    (
        "send",
        _conjugated(
            "posl|posle|posila|zasle|zasila|odesle|odesila|preposle|expedu",
            "posla|zasla|odesla|preposla|expedova",
            "posla|zasla|odesla|expedova",
        ),
    ),
    (
        "deliver",
        r"\b(?:obdrzite|dostanete|budete mit)\b|\b(?:zasilk\w+|balik\w*|balicek|"
        r"objednavk\w+|zbozi|to)\b.*\b(?:doraz[ií]|doruc[ií]\w*|prijde|bude u vas|"
        r"bude dorucen\w*|by mel[ao]? (?:dorazit|byt|prijit))|\bpocitejte s (?:dorucenim|"
        r"dodanim)|\b(?:dorucime|dodame|privezeme)\b",
    ),
)
