"""Keeps personal data from leaving for a model, and puts it back into the model's answer."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Mapping
from dataclasses import replace
from typing import Any

import re2

from deskhand.brain.fencing import customer_data
from deskhand.brain.personal_data import Placeholders, RedactionRules, texts_in
from deskhand.errors import ConfigError
from deskhand.model.chat import NATIVE, ChatRequest, Chunk, Completion
from deskhand.ports import ChatModel

_PLAIN_KEYS = frozenset(("role", "type", "id", "tool_call_id", "name", NATIVE))
"""Fields of a message that the protocol itself reads, or that the model wrote: it never saw what
is hidden from it."""
EXPLANATION = (
    "Marks like [EMAIL_1] or [NAME_2] stand for personal data that is hidden from you; the same"
    " mark is the same value. Write a mark exactly as it stands where its value belongs, and make"
    " up none."
)
"""Stands under the rules where something is hidden."""
_LONGEST = 40
"""Characters a streamed placeholder may be spread over."""


def redaction_rules(patterns: Mapping[str, str], own: Iterable[str] = ()) -> RedactionRules:
    """Rules with a desk's own RE2 patterns by name: `{order: 'P-[0-9]{4}'}` becomes `[ORDER_1]`.

    `own` are the desk's own words, which are never hidden.
    """
    options = re2.Options()
    options.log_errors = False
    compiled: list[tuple[str, Any]] = []
    for name, pattern in patterns.items():
        kind = (
            "".join(letter for letter in name.upper() if letter.isascii() and letter.isalpha())
            or "NUMBER"
        )
        try:
            compiled.append((kind, re2.compile(pattern, options)))
        except re2.error:
            raise ConfigError(
                f"{pattern!r} is not an RE2 pattern", fix="correct it under `brain.redact`"
            ) from None
    return RedactionRules(tuple(compiled), tuple(words for words in own if words.strip()))


class RedactingChatModel:
    """Wraps a model: it sees `[EMAIL_1]` where the customer wrote an address; its answer has the
    address again.

    What the model says in errors is about the placeholders, for it never saw anything else.
    """

    def __init__(self, inner: ChatModel, rules: RedactionRules | None = None) -> None:
        self._inner, self._rules = inner, rules or RedactionRules()

    async def complete(self, request: ChatRequest) -> Completion:
        hidden, sent = await self._hidden(request)
        completion = await self._inner.complete(sent)
        return _restored(completion, hidden, in_json=request.schema is not None)

    async def stream(self, request: ChatRequest) -> AsyncIterator[Chunk]:
        hidden, sent = await self._hidden(request)
        in_json = request.schema is not None
        chunks = self._inner.stream(sent)
        held = ""
        try:
            async for chunk in chunks:
                if chunk.begins_anew:
                    held = ""
                    yield chunk
                    continue
                text, held = _split(held + chunk.text)
                if chunk.completion is not None:
                    text, held = text + held, ""
                    whole = _restored(chunk.completion, hidden, in_json=in_json)
                    yield Chunk(hidden.restore(text, in_json=in_json), whole)
                elif text:
                    yield Chunk(hidden.restore(text, in_json=in_json))
            if held:
                yield Chunk(hidden.restore(held, in_json=in_json))
        finally:
            if isinstance(chunks, AsyncGenerator):
                await chunks.aclose()

    async def _hidden(self, request: ChatRequest) -> tuple[Placeholders, ChatRequest]:
        """What is hidden and what is sent; in a thread, for a megabyte takes a second."""
        return await asyncio.to_thread(_hidden, request, self._rules)


def _hidden(request: ChatRequest, rules: RedactionRules) -> tuple[Placeholders, ChatRequest]:
    hidden = Placeholders.for_texts(texts_in(list(request.messages)), rules, request.private)
    for message in request.messages:
        for text in customer_data(message):
            hidden.learn(text)
    messages = [_hide_in(message, hidden) for message in request.messages]
    if hidden.values:
        messages = _explained(messages)
    return hidden, replace(request, messages=tuple(messages), private=())


def _explained(messages: list[Any]) -> list[Any]:
    """The messages with a word about placeholders in the first that has rules."""
    first = messages[0]
    if first.get("role") != "system" or not isinstance(first.get("content"), str):
        return messages
    return [{**first, "content": f"{first['content']}\n\n{EXPLANATION}"}, *messages[1:]]


def _hide_in(value: Any, hidden: Placeholders) -> Any:
    if isinstance(value, str):
        return hidden.hide(value)
    if isinstance(value, Mapping):
        shown = dict(value)
        for key, item in value.items():
            if key not in _PLAIN_KEYS:
                shown[key] = _hide_in(item, hidden)
        return shown
    if isinstance(value, list | tuple):
        return [_hide_in(item, hidden) for item in value]
    return value


def _restored(completion: Completion, hidden: Placeholders, *, in_json: bool) -> Completion:
    calls = tuple(
        replace(call, arguments=hidden.restore(call.arguments, in_json=True))
        for call in completion.tool_calls
    )
    text = hidden.restore(completion.text, in_json=in_json)
    return replace(completion, text=text, tool_calls=calls, redacted=completion.text)


def _split(text: str) -> tuple[str, str]:
    """What may be shown already, and a beginning that may become a placeholder."""
    start = text.rfind("[")
    if start < 0 or "]" in text[start:] or len(text) - start > _LONGEST:
        return text, ""
    return text[:start], text[start:]
