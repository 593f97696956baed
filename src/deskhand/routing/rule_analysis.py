"""What is wrong with routing rules as a whole: hidden, impossible and contending ones, each shown
by a message.

What is reported is so; not everything that is so is reported (a rule hidden by two others together,
say).
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from deskhand.config.sections.routing import MatchSection, RoutingRuleSection
from deskhand.routing.examples import Example, example_of, meets
from deskhand.routing.message_router import folded

FAULTS = ("shadowed", "unreachable")
Kind = Literal["shadowed", "unreachable", "conflicting"]


@dataclass(frozen=True, slots=True)
class RoutingFinding:
    kind: Kind
    rule: str
    other: str | None
    """The rule that hides it or contends with it."""
    problem: str
    example: dict[str, Any] | None
    """A message that shows it; None where no message can."""


def analyse_rules(rules: Sequence[RoutingRuleSection]) -> list[RoutingFinding]:
    """In the order of the rules; a rule that is hidden is not told about twice."""
    findings: list[RoutingFinding] = []
    live: list[RoutingRuleSection] = []
    for rule in rules:
        finding = _unreachable(rule) or _shadowed(rule, live)
        if finding is None:
            findings += _conflicts(rule, live)
            live.append(rule)
        else:
            findings.append(finding)
    return findings


def _unreachable(rule: RoutingRuleSection) -> RoutingFinding | None:
    if never(rule.match):
        return RoutingFinding(
            "unreachable", rule.name, None, f"no message can ever match `{rule.name}`", None
        )
    return None


def _shadowed(
    rule: RoutingRuleSection, earlier: Sequence[RoutingRuleSection]
) -> RoutingFinding | None:
    for other in earlier:
        if _may_meet(rule.match, other.match) and implies(rule.match, other.match):
            problem = (
                f"`{rule.name}` is never reached: every message it is about is taken by"
                f" `{other.name}` before"
            )
            return RoutingFinding(
                "shadowed", rule.name, other.name, problem, _described(example_of(rule.match))
            )
    return None


def _conflicts(
    rule: RoutingRuleSection, earlier: Sequence[RoutingRuleSection]
) -> Iterator[RoutingFinding]:
    """Rules of which neither contains the other, that lead to different places and share a
    message."""
    for other in earlier:
        if _target(rule) == _target(other) or not _may_meet(rule.match, other.match):
            continue
        if implies(other.match, rule.match):
            continue  # the exception first, the rule after it: as it should be
        both = example_of(rule.match, other.match)
        if both is not None and meets(both, rule.match) and meets(both, other.match):
            problem = (
                f"a message can match `{other.name}` and `{rule.name}`, which go different ways;"
                " the first wins"
            )
            yield RoutingFinding("conflicting", rule.name, other.name, problem, _described(both))


def _target(rule: RoutingRuleSection) -> tuple[str, str | None]:
    return rule.route, rule.profile if rule.route == "agent" else rule.flow


def _described(example: Example | None) -> dict[str, Any] | None:
    return None if example is None else example.described()


def _may_meet(first: MatchSection, second: MatchSection) -> bool:
    """Whether a message might match both; False where exact conditions keep them apart."""
    senders = {folded(match.sender_email) for match in (first, second)} - {None}
    if len(senders) > 1:
        return False
    domains = {folded(match.sender_domain) for match in (first, second)} - {None}
    domains |= {str(sender).rpartition("@")[2] for sender in senders}
    return len(domains) <= 1


# --- logic


def never(match: MatchSection) -> bool:
    """Whether no message can match, as far as the conditions themselves say so."""
    if not _asks(match) or (match.any is not None and all(map(never, match.any))):
        return True
    email, domain = folded(match.sender_email), folded(match.sender_domain)
    if email is not None and domain is not None and email.rpartition("@")[2] != domain:
        return True
    bare = match.model_copy(update={"not_": None})
    return match.not_ is not None and _asks(match.not_) and implies(bare, match.not_)


def implies(narrow: MatchSection, wide: MatchSection) -> bool:
    """Whether every message that matches `narrow` matches `wide`; False where that cannot be
    told."""
    if not _asks(wide):
        return False
    if narrow.any is not None and any(map(_asks, narrow.any)):
        rest = narrow.model_copy(update={"any": None})
        if all(implies(_both(rest, choice), wide) for choice in narrow.any if _asks(choice)):
            return True
    return all(
        _implied(narrow, name, getattr(wide, name))
        for name in wide.model_fields_set
        if _given(wide, name)
    )


def _implied(narrow: MatchSection, name: str, wanted: Any) -> bool:
    """Whether every message that matches `narrow` meets this one condition."""
    check = _IMPLIED.get(name)
    if check is not None:
        return check(narrow, wanted)
    return bool(getattr(narrow, name) == wanted)


def _implied_domain(narrow: MatchSection, wanted: str) -> bool:
    email = folded(narrow.sender_email)
    own = folded(narrow.sender_domain)
    if own is None and email is not None:
        own = email.rpartition("@")[2]
    return own == folded(wanted)


def _implied_subject(narrow: MatchSection, wanted: str) -> bool:
    subject = narrow.subject_contains
    return subject is not None and wanted.casefold() in subject.casefold()


def _implied_headers(narrow: MatchSection, wanted: Mapping[str, str]) -> bool:
    own = {name.lower(): pattern for name, pattern in (narrow.header_match or {}).items()}
    return all(own.get(name.lower()) == pattern for name, pattern in wanted.items())


def _implied_attachment(narrow: MatchSection, wanted: bool | str) -> bool:
    has_one = narrow.attachment is True or isinstance(narrow.attachment, str)
    return narrow.attachment == wanted or (wanted is True and has_one)


def _implied_not(narrow: MatchSection, wanted: MatchSection) -> bool:
    if not _asks(wanted):
        return True
    return narrow.not_ is not None and implies(wanted, narrow.not_)


_IMPLIED: dict[str, Callable[[MatchSection, Any], bool]] = {
    "all": lambda narrow, wanted: True,
    "sender_email": lambda narrow, wanted: folded(narrow.sender_email) == folded(wanted),
    "sender_domain": _implied_domain,
    "forwarded_from": lambda narrow, wanted: (
        folded(wanted) in (folded(narrow.forwarded_from), folded(narrow.sender_email))
    ),
    "subject_contains": _implied_subject,
    "header_match": _implied_headers,
    "attachment": _implied_attachment,
    "any": lambda narrow, wanted: any(implies(narrow, choice) for choice in wanted),
    "not_": _implied_not,
}
"""How each condition follows from a narrower match; the others must be equal."""


def _asks(match: MatchSection) -> bool:
    return any(_given(match, name) for name in match.model_fields_set)


def _given(match: MatchSection, name: str) -> bool:
    return getattr(match, name) is not None and not (name == "all" and match.all is False)


def _both(first: MatchSection, second: MatchSection) -> MatchSection:
    """One match with what the second adds; where both say the same thing differently, the first
    is kept."""
    added = {
        name: getattr(second, name) for name in second.model_fields_set if not _given(first, name)
    }
    return first.model_copy(update=added)
