"""What the reply of a run may rest on, and what of it only people answer."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from deskhand.model.authorship import writer_of
from deskhand.model.message import Message, Reply
from deskhand.model.second_reading import second_reading_of
from deskhand.outgoing.grounds import Grounds
from deskhand.outgoing.quoted_sources import HANDED_IN, Quote, SourceText, ToolSource
from deskhand.outgoing.sentences import sentences
from deskhand.outgoing.unbacked_claim import UnbackedClaim
from deskhand.tools.gate_call import GateCall, Terms
from deskhand.tools.message_facts import MessageFact

RESULT = "result"
"""The id of what a tool found, for a model that leaves its name out."""


def grounds_of(
    call: GateCall, terms: Terms, text: str, results: Sequence[Mapping[str, Any]]
) -> Grounds:
    """The articles and results of a run, and the quotes that the reply's writer gave."""
    message = call.ctx.envelope.message
    written = writer_of(call.ctx.envelope.metadata, text)
    sources = () if written is None else written.sources
    given = _handed_in(results)
    tools = [_tool_source(result, given) for result in results if _tells_something(result)]
    listed = terms.outgoing
    said = "" if message is None else f"{message.subject}\n\n{message.words}"
    quotes = [Quote(_meant(id_, tools), quote) for id_, quote in sources]
    read_again = second_reading_of(call.ctx.envelope.metadata, text, said)
    return Grounds(
        quotes=quotes,
        articles=[SourceText(cited.article, cited.text, cited.title) for cited in call.articles],
        results=tools,
        own_texts=terms.own_texts,
        own_links=(*listed.hosts, *listed.addresses, *terms.recipients),
        message=said,
        people=_people(message),
        now=datetime.fromtimestamp(call.now, terms.time_zone),
        confirmed=read_again.confirmed,
        refused=read_again.refused,
        sums=read_again.sums,
        counted=read_again.counted,
        read_on=read_again.on,
    )


def _people(message: Message | None) -> list[str]:
    if message is None or not message.principal.may_act:
        return []
    return [name for name in (message.named, message.sender.name) if name]


def _tells_something(result: Mapping[str, Any]) -> bool:
    """A service's output counts as far as it is a text for the customer: it may also hold what the
    customer said."""
    data = result.get("data")
    return "arguments" in result or (isinstance(data, Mapping) and bool(data.get("text")))


def _handed_in(results: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    """Texts that the run gave to its tools: a model may have made them up."""
    arguments = [result.get("arguments") or {} for result in results]
    values = [value for given in arguments for value in given.values()]
    texts = [value.strip() for value in values if isinstance(value, str)]
    return tuple(text for text in texts if len(text.split()) >= HANDED_IN)


def _tool_source(result: Mapping[str, Any], handed_in: tuple[str, ...]) -> ToolSource:
    tool, data = str(result.get("tool")), result.get("data")
    if "arguments" not in result and isinstance(data, Mapping):
        return ToolSource(tool, {"text": data.get("text")}, is_own_text=True)
    arguments = result.get("arguments") or {}
    changed = str(result.get("effect", "read")) != "read"
    return ToolSource(tool, data, arguments, changed, handed_in)


def _meant(id_: str, tools: Sequence[ToolSource]) -> str:
    """The tool that an id names, however a model writes it: `results.search_drugs`, `result`."""
    names = [tool.id for tool in tools]
    bare = id_.removeprefix("results.").split(".")[0].split("#")[0].strip()
    if bare in names:
        return bare
    return names[0] if bare in (RESULT, "results") and len(set(names)) == 1 else id_


def subjects_in(
    reply: Reply, message: Message | None, facts: Iterable[MessageFact]
) -> list[UnbackedClaim]:
    """The sentences of a reply of which a fact of the desk holds that only people answer."""
    looked_for = [fact for fact in facts if fact.in_replies]
    if message is None or not looked_for:
        return []
    claims: list[UnbackedClaim] = []
    for fact in looked_for:
        if not _holds(fact, message, reply.text):
            continue
        places = [
            (start, end)
            for start, end in sentences(reply.text)
            if _holds(fact, message, reply.text[start:end])
        ]
        for start, end in places or [(0, len(reply.text))]:
            reason = f"{fact.name}: only a person answers this"
            claims.append(UnbackedClaim("subject", reply.text[start:end], reason, start, end))
    return claims


def _holds(fact: MessageFact, message: Message, text: str) -> bool:
    """Whether a fact holds of these words, as if somebody had sent them."""
    as_message = message.changed(subject="", body=text, attachments=(), prepared=None)
    return bool(fact.function(as_message, text))
