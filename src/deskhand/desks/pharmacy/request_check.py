"""What becomes of a request: it can be done, something must be asked first, or a person looks."""

from collections.abc import Mapping, Sequence
from typing import Any

from . import wishes
from .customer_request import Request, products_of
from .places import has_several
from .questions import (
    ask_amount,
    ask_corrected,
    ask_medicine,
    ask_packs,
    ask_pharmacy,
    ask_place,
    ask_rest,
    ask_which,
    not_kept,
    not_served,
)
from .shelf import MOST_PACKS
from .wording import Language

Fields = dict[str, Any]

MOST_ITEMS = 3
"""Medicines that one plan puts aside."""
_BULK = 20
"""More packs than this are no private customer's."""
_MOST_QUESTIONS = 2
_NO_PLAIN_WISH = "nobody plainly asks to put something aside"
_BY_POST = "the message asks to have something sent"
NO_QUESTION: Fields = {"missing": False, "question": ""}


def checked(request: Fields, category: str, words: str, earlier: Mapping[str, Any]) -> Fields:
    """The request with what is missing (`missing`, `question`), why a person must look
    (`hand_over`, `reason`), or the values that tools are called with (`slots`, `read`).

    `words` are the customer's own; `earlier` is the request that our question was about.
    """
    wanted = bool(earlier.get("wanted")) or wishes.wants_reserved(words)
    request = request | NO_QUESTION | {"asked": int(earlier.get("asked") or 0), "wanted": wanted}
    if category == "availability":
        return _availability(request, words)
    if category == "reservation":
        return _reservation(request, words, earlier)
    if category == "cancel_reservation":
        read = "exact" if wishes.wants_cancelled(words) else "guessed"
        return request | {"slots": {"action": "cancel"}, "read": request["read"] | {"action": read}}
    if category == "check_reservation" and not wishes.asks_something(words):
        return _for_a_person(request, "the message tells of a reservation and asks nothing")
    return request


def _availability(request: Fields, words: str) -> Fields:
    if not request["items"]:
        return _without_a_medicine(request, words)
    if wishes.has_reservation(words):
        return _for_a_person(request, "the message is about something that was put aside before")
    if condition := wishes.condition_in(words):
        return _for_a_person(request, _conditional(condition))
    if not wishes.seeks_something(words) and not request["asked"]:
        return _for_a_person(request, "the message names a medicine and asks for nothing")
    if others := wishes.only_told(words, _names(request)):
        return _for_a_person(request, f"it is not plain whether {', '.join(others)} is wanted")
    if _most_packs(request) > _BULK:
        return _for_a_person(request, f"{_most_packs(request)} packs are asked for")
    is_kept = all(item["name"] and not item["lacks"] for item in request["items"])
    if not is_kept and wishes.has_another_choice(words):
        return _for_a_person(request, "something is not kept, and another choice is named")
    return _with_open_questions(request, words)


def _without_a_medicine(request: Fields, words: str) -> Fields:
    if wishes.asks_for_post(words):
        return _for_a_person(request, _BY_POST)
    return _asking(request, [ask_medicine(request["language"])])


def _with_open_questions(request: Fields, words: str) -> Fields:
    open_questions = wishes.open_questions(words, _names(request))
    if not open_questions:
        return request
    return _for_a_person(request, f"this is not answered: “{open_questions[0][:150]}”")


def _reservation(request: Fields, words: str, earlier: Mapping[str, Any]) -> Fields:
    items: Sequence[Mapping[str, Any]] = request["items"]
    if not items:
        return _asking(request, [ask_medicine(request["language"])])
    if not any(item["name"] for item in items):
        return _looked_up_only(_with_open_questions(request, words))
    if doubt := _doubt(request, words, earlier):
        return _for_a_person(_looked_up_only(request), doubt)
    questions = _questions(request, items, words)
    if questions:
        return _asking(request, questions)
    return _ready(_with_open_questions(request, words), items)


def _most_packs(request: Fields) -> int:
    return max((item["packs"] or 0 for item in request["items"]), default=0)


def _doubt(request: Fields, words: str, earlier: Mapping[str, Any]) -> str:
    """Why nothing may be put aside without a person; empty where nothing speaks against it."""
    if _most_packs(request) > _BULK:
        return f"{_most_packs(request)} packs are asked for, and a reservation holds {MOST_PACKS}"
    if len(request["items"]) > MOST_ITEMS:
        return f"more than {MOST_ITEMS} medicines are asked for"
    if earlier.get("question") and request["wanted"]:
        return ""
    if doubt := _doubt_in(words):
        return doubt
    if not wishes.wants_reserved(words):
        return _NO_PLAIN_WISH
    counted = [item["written"] for item in request["items"] if item["packs"]]
    if others := wishes.wanted_elsewhere(words, _names(request), counted):
        return f"it is not plain whether {', '.join(others)} is wanted as well"
    open_questions = wishes.open_questions(words, _names(request))
    return f"this is not answered: “{open_questions[0][:150]}”" if open_questions else ""


def doubt_about(request: Request, words: str) -> str:
    """What speaks against putting something aside in the words of a message alone, which may be
    the answer to a question; empty where nothing does."""
    packs = max((item.packs or 0 for item in request.items), default=0)
    if packs > MOST_PACKS:
        return f"{packs} packs are asked for, and a reservation holds {MOST_PACKS}"
    return _doubt_in(words)


def _doubt_in(words: str) -> str:
    if condition := wishes.condition_in(words):
        return _conditional(condition)
    if wishes.has_reservation(words) or wishes.declines(words):
        return _NO_PLAIN_WISH
    if wishes.asks_for_post(words):
        return _BY_POST
    return ""


def _conditional(condition: str) -> str:
    return f"the wish depends on a condition: “{condition[:150]}”"


def _names(request: Fields) -> list[str]:
    return [item["written"] for item in request["items"]]


def _questions(request: Fields, items: Sequence[Mapping[str, Any]], words: str) -> list[str]:
    """What the customer must say first, in the order of his message."""
    language: Language = request["language"]
    _, towns, strange = request["places"]
    questions: list[str] = []
    for item in items:
        questions += _questions_about(item, language)
    questions += _about_the_rest(items, language)
    if strange and not towns:
        questions.append(not_served(strange, language))
        questions.append(ask_place(language))
    elif not request["place"]:
        questions.append(ask_place(language))
    elif has_several(request["place"]) and wishes.says_which_pharmacy(words):
        questions.append(ask_pharmacy(request["place"], language))
    return questions


def _about_the_rest(items: Sequence[Mapping[str, Any]], language: Language) -> list[str]:
    """Whether what we do keep shall be put aside, where we do not keep all that is wanted."""
    kept = [item for item in items if item["name"] and not item["lacks"]]
    is_open = any(_questions_about(item, language) for item in kept)
    if not kept or len(kept) == len(items) or is_open:
        return []
    return [ask_rest([item["query"] for item in kept], language)]


def _questions_about(item: Mapping[str, Any], language: Language) -> list[str]:
    products = products_of(item)
    if not item["name"] or item["lacks"]:
        return [not_kept(item, products, language)]
    questions: list[str] = []
    if item["read"] == "corrected":
        questions.append(ask_corrected(item, language))
    if len({(product.brand, product.strength, product.form) for product in products}) > 1:
        questions.append(ask_which(item, products, language))
    if item["packs_unclear"]:
        questions.append(ask_packs(item, language))
    if (item["packs"] or 0) > MOST_PACKS:
        questions.append(ask_amount(item, MOST_PACKS, language))
    return questions


def _ready(request: Fields, items: Sequence[Mapping[str, Any]]) -> Fields:
    """The values that the plan calls the tool with, each with how it was read."""
    slots: Fields = {"action": "create"}
    read: Fields = request["read"] | {"action": "exact"}
    for number, item in enumerate(items, 1):
        slots[f"drug_{number}"] = item["query"]
        read[f"drug_{number}"] = item["read"]
        if item["packs"]:
            slots[f"packs_{number}"] = item["packs"]
            read[f"packs_{number}"] = "exact"
        if item["pack_size"]:
            slots[f"size_{number}"] = item["pack_size"]
    return request | {"slots": slots, "read": read}


def _asking(request: Fields, questions: list[str]) -> Fields:
    """The request with its question; after the second one without an answer a person looks."""
    if request["asked"] >= _MOST_QUESTIONS:
        return _for_a_person(_looked_up_only(request), "the customer was asked twice already")
    text = "\n\n".join(questions)
    return request | {"missing": True, "question": text, "asked": request["asked"] + 1}


def _looked_up_only(request: Fields) -> Fields:
    """Nothing is put aside: the plan only looks at the shelves."""
    return request | {"category": "availability", "confidence": 0.8, "not_put_aside": True}


def _for_a_person(request: Fields, reason: str) -> Fields:
    return request | {"hand_over": True, "reason": reason}
