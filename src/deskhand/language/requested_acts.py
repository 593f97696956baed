"""What a message asks to be done, in a sentence that is no question.

    requested_act("I only need one now: please change the order to one.", language="en")

An article answers a question; it changes no order and writes no quote. So a message that asks for
such a thing beside its question is not answered by an answer to the question.
"""

import re
from collections.abc import Sequence

from deskhand.language.asks import PartKind, read_parts
from deskhand.language.slots.folded_text import fold

_BETWEEN = r"(?:[\w'-]+ ){0,3}?"
_QUOTE = re.compile(
    r"\b(?:quotes?|quotation|cost estimate|proforma|nabidk[auy]|kalkulac[ei]|angebot|angebots"
    r"|kostenvoranschlag|offerte|presupuestos?|cotizacion|devis|oferte|oferty|wycen[eay])\b"
)
_ACTS = {
    "en": (
        rf"(?:please|pls|kindly|need|want|would like) {_BETWEEN}(?:a|an|the|another) "
        r"(?:corrected|amended|revised|updated|new|fresh) "
        r"(?:one|copy|version|document|invoice|bill|offer|contract|confirmation|label)",
        rf"(?:please|pls|kindly) {_BETWEEN}(?:change|amend|cancel|remove|delete|add|update|correct"
        r"|refund|deliver|ship|move|postpone|reschedule|prepare|arrange|issue|replace|swap|reduce"
        r"|increase|stop|extend|collect|pick|reserve|book|order|forward|call|ring|phone|put|make"
        r"|reinstate|unlock|reset)",
        r"(?:i|we) (?:want|need|would like) (?:you to|it|this|them) "
        r"(?:changed|cancelled|removed|deleted|corrected|refunded|replaced|moved)",
    ),
    "de": (
        r"(?:bitte|brauche|brauchen|benotige|benotigen) (?:[\w'-]+ ){0,5}?"
        r"(?:korrigierte|berichtigte|geanderte|angepasste|aktualisierte)[nrms]?\b",
        r"(?:andern|stornieren|streichen|loschen|erganzen|korrigieren|erstatten|liefern"
        r"|verschieben|tauschen|reduzieren|reservieren|buchen|erstellen|veranlassen|entfernen"
        r"|rufen|stellen|schreiben|bestellen|verlangern|sperren|umandern|anpassen) sie\b",
        rf"bitte {_BETWEEN}(?:andern|stornieren|streichen|loschen|erganzen|korrigieren|erstatten"
        r"|verschieben|tauschen|reservieren|buchen|erstellen|entfernen|verlangern|sperren)\b",
    ),
    "cs": (
        r"(?:zmente|zruste|stornujte|doructe|opravte|smazte|vymazte|pripravte|vystavte|zavolejte"
        r"|rezervujte|objednejte|presunte|posunte|pridejte|odeberte|snizte|zvyste|vratte|vymente"
        r"|upravte|prodluzte|zablokujte|doplnte)\b",
        rf"(?:prosi(?:m|me)|potrebuj[iu]|potrebujeme|poslete|zaslete) {_BETWEEN}(?:o )?"
        r"(?:opraven|upraven|aktualizovan|zmenen)(?:ou|y|e|eho|ych)\b",
        rf"prosi(?:m|me) {_BETWEEN}o (?:zmenu|zruseni|storno|opravu|smazani|vymenu|vraceni"
        r"|presunuti|doplneni|upravu|rezervaci|vystaveni|prodlouzeni|zaslani nabidky)",
    ),
    "es": (
        rf"(?:por favor|necesit[oa]|necesitamos|envien|enviad|enviame|envienme|manden|mandenme) "
        rf"{_BETWEEN}(?:corregid|rectificad|actualizad|modificad)[oa]s?\b",
        r"(?:cambien|cambiad|cancelen|cancelad|anulen|anulad|borren|borrad|preparen|preparad"
        r"|modifiquen|modificad|corrijan|corregid|llamen|llamad|llamenme|reserven|reservad"
        r"|aplacen|aplazad|retiren|retirad|recojan|recoged|devuelvan|devolved|anadan|anadid"
        r"|quiten|quitad|amplien)\b",
    ),
    "fr": (
        rf"(?:merci de|veuillez|besoin d'une?|envoyez) {_BETWEEN}"
        r"(?:corrigee?|rectifiee?|modifiee?|actualisee?)s?\b",
        r"(?:changez|annulez|modifiez|preparez|corrigez|appelez|reservez|supprimez|livrez"
        r"|remboursez|remplacez|ajoutez|retirez|reportez|etablissez)\b",
        rf"(?:veuillez|merci de) {_BETWEEN}(?:changer|annuler|modifier|preparer|corriger|appeler"
        r"|reserver|supprimer|livrer|rembourser|remplacer|ajouter|retirer|reporter|etablir)\b",
    ),
    "pl": (
        rf"(?:prosz[ea]|prosimy|potrzebuje|potrzebujemy) {_BETWEEN}(?:o )?"
        r"(?:poprawion|skorygowan|zaktualizowan|zmienion)(?:a|y|e|ej|ego|ych)\b",
        rf"prosz[ea] {_BETWEEN}(?:o (?:zmiane|anulowanie|usuniecie|poprawienie|korekte|zwrot"
        r"|wymiane|przygotowanie|rezerwacje)|zmienic|anulowac|usunac|poprawic|zarezerwowac"
        r"|przygotowac|zadzwonic|wymienic|dodac)\b",
        r"(?:zmiencie|anulujcie|usuncie|poprawcie|przygotujcie|zadzwoncie|dodajcie)\b",
    ),
}


def _pattern(patterns: Sequence[str]) -> re.Pattern[str]:
    return re.compile("|".join(rf"\b{pattern}" for pattern in patterns))


_PATTERNS = {language: _pattern(patterns) for language, patterns in _ACTS.items()}


def requested_act(text: str, subject: str = "", language: str | None = None) -> str | None:
    """The first sentence that asks for something to be done; None where none does."""
    for part in read_parts(text, subject, language):
        if part.text.rstrip().endswith("?"):
            continue
        folded = " ".join(fold(part.text).split())
        is_quote = part.kind is PartKind.WISH and _QUOTE.search(folded)
        pattern = _PATTERNS.get(language or "")
        if is_quote or (pattern is not None and pattern.search(folded)):
            return part.text
    return None
