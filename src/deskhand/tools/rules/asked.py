"""What cannot be taken back happens where the principal's own words ask for it: naming a thing is
no request."""

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any, NamedTuple

from deskhand.model.message import DELIVER
from deskhand.model.outcome import EffectClass
from deskhand.model.remembered import words_before
from deskhand.model.run import EffectState
from deskhand.tools.asked_effects import (
    NAMING,
    asks_for,
    asks_for_something,
    names,
    own_words,
    refuses,
    times_asked,
)
from deskhand.tools.asked_verbs import (
    ARCHIVE,
    READ,
    REMOVE,
    asks_for_right,
    kept_right,
    removal_of,
    verb_of,
)
from deskhand.tools.authority import Authority
from deskhand.tools.gate_call import GateCall, Ruling, Terms, hold
from deskhand.tools.plain_authority import names_authority, plain_authority
from deskhand.tools.provenance import stands_in
from deskhand.tools.rules.effect import LATER, is_lasting

MOST_THINGS = 50
"""What a call is about; one about more is for a person."""
Thing = list[str]
"""The names of one thing."""


def removal_not_asked(call: GateCall, terms: Terms) -> Ruling | None:
    """Who names a thing has not asked to remove it.

    A `reversible` tool has a bin. Of a `keyed` one the desk's own policy may decide.
    """
    tool = call.admitted_tool
    removal = removal_of(tool.name, call.canonical)
    decided_by_policy = tool.effect is EffectClass.KEYED and terms.policy is not None
    if removal is None or not is_lasting(call) or decided_by_policy:
        return None
    things = _things(call) or _plain_things(call)
    words = _words(call, things, removal).text
    countable = 0 < len(things) <= MOST_THINGS
    if countable and all(_asked(words, thing, things, removal) for thing in things):
        return None
    reason = f"{tool.name} would {removal} something that the sender did not ask to {removal}"
    return hold("removal_not_asked", reason, LATER)


def effect_not_asked(call: GateCall, terms: Terms) -> Ruling | None:
    """Of what cannot be taken back: a thing that the principal named gives the right to what he
    asked for about it, and to nothing else. Where he named none, he has asked for the verb and for
    nothing else with it."""
    tool = call.admitted_tool
    if tool.effect is not EffectClass.IRREVERSIBLE or tool.name == DELIVER:
        return None
    verb = verb_of(tool.name, call.canonical)
    if verb == READ:
        return None
    things = _things(call)
    if not things:
        return None
    words = _words(call, things, verb)
    if verb not in (REMOVE, ARCHIVE) and not _all_asked(words.text, things, verb):
        reason = f"{tool.name} cannot be taken back, and the sender's words do not ask for it"
        return hold("effect_not_asked", reason, LATER)
    return _more_than_asked(call, words, things, verb)


def _all_asked(words: str, things: list[Thing], verb: str) -> bool:
    if len(things) > MOST_THINGS:
        return False
    named = [thing for thing in things if names(words, thing, verb)]
    if not named:
        return asks_for_something(words, verb)
    return all(_asked(words, thing, things, verb) for thing in named)


def _more_than_asked(
    call: GateCall, asked: "_Words", things: list[Thing], verb: str
) -> Ruling | None:
    """Where the words ask for the verb, but not for as much as the call would do."""
    words = asked.text
    for name, value in _leaves("", call.canonical):
        said = stands_in(words.casefold(), str(value).casefold())
        if _is_negative(value) and not said:
            return hold("effect_not_asked", f"the sender did not ask for {name} {value}", LATER)
        if kept_right(name, value) and not asks_for_right(words, value):
            return hold("effect_not_asked", f"the sender did not ask for {name} {value!r}", LATER)
    for name, value in _hidden_keys(call.canonical):
        if not asks_for(words, [str(value)], verb):
            return hold("effect_not_asked", f"the sender did not name {name} {value!r}", LATER)
    times = times_asked(words, [name for thing in things for name in thing], verb)
    if times is not None and asked.done + _done_before(call, verb) >= times:
        reason = f"the sender asked for it {times} times, and so often it was done"
        return hold("effect_not_asked", reason, LATER)
    return None


class _Words(NamedTuple):
    """What the principal said in this conversation that may still ask for something."""

    text: str
    done: int = 0
    """How many calls with the verb earlier runs made since he began to say it."""


def _words(call: GateCall, things: list[Thing], verb: str) -> _Words:
    message = call.ctx.envelope.message
    if message is None or not call.principal.may_act:
        return _Words("")
    text = own_words(message)
    if refuses(text, verb):
        return _Words(text)
    return _with_earlier(call, text, [name for thing in things for name in thing], verb)


def _with_earlier(call: GateCall, newest: str, names: list[str], verb: str) -> _Words:
    """With what the same person asked before and nobody has done yet.

    It counts until he takes it back, or until as much was done as he had asked for.
    """
    words = _Words(newest)
    done = 0
    for turn in reversed(words_before(call.ctx.envelope)):
        done += _alike(turn.done, verb)
        asked = times_asked(turn.said, names, verb)
        is_open = done == 0 if asked is None else done < asked
        if is_open:
            words = _Words(f"{turn.said}\n{words.text}", done)
        if refuses(turn.said, verb):
            break
    return words


def _alike(tools: Sequence[str], verb: str) -> int:
    removing = (REMOVE, ARCHIVE)
    alike = removing if verb in removing else (verb,)
    return sum(verb_of(tool, {}) in alike for tool in tools)


def _asked(words: str, thing: Thing, things: list[Thing], verb: str) -> bool:
    others = [name for other in things if other is not thing for name in other]
    return asks_for(words, thing, verb, others)


def _things(call: GateCall) -> list[Thing]:
    """What each thing that a call is about may be called."""
    return [
        [lookup.key, *_names_of(lookup.things)]
        for lookup in call.lookups
        if not lookup.kind.is_text
    ]


def _plain_things(call: GateCall) -> list[Thing]:
    plain = plain_authority(call.admitted_tool)
    values = [call.canonical[name] for name in plain or call.canonical if name in call.canonical]
    return [[str(value)] for value in values if value is not None]


def _names_of(things: Sequence[Authority]) -> list[str]:
    names: list[str] = []
    for thing in things:
        fields = thing.model_dump(mode="json")
        names += [str(fields[name]) for name in NAMING if fields.get(name)]
    return names


def _leaves(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Every plain value of the arguments, with the name it stands under."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from _leaves(str(key), item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _leaves(name, item)
    elif value is not None:
        yield name, value


def _hidden_keys(arguments: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Keys of things inside other arguments, which no type binds: `{"file_id": "7"}`."""
    for argument in arguments.values():
        inner = argument if isinstance(argument, list | tuple) else [argument]
        for part in inner:
            if isinstance(part, Mapping):
                yield from (leaf for leaf in _leaves("", part) if names_authority(leaf[0]))


def _is_negative(value: Any) -> bool:
    number = isinstance(value, int | float | Decimal) and not isinstance(value, bool)
    return number and value < 0


def _done_before(call: GateCall, verb: str) -> int:
    """How many calls with this verb took effect in this run, or may have."""
    made = [
        effect.tool
        for effect in call.effects
        if effect.key != call.key and effect.state is not EffectState.FAILED
    ]
    return _alike(made, verb)
