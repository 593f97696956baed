"""Answers that say nothing without the question: a yes, a no, a word or two.

Such an answer claims what the customer asked, so a quote must say that, or deny it, as the answer
does.
"""

from collections.abc import Sequence

from deskhand.outgoing.contradictions import nearest_clause, overlap, record_speaks_against
from deskhand.outgoing.polarity import is_conditional, without_words
from deskhand.outgoing.quoted_sources import Clause, clause_of, meaningful_words
from deskhand.outgoing.reply_sentence import ReplySentence
from deskhand.outgoing.sentence_support import Support, is_missing
from deskhand.outgoing.stated_values import values_in
from deskhand.outgoing.values import Value, is_stated

_ANSWERED = 0.75
"""The share of a question's words that must stand in a quote which answers it with yes or no."""
_TERSE = 2
"""Words up to which a statement says nothing without the question."""


def is_terse(sentence: ReplySentence) -> bool:
    """Whether the reply has so few words that only the question tells what it says."""
    return len(meaningful_words(sentence.whole)) <= _TERSE


def is_answer_backed(sentence: ReplySentence, is_yes: bool, rest: Clause) -> bool:
    """Whether a quote says what a yes says (what was asked) or a no (that it is not so).

    `rest` is what the sentence says behind the yes or no.
    """
    rests_on_records = not sentence.grounds.verified.passages
    share = sentence.share(rest.words, rests_on_records)
    says_it = len(rest.words) >= _TERSE and share >= _ANSWERED
    agrees = is_yes and share >= _ANSWERED and _asks_without(sentence, rest)
    if agrees or (says_it and rest.negative != is_yes):
        return True
    if len(rest.words) > _TERSE or (rest.values and rest.words):
        speaks_of_it = _speaks_of_question(sentence, rest)
        return speaks_of_it and (is_yes or not _is_denied_wrongly(sentence))
    if rest.words or rest.values:
        return _says_plainly(sentence, rest, is_yes)
    return _says_plainly(sentence, None, is_yes)


def is_terse_backed(sentence: ReplySentence, rest: Clause) -> bool:
    """Whether a quote says what a word or two answer."""
    grounds = sentence.grounds
    found_nothing = rest.negative and grounds.found_nothing
    share = sentence.share(rest.words, found_nothing)
    if share >= _ANSWERED and not grounds.asked_values:
        return True
    return any(_says(sentence, question, rest, not rest.negative) for question in grounds.questions)


def uncompared_value(sentence: ReplySentence, supports: Sequence[Support]) -> Value | None:
    """The day or amount that was asked about, where neither the quote nor the reply names it.

    A yes says it of that value, and nobody has compared them.
    """
    if values_in(sentence.whole, sentence.grounds.now):
        return None
    stated = [value for support in supports for value in support.passage.values]
    for value in sentence.grounds.asked_values:
        if value.kind in ("number", "date", "time") and not is_stated(value, stated):
            return value
    return None


def _asks_without(sentence: ReplySentence, rest: Clause) -> bool:
    """`Without a prescription?` is answered by yes, none is needed."""
    left_out = [word for asked in sentence.grounds.questions for word in without_words(asked)]
    return rest.negative and overlap(left_out, rest.words) > 0


def _speaks_of_question(sentence: ReplySentence, rest: Clause) -> bool:
    """Whether something quoted has words of the question."""
    asked = sentence.asked_words
    if any(is_stated(value, rest.values) for value in sentence.grounds.asked_values):
        return True
    return not asked or overlap(asked, list(sentence.grounds.quoted_words)) > 0


def _is_denied_wrongly(sentence: ReplySentence) -> bool:
    """Whether a quote says what was asked, all of it, and the reply says no."""
    return any(_says(sentence, question, None, True) for question in sentence.grounds.questions)


def _says_plainly(sentence: ReplySentence, rest: Clause | None, is_yes: bool) -> bool:
    """Whether a quote says it without a condition, which so few words leave out."""
    return any(
        _says(sentence, question, rest, is_yes, plainly=is_yes)
        for question in sentence.grounds.questions
    )


def _says(
    sentence: ReplySentence,
    question: str,
    rest: Clause | None,
    is_yes: bool,
    *,
    plainly: bool = False,
) -> bool:
    """Whether a quote says what a question asks, or denies it, as the answer does."""
    asked = clause_of(question)
    words = [*asked.words, *(() if rest is None else rest.words)]
    denies = asked.negative == is_yes
    for passage in sentence.grounds.passages:
        if any(is_missing(sentence, value, question, passage) for value in asked.values):
            continue
        if plainly and not passage.is_record and is_conditional(passage.text):
            continue
        context = [*passage.words, *passage.context]
        if overlap(words, context) < max(1, _ANSWERED * len(set(words))):
            continue
        if passage.is_record:
            said = Clause(f"{question} {sentence.text}", tuple(words), (), denies)
            if record_speaks_against(said, passage) is None:
                return True
        elif nearest_clause(clause_of(" ".join(words)), (), passage).negative == denies:
            return True
    return False
