"""A message that a rule is about, made from the rule itself; what was made is always checked by
the matcher."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib import import_module
from itertools import islice, product
from typing import Any

from deskhand.config.sections.routing import MatchSection
from deskhand.model.message import Address, Attachment, Message
from deskhand.routing.facts import RoutingFacts
from deskhand.routing.message_router import all_of, folded

codes: Any = import_module("re._constants")
sre: Any = import_module("re._parser")
_MOST_TRIES = 50


@dataclass
class Example:
    """What a message would have to be like; language and intent are named, not written."""

    sender: str | None = None
    domain: str | None = None
    subject: list[str] = field(default_factory=list)
    headers: dict[str, str] = field(default_factory=dict)
    channel: str | None = None
    attachment: bool | str | None = None
    language: str | None = None
    intent: str | None = None

    def add(self, match: MatchSection) -> bool:
        """Take a match's conditions up; False when they contradict what is there."""
        attachment = (
            self.attachment
            if match.attachment in (None, True) and self.attachment
            else match.attachment
        )
        agreed = [
            self._settle("sender", folded(match.sender_email)),
            self._settle("domain", folded(match.sender_domain)),
            self._settle("channel", match.channel),
            self._settle("language", match.language),
            self._settle("intent", match.intent),
            attachment is None or self.attachment in (None, True, attachment),
        ]
        self.attachment = attachment if attachment is not None else self.attachment
        if match.subject_contains:
            self.subject.append(match.subject_contains)
        for name, pattern in (match.header_match or {}).items():
            self.headers.setdefault(name.lower(), text_for(pattern))
        if match.forwarded_from:
            agreed.append(
                self.headers.setdefault("x-forwarded-from", match.forwarded_from)
                == match.forwarded_from
            )
        return all(agreed)

    def _settle(self, name: str, wanted: Any) -> bool:
        if wanted is None or getattr(self, name) == wanted:
            return True
        free = getattr(self, name) is None
        setattr(self, name, wanted)
        return free

    def message(self) -> Message:
        domain = self.domain or "example.com"
        attachments = (_attachment(self.attachment),) if self.attachment else ()
        return Message(
            id="example",
            channel=self.channel or "mail",
            conversation="example",
            sender=Address(address=self.sender or f"somebody@{domain}"),
            subject=" ".join(self.subject),
            headers=self.headers,
            attachments=attachments,
            received_at=datetime(2026, 1, 1, tzinfo=UTC),
        )

    def described(self) -> dict[str, Any]:
        message = self.message()
        description: dict[str, Any] = {
            "from": message.sender.address,
            "subject": message.subject,
            "channel": message.channel,
        }
        if self.headers:
            description["headers"] = self.headers
        if self.attachment:
            description["attachment"] = (
                f"{message.attachments[0].name} ({message.attachments[0].type})"
            )
        return description | {
            name: value for name in ("language", "intent") if (value := getattr(self, name))
        }


def example_of(*matches: MatchSection) -> Example | None:
    """A message that matches all of these; None when none was found."""
    for branches in islice(product(*map(_branches, matches)), _MOST_TRIES):
        example = Example()
        agreed = all(example.add(part) for branch in branches for part in branch)
        if agreed and all(meets(example, match) for match in matches):
            return example
    return None


def meets(example: Example, match: MatchSection) -> bool:
    facts = RoutingFacts(
        example.message(), lambda message: example.language, lambda message: example.intent
    )
    return all_of(match)(facts) is not None


def _branches(match: MatchSection) -> Iterator[list[MatchSection]]:
    """The ways to meet a match: one choice of every `any` in it. `not` is only checked in the
    end."""
    if not match.any:
        yield [match]
        return
    for choice in match.any:
        for inner in _branches(choice):
            yield [match, *inner]


def _attachment(wanted: bool | str | None) -> Attachment:
    name, kind = "file.pdf", "application/pdf"
    if isinstance(wanted, str):
        name, kind = (
            (f"file{wanted}", kind)
            if wanted.startswith(".")
            else (name, wanted.replace("*", "png"))
        )
    return Attachment(name=name, type=kind, size=1)


# --- patterns


def text_for(pattern: str) -> str:
    """A short text that this pattern finds, for the plain patterns people write; else the
    pattern itself."""
    try:
        return "".join(_pieces(sre.parse(pattern)))
    except Exception:  # RE2 knows things that Python's parser does not
        return pattern


def _pieces(parsed: Any) -> Iterator[str]:
    for code, value in parsed:
        if code in _LETTERS:
            yield _LETTERS[code](value)
        elif code in (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT):
            yield from _repeated(value)
        elif code is codes.SUBPATTERN:
            yield from _pieces(value[3])
        elif code is codes.BRANCH:
            yield from _pieces(value[1][0])


_LETTERS: dict[Any, Callable[[Any], str]] = {
    codes.LITERAL: chr,
    codes.NOT_LITERAL: lambda value: "b" if value == ord("a") else "a",
    codes.ANY: lambda value: "a",
    codes.IN: lambda value: _one_of(value),
}
"""What stands for a single letter in a pattern, each with a letter that fits."""


def _repeated(value: Any) -> Iterator[str]:
    least, _, inner = value
    for _ in range(min(least, 100)):
        yield from _pieces(inner)


def _one_of(choices: Any) -> str:
    refused = choices[0][0] is codes.NEGATE
    for letter in "a1 -_.@Z":
        if any(_is_in(letter, choice) for choice in choices) != refused:
            return letter
    return chr(choices[0][1]) if choices[0][0] is codes.LITERAL else "a"


def _is_in(letter: str, choice: Any) -> bool:
    code, value = choice
    if code is codes.LITERAL:
        return bool(ord(letter) == value)
    if code is codes.RANGE:
        return bool(value[0] <= ord(letter) <= value[1])
    if code is codes.CATEGORY:
        kind = str(value)
        inside = (letter.isdigit() and "DIGIT" in kind) or (letter.isspace() and "SPACE" in kind)
        inside = inside or ((letter.isalnum() or letter == "_") and "WORD" in kind)
        return bool(inside) != ("NOT" in kind)
    return False
