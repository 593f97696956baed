"""A desk's golden mail as labelled texts: what its own examples cannot measure is measured here."""

from collections.abc import Collection, Iterable
from typing import Any, NamedTuple, Protocol

from deskhand.evals.cases import Case
from deskhand.mail.reply import visible_reply

_CATEGORY = ("category", "classification", "intent")


class Guess(Protocol):
    @property
    def label(self) -> str | None: ...

    @property
    def best(self) -> str: ...


class GoldenMail(NamedTuple):
    text: str
    categories: tuple[str, ...]
    """Those that will do."""


def golden_mail(cases: Iterable[Case]) -> list[GoldenMail]:
    """Returns the mail of the cases that say what category is right."""
    mails: list[GoldenMail] = []
    for case in cases:
        for turn in case.turns[:1]:
            expected = [turn.expect[name] for name in _CATEGORY if name in turn.expect]
            if turn.message is None or not expected:
                continue
            text = f"{turn.message.subject}\n{visible_reply(turn.message.body)}".strip()
            mails.append(GoldenMail(text, tuple(_as_list(expected[0]))))
    return mails


def _as_list(expected: Any) -> list[str]:
    return [expected] if isinstance(expected, str) else list(expected)


def measured(
    mails: Iterable[GoldenMail], guesses: Iterable[Guess], labels: Collection[str]
) -> dict[str, Any]:
    """Returns how much of the mail a model answers, and how often it is wrong then.

    Mail of categories that the model does not know should not be answered at all.
    """
    own = answered = wrong = strangers = left = 0
    for mail, guess in zip(mails, guesses, strict=True):
        is_own = any(category in labels for category in mail.categories)
        said = guess.label is not None
        own += is_own
        answered += is_own and said
        wrong += said and guess.label not in mail.categories
        strangers += not is_own
        left += not is_own and not said
    said_at_all = answered + strangers - left
    return {
        "mails": own,
        "coverage": _share(answered, own),
        "error": _share(wrong, said_at_all),
        "out_of_scope": strangers,
        "out_of_scope_recall": _share(left, strangers),
    }


def _share(part: int, whole: int) -> float | None:
    return round(part / whole, 4) if whole else None
