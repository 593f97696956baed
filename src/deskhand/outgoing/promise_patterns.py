# ruff: noqa: E501 - a pattern broken over lines is harder to read than a long one
"""How companies promise: patterns over one folded clause, by language. The first that matches names the action."""

from functools import cache, lru_cache
from typing import Any

import re2

from deskhand.config.sections.outgoing import Action

Patterns = tuple[tuple[Action, str], ...]

# --- English: subject, auxiliary, verb ---------------------------------------------------------------------------------

_EN_WHO = (
    r"(?:\b(?:we|i)\b|\b(?:a|an|my|our|the|one of our|one of my) (?:\w+ )?(?:colleagues?|managers?|teams?|specialists?|"
    r"agents?|supervisors?|technicians?|departments?|warehouse|courier)\b)"
)
_EN_AUX = (
    r"(?:'(?:ll|ve|re|m|d)|(?: (?:will|shall|have|has|are|am|is|can|could|do|did|just|already|now|also|gladly|happily|of"
    r" course|certainly|immediately|today|then|going to|happy to|glad to|pleased to|able to|be|been|hereby|personally|"
    r"promptly|fully|automatically|and|to|arrange to|make sure to|about to|like to|want to))+)*"
)
_EN_WE = _EN_WHO + _EN_AUX + " "
_EN_BE = r"(?:(?:has|have|'s|'ve)(?: \w+)? been|(?:will|shall|going to)(?: \w+)? be|(?:is|are|'s) (?:now |already )?(?:being )?|was|were)(?: \w+ly| now| just| already)? ?"
_EN_YOU = r"\byou(?:'ll| will| shall| should| are going to| can expect to| are getting| get| receive)(?: (?:also|now|then|soon|automatically))?"
_EN_BACK = r"(?:refund\w*|reimburse\w*|money|amount|payment|sum|price|cost\w*)"
_EN_NEW = r"(?:replacement\w*|new (?:one|unit|item|copy|pair|set|device|product|\w+)|another (?:one|unit|item|pair|copy)|substitute|spare part)"
_EN_GIFT = r"(?:vouchers?|coupons?|discounts?|gift cards?|store credit|credit note|bonus|free month|goodwill|[0-9]+ ?%|percent)"

_EN_TIME = r"(?:appointment|meeting|visit|slot|date|invitation|call)"

_ENGLISH: Patterns = (
    ("reserve", _EN_WE + rf"(?:reserv\w*|book\w*|schedul\w*|pencil\w*|(?:hold|held|holding|block|blocked|kept|keep|set)\b(?: \w+){{0,6}} (?:for you|aside|free)|(?:confirm|accept)\w*(?: \w+){{0,4}} {_EN_TIME})"),
    ("reserve", rf"{_EN_BE}(?:reserved|booked|held for|blocked for|scheduled)\b|\b{_EN_TIME}\b.*\b{_EN_BE}(?:confirmed|accepted)"),
    ("refund", _EN_WE + r"(?:refund|reimburs|repa[iy]|(?:pay|paid|give|gave|giving|transfer|wire|send|sent|return)\w*(?: \w+){0,6} (?:back|refund|money)|issu\w+(?: \w+){0,4} refund|process\w*(?: \w+){0,4} refund|initiat\w+(?: \w+){0,4} refund|cover\w*(?: \w+){0,4} (?:cost|postage|shipping)|waiv\w+)"),
    ("refund", rf"\b{_EN_BACK}\b.*\b{_EN_BE}(?:refunded|reimbursed|credited|returned|transferred|repaid|issued|processed|back\b)"),
    ("refund", rf"{_EN_BE}(?:refunded|reimbursed|repaid|credited back)"),
    ("refund", rf"{_EN_YOU}.*\b(?:refund\w*|reimbursement|money|your money back)"),
    ("credit", _EN_WE + rf"(?:giv|gave|offer|add|appl|grant|credit|send|sent|issu|includ|attach|prepar)\w*.*\b{_EN_GIFT}"),
    ("credit", rf"{_EN_YOU}.*\b{_EN_GIFT}"),
    ("credit", rf"\b(?:here is|here's|enjoy|use (?:the|this) code)\b.*(?:\boff\b|{_EN_GIFT})"),
    ("credit", rf"\b{_EN_GIFT}.*\b{_EN_BE}(?:added|applied|credited|granted|issued)"),
    ("replace", _EN_WE + r"(?:replac|exchang|swap)\w*"),
    ("replace", _EN_WE + rf"(?:send|sent|ship|dispatch|mail|post|order|prepar|arrang|get)\w*.*\b{_EN_NEW}"),
    ("replace", rf"\b{_EN_NEW}\b.*\b(?:on (?:its|their|the) way|under ?way|{_EN_BE}(?:sent|shipped|dispatched|ordered))"),
    ("replace", rf"{_EN_YOU}.*\b{_EN_NEW}|{_EN_BE}(?:replaced|exchanged)\b"),
    ("cancel", _EN_WE + r"(?:cancel|terminat|revok|stop|clos|end|annul|withdr)\w*"),
    ("cancel", rf"{_EN_BE}(?:cancell?ed|terminated|stopped|closed|annulled)"),
    ("cancel", r"\bconsider\b.*\b(?:cancell?ed|terminated|closed|ended)"),
    ("change", _EN_WE + r"(?:chang|updat|correct|amend|modif|adjust|edit|switch|reset|unlock|activat|deactivat|reschedul|mov|extend)\w*"),
    ("change", rf"{_EN_BE}(?:changed|updated|corrected|amended|modified|adjusted|reset|unlocked|activated|rescheduled|extended)"),
    ("escalate", _EN_WE + r"(?:escalat\w*|forward\w*|(?:pass|hand)\w*(?: \w+){0,5} (?:on|over|to)\b|refer\w*|rais\w* (?:this|it|your)|inform\w* (?:my|our|the))"),
    ("escalate", rf"{_EN_BE}(?:escalated|forwarded|passed on|handed over)"),
    ("contact", _EN_WE + r"(?:call|contact|phone|ring|(?:get|got|come|reach|be|write|report)\w*(?: \w+){0,2} (?:back|in touch|out to you|to you)|let you know|keep you|notify|follow up|answer you|reply to you|inform you)\w*"),
    ("contact", rf"{_EN_YOU}(?: be)? (?:hear from|contacted|called|notified|informed|get a call)"),
    ("deliver", rf"{_EN_YOU}.*\b(?:parcel|package|order|delivery|shipment|it|them|item\w*|product\w*)\b"),
    ("deliver", r"\b(?:parcel|package|order|delivery|shipment|it|item\w*|courier)\b.*\b(?:arrives?|arriving|will arrive|will be (?:there|delivered|with you)|should (?:arrive|be (?:there|delivered|with you))|will reach|be with you|comes)\b"),
    ("deliver", r"\bexpect (?:it|them|(?:your|the) (?:parcel|package|order|delivery|shipment))|" + _EN_WE + r"(?:deliver|bring)\w*"),
    ("send", _EN_WE + r"(?:e-?mail|send|sent|ship|mail|post|dispatch|provid|attach)\w*"),
    ("send", rf"{_EN_BE}(?:sent|e-?mailed|mailed|dispatched)\b"),
)  # fmt: skip

# --- Czech: the verb says who -----------------------------------------------------------------------------------------

_CS_NEW = r"(?:nahrad\w+|nov(?:y|a|ou|e|eho|ym) \w+|jin(?:y|ou|e) kus|vymen\w+)"
_CS_GIFT = r"(?:slev\w*|poukaz\w*|voucher\w*|kupon\w*|kredit\w*|bonus\w*|darkov\w+)"
_CS_PAST = r"(?:l|la|li|ly)\b"


def _czech(perfective: str, past: str, passive: str) -> str:
    """`vratime`, `vratil jsem`, `jsme vratili`, `bude vraceno`, `bylo vraceno`; with `ne-` nothing matches."""
    return (
        rf"\b(?:{perfective})(?:m|me|eme|ime|ame|u|im|am)\b|"
        rf"\b(?:{past}){_CS_PAST}.*\b(?:jsem|jsme)\b|\b(?:jsem|jsme)\b.*\b(?:{past}){_CS_PAST}|"
        rf"\b(?:bud(?:e|ou)|byl[aoiy]?|je|jsou)\b.*\b(?:{passive})(?:n|na|no|ny|ni|t|ta|to|ty|ti)\b"
    )


_CZECH: Patterns = (
    ("reserve", _czech("rezervuj|zarezervuj|zamluv|zablokuj|drz", "rezervova|zarezervova|zamluvi|zablokova|podrze", "rezervova|zarezervova|zamluve|zablokova")),
    ("reserve", r"\b(?:potvrzuj|potvrd|prijim|prijm)\w*(?:m|me)\b.*\b(?:termin|schuzk|pozvan|cas|navstev)\w*|\b(?:termin|schuzk|pozvan)\w*\b.*\b(?:potvrzujeme|prijimame|je potvrzen\w*)"),
    ("credit", rf"\b(?:pripis|prida|posk\w+|dava|da|posila|posle|nabiz\w+|nabidne|uplatni|prizna)\w*(?:m|me|li|l|la)\b.*\b{_CS_GIFT}|\b(?:mate|ziskate|ziskavate|dostanete|dostavate|obdrzite)\b.*\b{_CS_GIFT}|{_CS_GIFT}.*\b(?:byl[ao]?|bude)\b.*\b(?:pripsan|uplatnen|pridan)"),
    ("refund", _czech("vrat|vrac|refundu|proplat|proplac|uhrad|prevede|preved", "vrati|vrace|refundova|proplati|uhradi|preved", "vrace|refundova|proplace|uhraze|preveden")),
    ("refund", r"\b(?:posle|posila|zasle|zasila|odesle|odesila|prevad[ie])\w*\b.*\bzpet\b|\b(?:dostanete|obdrzite)\b.*\b(?:penize|castk\w+|zpet)\b|\b(?:penize|castk\w+)\b.*\b(?:budete mit|budou|bude)\b"),
    ("cancel", _czech("zrus|zruse|stornu|ukonc|vypovi|vypov", "zrusi|stornova|ukonci|vypovede", "zruse|stornova|ukonce|vypoveze")),
    ("cancel", r"\bpovazujte\b.*\b(?:ukoncen|zrusen|stornovan)"),
    ("replace", _czech("vymen|nahrad", "vymeni|nahradi", "vymene|nahraze")),
    ("replace", rf"\b(?:posle|posila|zasle|zasila|odesle|odesila|doda|expedu)\w*\b.*\b{_CS_NEW}|\b{_CS_NEW}\b.*\bna ceste\b|\b{_CS_NEW}.*\b(?:posle|posila|zasle|odesle)\w*m|\b(?:dostanete|obdrzite)\b.*\b{_CS_NEW}"),
    ("change", _czech("zmen|uprav|oprav|aktualizu|nastav|odblok|aktivu|prodlouz", "zmeni|upravi|opravi|aktualizova|nastavi|odblokova|aktivova|prodlouzi", "zmene|upraven|upra|opraven|aktualizova|nastaven|odblokova|aktivova|prodlouze")),
    ("escalate", _czech("preda|predava|postoup|eskalu|prepos|preposle|preposila", "preda|predava|postoupi|eskalova|preposla", "preda|postoupe|eskalova|preposla")),
    ("contact", r"\b(?:ozve|zavola|kontaktu|napis|spoji|informu|da|sdeli|odpovi)(?:me|eme|u|ji|m|ime)?\b.*\b(?:vam|vas|zpet|s vami)\b|\b(?:vam|vas|se)\b.*\b(?:ozve|ozveme|ozvu|zavola|zavolame|zavolam|kontaktovat|kontaktuje\w*|spoji|spojime|napise|napiseme|informovat|informuje\w*|odpovime|vedet)\b"),
    ("send", _czech("posl|posle|posila|zasle|zasila|odesle|odesila|preposle|expedu", "posla|zasla|odesla|preposla|expedova", "posla|zasla|odesla|expedova")),
    ("deliver", r"\b(?:obdrzite|dostanete|budete mit)\b|\b(?:zasilk\w+|balik\w*|balicek|objednavk\w+|zbozi|to)\b.*\b(?:doraz[ií]|doruc[ií]\w*|prijde|bude u vas|bude dorucen\w*|by mel[ao]? (?:dorazit|byt|prijit))|\bpocitejte s (?:dorucenim|dodanim)|\b(?:dorucime|dodame|privezeme)\b"),
)  # fmt: skip

# --- German: we or I, and a verb, in any order ------------------------------------------------------------------------

_DE_WE = r"\b(?:wir|ich)\b"
_DE_THEY = r"\b(?:kolleg\w+|team|abteilung|vorgesetzte\w*|techniker\w*|mitarbeiter\w*)\b"
_DE_BE = r"\b(?:wird|werden|wurde|wurden|worden|ist|sind)\b"
_DE_YOU = r"(?:\bsie (?:erhalten|bekommen|kriegen)\b|\b(?:erhalten|bekommen) sie\b)"
_DE_NEW = r"(?:ersatz\w*|(?:ein|eine|einen) neue[nrs]? \w+|neue[nrs]? (?:ware|artikel|gerat|kanne|exemplar)\w*|anderes exemplar)"
_DE_GIFT = r"(?:gutschein\w*|rabatt\w*|nachlass\w*|bonus\w*|preisnachlass\w*|guthaben\w*)"


def _german(verb: str, participle: str) -> str:
    return rf"{_DE_WE}.*\b(?:{verb}|{participle})|\b(?:{verb}|{participle})\w*\b.*{_DE_WE}|{_DE_BE}.*\b(?:{participle})\b"


_GERMAN: Patterns = (
    ("reserve", _german(r"reserviere[n]?|blocke[n]?|halte[n]?\b.*\bfrei|merke[n]?\b.*\bvor", r"reserviert|vorgemerkt|freigehalten|geblockt")),
    ("reserve", rf"{_DE_WE}.*\b(?:bestatig\w*|nehmen|annehmen|gebucht|eingetragen|buchen)\b.*\b(?:termin|einladung|besprechung|besuch)\w*|\b(?:termin|einladung|besprechung|besuch)\w*\b.*\b(?:bestatig\w+|nehmen wir|gebucht|eingetragen)\b"),
    ("credit", rf"(?:{_DE_WE}|{_DE_YOU}|{_DE_BE}).*\b{_DE_GIFT}|\b{_DE_GIFT}.*(?:{_DE_WE}|{_DE_YOU}|{_DE_BE})"),
    ("refund", _german(r"erstatte[n]?|uberweise[n]?|zahle[n]?.*zuruck|ubernehme[n]?.*(?:kosten|porto)|ruckerstatte\w*", r"erstattet|zuruckerstattet|ruckerstattet|zuruckgezahlt|zuruckuberwiesen|uberwiesen|gutgeschrieben|rückvergutet")),
    ("refund", rf"\b(?:kosten|porto)\w*\b.*\bubernehme[n]? (?:wir|ich)\b|kosten.*ubernehmen wir|{_DE_YOU}.*\b(?:geld|betrag|kaufpreis|erstattung|gutschrift|ruckerstattung)|\b(?:betrag|geld|euro|€|eur)\b.*\b(?:wird|werden)\b.*\b(?:konto|karte)"),
    ("cancel", _german(r"storniere[n]?|kundige[n]?|beende[n]?|annulliere[n]?", r"storniert|gekundigt|beendet|annulliert|aufgehoben|aufgelost")),
    ("cancel", r"\bbetrachten sie\b.*\b(?:beendet|storniert|gekundigt|aufgelost)"),
    ("replace", _german(r"tausche[n]?.*(?:um|aus)\b|ersetze[n]?", r"umgetauscht|ausgetauscht|ersetzt")),
    ("replace", rf"{_DE_WE}.*\b{_DE_NEW}|\b{_DE_NEW}.*(?:{_DE_WE}|\bunterwegs\b|\bauf dem weg\b)|{_DE_YOU}.*\b{_DE_NEW}"),
    ("change", _german(r"andere[n]?|aktualisiere[n]?|korrigiere[n]?|passe[n]?.*\ban\b|verlangere[n]?|setze[n]?.*zuruck", r"geandert|aktualisiert|korrigiert|angepasst|umgestellt|verlangert|zuruckgesetzt|entsperrt|freigeschaltet")),
    ("escalate", _german(r"leite[n]?.*weiter|gebe[n]?.*weiter|eskaliere[n]?|ubergebe[n]?", r"weitergeleitet|weitergegeben|eskaliert|ubergeben")),
    ("contact", rf"(?:{_DE_WE}|{_DE_THEY}).*\b(?:melde[nt]?|ruf(?:e|en|t)|kontaktier(?:e|en|t)|informier(?:e|en|t)|gebe[n]?.*bescheid|antworte[n]?|setzt?.*in verbindung)\b|\b(?:melde[nt]?|ruf(?:e|en|t)|informiere[n]?)\b.*{_DE_WE}|{_DE_YOU}.*\b(?:anruf|ruckmeldung|antwort|nachricht)\b"),
    ("send", _german(r"sende[n]?|schicke[n]?|verschicke[n]?|maile[n]?|versende[n]?", r"gesendet|geschickt|verschickt|gemailt|versendet|zugesandt|zugeschickt")),
    ("deliver", rf"{_DE_YOU}|\b(?:bestellung|paket|sendung|lieferung|ware|sie|es|artikel)\b.*\b(?:kommt|trifft|ist bei ihnen|bei ihnen sein|geliefert|zugestellt|eintreffen|ankommen|da sein)\b|\bist (?:es|sie|das paket|ihr paket) bei ihnen\b|\bliefern wir\b|\bwir liefern\b|\brechnen sie\b.*\blieferung"),
)  # fmt: skip

# --- Spanish: the verb says who ---------------------------------------------------------------------------------------

_ES_NEW = r"(?:otr[ao] (?:unidad|articulo|\w+)|nuev[ao]s? \w+|\w+ nuev[ao]\b|recambio|reemplazo|sustitut[oa]|repuesto|reposicion)"
_ES_GIFT = (
    r"(?:vale\b|vales|cupon\w*|descuento\w*|bono\b|abono comercial|saldo|rebaja|tarjeta regalo)"
)


def _spanish(stem: str, participle: str) -> str:
    """`reembolsaremos`, `reembolsamos`, `he reembolsado`, `ha sido reembolsado`, `se le reembolsara`, `voy a`."""
    return (
        rf"\b(?:{stem})(?:aremos|eremos|iremos|amos|emos|imos|are|ere|ire|o)\b|"
        rf"\b(?:he|hemos)\b.*\b(?:{participle})\b|\b(?:ha|han|fue|fueron|sera|seran|queda|quedara)(?: sido)? ?(?:\w+ )?(?:{participle}|{participle}[as]?s?)\b|"
        rf"\bse (?:le |les |lo |la )?(?:{stem})(?:ara|era|ira|aran)\b|\b(?:voy|vamos) a (?:{stem})(?:ar|er|ir)(?:le|les|lo|la)?\b|\bacab(?:o|amos) de (?:{stem})(?:ar|er|ir)(?:le|les|lo|la)?\b"
    )


_SPANISH: Patterns = (
    ("reserve", _spanish(r"reserv|agend|apart", r"reservad[oa]s?|agendad[oa]s?|apartad[oa]s?") + r"|\b(?:confirm|acept)(?:amos|aremos|o)\b.*\b(?:cita|reunion|visita|invitacion|hora)\b|\b(?:cita|reunion|visita|invitacion)\b.*\b(?:confirmada|aceptada|reservada)\b"),
    ("credit", rf"\b(?:le |les )?(?:damos|doy|daremos|ofrecemos|regalamos|aplicamos|aplicaremos|concedemos|enviamos|obsequiamos|hemos|he)\b.*\b{_ES_GIFT}|\b(?:tiene|tendra|dispone|recibira|obtendra)\b.*\b{_ES_GIFT}|\b{_ES_GIFT}.*\b(?:ha sido|fue|sera)\b"),
    ("refund", _spanish(r"reembols|devolv|reintegr|abon", r"reembolsad[oa]s?|devuelt[oa]s?|reintegrad[oa]s?|abonad[oa]s?")),
    ("refund", r"\bnos hacemos cargo\b|\bcorremos con\b|\bcubrimos\b|\basumimos\b|\b(?:importe|dinero|euros?|€|eur)\b.*\b(?:estara|estaran|volvera)\b|\b(?:recibira|obtendra|tendra)\b.*\b(?:reembolso|dinero|importe|devolucion)\b|\b(?:tramit|proces|emit|inici)(?:aremos|amos|imos|iremos|are|ado)\b.*\breembolso"),
    ("cancel", _spanish(r"cancel|anul|rescind|termin|dar de baja|suspend", r"cancelad[oa]s?|anulad[oa]s?|rescindid[oa]s?|terminad[oa]s?|dad[oa] de baja")),
    ("cancel", r"\b(?:de|considere) por (?:terminad|cancelad|finalizad|resuelt)|\bconsidere\b.*\b(?:cancelad|terminad|anulad)|\bdamos de baja\b"),
    ("replace", _spanish(r"cambi|sustitu|reemplaz|repon", r"sustituid[oa]s?|reemplazad[oa]s?|repuest[oa]s?") + rf"|\b(?:envi|mand)(?:amos|aremos|are|o)\b.*\b{_ES_NEW}|\b(?:he|hemos) (?:enviado|mandado)\b.*\b{_ES_NEW}|\b{_ES_NEW}\b.*\ben camino\b|\brecibira\b.*\b{_ES_NEW}"),
    ("change", _spanish(r"modific|actualiz|correg|corrij|ajust|restablec|activ|ampli|prorrog", r"cambiad[oa]s?|modificad[oa]s?|actualizad[oa]s?|corregid[oa]s?|ajustad[oa]s?|restablecid[oa]s?|activad[oa]s?|desbloquead[oa]s?")),
    ("escalate", _spanish(r"traslad|remit|reenvi|escal|deriv", r"trasladad[oa]s?|remitid[oa]s?|reenviad[oa]s?|escalad[oa]s?|derivad[oa]s?|pasad[oa]s?") + r"|\b(?:se lo |lo )pas(?:o|amos|are|aremos)\b"),
    ("contact", r"\b(?:le|les|nos|se)\b.*\b(?:llamaremos|llamara|llamare|llamamos|contactaremos|contactara|devolvera la llamada|escribiremos|avisaremos|avisamos|informaremos|pondremos en contacto|pondra en contacto|responderemos|diremos)\b|\bnos pondremos\b|\bdevolvera la llamada\b"),
    ("send", _spanish(r"envi|mand|remit|adjunt", r"enviad[oa]s?|mandad[oa]s?|adjuntad[oa]s?")),
    ("deliver", r"\b(?:recibira|recibiran|lo tendra|la tendra|los tendra|tendra (?:su|el))\b|\b(?:pedido|paquete|envio|entrega)\b.*\b(?:llega|llegara|estara|sera entregad[oa]|se entregara|deberia llegar)\b|\bentregaremos\b|\bcuente con la entrega"),
)  # fmt: skip

# --- French -----------------------------------------------------------------------------------------------------------

_FR_NEW = (
    r"(?:remplacement|nouve(?:l|lle|au)s? \w+|autre (?:exemplaire|article|\w+)|piece de rechange)"
)
_FR_GIFT = r"(?:bons?\b|remises?|reductions?|avoirs?|cheque cadeau|cheque-cadeau|code promo|geste commercial|rabais)"


def _french(stem: str, participle: str) -> str:
    """`nous remboursons`, `nous vous rembourserons`, `j'ai rembourse`, `a ete rembourse`, `sera rembourse`."""
    return (
        rf"\b(?:nous|je|on)\b.*\b(?:{stem})(?:ons|erons|rons|irons|issons|e|ai|erai|rai|s|is)\b|"
        rf"\b(?:j'ai|nous avons|nous vous avons|je vous ai|avons|nous l'avons|je l'ai)\b.*\b(?:{participle})(?:e|s|es)?\b|"
        rf"\b(?:a|ont|avait) (?:bien |deja )?ete (?:\w+ )?(?:{participle})(?:e|s|es)?\b|\b(?:sera|seront|est|sont)(?: \w+)? (?:{participle})(?:e|s|es)?\b|"
        rf"\b(?:je viens|nous venons) de (?:vous |le |la |l'|les )*(?:{stem})(?:er|re|ir)\b|\b(?:je vais|nous allons) (?:vous |le |la |l'|les )*(?:{stem})(?:er|re|ir)\b"
    )


_FRENCH: Patterns = (
    ("reserve", _french(r"reserv|bloqu|retien|reten", r"reserve|bloque|retenu") + r"|\b(?:confirmons|acceptons|confirme|accepte)\b.*\b(?:rendez-vous|invitation|reunion|visite)"),
    ("credit", rf"\b(?:nous|je)\b.*\b(?:offr\w+|accord\w+|donn\w+|ajout\w+|appliqu\w+|propos\w+|envoy\w+)\b.*\b{_FR_GIFT}|\bvous (?:beneficiez|beneficierez|avez|aurez|recevez|recevrez)\b.*\b{_FR_GIFT}|\b{_FR_GIFT}.*\b(?:a ete|sera)\b"),
    ("refund", _french(r"rembours|rend|recredit|revers|restitu", r"rembourse|rendu|recredite|reverse|restitue|credite")),
    ("refund", r"\bprenons en charge\b|\bprendrons en charge\b|\bvous (?:recevrez|obtiendrez|serez)\b.*\b(?:rembours\w+|argent)\b|\b(?:somme|montant|argent|euros?|€|eur)\b.*\b(?:sera|seront)\b.*\b(?:compte|carte)"),
    ("cancel", _french(r"annul|resili|clotur|mett\w* fin", r"annule|resilie|cloture|supprime")),
    ("cancel", r"\bconsiderez\b.*\b(?:termine|annule|resilie|clos)"),
    ("replace", _french(r"echange|echang|remplac", r"echange|remplace") + rf"|\b(?:nous|je)\b.*\b(?:envoy\w+|enverr\w+|expedi\w+)\b.*\b{_FR_NEW}|\b{_FR_NEW}\b.*\ben (?:route|chemin)\b|\bvous recevrez\b.*\b{_FR_NEW}"),
    ("change", _french(r"modifi|chang|corrig|ajust|reinitialis|prolong|activ", r"modifie|change|corrige|mis a jour|mise a jour|ajuste|reinitialise|prolonge|active|debloque")),
    ("escalate", _french(r"transmett|transm|fai\w* suivre|fa|escalad|confi", r"transmis|escalade|confie|fait suivre") + r"|\b(?:je|nous) (?:fais|faisons|ferons) suivre\b|\bje transmets\b"),
    ("contact", r"\b(?:vous|nous|vers vous)\b.*\b(?:rappellera|rappellerons|rappelle|contactera|contacterons|appellera|recontactera|recontacterons|tiendrons|informerons|repondrons|reviendrons|reviens|revenons|previendrons)\b|\breviendrons vers vous\b"),
    ("send", _french(r"envo|envoy|enverr|expedi|adress|joign|fourn", r"envoye|expedie|adresse|joint|fourni") + r"|\benverrons\b|\benverrai\b"),
    ("deliver", r"\bvous (?:recevrez|l'aurez|les aurez|aurez)\b|\b(?:commande|colis|livraison|paquet|il|elle)\b.*\b(?:arrive|arrivera|sera livree?|sera chez vous|devrait arriver|parviendra)\b|\b(?:nous )?livrerons\b|\bcomptez\b.*\blivraison"),
)  # fmt: skip

_BY_LANGUAGE: dict[str, Patterns] = {
    "en": _ENGLISH, "cs": _CZECH, "de": _GERMAN, "es": _SPANISH, "fr": _FRENCH,
}  # fmt: skip
_NEGATION: dict[str, str] = {
    "en": r"\b(?:not|never|cannot|unable|neither|nor|without)\b|n't\b",
    "cs": r"\b(?:nelze|nikdy|neni|bez)\b|\bne(?:mu[zs]|jsme|jsem|bud|byl|dok)\w*",
    "de": r"\b(?:nicht|kein\w*|nie|niemals|ohne)\b",
    "es": r"\b(?:no|nunca|tampoco|ningun\w*)\b",
    "fr": r"\b(?:ne|pas|jamais|aucun\w*|impossible)\b|\bn'",
}
_CONDITION = re2.compile(
    r"^(?:if|once|when|as soon as|after|unless|should|jakmile|pokud|kdyz|az|kdyby|sobald|wenn|falls|nachdem|en cuanto|"
    r"cuando|si|una vez|des|lorsque|quand|apres)\b"
)
LANGUAGES = tuple(_BY_LANGUAGE)


@cache
def _compiled(language: str) -> tuple[tuple[Action, Any], ...]:
    return tuple((action, re2.compile(pattern)) for action, pattern in _BY_LANGUAGE[language])


@cache
def _negation(language: str) -> Any:
    return re2.compile(_NEGATION[language])


@lru_cache(
    maxsize=4096
)  # templates and articles say the same again and again, and a clause takes 70 patterns to read
def promised_action(clause: str, languages: tuple[str, ...]) -> Action | None:
    """What a folded clause promises or claims to have done; None for nothing, or for what is denied."""
    if _CONDITION.search(clause) is not None:
        return None
    for language in languages:
        for action, pattern in _compiled(language):
            if pattern.search(clause) is not None:
                if _negation(language).search(clause) is not None:
                    break
                return action
    return None
