"""What a draft commits the company to, and what backs it: a tool's result, a clause, an article.

Amounts and dates need backing wherever they stand, save when they only repeat what the customer
wrote; a promised or claimed action needs a tool that did it or a clause that allows it. What is not
found here is not promised safely: the patterns know five languages and common wording, no more.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import lru_cache
from typing import Any, Literal, NamedTuple, cast

from deskhand.config.sections.outgoing import Action, ClauseSpec
from deskhand.language.slots import SlotMatch
from deskhand.language.slots.folded_text import fold
from deskhand.measures import measure
from deskhand.outgoing.backing import (
    AMOUNTS_AND_DAYS,
    Backing,
    actions_of,
    amount_text,
    changed_something,
)
from deskhand.outgoing.promised_actions import LANGUAGES, promised_action
from deskhand.outgoing.sentences import sentences

_CLAUSE = re.compile(r"[,;:–—]\s| - | (?:but|aber|ale|pero|mais|however|doch|jedoch) ")
_NUMBER = (
    r"(?:[0-9]{1,3}(?:[.,][0-9])?|one|two|three|four|five|six|seven|ten|fourteen|jednoho|dvou|tri|peti|sedmi|deseti|"
    r"ein|zwei|drei|funf|sieben|zehn|un|una|dos|tres|cinco|siete|diez|deux|trois|cinq|sept|dix)"
)
_DEADLINE = re.compile(
    rf"\b(?:within|in|inside|under|no later than|at most|do|za|behem|nejpozdeji do|v|innerhalb"
    rf" von|binnen|in|nach|en|"
    rf"dentro de|en un plazo de|sous|dans|d'ici|sous un delai de|takes?|take up"
    rf" to|trva|dauert|tardan?|comptez) "
    rf"(?:[a-z]+ )?({_NUMBER}(?: ?(?:-|to|az|bis|a|o|ou|or|oder|nebo) ?{_NUMBER})?) ?"
    rf"((?:business|working|calendar|pracovni\w*|werk|dias?|jours?)?[ -]?"
    rf"(?:hours?|days?|weeks?|hodin\w*|dn[uiy]|dnech|tydn\w+|stunden?|tage?n?|werktage?n?|wochen?|horas?|dias?|semanas?|"
    rf"heures?|jours?|semaines?)(?: (?:habiles|laborables|ouvres|ouvrables))?)\b"
)
_TIME = re.compile(r"\b([0-9]{1,2})[:.]([0-9]{2})\b(?![.0-9])")
Kind = Literal["action", "amount", "date"]


@dataclass(frozen=True, slots=True)
class Commitment:
    """Something a draft says; `backed_by` names what stands behind it, None when nothing does."""

    kind: Kind
    value: str
    """The action, `49.90 EUR`, `2030-01-31` or `5-7 days`."""
    sentence: str
    start: int
    end: int
    """The sentence's place in the draft."""
    backed_by: str | None = None

    def as_json(self) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "value": self.value,
            "sentence": self.sentence,
            "start": self.start,
            "end": self.end,
            "backed_by": self.backed_by,
        }


def check_commitments(text: str, language: str | None, backing: Backing) -> list[Commitment]:
    """Everything the draft commits to, in order, with what backs it; pure."""
    slots = AMOUNTS_AND_DAYS.extract(text, language=language, now=backing.now)
    draft = _Draft(text, language, slots["amount"].matches, slots["day"].matches)
    commitments: list[Commitment] = []
    for place in sentences(text):
        commitments += _in_sentence(draft, place, backing)
    if any(slot.truncated for slot in slots.values()):
        beginning = text[:200]
        commitments.append(
            Commitment("amount", "more than anybody checks", beginning, 0, len(beginning))
        )
    return commitments


class _Draft(NamedTuple):
    text: str
    language: str | None
    amounts: tuple[SlotMatch, ...]
    days: tuple[SlotMatch, ...]


def unbacked(commitments: Sequence[Commitment]) -> list[Commitment]:
    """The commitments that nothing stands behind."""
    return [commitment for commitment in commitments if commitment.backed_by is None]


def _in_sentence(draft: _Draft, place: tuple[int, int], backing: Backing) -> Iterator[Commitment]:
    start, end = place
    sentence = draft.text[start:end]
    folded = fold(sentence)
    if folded.rstrip(" \"')»").endswith("?"):
        return
    quoted = _quoted(folded, backing)
    actions = list(dict.fromkeys(actions_in(folded, draft.language)))
    dates = [
        Commitment(
            "date", value, sentence, start, end, quoted or _of_date(value, day, actions, backing)
        )
        for value, day in _dates(_within(draft.days, place), folded, backing.now)
    ]
    for action in actions:
        backed = quoted or _of_promise(action, folded, dates, backing)
        yield Commitment("action", action, sentence, start, end, backed)
    for amount in _amounts(_within(draft.amounts, place)):
        backed = quoted or _of_amount(amount, actions, backing)
        yield Commitment("amount", amount, sentence, start, end, backed)
    yield from dates


def actions_in(folded: str, language: str | None) -> Iterator[Action]:
    """What the clauses of a folded sentence promise or claim to have done."""
    languages = _own_first((language or "").lower()[:2])
    for clause in _CLAUSE.split(folded):
        action = promised_action(clause.strip(" .!\"'"), languages)
        if action is not None:
            yield action


@lru_cache(maxsize=64)
def _own_first(own: str) -> tuple[str, ...]:
    """All languages, the draft's own first."""
    return tuple(sorted(LANGUAGES, key=lambda other: other != own))


def _within(matches: Sequence[SlotMatch], place: tuple[int, int]) -> list[SlotMatch]:
    """The likeliest reading of each place in a sentence: one place may be read in two ways."""
    best: dict[tuple[int, int], SlotMatch] = {}
    for match in matches:
        if not place[0] <= match.start < place[1]:
            continue
        here = (match.start, match.end)
        if here not in best or match.confidence > best[here].confidence:
            best[here] = match
    return list(best.values())


def _amounts(matches: Sequence[SlotMatch]) -> Iterator[str]:
    for match in matches:
        yield amount_text(match.value["amount"], match.value["currency"])


def _dates(matches: Sequence[SlotMatch], folded: str, now: datetime) -> Iterator[tuple[str, date]]:
    for match in matches:
        yield match.value[:10], date.fromisoformat(match.value[:10])
    for deadline in _DEADLINE.finditer(folded):
        count, unit = deadline.groups()
        yield f"{count} {unit}", now.date() + timedelta(days=_days(count, unit))


def _days(count: str, unit: str) -> float:
    numbers = [
        float(number.replace(",", ".")) for number in re.findall(r"[0-9]+(?:[.,][0-9])?", count)
    ]
    largest = max(numbers, default=3.0)
    if re.match(r"hour|hodin|stunde|hora|heure", unit.strip()):
        return largest / 24
    weeks = re.search(r"week|tydn|woche|semana|semaine", unit) is not None
    return largest * 7 if weeks else largest


# --- what stands behind it


def _quoted(folded: str, backing: Backing) -> str | None:
    """A clause or a cited article that literally says it."""
    said = _words(folded)
    if len(said) < 12:
        return None
    for clause in backing.clauses:
        if any(said in _words(fold(words)) for words in clause.words):
            return f"clause {clause.name}"
    if any(said in _words(fold(quote)) for quote in backing.quotes):
        return "a quoted article"
    return None


def _words(folded: str) -> str:
    return " ".join(re.findall(r"[a-z0-9€$£%]+", folded))


def _of_promise(
    action: Action, folded: str, dates: Sequence[Commitment], backing: Backing
) -> str | None:
    """What backs an action that a sentence promises or claims."""
    if action == "reserve":
        return _of_reservation(folded, backing)
    backed = _of_action(action, backing)
    if backed is None and action == "deliver":
        return _of_delivery(dates, backing)
    return backed


def _of_action(action: Action, backing: Backing) -> str | None:
    if action in (done := backing.done):
        return f"{done[action]} did it"
    return next(
        (f"clause {clause.name}" for clause in backing.clauses if action in clause.actions), None
    )


def _of_reservation(folded: str, backing: Backing) -> str | None:
    """A time is reserved where a tool reserved it: the very time, if the sentence names one."""
    said = {(int(hour), int(minute)) for hour, minute in _TIME.findall(folded)}
    for result in backing.results:
        if not changed_something(result) or "reserve" not in actions_of(result):
            continue
        held = {(moment.hour, moment.minute) for moment in _moments(result.get("data"))}
        if not said or not held or said <= held:
            return f"{result.get('tool')} did it"
    return _of_action("reserve", Backing(backing.now, clauses=backing.clauses))


def _moments(data: Any) -> Iterator[datetime]:
    """When something begins and ends."""
    for name in ("start", "end"):
        try:
            yield datetime.fromisoformat(str(data[name]))
        except (KeyError, TypeError, ValueError):
            continue


def _of_delivery(dates: Sequence[Commitment], backing: Backing) -> str | None:
    """What backs a delivery: its dates, and without one whatever was looked up.

    When something arrives is not ours to do.
    """
    if dates:
        all_backed = all(day.backed_by for day in dates)
        return dates[0].backed_by if all_backed else None
    return next((f"result of {result.get('tool', 'a tool')}" for result in backing.results), None)


def _of_amount(amount: str, actions: list[Action], backing: Backing) -> str | None:
    moved = bool({*actions} & {"refund", "credit"})
    if (result := backing.of_value(amount, moved=moved)) is not None:
        return result
    for clause in backing.clauses:
        concerned = not clause.actions or {*actions} & {*clause.actions}
        if concerned and _is_up_to(amount, clause):
            return f"clause {clause.name}"
        if amount in backing.in_clauses[clause.name]:
            return f"clause {clause.name}"
    if amount in backing.in_quotes:
        return "a quoted article"
    return "the customer's words" if not actions and amount in backing.in_message else None


def _is_up_to(amount: str, clause: ClauseSpec) -> bool:
    kind = measure(amount)
    if kind is None or clause.up_to is None or kind[1].currency != clause.up_to.currency:
        return False
    return bool(kind[1] <= clause.up_to)


def _of_date(value: str, day: date, actions: list[Action], backing: Backing) -> str | None:
    if (result := backing.of_value(value, moved="reserve" in actions)) is not None:
        return result
    today = backing.now.date()
    for clause in backing.clauses:
        if _allows_date(clause, day, today, actions):
            return f"clause {clause.name}"
        if value in backing.in_clauses[clause.name] or _stands_in(value, clause.words):
            return f"clause {clause.name}"
    if value in backing.in_quotes or _stands_in(value, backing.quotes):
        return "a quoted article"
    if actions:
        return None
    if day == today:
        return "today"
    return "the customer's words" if value in backing.in_message else None


def _allows_date(clause: ClauseSpec, day: date, today: date, actions: list[Action]) -> bool:
    length = measure(clause.within) if clause.within else None
    if length is None or not today <= day <= today + cast(timedelta, length[1]):
        return False
    return not clause.actions or not actions or bool({*actions} & {*clause.actions})


def _stands_in(value: str, texts: Sequence[str]) -> bool:
    return any(value in fold(text) for text in texts)
