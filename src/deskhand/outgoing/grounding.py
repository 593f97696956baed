"""What a reply claims, and the quote that backs each claim: the one place that decides it.

A sentence of a reply that a model wrote leaves only if each of its claims is backed:

- Its **values** (numbers, amounts, dates, times, strengths, identifiers, links) all stand in one
  sentence of a quoted article, or in one record that a tool found, that speaks of the same thing.
  No other sentence there says more of it with another value.
- Its **names** stand there too, or in the desk's own words.
- It **denies** where the quote denies, and nowhere else.
- Half of its **words** that carry a meaning stand in what is quoted. A sentence of courtesy has
  none.
- A **yes**, a **no** or a word or two say what the customer asked, so the quote must say that.
- What only the customer's message says may be **repeated** in a sentence that names what was
  asked. It backs nothing.

All of this is read from the words. What the writer believes of itself does not count. Where a desk
names a second reader, its word may settle how something is said, never what (`settling.py`).
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from deskhand.language.slots.folded_text import fold
from deskhand.outgoing.claim_words import pattern_of, phrases_of
from deskhand.outgoing.clause_sense import (
    is_among_asked,
    left_out_whom,
    names_in,
    reads_otherwise,
)
from deskhand.outgoing.comparisons import is_said_of_all
from deskhand.outgoing.content_words import Word, same_word, tokens
from deskhand.outgoing.contradictions import is_about_record
from deskhand.outgoing.courtesy import address_length
from deskhand.outgoing.customer_case import prices_wrongly, without_own_case
from deskhand.outgoing.derived_amounts import names_counted
from deskhand.outgoing.derived_dates import tells_derived_day
from deskhand.outgoing.direct_answers import (
    is_answer_backed,
    is_terse,
    is_terse_backed,
    uncompared_value,
)
from deskhand.outgoing.grounds import Grounds
from deskhand.outgoing.holding import is_holding_reply
from deskhand.outgoing.polarity import is_conditional, leading_answer
from deskhand.outgoing.quoted_sources import Clause, clause_of, meaningful_words
from deskhand.outgoing.record_states import other_state
from deskhand.outgoing.reply_sentence import ReplySentence
from deskhand.outgoing.second_look import in_language_of, settled_again
from deskhand.outgoing.sentence_sense import (
    advises_to_take,
    affirmed_wrongly,
    is_other_day,
    named_record_speaks_against,
    speaks_against,
    states_dose,
    tells_of_deed,
)
from deskhand.outgoing.sentence_support import (
    Support,
    backed_apart,
    support_of,
    values_of,
)
from deskhand.outgoing.sentences import (
    answers_joined,
    clauses_of,
    greeting_length,
    is_program_text,
    sentence_at,
    sentences,
)
from deskhand.outgoing.stated_values import values_in
from deskhand.outgoing.unbacked_claim import ClaimKind, UnbackedClaim
from deskhand.outgoing.values import Value, same_value

STATED = 0.55
"""The share of a statement's words that must stand in what is quoted."""
WITH_VALUES = 0.3
"""The same where its values stand there."""
PROMISED = 0.6
"""The same for what somebody will do."""
LONGEST_REPLY, MOST_SENTENCES, LONGEST_SENTENCE = 8_000, 80, 1_500
"""What of a reply is compared with its sources: the work grows with the square of a sentence, and
with the number of sentences on both sides. Longer replies of a model are for a person."""


class Grounding(NamedTuple):
    """How far a reply is backed."""

    unbacked: list[UnbackedClaim]
    """In the order of the text."""
    backed: list[tuple[int, int]]
    """The sentences that claim something and are backed, by where they begin and end."""

    def backs(self, start: int, end: int) -> bool:
        """Whether what stands at this place is part of a backed sentence."""
        return any(first <= start and end <= last for first, last in self.backed)


def check_grounding(text: str, grounds: Grounds) -> Grounding:
    """What a reply claims, and whether something backs it; pure."""
    if is_program_text(text):
        reason = "this is data of a program, not a reply"
        return Grounding([UnbackedClaim("data", text[:200], reason, 0, len(text))], [])
    if _is_too_long(text):
        reason = "it is too long to be compared with what it quotes"
        return Grounding([UnbackedClaim("data", text[:200], reason, 0, len(text))], [])
    backed: list[tuple[int, int]] = []
    claims: list[UnbackedClaim] = []
    for quote in grounds.verified.made_up:
        reason = f"the quote “{quote.quote[:120]}” does not stand in {quote.id or 'any source'}"
        claims.append(UnbackedClaim("quote", text[:80], reason, 0, min(80, len(text))))
    grounds = in_language_of(text, grounds)
    for start, end in answers_joined(text):
        first = start + greeting_length(text[start:end])
        first += address_length(text[first:end], grounds)
        checked = _SentenceCheck(ReplySentence(text, first, end, grounds, grounds.language))
        unbacked = settled_again(checked.unbacked(), (start, end), text, grounds)
        claims += unbacked
        if checked.is_checked and not unbacked:
            backed.append((start, end))
    claims += _left_open(text, grounds, has_answer=bool(backed))
    distinct = {(claim.kind, claim.start, claim.end): claim for claim in reversed(claims)}
    in_order = sorted(distinct.values(), key=lambda claim: (claim.start, claim.end))
    return Grounding(in_order, backed)


def _is_too_long(text: str) -> bool:
    if len(text) > LONGEST_REPLY:
        return True
    lengths = [end - start for start, end in sentences(text)]
    return len(lengths) > MOST_SENTENCES or max(lengths, default=0) > LONGEST_SENTENCE


def _left_open(text: str, grounds: Grounds, *, has_answer: bool) -> list[UnbackedClaim]:
    """The sentences that leave something to somebody: nobody would hear of it."""
    opened: list[UnbackedClaim] = []
    reason = "it leaves this open: somebody has to answer"
    for start, end in sentences(text):
        if ReplySentence(text, start, end, grounds).leaves_open():
            claim = UnbackedClaim("open", text[start:end], reason, start, end)
            is_confirmed = sentence_at(text, start) in grounds.confirmed
            opened += [] if is_confirmed else [claim]
    if not opened and not has_answer and is_holding_reply(text):
        opened.append(UnbackedClaim("holding", text[:200], reason, 0, len(text)))
    return opened


class _SentenceCheck:
    """One sentence of a reply, and what of it is not backed."""

    def __init__(self, sentence: ReplySentence) -> None:
        self._sentence, self._grounds = sentence, sentence.grounds
        self.claims: list[UnbackedClaim] = []
        self._names: list[str] = []
        """What the clauses so far speak of."""
        self._before: Clause | None = None
        self.is_checked = False
        """Whether it claims something, so that it needed backing."""

    def unbacked(self) -> list[UnbackedClaim]:
        self._check()
        alone = self._is_for_words_alone
        return [claim._replace(is_for_words_alone=alone(claim)) for claim in self.claims]

    def _is_for_words_alone(self, claim: UnbackedClaim) -> bool:
        """Whether the sentence tells of a deed or states a dose: no second reader settles that."""
        if self._tells_of_deed(fold(self._sentence.text)):
            return True
        is_answer = claim.kind == "answer" or self._leading_answer()[0] is not None
        return states_dose(self._sentence, is_answer=is_answer)

    def _check(self) -> None:
        sentence = self._sentence
        self.is_checked = sentence.is_quoted()
        if self.is_checked:
            self._check_whom()
        if self.is_checked or sentence.is_own() or sentence.claims_nothing():
            return
        self._check_links()
        if sentence.only_names_what_was_asked():
            self._check_repeated()
            return
        answer, rest_start = self._leading_answer()
        rest = clause_of(self._claiming(rest_start), sentence.language)
        if answer is not None:
            self._check_answer(answer, rest)
        elif rest.words and not sentence.values and is_terse(sentence):
            self._check_terse(rest)
        self.is_checked = True
        supports = self._check_clauses(sentence.start + rest_start)
        if rest.words and not self.claims:
            self._check_stated(rest, supports)
        if answer and not self.claims:
            self._check_asked_values(supports)

    def _tells_of_deed(self, folded: str) -> bool:
        return tells_of_deed(self._sentence, folded) and not is_conditional(folded)

    def _leading_answer(self) -> tuple[bool | None, int]:
        sentence = self._sentence
        answer, rest_start = leading_answer(sentence.text)
        if answer is None and sentence.only_assents():
            answer = not clause_of(sentence.text, sentence.language).negative
        return answer, rest_start

    def _check_whom(self) -> None:
        """What stands word for word in a quote that begins with whom it is for."""
        clause = clause_of(self._sentence.text, self._sentence.language)
        for passage in self._grounds.verified.passages:
            if tokens(self._sentence.text) in tokens(passage.text):
                whom = left_out_whom(self._sentence, clause, passage)
                if whom is not None:
                    self._add_all("opposite", f"the quote says it only of “{whom}”")

    def _claiming(self, first: int) -> str:
        """What the sentence claims from here on: without clauses that only refer to somebody."""
        text = self._sentence.text[first:]
        clauses = [text[start:end] for start, end in clauses_of(text)]
        claiming = [clause for clause in clauses if not self._sentence.only_refers(clause)]
        return text if len(claiming) == len(clauses) else "; ".join(claiming)

    def _add(
        self, kind: ClaimKind, reason: str, start: int, end: int, value: Value | None = None
    ) -> None:
        text = self._sentence.whole[start:end]
        self.claims.append(UnbackedClaim(kind, text, reason, start, end, value))

    def _add_value(self, value: Value, reason: str, first: int) -> None:
        self._add("value", reason, first + value.start, first + value.end, value)

    def _add_all(self, kind: ClaimKind, reason: str) -> None:
        self._add(kind, reason, self._sentence.start, self._sentence.end)

    def _check_repeated(self) -> None:
        """Names, identifiers and days of the message may be repeated; how much of something is
        never taken from there."""
        start = self._sentence.start
        asked = values_in(self._grounds.message, self._grounds.now)
        for value in self._sentence.values:
            backed_values = list(self._grounds.quoted_values)
            if not value.is_strength:
                backed_values += asked
            if value.kind != "link" and not any(
                same_value(value, other) for other in backed_values
            ):
                reason = "neither what is quoted nor the message says it"
                self._add_value(value, reason, start)
        for word in self._sentence.words:
            repeated = any(same_word(word.folded, said) for said in self._grounds.message_words)
            if not repeated:
                self._check_name(start, word, is_record=False)

    def _check_links(self) -> None:
        for value in self._sentence.values:
            if value.kind == "link" and not self._grounds.knows_link(value):
                reason = "a link or address that stands in nothing quoted"
                self._add(
                    "link",
                    reason,
                    self._sentence.start + value.start,
                    self._sentence.start + value.end,
                )

    # --- a yes, a no, a word or two

    def _check_answer(self, is_yes: bool, rest: Clause) -> None:
        if not is_answer_backed(self._sentence, is_yes, rest):
            answer = "yes" if is_yes else "no"
            reason = f"a {answer} to what was asked, and no quote says so"
            self._add_all("answer", reason)

    def _check_terse(self, rest: Clause) -> None:
        if not is_terse_backed(self._sentence, rest):
            reason = "so few words answer the question, and no quote says so"
            self._add_all("answer", reason)

    def _check_asked_values(self, supports: Sequence[Support]) -> None:
        value = uncompared_value(self._sentence, supports)
        if value is not None:
            reason = f"an answer of “{value.written}”, which no quote names"
            self._add_all("answer", reason)

    # --- its clauses

    def _check_clauses(self, first: int) -> list[Support]:
        if advises_to_take(self._sentence):
            self._add_all("subject", "whether to take a medicine is for people to say")
        supports: list[Support] = []
        for start, end in clauses_of(self._sentence.whole[first : self._sentence.end]):
            for part_start, part_end in backed_apart(self._sentence, first + start, first + end):
                support = self._check_clause(part_start, part_end)
                if support is not None:
                    supports.append(support)
        return supports

    def _check_clause(self, start: int, end: int) -> Support | None:
        sentence = self._sentence
        text = sentence.whole[start:end]
        clause = clause_of(text, sentence.language)
        if self._before is not None and phrases_of("likewise").match(fold(text)):
            clause = replace(clause, negative=self._before.negative)
        self._before = clause
        values, words = values_of(sentence, text), meaningful_words(text)
        if sentence.only_refers(text) or not (values or words):
            return None
        if (reason := prices_wrongly(sentence, clause, values)) is not None:
            self._add("opposite", reason, start, end)
        values = without_own_case(sentence, clause, values)
        support = support_of(sentence, clause, values)
        is_record = support is not None and support.passage.is_record
        for word in words:
            self._check_name(start, word, is_record=is_record)
        self._names = names_in(sentence, text) or self._names
        self._check_state(start, end, clause, is_record=is_record)
        stated_share = sentence.share(clause.words, has_record=True)
        if is_record and stated_share < STATED and not is_said_of_all(sentence, clause):
            self._add("record", "the result does not say this", start, end)
        if support is not None and not support.missing:
            reason = reads_otherwise(sentence, clause, support.passage, self._names)
            if reason is not None:
                self._add("opposite", reason, start, end)
        self._check_values(start, end, clause, values, support)
        return support

    def _check_state(self, start: int, end: int, clause: Clause, *, is_record: bool) -> None:
        """`delivered` where the result says `shipped`."""
        if not is_record:
            return
        says_none = any(value.readings == {"0"} for value in clause.values)
        state = other_state(clause.text, clause.negative != says_none, self._grounds.states)
        if state is not None:
            self._add("record", f"the result does not say “{state}”", start, end)

    def _check_values(
        self,
        start: int,
        end: int,
        clause: Clause,
        values: Sequence[Value],
        support: Support | None,
    ) -> None:
        """All values of a clause stand in what backs it, in the same sense."""
        missing = values if support is None else support.missing
        if support is not None and clause.negative and is_other_day(missing, support.passage):
            return
        for value in missing:
            if support is not None and is_among_asked(
                self._sentence, value, clause, support.passage
            ):
                continue
            reason = "nothing quoted for this sentence says it"
            self._add_value(value, reason, start)
        if support is None or missing:
            return
        against = None
        if support.passage.is_record and not values:
            against = named_record_speaks_against(self._sentence, clause)
        against = against or speaks_against(self._sentence, clause, values, support.passage)
        if against is not None:
            self._add("opposite", against, start, end)

    def _check_name(self, start: int, word: Word, *, is_record: bool) -> None:
        """A name stands in what is quoted, or the desk or the customer bears it."""
        is_name = self._sentence.is_name(start, word, is_record)
        if not is_name or self._grounds.knows_name(word.folded):
            return
        if is_record and is_about_record(word.folded):
            return
        if names_counted(self._sentence, word.folded):
            return
        reason = "a name that stands in nothing quoted"
        self._add("name", reason, start + word.start, start + word.end)

    def _check_stated(self, rest: Clause, supports: Sequence[Support]) -> None:
        """Enough of a sentence's words must stand in what is quoted, and all that it has from the
        customer."""
        folded = fold(rest.text)
        needed = STATED
        if pattern_of("will").search(folded):
            needed = PROMISED
        elif rest.values:
            needed = WITH_VALUES
        has_record = any(support.passage.is_record for support in supports)
        is_told = self._sentence.share(rest.words, has_record) >= needed
        is_told = is_told or (has_record and is_said_of_all(self._sentence, rest))
        is_told = is_told or tells_derived_day(self._sentence, rest)
        if self._tells_of_deed(folded) and not self._grounds.did_something:
            self._add_all("deed", "nothing quoted says this")
            return
        if not is_told:
            self._add_all("statement", "nothing quoted says this")
            return
        reason = affirmed_wrongly(self._sentence, rest, supports)
        if reason is not None:
            self._add_all("statement", reason)
