"""Facts about a message that a desk's own code finds, for the desk's policy: no model has a say
in them."""

import inspect
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Literal, get_type_hints

from deskhand.model.envelope import Envelope
from deskhand.model.message import Message
from deskhand.tools.declared import SourcePlace, declare, place_of

Value = bool | float | str
FactFunction = Callable[[Message, str], Value]
FactKind = Literal["boolean", "number", "text"]

_KINDS: dict[Any, FactKind] = {bool: "boolean", int: "number", float: "number", str: "text"}


@dataclass(frozen=True, slots=True)
class MessageFact:
    """A fact by its name: `message.NAME` in the conditions of a policy."""

    name: str
    kind: FactKind
    function: FactFunction
    place: SourcePlace
    in_replies: bool = False
    """Whether a reply that a model wrote is looked at as well: a person answers what it is true
    of."""


def message_fact(name: str, *, in_replies: bool = False) -> Callable[[FactFunction], MessageFact]:
    """Make a function `(message, text) -> bool` (or a number, or a text) tell a fact about every
    message.

    `text` is all that the run answers: the message as it was preprocessed, and earlier ones
    answered with it. The gate asks anew at every call; where the function fails, the call is held.
    With `in_replies` the same is asked of every reply that a model wrote, as if somebody had sent
    it: where the answer is not False, 0 or empty, a person sends it.
    """

    def decorate(function: FactFunction) -> MessageFact:
        place = place_of(function)
        if not name.isidentifier():
            raise place.error(f"{name!r} is no name of a fact", fix="letters, digits and _")
        if inspect.iscoroutinefunction(function):
            raise place.error(
                f"the fact {name!r} must be a plain function: it is asked at every call"
            )
        kind = _KINDS.get(get_type_hints(function).get("return"))
        if kind is None:
            raise place.error(
                f"the fact {name!r} does not say what it returns",
                fix="write `-> bool`, float or str",
            )
        return declare(MessageFact(name, kind, function, place, in_replies))

    return decorate


def told_of(envelope: Envelope, facts: Iterable[MessageFact]) -> dict[str, Value]:
    """What the desk's code says about the message of a run; nothing where there is none."""
    message = envelope.message
    if message is None:
        return {}
    return {fact.name: fact.function(message, envelope.raw_input) for fact in facts}
