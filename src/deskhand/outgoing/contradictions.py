"""What in a quote speaks against a claim that its values and words seem to back.

A number may be right and stand in the wrong sentence; a sentence may be right and say the opposite.
"""

import re
from collections.abc import Iterator, Sequence

from deskhand.language.slots.folded_text import fold
from deskhand.outgoing.claim_words import (
    keys_of,
    meanings_of,
    pattern_of,
    words_of,
    words_of_each,
)
from deskhand.outgoing.content_words import (
    carries_meaning,
    same_word,
    stands_among,
    word_after,
    words_in,
)
from deskhand.outgoing.polarity import is_conditional, without_words
from deskhand.outgoing.quoted_sources import Clause, Passage
from deskhand.outgoing.stated_values import values_in
from deskhand.outgoing.values import Value, is_stated, same_value


def overlap(words: Sequence[str], others: Sequence[str]) -> int:
    """How many of the words stand among the others."""
    return sum(stands_among(word, others) for word in set(words))


def nearest_clause(clause: Clause, values: Sequence[Value], passage: Passage) -> Clause:
    """The clause of a passage that says it: the most values, then the most words in common."""

    def likeness(other: Clause) -> tuple[int, int, int]:
        stated = sum(is_stated(value, other.values) for value in values)
        same_sense = int(other.negative == clause.negative)
        return stated, overlap(clause.words, other.words), same_sense

    return max(passage.clauses, key=likeness)


def kinds_in(text: str) -> dict[str, tuple[int, int]]:
    """Words of a closed kind, such as colours, each with its place."""
    kinds: dict[str, tuple[int, int]] = {}
    folded = fold(text)
    phrases = [match.span() for match in pattern_of("other_sense").finditer(folded)]
    for word in words_in(text):
        if len(folded) == len(text) and any(a <= word.start < b for a, b in phrases):
            continue  # `the price drops` is no form of a medicine
        kinds |= dict.fromkeys(keys_of("kinds", word.folded), (word.start, word.end))
    return kinds


_MARGIN = 1.0
"""How much more a rival must speak of the same."""


def rival_clause(
    claimed: Sequence[str],
    asked: Sequence[str],
    values: Sequence[Value],
    passage: Passage,
    others: Sequence[Passage],
) -> Clause | None:
    """A clause of the same source that speaks more of the same, with another value of the same
    kind; None where there is none.

    What claim and question have in common counts most; words of the title count nothing.
    """
    is_told_whole = _is_told_whole(claimed, values, passage)
    for value in values:
        own = _own_clauses(value, values, passage)
        if not own:
            continue
        best = max(_weight(claimed, asked, clause.words, passage.context) for clause in own)
        whole = _weight(claimed, asked, passage.words, passage.context)
        for rival in others:
            is_same = rival.text == passage.text
            spoken = _weight(claimed, asked, rival.words, passage.context)
            if not is_same and spoken >= whole + 2 * _MARGIN:
                all_of_it = Clause(rival.text, (), tuple(rival.values), False)
                if _has_other_value(value, values, all_of_it):
                    return all_of_it
            for clause in () if is_same and is_told_whole else rival.clauses:
                weight = _weight(claimed, asked, clause.words, passage.context)
                least = (best if is_same else whole) + _MARGIN
                if weight >= least and _has_other_value(value, values, clause):
                    return clause
    return None


def _is_told_whole(claimed: Sequence[str], values: Sequence[Value], passage: Passage) -> bool:
    """Whether a clause of the passage states all the values, and no word that the claim has not:
    `ab 30 Stück um 10 %`, which leaves out what the clause before it says."""
    for clause in passage.clauses:
        if len(values) > 1 and all(_states(clause, value) for value in values):
            return all(stands_among(word, claimed) for word in clause.words)
    return False


def _own_clauses(value: Value, values: Sequence[Value], passage: Passage) -> list[Clause]:
    """The clauses that state a value; none where it is one of a day's hours, which pairs tell."""
    own = [clause for clause in passage.clauses if _states(clause, value)]
    names_day = any(other.kind == "weekday" for other in values)
    return [] if names_day and any(map(_weekdays, own)) else own


def _weight(
    claimed: Sequence[str], asked: Sequence[str], words: Sequence[str], title: Sequence[str]
) -> float:
    weight = 0.0
    for word in set(words):
        if any(same_word(word, other) for other in title):
            continue
        in_claim = any(same_word(word, other) for other in claimed)
        in_question = any(same_word(word, other) for other in asked)
        weight += 2.0 * (in_claim and in_question) + 1.0 * (in_claim and not in_question)
        weight += 0.5 * (in_question and not in_claim)
    return weight


def _states(clause: Clause, value: Value) -> bool:
    return any(same_value(value, stated) for stated in clause.values)


def _has_other_value(value: Value, values: Sequence[Value], other: Clause) -> bool:
    """Whether the other clause has another value of this kind, and none of the claimed ones."""
    same_kind = [stated for stated in other.values if _is_alike(stated, value)]
    has_claimed = any(same_value(claimed, stated) for claimed in values for stated in same_kind)
    return bool(same_kind) and not has_claimed


def opposite_clause(clause: Clause, nearest: Clause, passage: Passage) -> Clause | None:
    """Another clause of the sentence that the claim speaks of as much, and that denies what the
    claim says, or the reverse."""
    own = overlap(clause.words, nearest.words)
    for other in passage.clauses:
        if other is nearest or other.negative == clause.negative or is_conditional(other.text):
            continue
        shared = overlap(other.words, clause.words)
        if shared >= 2 and shared >= own and shared >= 0.66 * len(set(other.words)):
            return other
    return None


_TIMES = frozenset(("day", "workday", "month", "hour", "minute"))


def _is_alike(value: Value, other: Value) -> bool:
    """Whether two values say how much of the same: amounts of money, lengths of time."""
    if value.kind != other.kind:
        return False
    if value.unit in _TIMES and other.unit in _TIMES:
        return True
    return value.unit == other.unit


def splits_pairs(values: Sequence[Value], asked: Sequence[Value], passage: Passage) -> bool:
    """Whether hours stand beside a weekday, named or asked about, for which the source gives
    others."""
    days = [value for value in asked if value.kind == "weekday"]
    paired: list[tuple[list[Value], Value]] = []
    for place, value in enumerate(values):
        if value.kind == "weekday":
            earlier = place > 0 and values[place - 1].kind == "weekday"
            days = [*(days if earlier else []), value]
        elif days and (value.kind == "time" or (value.kind == "number" and not value.is_strength)):
            paired.append((days, value))
    given = [clause for clause in passage.clauses if _weekdays(clause)]
    if not given:
        return False
    hours = [value for clause in given for value in clause.values]
    paired = [(group, value) for group, value in paired if is_stated(value, hours)]
    return any(not _stands_with(day, hours, given) for group, hours in paired for day in group)


def _weekdays(clause: Clause) -> list[Value]:
    return [value for value in clause.values if value.kind == "weekday"]


def _stands_with(day: Value, hours: Value, clauses: Sequence[Clause]) -> bool:
    for clause in clauses:
        has_day = any(same_value(day, value) for value in clause.values)
        has_hours = any(same_value(hours, value) for value in clause.values)
        if has_day and has_hours:
            return True
    return False


def drops_condition(
    values: Sequence[Value], told_values: Sequence[Value], nearest: Clause, passage: Passage
) -> Value | None:
    """What a source says beside a discount or `free of charge`, and the reply leaves out."""
    for value in values:
        if value.unit != "percent" and value.readings != {"0"}:
            continue
        parts = [part for part in passage.text.split(";") if nearest.text in part]
        has_own = any(not same_value(value, other) for other in nearest.values)
        around = nearest.text if has_own else (parts or [nearest.text])[0]
        for beside in values_in(around):
            is_same = same_value(value, beside)
            if not is_same and not any(same_value(other, beside) for other in told_values):
                return beside
    return None


# --- records


def record_speaks_against(clause: Clause, passage: Passage) -> str | None:
    """A record that has none of something backs no sentence that says there is some."""
    spoken = [name for name in passage.fields if _speaks_of(clause, name)]
    if clause.negative and not spoken:
        fields = meanings_of("counting_fields")
        spoken = [name for name in passage.fields if fields.get(name) == "packs" or name == "found"]
    for name in spoken:
        value = passage.fields[name]
        if isinstance(value, str) or any(claim.readings == {"0"} for claim in clause.values):
            continue
        if bool(value) == (clause.negative or bool(without_words(clause.text))):
            return f"the result says otherwise: {name} is {value!r}"
    empty = [value for value in passage.fields.values() if not isinstance(value, str) and not value]
    if clause.negative and not spoken and not empty and not any(_negated_fields(passage)):
        return "the result denies nothing"
    return None


def _negated_fields(passage: Passage) -> Iterator[Clause]:
    return (clause for clause in passage.clauses if clause.negative)


def _speaks_of(clause: Clause, name: str) -> bool:
    parts = [part for part in fold(name).split("_") if len(part) > 3]
    folded = [word.folded for word in words_in(clause.text)]
    counts_stock = meanings_of("counting_fields").get(name) == "packs"
    for concept, listed in words_of_each("concepts").items():
        is_about = any(concept in part or part in concept for part in parts)
        is_about = is_about or (concept == "stock" and counts_stock)
        if is_about and any(word in listed for word in folded):
            return True
    return False


def is_about_record(word: str) -> bool:
    """Whether a folded word only says what of a record is told: `costs`, `in stock`."""
    if word in words_of("stock"):
        return True
    return bool(keys_of("concepts", word) or keys_of("kinds", word))


def counts_other(value: Value, text: str, passage: Passage) -> bool:
    """Whether `24 packs` is the number of something else in the record: of tablets in a pack."""
    if value.kind != "number" or value.unit:
        return False
    following = word_after(text, value.end)
    counted = None if following is None else meanings_of("counted").get(following.folded)
    if counted is None:
        return False
    fields = meanings_of("counting_fields")
    right = _numbers(passage, [name for name in passage.fields if fields.get(name) == counted])
    if right:
        return not value.readings & right
    others = [name for name in passage.fields if fields.get(name) not in (None, counted)]
    return bool(value.readings & _numbers(passage, others))


def _numbers(passage: Passage, names: Sequence[str]) -> set[str]:
    amounts = [passage.fields[name] for name in names]
    return {f"{amount:g}" for amount in amounts if isinstance(amount, int | float)}


def is_size_of_pack(value: Value, passage: Passage) -> bool:
    """Whether `30 ml` or `100 g` is the size of a pack, which a record gives as a bare number."""
    if value.unit not in ("ml", "g"):
        return False
    fields = meanings_of("counting_fields")
    sizes = [name for name in passage.fields if fields.get(name) == "tablets"]
    return bool(value.readings & _numbers(passage, sizes))


_MEASURES = frozenset(("l", "ml", "g", "kg", "mg", "mcg"))


def measures_something_else(value: Value, text: str, passage: Passage) -> bool:
    """Whether `a litre of vinegar` is in the source a litre of something else."""
    if value.kind != "number" or value.unit not in _MEASURES:
        return False
    rest = text[value.end :]
    joint = re.match(r"\s+(?:of|de|d'|von|z)\b", fold(rest))
    following = word_after(rest, 0 if joint is None else joint.end())
    if following is None or not carries_meaning(following.folded) or passage.is_record:
        return False
    return not any(same_word(following.folded, word) for word in passage.words)


def is_part_of_a_text(value: Value, text: str, passage: Passage) -> bool:
    """Whether a record has a bare number or a weekday only in a text that the claim does not speak
    of: the 12 of `Nádražní 12` counts no packs."""
    if value.unit or value.kind not in ("number", "weekday"):
        return False
    amounts = [amount for amount in passage.fields.values() if isinstance(amount, int | float)]
    if value.readings & {f"{amount:g}" for amount in amounts}:
        return False
    said = [word.folded for word in words_in(text)]
    speaks_of_time = any(other.kind == "time" for other in values_in(text))
    speaks_of_time = speaks_of_time or any(_is_about_opening(word) for word in said)
    for clause in passage.clauses:
        if not _states(clause, value):
            continue
        gives_hours = bool(_weekdays(clause))
        if gives_hours and (speaks_of_time or (value.kind == "number" and _weekdays_in(text))):
            return False
        words = [word.folded for word in words_in(clause.text)]
        if not gives_hours and overlap(words, said):
            return False
    return True


def _is_about_opening(word: str) -> bool:
    return not {"open", "shut"}.isdisjoint(keys_of("opposites", word))


def _weekdays_in(text: str) -> bool:
    return any(value.kind == "weekday" for value in values_in(text))


def stands_in_other_field(value: Value, text: str, passage: Passage) -> bool:
    """Whether `Nádražní 12` names a field of the record, whose number is another."""
    before = words_in(text[: value.start])[-1:]
    if not before or text[before[0].end : value.start].strip():
        return False
    named = [clause for clause in passage.clauses if before[0].folded in clause.words]
    with_values = [clause for clause in named if clause.values]
    if not with_values or not before[0].is_capital:
        return False
    return not any(same_value(value, stated) for clause in with_values for stated in clause.values)


def counts_something_else(value: Value, text: str, passage: Passage) -> bool:
    """Whether the source counts something else with the same bare number: `50 persons` against
    `15 persons or 50 cups`."""
    if value.kind != "number" or value.unit:
        return False
    noun = _noun_after(value, text)
    if noun is None or not any(same_word(noun, word) for word in passage.words):
        return False
    for clause in passage.clauses:
        for stated in clause.values:
            if not same_value(value, stated):
                continue
            counted = _noun_after(stated, clause.text)
            if counted is None or same_word(noun, counted):
                return False
    return True


def _noun_after(value: Value, text: str) -> str | None:
    following = word_after(text, value.end)
    return following.folded if following is not None and len(following.folded) > 3 else None


def differs_from_asked(
    asked: Sequence[Value], told_values: Sequence[Value], passage: Passage
) -> Value | None:
    """What the customer says of an amount or a length of time of which the source says another:
    then the reply must tell the source's own."""
    for value in asked:
        if not value.is_strength:
            continue
        alike = [stated for stated in passage.values if _is_alike(stated, value)]
        if not alike or any(same_value(value, stated) for stated in alike):
            continue
        if not any(same_value(claimed, stated) for claimed in told_values for stated in alike):
            return value
    return None
