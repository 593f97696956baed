"""What a message is about: the embedded model's guess where the message's own words bear it out."""

from functools import cache
from typing import Any, NamedTuple

import re2

from .word_forms import fold

AGREED, BY_WORDS = 0.75, 0.6
"""How sure we are where guess and words agree, and where only the words speak."""
_SURE_OF_SPAM = 0.75
_FEAR_OF_MEDICAL = 0.5
_FEW_WORDS = 7

_CUES: dict[str, str] = {  # in the order in which they count where there are several
    "complaint": (
        r"stezov|stiznost|stizno|reklam|neprijemn|nespokoj|zklam|nehoraz|skandal|complain|rude\b|disappoint|"
        r"unacceptab|charged twice|terrible|awful|for nothing\b|zbytecne"
    ),
    "cancel_reservation": (
        r"zrus|storn|odrek|cancel|release (?:my|the)|no longer (?:need|want)|don't need|do not"
        r" need|"
        r"uz (?:ho|ji|to|je|ty)?\s?nepotrebuj|nepotrebuji rezerv|back on sale|vratit do prodeje"
    ),
    "check_reservation": (
        r"(?:moj[ei]|mou|me|moji|svou|svoji|nasi|nase)\b.{0,20}\brezerv|rezervac\w*\b.{0,40}"
        r"\b(?:plat|propad|vyprs|stav|priprav|trva)|(?:plati|stav|over\w*)\b.{0,30}\brezerv|(?:my|our)\b.{0,20}\breserv|"
        r"reserv\w*\b.{0,40}\b(?:valid|expire|ready|status|still|go through)|i (?:have"
        r" )?reserved\b|"
        r"(?:rezervoval|rezervovala|objednal|objednala)\b.{0,40}\b(?:jsem|si)\b|r-[a-z2-7]{8}\b"
    ),
    "reservation": (
        r"rezerv|zarezerv|odloz|schovej|schovat|zamluv|podrz|reserv|put\b.{0,30}\baside|set aside|"
        r"hold (?:a|one|it|the|me)|keep (?:a|one|it|me)|save me|book (?:a|one|me|it)"
    ),
    "opening_hours": (
        r"otevir|otevren|otvir|oteviraci|zavir|do kolika|nonstop|adres[auy]|opening|"
        r"open (?:on|at|until|till|in)|are you open|is\b.{0,40}\bopen|what time|close[sd]?"
        r" |address|"
        r"where (?:is|are) (?:your|the) pharmac|kde (?:je|najdu|mate)\b.{0,20}\blekarn|postou|by"
        r" post|deliver|dovoz|"
        r"rozvoz|platit kartou|pay by card"
    ),
    "thanks": r"dekuj|dekuju|diky|thank|cheers\b",
}
_ASKS = (
    r"\?|mate\b|maji\b|skladem|dostup|sezen|sehnat|shanim|hledam|k"
    r" dostani|kde\b|koupi|prodej|cena|kolik stoji|"
    r"potrebuj|dorazil|bude\b|vedete|have\b|stock|avail|buy\b|get\b|price|how much|where|looking"
    r" for|"
    r"searching|need\b|carry|sell"
)


class CategoryChoice(NamedTuple):
    category: str
    confidence: float
    why: str


def choose_category(guess: dict[str, Any], text: str, names_product: bool) -> CategoryChoice:
    """The category that the brain's guess and the words of the message lead to.

    A brain that abstained still names what it would have said, as `best`.
    """
    if not guess.get("abstained"):
        return CategoryChoice(
            str(guess["category"]), float(guess["confidence"]), "the brain is sure"
        )
    best, near = str(guess.get("best")), float(guess.get("best_confidence") or 0)
    if best == "medical" and near >= _FEAR_OF_MEDICAL:
        return CategoryChoice("medical", near, "it may be a medical question")
    cues = _cues(text, names_product)
    if best in cues:
        return CategoryChoice(best, max(near, AGREED), "the brain's guess and the words agree")
    if cues:
        return CategoryChoice(cues[0], BY_WORDS, "the words say so")
    if best == "spam" and near >= _SURE_OF_SPAM and not names_product:
        return CategoryChoice("spam", near, "the brain is nearly sure")
    return CategoryChoice("other", 0.0, "neither the brain nor the words are clear")


def _cues(text: str, names_product: bool) -> list[str]:
    plain = " ".join(fold(text).replace("’", "'").split())
    cues = [category for category in _CUES if _pattern(_CUES[category]).search(plain)]
    asks = len(plain.split()) <= _FEW_WORDS or _pattern(_ASKS).search(plain)
    if names_product and asks:
        before_thanks = cues.index("thanks") if "thanks" in cues else len(cues)
        cues.insert(before_thanks, "availability")
    if "thanks" in cues and ("?" in plain or (names_product and len(cues) > 1)):
        cues.remove("thanks")  # a polite end of something else
    return cues


@cache
def _pattern(words: str) -> Any:
    return re2.compile(rf"(?:^|\b)(?:{words})")
