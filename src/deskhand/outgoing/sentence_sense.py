"""Whether what backs a sentence says it in the same sense, of the same thing."""

import re
from collections.abc import Sequence

from deskhand.language.slots.folded_text import fold
from deskhand.outgoing.claim_words import pattern_of, phrases_of, words_of, words_of_each
from deskhand.outgoing.comparisons import compares_rightly
from deskhand.outgoing.content_words import same_word, tokens, words_in
from deskhand.outgoing.contradictions import (
    differs_from_asked,
    drops_condition,
    is_about_record,
    kinds_in,
    nearest_clause,
    opposite_clause,
    record_speaks_against,
    rival_clause,
    splits_pairs,
)
from deskhand.outgoing.customer_case import fits_own_step
from deskhand.outgoing.denials import denied_elsewhere, denies_otherwise, says_after_for_until
from deskhand.outgoing.pairs import pairs_wrongly, said_of_the_other
from deskhand.outgoing.polarity import is_negative
from deskhand.outgoing.quoted_sources import Clause, Passage, clause_of
from deskhand.outgoing.record_states import claimed_states
from deskhand.outgoing.reply_sentence import ReplySentence
from deskhand.outgoing.sentence_support import Support, words_of_supports
from deskhand.outgoing.sentences import conjuncts_of
from deskhand.outgoing.stated_values import values_in
from deskhand.outgoing.values import DOSES, MONEY, Value, is_stated

_SHORT_NAME = 3
"""Letters of a word that is no product's name yet."""


def speaks_against(
    sentence: ReplySentence, clause: Clause, values: Sequence[Value], passage: Passage
) -> str | None:
    """Why the passage that states a clause's values does not say what the clause says; None where
    it does."""
    if (reason := _other_kind(sentence, clause, passage)) is not None:
        return reason
    if splits_pairs(values, sentence.grounds.asked_values, passage):
        return f"the quote says this of another day: “{passage.text[:160]}”"
    if passage.is_record:
        return record_speaks_against(clause, passage)
    return _sentence_speaks_against(sentence, clause, values, passage)


def named_record_speaks_against(sentence: ReplySentence, clause: Clause) -> str | None:
    """Why a record that a clause names does not say what the clause says, and the question with
    it."""
    asked = " ".join(sentence.grounds.questions)
    said = Clause(f"{asked} {clause.text}", clause.words, (), clause.negative)
    for record in sentence.grounds.records_named_in(clause.text):
        reason = record_speaks_against(said, record)
        if reason is not None:
            return reason
    return None


def affirmed_wrongly(
    sentence: ReplySentence, rest: Clause, supports: Sequence[Support]
) -> str | None:
    """Why a stated sentence must not be affirmed: only the customer says it, or the quote is of
    another name."""
    reason = _of_another_name(sentence, supports)
    reason = reason or _only_said_by_customer(sentence, rest, supports)
    if reason is None and not rest.negative:
        reason = _compares(sentence, supports)
    return reason


def is_said_to_be_done(text: str) -> bool:
    """Whether a sentence says that somebody did something."""
    return pattern_of("done").search(fold(text)) is not None


def states_dose(sentence: ReplySentence, *, is_answer: bool) -> bool:
    """Whether a sentence has milligrams, micrograms or millilitres. Strengths of products that a
    record and the sentence name are none, but beside a yes, a no or words for a prescription."""
    doses = [value for value in sentence.values if value.unit in DOSES]
    if not doses:
        return False
    on_prescription = words_of_each("concepts")["prescription"]
    if any(word.folded in on_prescription for word in sentence.words):
        return True
    if is_answer and not _says_where_it_is(sentence):
        return True
    return not all(_is_strength(dose, sentence) for dose in doses)


def advises_to_take(sentence: ReplySentence) -> bool:
    """Whether a sentence tells somebody to take a medicine, which no source and no record does:
    `take Ibalgin 400 mg`, `take one tablet in the evening`."""
    folded = fold(sentence.text)
    said = [word.folded for passage in sentence.grounds.passages for word in words_in(passage.text)]
    has_dose = any(value.unit in DOSES for value in sentence.values)
    if has_dose:
        advised = pattern_of("intake").search(folded)
        return advised is not None and advised.group() not in said
    for advised in pattern_of("taking").finditer(folded):
        verb = advised.group().split()[0]
        if verb in said or verb.endswith(_WE_DO) or _OF_US.search(folded[: advised.start()]):
            continue  # what a source says, or what we take with us
        if _takes_medicine(sentence, folded[advised.end() :]):
            return True
    return False


def _takes_medicine(sentence: ReplySentence, behind: str) -> bool:
    """Whether a portion, or a medicine of a record, stands behind a verb of taking."""
    if pattern_of("portions").search(behind) is not None:
        return True
    named = [word.folded for word in words_in(behind)[:_OBJECT]]
    records = [record for record in sentence.grounds.records if _OF_MEDICINES & set(record.fields)]
    texts = [str(record.fields.get(field, "")) for record in records for field in _NAMES]
    medicines = [word.folded for text in texts for word in words_in(text)]
    longer = [medicine for medicine in medicines if len(medicine) > _SHORT_NAME]
    return any(same_word(medicine, word) for medicine in longer for word in named)


_WE_DO = ("eme", "emos", "amos")
_OF_US = re.compile(r"\b(?:we|they|people|colleagues?|carriers?|drivers?|wir)(?: \w+)? $")
_OBJECT = 3
"""Words behind a verb among which is what is taken."""
_NAMES = ("product", "name")
_OF_MEDICINES = frozenset(("substance", "strength", "prescription"))
"""Fields that only the record of a medicine has."""


def _says_where_it_is(sentence: ReplySentence) -> bool:
    """Whether a yes says no more than a record does: that a product is there, how many packs of it,
    where, or for how much. What somebody may take of it is nothing that a record says."""
    if pattern_of("taken").search(fold(sentence.text)) is not None:
        return False
    said = [word.folded for word in sentence.words]
    told_fields = [
        value
        for record in sentence.grounds.records
        for name, value in record.fields.items()
        if name in _WHERE_AND_WHAT_FOR
    ]
    named = [word for value in told_fields for word in words_in(str(value)) if word.is_capital]
    if any(same_word(word.folded, spoken) for word in named for spoken in said):
        return True
    stated = [value for record in sentence.grounds.records for value in record.values]
    others = [value for value in sentence.values if value.unit not in DOSES]
    return bool(others) and all(is_stated(value, stated) for value in others)


_WHERE_AND_WHAT_FOR = ("pharmacy", "street", "city", "place", "warehouse", "store", "shop")
"""Fields of a record that say where something is."""


def _is_strength(dose: Value, sentence: ReplySentence) -> bool:
    records = [record for record in sentence.grounds.records if is_stated(dose, record.values)]
    said = [word.folded for word in sentence.words if word.is_capital]
    named = [name for record in records for name in words_in(record.text) if name.is_capital]
    names = {name.folded for name in named if len(name.folded) > _SHORT_NAME}
    return any(same_word(name, word) for name in names for word in said)


def tells_of_deed(sentence: ReplySentence, folded: str) -> bool:
    """Whether words say that something was done. What the source says in the same words is no deed
    (`haben wir geschlossen`), nor is a look that found nothing."""
    deeds = list(pattern_of("done").finditer(folded))
    if not deeds:
        return False
    quoted = [tokens(passage.text) for passage in sentence.grounds.passages]
    for deed in deeds:
        is_said = any(tokens(deed.group()) in text for text in quoted)
        is_said = is_said or _tells_state(deed.group(), folded, sentence)
        if not is_said and not _FOUND.search(deed.group()):
            return True
    return False


def _tells_state(deed: str, folded: str, sentence: ReplySentence) -> bool:
    """Whether a deed is what a record says of where a thing is: `was sent` of what is shipped, `has
    not been paid` of what is open, `we have received` a payment of what is paid."""
    grounds = sentence.grounds
    named = [value for value in sentence.values if value.kind == "identifier"]
    if not all(is_stated(value, grounds.record_values) for value in named):
        return False  # of something else than the record
    if claimed_states(deed, negative=is_negative(deed)) & grounds.states:
        return True
    is_money = "is paid" in grounds.states and pattern_of("money_came").search(folded) is not None
    return is_money and pattern_of("received").search(deed) is not None


_FOUND = re.compile(r"\b(?:found|gefunden|encontrado|n[ae]\w*sel|n[ae]\w*sl[aiy])\b")


def is_other_day(missing: Sequence[Value], passage: Passage) -> bool:
    """Whether a clause that denies names only days beyond those that the quote lists."""
    lists_days = any(value.kind == "weekday" for value in passage.values)
    return bool(missing) and lists_days and all(value.kind == "weekday" for value in missing)


def _of_another_name(sentence: ReplySentence, supports: Sequence[Support]) -> str | None:
    if sentence.language == "de" or any(support.passage.is_record for support in supports):
        return None
    said = words_of_supports(supports)
    for word in sentence.claiming_words:
        is_name = word.is_capital and not word.is_first
        if not is_name or word.folded in words_of("capital") or not supports:
            continue
        if word.folded in sentence.grounds.own.words:
            continue
        if sentence.grounds.is_in_named_union(word.folded):
            continue
        if not any(same_word(word.folded, other) for other in said):
            return f"the quote for this does not speak of “{word.folded}”"
    return None


def _only_said_by_customer(
    sentence: ReplySentence, rest: Clause, supports: Sequence[Support]
) -> str | None:
    said = words_of_supports(supports)
    has_record = any(support.passage.is_record for support in supports)
    stated = [value for support in supports for value in support.passage.values]
    has_price = any(value.unit in MONEY for value in stated)
    has_share = any(value.unit == "percent" for value in sentence.grounds.quoted_values)
    for word in rest.words:
        asked = any(same_word(word, other) for other in sentence.grounds.message_words)
        if not asked or _may_repeat(sentence, word, said, has_record=has_record):
            continue
        if has_price and word in words_of_each("concepts")["price"]:
            continue
        if has_share and phrases_of("reduced").fullmatch(word) is not None:
            continue
        return f"only the customer says “{word}”, and it is affirmed"
    return None


def _may_repeat(
    sentence: ReplySentence, word: str, said: Sequence[str], *, has_record: bool
) -> bool:
    """Whether a word of the customer's says nothing that the quote would not say of it."""
    grounds = sentence.grounds
    if word in words_of("slight") or _is_a_piece(word, said) or grounds.is_in_named_union(word):
        return True
    if any(same_word(word, other) for other in said):
        return True
    if not has_record:
        return False
    is_told = is_about_record(word) or grounds.knows_name(word) or grounds.tells_state(word)
    return is_told or compares_rightly(sentence, word)


def _is_a_piece(word: str, said: Sequence[str]) -> bool:
    """Whether a word is one of the goods of which the quote speaks as such, naming none: a lamp of
    `goods`."""
    if word in words_of("people"):
        return True
    named, any_goods = words_of_each("goods")["goods"], words_of_each("goods")["goods as such"]
    if word not in named or any(other in named for other in said):
        return False
    return any(other in any_goods for other in said)


def _compares(sentence: ReplySentence, supports: Sequence[Support]) -> str | None:
    """Where customer and quote speak of different amounts, the reply must tell the quote's."""
    told_values = values_in(sentence.whole, sentence.grounds.now)
    for support in supports:
        other = differs_from_asked(sentence.grounds.message_values, told_values, support.passage)
        if other is not None:
            return f"the customer speaks of {other.written}, the quote of something else"
    return None


def _other_kind(sentence: ReplySentence, clause: Clause, passage: Passage) -> str | None:
    """A colour, a form, a pace that what is quoted does not have."""
    stated = sentence.grounds.quoted_kinds
    for kind in kinds_in(clause.text):
        if passage.is_record and kind.startswith("extent"):
            continue
        if kind == "extent only" and _is_bounded(clause.text) and _is_bounded(passage.text):
            continue  # `only up to 15` says what `up to 15` says
        if kind not in stated:
            return f"nothing quoted says so of the {kind.split()[0]}"
    return None


def _is_bounded(text: str) -> bool:
    folded = fold(text)
    return any(phrases_of(section).search(folded) for section in ("up_to", "from_on"))


def _sentence_speaks_against(
    sentence: ReplySentence, clause: Clause, values: Sequence[Value], passage: Passage
) -> str | None:
    nearest = nearest_clause(clause, values, passage)
    if denies_otherwise(clause, nearest):
        return f"the quote says the opposite: “{passage.text[:160]}”"
    is_own_step = fits_own_step(sentence, clause)
    beside = drops_condition(values, sentence.values, nearest, passage)
    if beside is not None and not is_own_step:
        return f"the quote says it only with {beside.written}"
    if (other := opposite_clause(clause, nearest, passage)) is not None:
        return f"the quote says the opposite: “{other.text[:160]}”"
    others = sentence.grounds.verified.others
    if (denied := denied_elsewhere(clause, nearest, passage, others)) is not None:
        return f"the source says the opposite: “{denied.text[:160]}”"
    if says_after_for_until(clause, passage):
        return f"the quote says it only until then: “{passage.text[:160]}”"
    rival = None if is_own_step else _rival(sentence, clause, values, passage)
    return None if rival is None else f"the source says otherwise of this: “{rival.text[:160]}”"


def _rival(
    sentence: ReplySentence, clause: Clause, values: Sequence[Value], passage: Passage
) -> Clause | None:
    """What a source says with another value of that of which the clause tells its values."""
    paired = said_of_the_other(sentence, values, passage)
    paired = paired or pairs_wrongly(sentence, clause, passage)
    if paired is not None:
        return paired
    words_beside = _words_beside_values(clause, sentence.language)
    others = sentence.grounds.verified.others
    rival = rival_clause(words_beside, sentence.asked_words, sentence.values, passage, others)
    return rival if values else None


def _words_beside_values(clause: Clause, language: str | None) -> list[str]:
    """The words of a clause's parts that state values; all where none does."""
    parts = [clause.text[start:end] for start, end in conjuncts_of(clause.text, language)]
    valued = [part for part in parts if values_in(part)]
    return [word for part in valued or parts for word in clause_of(part).words]
