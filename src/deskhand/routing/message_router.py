"""The compiled matcher: hash lookups for exact conditions, so that ten thousand rules cost about
what ten do."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import re2

from deskhand.config.sections.routing import MatchSection, RoutingRuleSection
from deskhand.model.message import Attachment, Message, Route
from deskhand.routing.facts import IntentOf, LanguageOf, RoutingFacts, unknown

Condition = Callable[[RoutingFacts], str | None]
"""Why a message meets it, in words; None when it does not."""


@dataclass(frozen=True, slots=True)
class MessageRoutingRule:
    spec: RoutingRuleSection
    conditions: tuple[Condition, ...]

    def matches(self, facts: RoutingFacts) -> str | None:
        """Why it does; None when it does not. A rule that asks for nothing never matches."""
        reasons: list[str] = []
        for condition in self.conditions:
            reason = condition(facts)
            if reason is None:
                return None
            reasons.append(reason)
        return "; ".join(reasons) or None


class MessageRouter:
    """A desk's routing rules. The first rule that matches wins; without one a message takes the
    default flow."""

    def __init__(
        self,
        rules: Sequence[RoutingRuleSection],
        default_flow: str,
        *,
        language: LanguageOf = unknown,
        intent: IntentOf = unknown,
        stand_ins: Mapping[str, str] | None = None,
    ) -> None:
        """`stand_ins` are flows that no model can be asked for, each with the flow that works
        its messages instead."""
        self._stand_ins = dict(stand_ins or {})
        self._default, self._language, self._intent = default_flow, language, intent
        self.rules = tuple(
            MessageRoutingRule(spec, tuple(conditions_of(spec.match))) for spec in rules
        )
        self._by_sender: dict[str, list[int]] = {}
        self._by_domain: dict[str, list[int]] = {}
        self._by_forwarder: dict[str, list[int]] = {}
        self._others: list[int] = []
        for number, spec in enumerate(rules):
            self._file(number, spec.match)
        self.reads = any(_reads(spec.match) for spec in rules)
        """Whether a rule asks for the language or the intent, which takes milliseconds to find
        out."""

    def route(self, message: Message) -> Route:
        """Where a message goes, by which rule and why."""
        facts = RoutingFacts(message, self._language, self._intent)
        for number in self._candidates(facts):
            rule = self.rules[number]
            if (why := rule.matches(facts)) is not None:
                spec = rule.spec
                flow = spec.profile if spec.route == "agent" else spec.flow
                profile = spec.profile if spec.route == "agent" else None
                decided = self._going(spec.route, profile, flow or self._default, spec.name, why)
                return decided.changed(preprocess=spec.preprocess)
        return self._going("pipeline", None, self._default, None, "no rule matches")

    def _going(
        self,
        route: Literal["pipeline", "agent"],
        profile: str | None,
        flow: str,
        rule: str | None,
        why: str,
    ) -> Route:
        instead = self._stand_ins.get(flow)
        if instead is not None:
            why = f"{why}; {flow} has no model to ask, so {instead} works it"
        replaced = flow if instead is not None else None
        return Route(
            route=route,
            profile=profile,
            flow=instead or flow,
            instead_of=replaced,
            rule=rule,
            why=why,
        )

    def _file(self, number: int, match: MatchSection) -> None:
        """Each rule lies where its most selective exact condition finds it."""
        if match.sender_email is not None:
            self._by_sender.setdefault(match.sender_email.strip().lower(), []).append(number)
        elif match.forwarded_from is not None:
            self._by_forwarder.setdefault(match.forwarded_from.strip().lower(), []).append(number)
        elif match.sender_domain is not None:
            self._by_domain.setdefault(match.sender_domain.strip().lower(), []).append(number)
        else:
            self._others.append(number)

    def _candidates(self, facts: RoutingFacts) -> Iterator[int]:
        """The rules that may match, in order; the others differ in an exact condition."""
        exact = [*self._by_sender.get(facts.sender, ()), *self._by_domain.get(facts.domain, ())]
        if self._by_forwarder:
            for address in facts.forwarded_from:
                exact += self._by_forwarder.get(address, ())
        if not exact:
            return iter(self._others)
        return iter(sorted({*exact, *self._others}))


def folded(value: str | None) -> str | None:
    """An address or a domain as it is compared."""
    return None if value is None else value.strip().lower()


def _reads(match: MatchSection) -> bool:
    inside = [*(match.any or ()), *([match.not_] if match.not_ is not None else [])]
    return match.language is not None or match.intent is not None or any(map(_reads, inside))


def conditions_of(match: MatchSection) -> Iterator[Condition]:
    """The conditions of a match, the cheap ones first."""
    for name, compile_condition in _CONDITIONS.items():
        wanted = getattr(match, name)
        if wanted is not None:
            yield from compile_condition(wanted)


def _sender_email(address: str) -> Condition:
    return lambda facts: f"sender_email is {address}" if facts.sender == address else None


def _sender_domain(domain: str) -> Condition:
    return lambda facts: f"sender_domain is {domain}" if facts.domain == domain else None


def _channel(name: str) -> Condition:
    return lambda facts: f"channel is {name}" if facts.message.channel == name else None


def _subject_contains(words: str) -> Condition:
    folded = words.casefold()
    return lambda facts: f"subject_contains {words!r}" if folded in facts.subject else None


def _header(written_name: str, pattern: str) -> Condition:
    name = written_name.strip().lower()
    options = re2.Options()
    options.log_errors = False
    compiled: Any = re2.compile(pattern, options)

    def check(facts: RoutingFacts) -> str | None:
        if name not in facts.message.headers:
            return None
        values = facts.header(name).split("\n")
        if any(compiled.search(value) for value in values):
            return f"header {name} matches {pattern!r}"
        return None

    return check


def _forwarded_from(address: str) -> Condition:
    def check(facts: RoutingFacts) -> str | None:
        where = facts.forwarded_from.get(address)
        return None if where is None else f"forwarded_from {address} (in {where})"

    return check


def _attachment(wanted: bool | str) -> Condition:
    if isinstance(wanted, bool):
        words = "with an attachment" if wanted else "without attachments"
        return lambda facts: words if bool(facts.message.attachments) == wanted else None
    kind = wanted.lower()

    def check(facts: RoutingFacts) -> str | None:
        if any(_is_kind(attachment, kind) for attachment in facts.message.attachments):
            return f"an attachment is {wanted}"
        return None

    return check


def _is_kind(attachment: Attachment, kind: str) -> bool:
    if kind.startswith("."):
        return attachment.name.lower().endswith(kind)
    if kind.endswith("/*"):
        return attachment.type.lower().startswith(kind[:-1])
    return attachment.type.lower() == kind


def _any(matches: Sequence[MatchSection]) -> Condition:
    choices = [all_of(match) for match in matches]

    def check(facts: RoutingFacts) -> str | None:
        return next(
            (f"any: {why}" for choice in choices if (why := choice(facts)) is not None), None
        )

    return check


def _not(match: MatchSection) -> Condition:
    inner = all_of(match)
    return lambda facts: "not what `not` says" if inner(facts) is None else None


def all_of(match: MatchSection) -> Condition:
    """All conditions of a match as one; nothing asked for never matches."""
    conditions = tuple(conditions_of(match))

    def check(facts: RoutingFacts) -> str | None:
        reasons = [condition(facts) for condition in conditions]
        return None if not reasons or None in reasons else "; ".join(filter(None, reasons))

    return check


def _language(code: str) -> Condition:
    def check(facts: RoutingFacts) -> str | None:
        language = (facts.language or "").lower()
        if code in (language, language.partition("-")[0]):
            return f"language is {language}"
        return None

    return check


def _intent(name: str) -> Condition:
    return lambda facts: f"intent is {name}" if facts.intent == name else None


_CONDITIONS: dict[str, Callable[[Any], Iterable[Condition]]] = {
    "all": lambda wanted: [lambda facts: "every message"] if wanted else [],
    "sender_email": lambda address: [_sender_email(address.strip().lower())],
    "sender_domain": lambda domain: [_sender_domain(domain.strip().lower())],
    "channel": lambda name: [_channel(name)],
    "subject_contains": lambda words: [_subject_contains(words)],
    "header_match": lambda patterns: map(_header, patterns.keys(), patterns.values()),
    "attachment": lambda wanted: [_attachment(wanted)],
    "forwarded_from": lambda address: [_forwarded_from(address.strip().lower())],
    "any": lambda matches: [_any(matches)],
    "not_": lambda match: [_not(match)],
    "language": lambda code: [_language(code.lower())],
    "intent": lambda name: [_intent(name)],
}
"""The conditions that each field of a match becomes, the cheap ones first."""
