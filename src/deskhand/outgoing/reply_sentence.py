"""One sentence of a reply that a model wrote: its words, its values, and whether it claims
something."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from deskhand.language.slots.folded_text import fold
from deskhand.outgoing.claim_words import meanings_of, pattern_of, phrases_of, words_of
from deskhand.outgoing.content_words import Word, same_word, stands_among, tokens, words_in
from deskhand.outgoing.contradictions import is_about_record
from deskhand.outgoing.courtesy import is_address, only_feels
from deskhand.outgoing.grounds import Grounds
from deskhand.outgoing.polarity import leading_answer
from deskhand.outgoing.quoted_sources import clause_of, meaningful_words
from deskhand.outgoing.sentences import clauses_of
from deskhand.outgoing.stated_values import values_in
from deskhand.outgoing.values import Value

_REPEATED = 0.5
"""What a word counts that only the customer used."""
_LISTED = 2
"""Words of a list that a sentence tells, at least."""
_VERBATIM = 4
"""Words of a sentence from which it may be a quotation."""


@dataclass(frozen=True)
class ReplySentence:
    """A sentence at its place in the reply."""

    whole: str
    """The reply."""
    start: int
    end: int
    grounds: Grounds
    language: str | None = None

    @cached_property
    def text(self) -> str:
        return self.whole[self.start : self.end]

    @cached_property
    def values(self) -> tuple[Value, ...]:
        return values_in(self.text, self.grounds.now)

    @cached_property
    def words(self) -> list[Word]:
        """Those that carry a meaning."""
        return meaningful_words(self.text)

    @cached_property
    def asked_words(self) -> list[str]:
        """What the customer's questions speak of."""
        return [word for question in self.grounds.questions for word in clause_of(question).words]

    def is_own(self) -> bool:
        """Whether it stands, word for word, in what the desk's owner wrote."""
        said = tokens(self.text)
        if len(said.split()) < _VERBATIM:
            return said in self.grounds.own.lines
        return self.grounds.own.say(said)

    def is_quoted(self) -> bool:
        """Whether it stands, word for word, in what is quoted."""
        said = tokens(self.text)
        if len(said.split()) < _VERBATIM:
            return False
        quoted = [tokens(passage.text) for passage in self.grounds.verified.passages]
        return any(said in text for text in quoted)

    def claims_nothing(self) -> bool:
        """Courtesy, or that the writer does not know and asks somebody."""
        if self._states_value(self.text):
            return False
        folded = fold(self.text)
        if self._is_request(folded):
            return True
        clauses = [self.text[start:end] for start, end in clauses_of(self.text)]
        answer, _ = leading_answer(self.text)
        if answer and not any(map(self._sends_elsewhere, clauses)):
            return False
        if any(map(self.only_refers, clauses)):
            return all(self.only_refers(part) or not clause_of(part).words for part in clauses)
        is_silent = answer is None and not self.words and not self.values
        return is_silent and not self.only_assents()

    def only_refers(self, clause: str) -> bool:
        """Whether a clause only says how the writer feels, that he does not know, or sends somebody
        to a doctor."""
        if self._states_value(clause):
            return False
        if self.leaves_out_of_list(clause) or is_address(clause, self.grounds):
            return True
        if only_feels(clause, self.grounds, self.language):
            return True
        return self._sends_elsewhere(clause)

    def _sends_elsewhere(self, clause: str) -> bool:
        folded = fold(clause)
        says_so = pattern_of("unknown").search(folded) or pattern_of("referral").search(folded)
        return says_so is not None

    def leaves_out_of_list(self, clause: str) -> bool:
        """Whether a clause says that what the customer asked about is not in the list that the
        sentence tells: nothing quoted names it, nor a group that it may belong to."""
        denial = pattern_of("not_listed").search(fold(clause))
        if denial is None or values_in(clause):
            return False
        named = [word for word in words_in(fold(clause)[: denial.start()]) if len(word.folded) > 3]
        sources = [passage.text for passage in self.grounds.verified.others]
        said = [word.folded for text in sources for word in words_in(text)]
        listed = [word for word in self.words if stands_among(word.folded, said)]
        if not named or len(listed) < _LISTED or any(word in words_of("groups") for word in said):
            return False
        return all(
            stands_among(word.folded, self.grounds.message_words)
            and not stands_among(word.folded, said)
            for word in named
        )

    def leaves_open(self) -> bool:
        """Whether it says that the writer does not know, or that somebody will answer."""
        clauses = [self.text[start:end] for start, end in clauses_of(self.text)]
        kept = [clause for clause in clauses if not self.leaves_out_of_list(clause)]
        text = self.text
        if len(kept) < len(clauses):
            text = "; ".join(kept)
        left = pattern_of("unknown").search(fold(text))
        return left is not None and not self.grounds.says(left.group(), self.text)

    @cached_property
    def claiming_words(self) -> list[Word]:
        """Those of the clauses that claim something."""
        places = [(a, b) for a, b in clauses_of(self.text) if not self.only_refers(self.text[a:b])]
        return [word for word in self.words if _is_within(word, places)]

    def only_assents(self) -> bool:
        """Whether a sentence of small words says yes: `haben wir noch da`."""
        is_question = self.text.rstrip(" \"')»").endswith("?")
        says_yes = phrases_of("assent").match(fold(self.text).lstrip()) is not None
        return says_yes and not (is_question or self.words or self.values)

    def _states_value(self, text: str) -> bool:
        stated = [value for value in values_in(text) if value.readings != {"0"}]
        return any(value.kind not in ("relative", "weekday") for value in stated)

    def _is_request(self, folded: str) -> bool:
        """`Please tell us the number`: it asks the customer for something."""
        is_polite = phrases_of("please").search(folded) is not None
        asks = phrases_of("inform").search(folded) is not None
        return is_polite and asks and len(clauses_of(self.text)) == 1

    def only_names_what_was_asked(self) -> bool:
        """A question back, a thank-you, `you asked whether`: it affirms nothing."""
        if self.text.rstrip(" \"')»").endswith("?"):
            return True
        is_frame = phrases_of("frame").match(fold(self.text).lstrip()) is not None
        return is_frame and len(clauses_of(self.text)) == 1

    def is_name(self, start: int, word: Word, is_record: bool) -> bool:
        """Whether a word is written like a name. In German every noun is: there, only a word
        beside another such word counts, or after a title."""
        if not word.is_capital:
            return False
        is_first = word.is_first and self._begins_sentence(start)
        if self.language != "de":
            return not is_first or (is_record and self._begins_name(start, word))
        place = start + word.start - self.start
        if is_told_name(self.text, place, word.folded):
            return True
        before = words_in(self.text[:place])[-1:]
        after = words_in(self.text[place + word.end - word.start :])[:1]
        if before and before[0].folded in ("in", "nach", "aus", "bei"):
            return True
        capital_neighbours = [other for other in (*before, *after) if other.is_capital]
        return any(not self.grounds.knows_name(other.folded) for other in capital_neighbours)

    def _begins_sentence(self, start: int) -> bool:
        """Whether a sentence begins here: this one, or another behind a short answer."""
        return start == self.start or self.whole[:start].rstrip()[-1:] in tuple(".!?…:")

    def _begins_name(self, start: int, word: Word) -> bool:
        """Whether the first word of a sentence is followed by a number or another capital, or the
        customer wrote it as a name."""
        following = self.whole[start + word.end :].lstrip()[:1]
        named = [other for other in words_in(self.grounds.message) if other.is_capital]
        return (
            following.isdigit()
            or following.isupper()
            or word.folded in [other.folded for other in named]
        )

    def share(self, words: Sequence[str], has_record: bool) -> float:
        """How much of the words stands in what is quoted; what only the customer said counts
        half."""
        quoted = total = 0.0
        for word in words:
            if has_record and (is_about_record(word) or word in words_of("negation")):
                continue
            if has_record and self.grounds.tells_state(word):
                continue
            is_said = any(same_word(word, said) for said in self.grounds.quoted_words)
            if is_said or self.grounds.is_in_named_union(word):
                quoted += 1
                total += 1
            elif any(same_word(word, said) for said in self.grounds.message_words):
                total += _REPEATED
            else:
                total += 1
        return quoted / total if total else 1.0


def is_told_name(text: str, place: int, folded: str) -> bool:
    """Whether a word is a name where every noun has a capital: one in capitals alone, one behind a
    title, a carrier or a way to pay."""
    given = re.match(r"[^\W\d_]+", text[place:])
    if folded in words_of("services"):
        return True
    is_unit = folded in meanings_of("units")
    if given is not None and len(given.group()) > 1 and given.group().isupper() and not is_unit:
        return True
    before = words_in(text[:place])[-1:]
    return bool(before) and before[0].folded in words_of("person_titles")


def _is_within(word: Word, places: Sequence[tuple[int, int]]) -> bool:
    return any(start <= word.start < end for start, end in places)
