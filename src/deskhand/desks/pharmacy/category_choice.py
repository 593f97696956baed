"""What a message is about: the embedded model's guess where the message's own words bear it out."""

from typing import Any, NamedTuple

from . import wishes
from .phrases import kinds_of, plain_sentences, plain_text, speaks_of

AGREED, BY_WORDS = 0.75, 0.6
"""How sure we are where guess and words agree, and where only the words speak."""
_SURE_OF_SPAM = 0.75
_FEAR_OF_MEDICAL = 0.5
_FEAR_BESIDE_STOCK = 0.6
"""Where the words ask for a medicine; those of a medical question were looked for before."""
_FEAR_OF_COMPLAINT = 0.5
_FEW_WORDS = 7
_FEW_OFFERS = 2
"""So many different words of an offer make it one."""


def offers_in(words: str) -> int:
    """How many different words of an offer there are."""
    return len(kinds_of("spam", plain_text(words)))


def tells_of_long_ago(words: str) -> bool:
    return any(speaks_of("long_ago", plain) for plain in plain_sentences(words))


class CategoryChoice(NamedTuple):
    category: str
    confidence: float
    why: str


def choose_category(
    guess: dict[str, Any], whole: str, words: str, names_product: bool
) -> CategoryChoice:
    """The category that the brain's guess and the words of the message lead to.

    `whole` is the message with its subject, `words` is its body alone. A brain that abstained
    still names what it would have said, as `best`. A complaint counts wherever it stands.
    """
    cues = _cues(plain_text(whole), words, names_product)
    feared = _safety(guess, words, cues)
    if feared is not None:
        return feared
    if offers_in(words) >= _FEW_OFFERS and "?" not in words:
        return CategoryChoice("spam", BY_WORDS, "the words offer something")
    if not guess.get("abstained"):
        sure = _corrected(str(guess["category"]), words, cues)
        return CategoryChoice(sure, float(guess["confidence"]), "the brain is sure")
    return _by_words(guess, words, cues, names_product)


def _safety(guess: dict[str, Any], words: str, cues: list[str]) -> CategoryChoice | None:
    """What must reach a person, wherever it stands in the message."""
    near = float(guess.get("best_confidence") or 0)
    is_past = "availability" in cues and tells_of_long_ago(words)
    feared_at = _FEAR_BESIDE_STOCK if "availability" in cues else _FEAR_OF_MEDICAL
    if guess.get("best") == "medical" and near >= feared_at and not is_past:
        return CategoryChoice("medical", near, "it may be a medical question")
    sure = "" if guess.get("abstained") else str(guess.get("category"))
    if "complaint" in cues and sure not in ("medical", "complaint"):
        return CategoryChoice("complaint", AGREED, "the words complain")
    if guess.get("best") == "complaint" and near >= _FEAR_OF_COMPLAINT:
        return CategoryChoice("complaint", near, "it may be a complaint")
    return None


def _by_words(
    guess: dict[str, Any], words: str, cues: list[str], names_product: bool
) -> CategoryChoice:
    """The category where the brain is not sure."""
    best, near = str(guess.get("best")), float(guess.get("best_confidence") or 0)
    best = _corrected(best, words, cues)
    if best in cues:
        return CategoryChoice(best, max(near, AGREED), "the brain's guess and the words agree")
    if cues:
        return CategoryChoice(cues[0], BY_WORDS, "the words say so")
    if names_product:
        return CategoryChoice("availability", 0.0, "a medicine is named, and nothing is clear")
    if best == "spam" and near >= _SURE_OF_SPAM:
        return CategoryChoice("spam", near, "the brain is nearly sure")
    return CategoryChoice("other", 0.0, "neither the brain nor the words are clear")


def _corrected(guess: str, words: str, cues: list[str]) -> str:
    """The brain's guess, unless the words plainly ask for something else: to put something aside
    is more than to ask for it, and who asks for a medicine asks for more than opening hours."""
    if guess == "availability" and wishes.wants_reserved(words) and "reservation" in cues:
        return "reservation"
    if guess == "check_reservation" and guess not in cues:
        return "other"  # a question about reservations in general
    is_past = guess == "medical" and tells_of_long_ago(words)
    if "availability" in cues and (guess == "opening_hours" or is_past):
        return "availability"
    return guess


def _cues(plain: str, words: str, names_product: bool) -> list[str]:
    """The categories that the words speak for, in the order in which they count."""
    few_words = len(words.split()) <= _FEW_WORDS
    named, stock = speaks_of("reserve_noun", plain), wishes.asks_about_stock(words)
    is_something_unnamed = speaks_of("unnamed", plain_text(words))
    unnamed = stock and few_words and is_something_unnamed and not wishes.asks_for_hours(words)
    is_thanks = speaks_of("thanks", plain) and "?" not in plain
    kept = wishes.has_reservation(words)
    is_spoken_of = {
        "complaint": speaks_of("complaint", plain) or wishes.tells_what_happened(words),
        "cancel_reservation": wishes.wants_cancelled(words) or (kept and wishes.cannot_come(words)),
        "check_reservation": speaks_of("check", plain) or kept,
        "reservation": wishes.speaks_of_reserving(words) or (named and not stock),
        "availability": (names_product and (few_words or stock)) or unnamed,
        "opening_hours": wishes.asks_for_hours(words) or speaks_of("post", plain),
        "thanks": is_thanks,
    }
    cues = [category for category, speaks in is_spoken_of.items() if speaks]
    if is_thanks and names_product and len(cues) > 1:
        cues.remove("thanks")  # a polite end of something else
    return cues
