"""Whether an ask wants to know what something costs.

    asks_for_a_price("Is the visit free of charge?")  # True

Who offers a time for a visit has not said what the visit costs.
"""

import re

from deskhand.language.slots.folded_text import fold

_WORDS = (
    # English
    r"costs?|prices?|priced|charges?|charged|charging|fees?|free of charge|for free|pay|paid|"
    # Czech
    r"stoji|stalo|cen[auy]|cenik\w*|plati|platime|platit|zaplatime?|uctuj\w*|zdarma|poplat\w*|"
    # German
    r"kostet|kosten|kostenlos\w*|kostenfrei\w*|kostenpflichtig\w*|preise?|gebuhr\w*|berechnen sie|"
    r"zahlen|bezahlen|umsonst|"
    # Spanish
    r"cuesta|cuestan|coste|precios?|cobr[aeo]\w*|tarifas?|gratis|gratuit[oa]s?|pagar|paga|se paga|"
    # French
    r"coute|coutent|prix|tarifs?|gratuite?s?|payer|payant|"
    # Polish
    r"kosztuje|koszt\w*|platn[aey]|bezplatn\w*|oplat\w*|zaplacic|placi"
)
_PRICE = re.compile(rf"\b(?:{_WORDS})\b")


def asks_for_a_price(ask: str) -> bool:
    return _PRICE.search(fold(ask)) is not None
