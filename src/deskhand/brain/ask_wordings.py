"""The wordings in which an ask is looked for: by itself, and after what may say what it is about.

"And how long does it take?" names nothing. What it is about stands in the words before it, in the
ask before, in the message's first sentence, or in its subject.
"""

from typing import NamedTuple

from deskhand.language.asks import Part

_CONTEXT = 160
"""Characters said before an ask that are looked for with it."""


class AskInMessage(NamedTuple):
    """An ask, and where it stands in its message."""

    ask: Part
    language: str
    """The reply's."""
    previous: Part | None = None
    """The ask before it; None for the first."""
    opening: str = ""
    """What the message says before its first ask."""
    subject: str = ""
    """Empty where it was written for an earlier message."""

    @property
    def comes_first(self) -> bool:
        """Whether the message asks nothing before it."""
        return self.previous is None


def wordings(ask: Part) -> list[str]:
    """The ask by itself and in its context, by both of which answers are looked for."""
    return list(dict.fromkeys((ask.text, in_context(ask))))


def all_wordings(asked: AskInMessage) -> list[str]:
    """The ask in the wordings that `AskLikeness` compares, in its order; some may be the same."""
    ask, previous = asked.ask.text, asked.previous.text if asked.previous is not None else ""
    opening = asked.opening[-_CONTEXT:]
    after_subject = [_joined(asked.subject, before, ask) for before in ("", opening, previous)]
    return [ask, in_context(asked.ask), _said(previous, ask), _said(opening, ask), *after_subject]


def in_context(ask: Part) -> str:
    """The ask after the last words before it, which say what "it" is."""
    before = ask.context[-_CONTEXT:]
    if len(ask.context) > _CONTEXT:
        before = before.partition(" ")[2]
    return _said(before, ask.text)


def _joined(subject: str, before: str, ask: str) -> str:
    said = _said(before, ask)
    return f"{subject}. {said}" if subject else said


def _said(before: str, ask: str) -> str:
    return f"{before} {ask}".strip()
