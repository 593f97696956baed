"""What a draft commits the company to, and what stands behind it: a tool's result, a clause, a
quoted article.

Amounts and dates need backing wherever they stand, save when they only repeat what the customer
wrote; a promised or claimed action needs a tool that did it or a clause that allows it. What is not
found here is not promised safely: the patterns know five languages and common wording, no more.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from functools import cached_property
from typing import Any, Literal, NamedTuple, cast

from deskhand.config.sections.outgoing import Action, ClauseSpec
from deskhand.config.sections.slots import SlotSpec
from deskhand.language.slots import SlotExtractor, SlotMatch
from deskhand.language.slots.folded_text import fold
from deskhand.measures import measure
from deskhand.outgoing.promised_actions import LANGUAGES, promised_action

_SENTENCE = re.compile(r"(?<=[.!?…])[\"'”“»)]*\s+(?=[^a-zà-ž])|\n+")
_ABBREVIATION = re.compile(
    r"\b(?:[a-z]|str|nr|no|ca|cca|tel|mr|mrs|ms|dr|st|inkl|incl|vc|tj|napr|resp|z\. ?b|d\. ?h|p\."
    r" ?ej|env|approx|art|"
    r"n|c|[0-9]{1,2})\.$"
)
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
_SLOTS = SlotExtractor(
    [SlotSpec(name="amount", type="money"), SlotSpec(name="day", type="date", prefer="future")]
)
_DEEPEST, _LONGEST = 8, 20_000
_ACTION_WORDS: dict[str, tuple[Action, ...]] = {
    "refund": ("refund", "credit"),
    "reimburse": ("refund",),
    "return": ("refund", "replace"),
    "cancel": ("cancel",),
    "terminate": ("cancel",),
    "replace": ("replace",),
    "exchange": ("replace",),
    "ship": ("replace", "deliver", "send"),
    "reship": ("replace", "deliver"),
    "send": ("send",),
    "resend": ("send", "replace"),
    "email": ("send",),
    "mail": ("send",),
    "voucher": ("credit",),
    "discount": ("credit",),
    "coupon": ("credit",),
    "credit": ("credit",),
    "change": ("change",),
    "update": ("change",),
    "modify": ("change",),
    "set": ("change",),
    "reset": ("change", "send"),
    "book": ("contact", "deliver", "reserve"),
    "callback": ("contact",),
    "call": ("contact",),
    "escalate": ("escalate", "contact"),
    "ticket": ("escalate", "contact"),
    "forward": ("escalate",),
    "transfer": ("escalate", "contact"),
    "hold": ("reserve",),
    "reserve": ("reserve",),
    "reservation": ("reserve",),
    "invitation": ("reserve",),
    "deliver": ("deliver",),
    "reschedule": ("change", "deliver"),
}
"""What a tool that changed something did, by the words of its name."""

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


@dataclass(frozen=True)
class Backing:
    """What may stand behind a draft."""

    now: datetime
    results: Sequence[Mapping[str, Any]] = ()
    """Calls of this run that succeeded, each with `tool`, `effect`, `arguments` and `data`."""
    clauses: Sequence[ClauseSpec] = ()
    quotes: Sequence[str] = ()
    """Articles the draft cites, as they are."""
    message: str = ""
    """What the customer wrote: it may be repeated, but it backs no promise."""

    def of_value(self, value: str, *, moved: bool = False) -> str | None:
        """The result that holds it; money said to move, or a day said to be reserved, in that of
        what did so."""
        known, done = self._held
        return (done if moved else known).get(value)

    @cached_property
    def _held(self) -> tuple[dict[str, str], dict[str, str]]:
        """What every result holds and what those hold that changed something; read once a reply
        speaks of a value."""
        known: dict[str, str] = {}
        done: dict[str, str] = {}
        for result in self.results:
            told = f"result of {result.get('tool', 'a tool')}"
            for value in _values(result, self.now):
                known.setdefault(value, told)
                if _changed_something(result):
                    done.setdefault(value, told)
        return known, done

    @cached_property
    def in_clauses(self) -> dict[str, set[str]]:
        return {clause.name: _values(clause.words, self.now) for clause in self.clauses}

    @cached_property
    def in_quotes(self) -> set[str]:
        return _values(self.quotes, self.now)

    @cached_property
    def in_message(self) -> set[str]:
        return _values(self.message, self.now)

    @property
    def done(self) -> dict[Action, str]:
        """What tools have done, each with the tool's name; one that can do several says which as
        its `action`."""
        done: dict[Action, str] = {}
        for result in self.results:
            if _changed_something(result):
                for action in _acts_of(result):
                    done.setdefault(action, str(result.get("tool", "")))
        return done


def _changed_something(result: Mapping[str, Any]) -> bool:
    return str(result.get("effect", "read")) != "read"


def _acts_of(result: Mapping[str, Any]) -> list[Action]:
    data = result.get("data")
    if isinstance(data, Mapping) and data.get("held") is False:
        return []  # it could have held something, and did not
    asked = str((result.get("arguments") or {}).get("action", ""))
    said = re.split(r"[_-]", f"{result.get('tool', '')}_{asked}".lower())
    return [action for word in said for action in _ACTION_WORDS.get(word, ())]


def check_commitments(text: str, language: str | None, backing: Backing) -> list[Commitment]:
    """Everything the draft commits to, in order, with what backs it; pure."""
    found = _SLOTS.extract(text, language=language, now=backing.now)
    draft = _Draft(text, language, found["amount"].matches, found["day"].matches)
    commitments = [one for place in sentences(text) for one in _in_sentence(draft, place, backing)]
    if any(slot.truncated for slot in found.values()):
        commitments.append(
            Commitment("amount", "more than anybody checks", text[:200], 0, len(text[:200]))
        )
    return commitments


class _Draft(NamedTuple):
    text: str
    language: str | None
    amounts: tuple[SlotMatch, ...]
    days: tuple[SlotMatch, ...]


def unbacked(commitments: Sequence[Commitment]) -> list[Commitment]:
    return [commitment for commitment in commitments if commitment.backed_by is None]


def sentences(text: str) -> Iterator[tuple[int, int]]:
    """Where each sentence begins and ends; an abbreviation or a date does not end one."""
    start = 0
    for gap in _SENTENCE.finditer(text):
        if gap.group().strip(" \"'”“»)") == "" and _ABBREVIATION.search(
            fold(text[start : gap.start()])[-12:]
        ):
            continue
        if text[start : gap.start()].strip():
            yield _trimmed(text, start, gap.start())
        start = gap.end()
    if text[start:].strip():
        yield _trimmed(text, start, len(text))


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    piece = text[start:end]
    return start + len(piece) - len(piece.lstrip()), start + len(piece.rstrip())


def _in_sentence(draft: _Draft, place: tuple[int, int], backing: Backing) -> Iterator[Commitment]:
    start, end = place
    sentence = draft.text[start:end]
    folded = fold(sentence)
    if folded.rstrip(" \"')»").endswith("?"):
        return
    quoted = _quoted(folded, backing)
    actions = list(dict.fromkeys(_actions(folded, draft.language)))
    dates = [
        Commitment(
            "date", value, sentence, start, end, quoted or _of_date(value, day, actions, backing)
        )
        for value, day in _dates(_within(draft.days, place), folded, backing.now)
    ]
    for action in actions:
        backed = quoted or (
            _of_reservation(folded, backing) if action == "reserve" else _of_action(action, backing)
        )
        if backed is None and action == "deliver":
            backed = _of_delivery(dates, backing)
        yield Commitment("action", action, sentence, start, end, backed)
    for amount in _amounts(_within(draft.amounts, place)):
        backed = quoted or _of_amount(amount, actions, backing)
        yield Commitment("amount", amount, sentence, start, end, backed)
    yield from dates


def _actions(folded: str, language: str | None) -> Iterator[Action]:
    known = (language or "").lower()[:2]
    languages = tuple(
        sorted(LANGUAGES, key=lambda one: one != known)
    )  # the draft names its own language
    for clause in _CLAUSE.split(folded):
        action = promised_action(clause.strip(" .!\"'"), languages)
        if action is not None:
            yield action


def _within(matches: Sequence[SlotMatch], place: tuple[int, int]) -> list[SlotMatch]:
    """The likeliest reading of each place in a sentence: one place may be read in two ways."""
    best: dict[tuple[int, int], SlotMatch] = {}
    for match in matches:
        here = (match.start, match.end)
        if place[0] <= match.start < place[1] and (
            here not in best or match.confidence > best[here].confidence
        ):
            best[here] = match
    return list(best.values())


def _amounts(matches: Sequence[SlotMatch]) -> Iterator[str]:
    for match in matches:
        yield _amount(match.value["amount"], match.value["currency"])


def _amount(number: object, currency: object) -> str:
    return f"{Decimal(str(number)).normalize():f} {currency}"


def _dates(matches: Sequence[SlotMatch], folded: str, now: datetime) -> Iterator[tuple[str, date]]:
    for found in matches:
        yield found.value[:10], date.fromisoformat(found.value[:10])
    for match in _DEADLINE.finditer(folded):
        days = _days(match.group(1), match.group(2))
        yield f"{match.group(1)} {match.group(2)}", now.date() + timedelta(days=days)


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
    return (
        "a quoted article" if any(said in _words(fold(quote)) for quote in backing.quotes) else None
    )


def _words(folded: str) -> str:
    return " ".join(re.findall(r"[a-z0-9€$£%]+", folded))


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
        if not _changed_something(result) or "reserve" not in _acts_of(result):
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
    """When something arrives is not ours to do: it is as good as its date, and without one as
    what was looked up."""
    if dates:
        return dates[0].backed_by if all(day.backed_by for day in dates) else None
    return next((f"result of {result.get('tool', 'a tool')}" for result in backing.results), None)


def _of_amount(amount: str, actions: list[Action], backing: Backing) -> str | None:
    moved = bool({*actions} & {"refund", "credit"})
    if (known := backing.of_value(amount, moved=moved)) is not None:
        return known
    kind = measure(amount)
    for clause in backing.clauses:
        fits = (
            clause.up_to is not None
            and kind is not None
            and kind[1].currency == clause.up_to.currency
        )
        if (
            fits
            and kind is not None
            and kind[1] <= clause.up_to
            and (not clause.actions or {*actions} & {*clause.actions})
        ):
            return f"clause {clause.name}"
        if amount in backing.in_clauses[clause.name]:
            return f"clause {clause.name}"
    if amount in backing.in_quotes:
        return "a quoted article"
    return "the customer's words" if not actions and amount in backing.in_message else None


def _of_date(value: str, day: date, actions: list[Action], backing: Backing) -> str | None:
    if (known := backing.of_value(value, moved="reserve" in actions)) is not None:
        return known
    today = backing.now.date()
    for clause in backing.clauses:
        length = measure(clause.within) if clause.within else None
        near = length is not None and today <= day <= today + cast(timedelta, length[1])
        if near and (not clause.actions or not actions or {*actions} & {*clause.actions}):
            return f"clause {clause.name}"
        if value in backing.in_clauses[clause.name] or any(
            value in fold(words) for words in clause.words
        ):
            return f"clause {clause.name}"
    if value in backing.in_quotes or any(value in fold(quote) for quote in backing.quotes):
        return "a quoted article"
    if day == today and not actions:
        return "today"
    return "the customer's words" if not actions and value in backing.in_message else None


def _values(data: Any, now: datetime, depth: int = 0) -> set[str]:
    """Amounts and days in data or text, written as commitments are."""
    if depth > _DEEPEST:
        return set()
    if isinstance(data, str):
        return _values_in_text(data, now)
    if isinstance(data, Mapping):
        fields = cast(Mapping[str, Any], data)
        return _priced(fields).union(*(_values(value, now, depth + 1) for value in fields.values()))
    if isinstance(data, Sequence):
        return set[str]().union(*(_values(item, now, depth + 1) for item in data))
    kind = measure(data)
    if kind is not None and kind[0] in ("date", "moment"):
        return {kind[1].isoformat()[:10]}
    return (
        {_amount(kind[1].amount, kind[1].currency)}
        if kind is not None and kind[0] == "money"
        else set()
    )


def _priced(fields: Mapping[str, Any]) -> set[str]:
    """`{"total": 49.9, "currency": "EUR"}`: every number beside a currency is an amount of it."""
    currency = fields.get("currency")
    if not isinstance(currency, str) or not re.fullmatch(r"[A-Za-z]{3}", currency):
        return set()
    numbers = [
        value
        for value in fields.values()
        if (kind := measure(value)) is not None and kind[0] == "number"
    ]
    texts = [
        value
        for value in fields.values()
        if isinstance(value, str) and re.fullmatch(r"[0-9]+(?:\.[0-9]+)?", value)
    ]
    return {_amount(number, currency.upper()) for number in (*numbers, *texts)}


def _values_in_text(text: str, now: datetime) -> set[str]:
    found = _SLOTS.extract(text[:_LONGEST], now=now)
    amounts = {
        _amount(match.value["amount"], match.value["currency"]) for match in found["amount"].matches
    }
    days = {match.value[:10] for match in found["day"].matches}
    kind = measure(text)
    return (
        amounts
        | days
        | (
            {kind[1].isoformat()[:10]}
            if kind is not None and kind[0] in ("date", "moment")
            else set()
        )
    )
