"""What a message wants done, sentence by sentence: whether something is plainly asked for, told of
the past, tied to a condition, or left open."""

import re
from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple

from .clauses import asks_about_a_medicine, asks_for_another_thing, asks_where, clauses_of
from .marked_names import with_these_marked
from .phrases import kinds_of, plain_sentences, plain_text, speaks_of
from .unread import asks_for_something_unread, has_strange_words
from .word_forms import sentences_in, visible

_FEW_WORDS = 5
_ANSWERABLE = ("stock", "hours", "reserve", "prescription")
_RESERVED_IN_SPANISH = re.compile(r"\b(?:reserv|apart|encargu|ped|guard)[éí]\b", re.IGNORECASE)
"""`Reservé` tells of the past; without its accent it is a command."""


def wants_reserved(text: str) -> bool:
    """Whether a sentence plainly asks to put something aside, as a request or a command."""
    return any(
        _reserves(plain) and (speaks_of("asked", plain) or speaks_of("command", plain))
        for plain in plain_sentences(text)
        if not speaks_of("existing", plain) and not speaks_of("declined", plain)
    )


def declines(text: str) -> bool:
    """Whether a sentence says that nothing shall be put aside."""
    return any(speaks_of("declined", plain) for plain in plain_sentences(text))


def speaks_of_reserving(text: str) -> bool:
    return any(_reserves(plain) for plain in plain_sentences(text))


def _reserves(plain: str) -> bool:
    """Whether a sentence speaks of putting something aside; `do you keep it` asks for stock."""
    words = kinds_of("reserve", plain)
    if words == {"keep"}:
        return not speaks_of("keeps_in_stock", plain)
    return bool(words)


def says_which_pharmacy(text: str) -> bool:
    """Whether the message tells which of several pharmacies is meant, in words that name none: the
    one at the station."""
    return any(speaks_of("which_one", plain) for plain in plain_sentences(text))


def wants_cancelled(text: str) -> bool:
    return any(speaks_of("cancel", plain) for plain in plain_sentences(text))


def has_reservation(text: str) -> bool:
    """Whether the message tells of something that was put aside before."""
    is_past = _RESERVED_IN_SPANISH.search(visible(text)) is not None
    return is_past or any(map(_tells_of_reservation, plain_sentences(text)))


def _tells_of_reservation(plain: str) -> bool:
    """`How long is a reserved medicine kept?` tells of none, unless it is the sender's own."""
    is_general = speaks_of("in_general", plain) and not speaks_of("check", plain)
    return speaks_of("existing", plain) and not is_general


def tells_what_happened(text: str) -> bool:
    """Whether somebody was there, for what had been put aside or without asking for anything now,
    and writes afterwards: a complaint, whatever its words are."""
    was_there = any(speaks_of("visit", plain) for plain in plain_sentences(text))
    return was_there and (has_reservation(text) or not _wants_anything(text))


def _wants_anything(text: str) -> bool:
    if asks_something(text):
        return True
    whole = plain_text(text)
    return any(speaks_of(kind, whole) for kind in ("asked", "command", "thanks"))


def asks_something(text: str) -> bool:
    """Whether a sentence asks something, or asks to be told something."""
    return any(
        plain.endswith("?") or speaks_of("tell_me", plain) for plain in plain_sentences(text)
    )


def cannot_come(text: str) -> bool:
    return any(speaks_of("cannot_come", plain) for plain in plain_sentences(text))


def condition_in(text: str) -> str:
    """The first sentence that makes a wish depend on something but stock; empty without one. A
    condition about a price, or under which nothing is wanted, may stand beside the wish."""
    reserves = speaks_of_reserving(text)
    for sentence in sentences_in(text):
        plain = plain_text(sentence)
        if _ties_a_wish(plain) or (reserves and _ties_the_wish_before(plain)):
            return sentence
    return ""


def _ties_a_wish(plain: str) -> bool:
    is_of_stock = speaks_of("of_stock", plain) and not speaks_of("of_price", plain)
    return speaks_of("condition", plain) and _reserves(plain) and not is_of_stock


def _ties_the_wish_before(plain: str) -> bool:
    is_of_price = speaks_of("condition", plain) and speaks_of("of_price", plain)
    return is_of_price or speaks_of("else_nothing", plain)


def asks_for_hours(text: str) -> bool:
    """Whether a sentence asks when a pharmacy is open, and not how long something is kept there."""
    return any(map(_asks_when_open, plain_sentences(text)))


def asks_for_hours_alone(text: str) -> bool:
    """Whether opening hours answer all that a message asks."""
    asks_for_more = bool(open_questions(text)) or asks_for_post(text)
    return asks_for_hours(text) and not asks_for_more


def _asks_when_open(plain: str) -> bool:
    is_about_hours = speaks_of("hours", plain) or _asks_to_come(plain)
    return is_about_hours and not speaks_of("in_general", plain)


def _asks_to_come(plain: str) -> bool:
    """Whether somebody asks if he may come at a time, and for nothing that is done there."""
    return speaks_of("come", plain) and not has_strange_words(with_these_marked(plain, ()))


class Details(NamedTuple):
    """What a message asks for beside where a medicine is to be had."""

    hours: bool = False
    prescription: bool = False
    kinds: bool = False
    """Which strengths and packs there are."""
    price: bool = False
    total: bool = False
    """What several medicines cost in all."""
    post: bool = False
    """Whether medicines are sent."""
    opening_hours: bool = False
    """When a pharmacy is open, in so many words, and not as a time to come alone."""


def details_in(text: str) -> Details:
    plain = plain_sentences(text)
    asked = [sentence for sentence in plain if _asks(sentence)]
    return Details(
        hours=asks_for_hours(text) or _speak_of("when", asked),
        prescription=_speak_of("prescription", asked),
        kinds=_speak_of("kinds", plain),
        price=_speak_of("price", asked),
        total=_asks_for_total(plain),
        post=_speak_of("by_post", asked),
        opening_hours=asks_for_hours(text),
    )


def _speak_of(subject: str, sentences: Sequence[str]) -> bool:
    return any(speaks_of(subject, sentence) for sentence in sentences)


def _asks_for_total(plain: Sequence[str]) -> bool:
    return any(speaks_of("sum", sentence) and speaks_of("paying", sentence) for sentence in plain)


def asks_about_stock(text: str) -> bool:
    return any(speaks_of("stock", plain) or _asks_where(plain) for plain in plain_sentences(text))


def _asks_where(plain: str) -> bool:
    return any(map(asks_where, clauses_of(plain)))


def open_questions(text: str, names: Collection[str] = ()) -> list[str]:
    """Questions that are neither about stock, prices, opening hours nor a reservation.

    A few words with one of the `names` ask for it: `And Zyrtec?`
    """
    return [sentence for sentence in sentences_in(text) if _is_open(sentence, names)]


def _is_open(sentence: str, names: Collection[str]) -> bool:
    plain = plain_text(sentence)
    without_post = _without(_is_about_post, plain)
    if without_post != plain:
        return _is_not_ours(without_post) or _has_open_clause(without_post, names)
    if sentence.endswith("?"):
        return not _is_answerable(plain, names) and not _only_names(sentence, names)
    plain = _without(_tells_of_prescription, plain)
    return _asks(plain) and (_is_not_ours(plain) or _has_open_clause(plain, names))


def _without(says: Callable[[str], bool], plain: str) -> str:
    """A sentence without its clauses that say something."""
    clauses = clauses_of(plain)
    kept = [clause for clause in clauses if not says(clause)]
    return plain if len(kept) == len(clauses) else ", ".join(kept)


def asks_for_post(text: str) -> bool:
    """Whether a sentence asks to have something sent."""
    asking = filter(_asks, plain_sentences(text))
    return any(map(_is_about_post, asking))


def _is_about_post(plain: str) -> bool:
    return speaks_of("by_post", plain)


def _tells_of_prescription(clause: str) -> bool:
    """Whether a clause says that somebody has a prescription, and none from abroad."""
    return speaks_of("has_prescription", clause) and not speaks_of("foreign", clause)


def _is_not_ours(plain: str) -> bool:
    """Whether a sentence speaks of what the shelves do not tell."""
    if speaks_of("how_long", plain) and not speaks_of("open_how_long", plain):
        return True
    return speaks_of("not_ours", plain)


def _only_names(question: str, names: Collection[str]) -> bool:
    is_short = len(question.split()) <= _FEW_WORDS
    plain = plain_text(question)
    if not is_short or _is_not_ours(plain) or _has_open_clause(plain, names):
        return False
    return any(plain_text(name) in plain for name in names)


def wanted_elsewhere(text: str, names: Sequence[str], counted: Collection[str]) -> list[str]:
    """Names that stand only in sentences which ask for nothing, while others are asked for.

    Names in `counted` come with a number of packs, which asks for them wherever they stand.
    """
    asking = "\n".join(plain for plain in plain_sentences(text) if _reserves(plain))
    others = [name for name in names if name not in counted and plain_text(name) not in asking]
    return others if len(others) < len(names) else []


def _is_answerable(plain: str, names: Collection[str]) -> bool:
    """Whether our shelves answer a question, and each of its clauses."""
    return _is_ours(with_these_marked(plain, names)) and not _has_open_clause(plain, names)


def _has_open_clause(plain: str, names: Collection[str]) -> bool:
    marked = with_these_marked(plain, names)
    if asks_for_another_thing(marked) or asks_for_something_unread(marked):
        return True
    return any(map(_is_open_clause, clauses_of(marked)))


def _is_open_clause(clause: str) -> bool:
    return asks_about_a_medicine(clause) and not _is_ours(clause)


def _is_ours(plain: str) -> bool:
    is_told = any(speaks_of(kind, plain) for kind in _ANSWERABLE) or _asks_where(plain)
    is_ours = is_told or _is_small_talk(plain) or _asks_to_come(plain)
    is_of_another_day = speaks_of("holiday", plain) or speaks_of("in_general", plain)
    return is_ours and not is_of_another_day and not _is_not_ours(plain)


def _is_small_talk(plain: str) -> bool:
    """Whether a question asks nothing: `All right?`, but not `I may take both, right?`"""
    return len(plain.split()) <= _FEW_WORDS and speaks_of("small_talk", plain)


def asks_for_a_holiday(text: str) -> bool:
    """Whether a sentence about opening hours names a day that may have others."""
    return any(
        speaks_of("hours", plain) and speaks_of("holiday", plain) for plain in plain_sentences(text)
    )


def has_another_choice(text: str) -> bool:
    """Whether a message says what is wanted if something is not there: `or else the plain one`."""
    return any(speaks_of("other_choice", plain) for plain in plain_sentences(text))


def seeks_something(text: str) -> bool:
    """Whether a message asks or looks for something, rather than telling what happened; a few
    words alone ask for what they name."""
    is_short = len(text.split()) <= _FEW_WORDS
    return is_short or any(map(_asks, plain_sentences(text)))


def _asks(plain: str) -> bool:
    kinds = ("asked", "command", "tell_me", "seeks")
    return plain.endswith("?") or any(speaks_of(kind, plain) for kind in kinds)


def only_told(text: str, names: Sequence[str]) -> list[str]:
    """Names that stand only in sentences which ask for nothing, while others are asked for."""
    asking = "\n".join(filter(_asks, plain_sentences(text)))
    only_told_names = [name for name in names if plain_text(name) not in asking]
    return only_told_names if len(only_told_names) < len(names) else []
