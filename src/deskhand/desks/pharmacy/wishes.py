"""What a message wants done, sentence by sentence: whether something is plainly asked for, told of
the past, tied to a condition, or left open."""

from collections.abc import Collection, Sequence

from .phrases import plain_sentences, plain_text, speaks_of
from .word_forms import sentences_in

_FEW_WORDS = 5
_ANSWERABLE = ("stock", "hours", "reserve", "small_talk")


def wants_reserved(text: str) -> bool:
    """Whether a sentence plainly asks to put something aside, as a request or a command."""
    return any(
        speaks_of("reserve", plain) and (speaks_of("asked", plain) or speaks_of("command", plain))
        for plain in plain_sentences(text)
        if not speaks_of("existing", plain)
    )


def speaks_of_reserving(text: str) -> bool:
    return any(speaks_of("reserve", plain) for plain in plain_sentences(text))


def wants_cancelled(text: str) -> bool:
    return any(speaks_of("cancel", plain) for plain in plain_sentences(text))


def has_reservation(text: str) -> bool:
    """Whether the message tells of something that was put aside before."""
    return any(speaks_of("existing", plain) for plain in plain_sentences(text))


def condition_in(text: str) -> str:
    """The first sentence that makes a wish depend on something but stock; empty without one."""
    for sentence in sentences_in(text):
        plain = plain_text(sentence)
        if (
            speaks_of("condition", plain)
            and speaks_of("reserve", plain)
            and not speaks_of("of_stock", plain)
        ):
            return sentence
    return ""


def asks_for_hours(text: str) -> bool:
    return any(speaks_of("hours", plain) for plain in plain_sentences(text))


def asks_about_stock(text: str) -> bool:
    return any(speaks_of("stock", plain) for plain in plain_sentences(text))


def open_questions(text: str, names: Collection[str] = ()) -> list[str]:
    """Questions that are neither about stock, prices, opening hours nor a reservation.

    A few words with one of the `names` ask for it: `And Zyrtec?`
    """
    questions = [sentence for sentence in sentences_in(text) if sentence.endswith("?")]
    return [
        question
        for question in questions
        if not _is_answerable(plain_text(question)) and not _only_names(question, names)
    ]


def _only_names(question: str, names: Collection[str]) -> bool:
    is_short = len(question.split()) <= _FEW_WORDS
    return is_short and any(plain_text(name) in plain_text(question) for name in names)


def wanted_elsewhere(text: str, names: Sequence[str], counted: Collection[str]) -> list[str]:
    """Names that stand only in sentences which ask for nothing, while others are asked for.

    Names in `counted` come with a number of packs, which asks for them wherever they stand.
    """
    asking = "\n".join(plain for plain in plain_sentences(text) if speaks_of("reserve", plain))
    others = [name for name in names if name not in counted and plain_text(name) not in asking]
    return others if len(others) < len(names) else []


def _is_answerable(plain: str) -> bool:
    known = any(speaks_of(kind, plain) for kind in _ANSWERABLE)
    return known and not speaks_of("not_ours", plain)
