"""Score the reading of turns: kinds, values and words, with the model that ships.

    python scripts/score_turns.py turns.jsonl [...]
    python scripts/score_turns.py --held-out turns.jsonl [...]   # what was not learned from

A line has language, matter, asked, question, known, text, and the truth: kind and values, as they
are written in the text. Orders and amounts must be exact, also those in words and shares; words
must hold the truth's words and nothing of another value.
"""

import hashlib
import json
import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

from deskhand.brain.desk_intents import text_intent_reader
from deskhand.config.sections.slots import SlotSpec
from deskhand.language.slots.folded_text import fold
from deskhand.language.slots.number_phrases import SPOKEN_IN, spoken_digits
from deskhand.language.turn_kinds import OpenQuestion, Turn, same_value
from deskhand.language.turns import TurnReader
from deskhand.wiring import read_desk

SLOTS = {
    "order": SlotSpec(name="order", type="order_number", min_digits=4, max_digits=8),
    "amount": SlotSpec(name="amount", type="money", currency="EUR"),
    "date": SlotSpec(name="date", type="date"),
    "email": SlotSpec(name="email", type="email"),
    "reason": SlotSpec(name="reason", type="text", about="reason"),
    "address": SlotSpec(name="address", type="text", about="address"),
    "summary": SlotSpec(name="summary", type="text", about="summary"),
}
SLOTS_OF = {
    "refund": ("order", "amount", "reason", "email", "address"),
    "cancel_order": ("order", "reason", "amount", "email"),
    "change_address": ("order", "address", "email", "date"),
    "create_ticket": ("summary", "order", "email", "date"),
    "order_status": ("order", "email", "date"),
    "book_appointment": ("date", "summary", "address", "email", "order"),
    "invoice": ("email", "address", "order"),
    "return": ("order", "address", "date", "reason"),
    "account": ("email", "summary", "order"),
    "warranty": ("summary", "order", "date"),
    "newsletter": ("email", "order"),
    "exchange": ("order", "reason", "amount", "email"),
}
"""What a desk wants to know about each matter, as its intents would say."""
HELD_OUT = 8
WORDS = ("reason", "address", "summary")
NOW = datetime(2026, 11, 17, 9, tzinfo=UTC)


def lines_of(paths: Sequence[str], *, held_out: bool) -> Iterator[dict[str, Any]]:
    for path in paths:
        for line in Path(path).read_text("utf-8").splitlines():
            case = json.loads(line) if line.strip() else None
            if case is None:
                continue
            if is_held_out(case["text"]) or not held_out:
                yield case


def is_held_out(text: str) -> bool:
    """As `scripts/reading_corpus.py` has it."""
    return hashlib.sha256(text.encode()).digest()[0] % HELD_OUT == 0


def question_of(reader: TurnReader, case: Mapping[str, Any]) -> OpenQuestion:
    """The question as a desk asks it: what is known has the type of its slot."""
    known: dict[str, Any] = {}
    for name, written in (case.get("known") or {}).items():
        alone = OpenQuestion(asked=(name,), slots=(name,))
        typed = reader.values(str(written), alone, NOW).values
        known[name] = typed.get(name, written)
    return OpenQuestion(
        asked=(case["asked"],),
        slots=SLOTS_OF.get(case.get("matter") or "", tuple(SLOTS)),
        known=known,
        matter=case.get("matter"),
        prompt=case["question"],
    )


def is_exact(reader: TurnReader, case: Mapping[str, Any], name: str, value: Any) -> bool:
    written = str(case["values"][name])
    if name == "order":
        own = order_letters(value)
        is_partly_spoken = re.search(r"[^\W\d_]{2,}", written) is not None
        if is_partly_spoken and own == re.sub(r"\D", "", written):
            return True
        return own == order_letters(written) or own in spoken_in(written)
    if value is None:
        return False
    number = number_in(written)
    if number is None:
        return same_amount(amount_alone(reader, written), value)
    return "amount" in value and Decimal(value["amount"]) == number


def same_amount(truth: Any, value: Any) -> bool:
    """Of amounts the number counts, as it does for those in figures: the truth often leaves the
    currency out."""
    if isinstance(truth, Mapping) and "amount" in truth and "amount" in value:
        return same_value(truth["amount"], value["amount"])
    return same_value(truth, value)


def amount_alone(reader: TurnReader, written: str) -> Any:
    """An amount in words or a share, as it is read where nothing else is said. That these are read
    rightly is what `tests/unit/language/test_turn_amounts.py` says."""
    question = OpenQuestion(asked=("amount",), slots=("amount",))
    return reader.values(written, question, NOW).values.get("amount")


def order_letters(value: Any) -> str:
    """A number without its signs, and without the O that most shops of the turns write before."""
    return re.sub(r"[^A-Z0-9]", "", str(value).upper()).removeprefix("O")


def spoken_in(text: str) -> list[str]:
    """Numbers in words. That these are read rightly is what
    `tests/unit/language/test_number_phrases.py` says."""
    folded = fold(text)
    return [said.digits for language in SPOKEN_IN for said in spoken_digits(folded, language)]


def number_in(written: str) -> Decimal | None:
    """The amount that is written in figures; None where it is in words, or a share."""
    digits = re.findall(r"\d(?:[\d.,' ]*\d)?", written)
    if len(digits) != 1 or re.search(r"%|percent|prozent|procent|por ciento", written):
        return None
    point = re.sub(r"[., '](?=\d{3}(?:\D|$))", "", digits[0])
    return Decimal(point.replace(",", "."))


def words_of(text: Any) -> list[str]:
    return re.findall(r"\w+", str(text).casefold())


def holds_words(case: Mapping[str, Any], name: str, value: Any) -> bool:
    """Whether it holds the truth's words, and nothing of another value but what the truth holds
    too."""
    truth = str(case["values"][name])
    if value is None or not set(words_of(truth)) <= set(words_of(value)):
        return False
    others = [
        str(other)
        for key, other in case["values"].items()
        if key != name and str(other) not in truth
    ]
    return not any(other.casefold() in str(value).casefold() for other in others)


def invented(case: Mapping[str, Any], turn: Turn) -> list[str]:
    """Values of which the text does not state a word."""
    return [name for name in turn.values if not is_stated(name, turn.values[name], case["text"])]


def is_stated(name: str, value: Any, text: str) -> bool:
    if name in WORDS:
        return set(words_of(value)) <= set(words_of(text))
    if name == "order":
        digits = re.sub(r"\D", "", str(value))
        return digits in re.sub(r"\D", "", text) or digits in spoken_in(text)
    return True


class Tally:
    """How often what was right."""

    def __init__(self) -> None:
        self._right: Counter[str] = Counter()
        self._all: Counter[str] = Counter()

    def count(self, name: str, is_right: bool) -> None:
        self._right[name] += is_right
        self._all[name] += 1

    def show(self) -> None:
        for name in sorted(self._all):
            right, every = self._right[name], self._all[name]
            sys.stdout.write(f"{name:34} {right:4} of {every:4}  {right / every:.1%}\n")


def score(reader: TurnReader, case: Mapping[str, Any], tally: Tally) -> list[str]:
    """Counts a turn; returns what is wrong about it."""
    turn = reader.read(case["text"], question_of(reader, case), NOW)
    is_right = str(turn.kind) == case["kind"]
    for name in ("kind", f"kind {case['kind']}", f"kind in {case['language']}"):
        tally.count(name, is_right)
    wrong = [] if is_right else [f"{turn.kind} instead of {case['kind']}"]
    made_up = invented(case, turn)
    tally.count("nothing invented", not made_up)
    wrong += [f"INVENTED {name}" for name in made_up]
    return [*wrong, *wrong_values(reader, case, turn, tally), *wrong_words(case, turn, tally)]


def wrong_values(
    reader: TurnReader, case: Mapping[str, Any], turn: Turn, tally: Tally
) -> Iterator[str]:
    truth = case.get("values") or {}
    for name in ("order", "amount"):
        if name not in truth and name not in turn.values:
            continue
        value = turn.values.get(name)
        exact = name in truth and is_exact(reader, case, name, value)
        exact = exact or _only_repeats(case, name, value)
        tally.count("typed: orders and amounts", exact)
        if name == "amount" and name in truth and number_in(str(truth[name])) is None:
            tally.count("typed: amounts in words", exact)
        if not exact:
            yield f"{name} {value} instead of {truth.get(name)}"


def _only_repeats(case: Mapping[str, Any], name: str, value: Any) -> bool:
    """Whether the text only names what is known already, and nothing else was read for it."""
    known, truth = case.get("known") or {}, case.get("values") or {}
    return value is None and name in truth and truth[name] == known.get(name)


def wrong_words(case: Mapping[str, Any], turn: Turn, tally: Tally) -> Iterator[str]:
    truth = case.get("values") or {}
    for name in WORDS:
        if name not in truth:
            continue
        fits = holds_words(case, name, turn.values.get(name))
        tally.count("words", fits)
        tally.count(f"words of {name}", fits)
        if not fits:
            yield f"{name} {turn.values.get(name)!r} instead of {truth[name]!r}"


def main(arguments: Sequence[str]) -> None:
    matter_of = text_intent_reader(read_desk("orders").spec)
    reader = TurnReader(SLOTS, matter_of=matter_of, slots_of=lambda name: SLOTS_OF.get(name, ()))
    tally = Tally()
    paths = [argument for argument in arguments if not argument.startswith("--")]
    for case in lines_of(paths, held_out="--held-out" in arguments):
        wrong = score(reader, case, tally)
        if wrong and "--quiet" not in arguments:
            asked = f"{case['matter']}/{case['asked']} {case['question']!r} {case.get('known')}"
            sys.stdout.write(f"{case['language']} {asked}\n   {case['text']!r}\n   {wrong}\n")
    tally.show()


if __name__ == "__main__":
    main(sys.argv[1:])
