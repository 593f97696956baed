"""What a reply contains and promises, looked at on every channel and in every mode before it
leaves."""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from deskhand.language.instructions import spoken_to_machine
from deskhand.language.slots.folded_text import fold
from deskhand.model.authorship import writer_of
from deskhand.model.envelope import Envelope
from deskhand.model.message import CLOSING_TOOLS, DELIVER, ENGINE_TOOLS, Reply
from deskhand.model.second_reading import ToRead
from deskhand.model.understanding import Understanding
from deskhand.model.value_readings import MAPPINGS
from deskhand.outgoing.accounts import accounts_in
from deskhand.outgoing.backing import Backing, actions_of
from deskhand.outgoing.commitments import Commitment, check_commitments, unbacked
from deskhand.outgoing.content import check_reply
from deskhand.outgoing.content_finding import AllowedContent, ContentFinding
from deskhand.outgoing.grounding import Grounding, check_grounding
from deskhand.outgoing.grounds import Grounds
from deskhand.outgoing.reply_sentence import ReplySentence
from deskhand.outgoing.second_look import sentences_to_read
from deskhand.outgoing.sentence_sense import is_said_to_be_done, tells_of_deed
from deskhand.outgoing.sentences import sentence_at
from deskhand.outgoing.unproven_names import stands_in_any, unproven_names
from deskhand.tools.counting import sends
from deskhand.tools.gate_call import (
    ComparedReply,
    GateCall,
    ReplyFindings,
    Ruling,
    Terms,
    deny,
    hold,
)
from deskhand.tools.reply_grounds import grounds_of, subjects_in
from deskhand.tools.reply_writer import is_by_model, is_by_person

HEADER, CONTENT, COMMITMENT = "header_injection", "outgoing_content", "unbacked_commitment"
CLAIM, SUBJECT, DOUBT = "unbacked_claim", "subject_for_people", "writer_doubts"
ALWAYS_ASK = "always_ask"
ATTACHED = "attachments_not_approved"
_TO_A_MACHINE = "the message speaks to a machine, so no second model reads it"
_NUMBER = re.compile(r"[A-Za-z]{0,4}-?[0-9](?:[0-9/-]{2,28})[0-9]")
_NUMBERED = frozenset(("order", "tracking", "parcel", "shipment", "consignment", "invoice"))
_NUMBERED |= {"ticket", "contract", "reservation", "visit", "case"}
_SAY = "A colleague has to look at this reply first."


def header_injection(call: GateCall, terms: Terms) -> Ruling | None:
    """A line break in a header is a forgery, whoever approves it."""
    broken = [finding for finding in look_through(call, terms).content if finding.refused]
    return None if not broken else deny(HEADER, broken[0].reason, "The reply's headers are broken.")


def always_ask(call: GateCall, terms: Terms) -> Ruling | None:
    """What leaves in a matter of such a category was let go by a person, whichever way it comes
    here.

    A question that stands in desk.yaml word for word was, when it was written there.
    """
    if call.name != DELIVER or not terms.always_ask:
        return None
    topic = Understanding.of(call.ctx.envelope).topic_in(terms.always_ask)
    if topic is None:
        return None
    if str(call.canonical.get("text", "")).strip() in terms.own_questions:
        return None
    return _hold(ALWAYS_ASK, f"{topic} is always looked at by a person", call, terms)


def attachments_not_approved(call: GateCall, terms: Terms) -> Ruling | None:
    """Only people attach files: whatever else names one, a person looks at it first."""
    if call.name != DELIVER or not call.canonical.get("attachments"):
        return None
    return _hold(ATTACHED, "nobody approved the files that go along", call, terms)


def outgoing_content(call: GateCall, terms: Terms) -> Ruling | None:
    findings = look_through(call, terms).content
    if not findings:
        return None
    return _hold(
        CONTENT,
        f"the reply holds {_first_and_more([_words(finding) for finding in findings])}",
        call,
        terms,
    )


def unbacked_commitment(call: GateCall, terms: Terms) -> Ruling | None:
    promises = look_through(call, terms).promises
    if not promises:
        return None
    words = [f"{promise.value} ({promise.sentence[:120]!r})" for promise in promises]
    return _hold(COMMITMENT, f"nothing stands behind {_first_and_more(words)}", call, terms)


def unbacked_claim(call: GateCall, terms: Terms) -> Ruling | None:
    """What a model wrote leaves only as far as something quoted says it."""
    claims = look_through(call, terms).claims
    if not claims:
        return None
    words = [f"{claim.text[:120]!r}: {claim.reason}" for claim in claims]
    return _hold(CLAIM, f"a model wrote {_first_and_more(words)}", call, terms)


def subject_for_people(call: GateCall, terms: Terms) -> Ruling | None:
    """What a desk never answers is looked for in what is written, too."""
    subjects = look_through(call, terms).subjects
    if not subjects:
        return None
    words = [f"{claim.text[:120]!r}: {claim.reason}" for claim in subjects]
    return _hold(SUBJECT, f"a model wrote {_first_and_more(words)}", call, terms)


def writer_doubts(call: GateCall, terms: Terms) -> Ruling | None:
    """A model that hands its own reply over is believed: its doubt counts, its confidence never."""
    if call.name != DELIVER or is_by_person(call):
        return None
    reply = _as_reply(call)
    written = writer_of(call.ctx.envelope.metadata, reply.text)
    if written is None or not written.by_model or not written.hand_over:
        return None
    reason = written.reason or "it has no answer"
    return _hold(DOUBT, f"the writer hands it over: {reason[:200]}", call, terms)


def look_through(call: GateCall, terms: Terms) -> ReplyFindings:
    """All checks, once a call, of a reply and of whatever a desk's own tool sends; nothing for
    any other call."""
    if not carries_text(call):
        return ReplyFindings([], [], [], [])
    if call.looked_through is None:
        call.looked_through = _looked_through(call, terms)
    return call.looked_through


def _looked_through(call: GateCall, terms: Terms) -> ReplyFindings:
    is_reply, reply = call.name in ENGINE_TOOLS, _as_reply(call)
    results = trusted_results(call.ctx.envelope, terms)
    content = check_reply(reply, _allowed(call, terms, results))
    backing = _backing(call, terms, results)
    promises = unbacked(check_commitments(reply.text, reply.language, backing))
    if not is_reply or not is_by_model(call, reply, terms):
        return ReplyFindings(content, promises, [], [])
    grounds = grounds_of(call, terms, reply.text, results)
    grounding = check_grounding(reply.text, grounds)
    confirmed = _confirmed(promises, reply.text, grounds, terms)
    open_promises = _open(promises, reply.text, grounds, grounding, confirmed)
    subjects = subjects_in(reply, call.ctx.envelope.message, terms.message_facts)
    compared = ComparedReply(grounds, grounding)
    return ReplyFindings(content, open_promises, grounding.unbacked, subjects, compared)


def to_read_again(call: GateCall, terms: Terms) -> ToRead | None:
    """What a second reader reads of a model's reply; None where the reply says nothing, or where
    something holds it that only a person can lift."""
    look = look_through(call, terms)
    reply = _as_reply(call)
    if look.content or look.subjects or look.compared is None:
        return None
    grounds, grounding = look.compared
    promised = [promise.start for promise in look.promises]
    backed = [start for start, _ in grounding.backed]
    sentences = sentences_to_read(reply.text, grounding.unbacked, [*backed, *promised], grounds)
    if not sentences:
        return None
    refuses = "" if spoken_to_machine(grounds.message) is None else _TO_A_MACHINE
    shown = tuple(grounds.shown)
    return ToRead(reply.text, tuple(sentences), shown, grounds.message, refuses, grounds.now)


def _open(
    promises: Sequence[Commitment],
    text: str,
    grounds: Grounds,
    grounding: Grounding,
    confirmed: Sequence[Commitment],
) -> list[Commitment]:
    """The promises that neither a quote nor a result says, nor a second reader's word."""
    if not promises:
        return []
    by_words = check_grounding(text, grounds.by_words) if grounds.confirmed else grounding
    backed = [promise for promise in promises if by_words.backs(promise.start, promise.end)]
    deeds = [promise for promise in backed if is_said_to_be_done(promise.sentence)]
    if deeds:
        of_deeds = check_grounding(text, grounds.for_deeds)
        said_only = [deed for deed in deeds if not of_deeds.backs(deed.start, deed.end)]
        backed = [promise for promise in backed if promise not in said_only]
    return [promise for promise in promises if promise not in (*backed, *confirmed)]


def _confirmed(
    promises: Sequence[Commitment], text: str, grounds: Grounds, terms: Terms
) -> list[Commitment]:
    """The promises that a second reader's word may stand behind: not what is said to be done, nor
    what the desk has a tool for. Beside a tool that did something there are none: a sentence may
    tell of another deed than the tool's."""
    if grounds.did_something or not grounds.confirmed:
        return []
    by_tools = _done_by_tools(terms)
    return [
        promise
        for promise in promises
        if sentence_at(text, promise.start) in grounds.confirmed
        and not _is_told_deed(promise, text, grounds)
        and promise.value not in by_tools
    ]


def _is_told_deed(promise: Commitment, text: str, grounds: Grounds) -> bool:
    """Whether the sentence says that something was done, and no record says so."""
    sentence = ReplySentence(text, promise.start, promise.end, grounds.for_deeds)
    return tells_of_deed(sentence, fold(promise.sentence))


def _done_by_tools(terms: Terms) -> frozenset[str]:
    """What the desk's own tools can do: a promise of it is theirs to keep."""
    tools = [
        tool
        for tool, effect in terms.effects.items()
        if effect != "read" and tool not in ENGINE_TOOLS and tool not in CLOSING_TOOLS
    ]
    return frozenset(action for tool in tools for action in actions_of({"tool": tool}))


def carries_text(call: GateCall) -> bool:
    """Whether the call takes words to a customer: a reply, a draft of one, or what a desk's own
    tool sends."""
    return call.name in ENGINE_TOOLS or sends(call)


def text_of(call: GateCall) -> str:
    """All words that the call takes to a customer."""
    reply = _as_reply(call)
    return f"{reply.subject}\n{reply.text}"


def _as_reply(call: GateCall) -> Reply:
    """The reply; of what a desk's own tool would send its subject, and all other texts but the
    addresses, which a rule has seen."""
    if call.name in ENGINE_TOOLS:
        if call.reply is None:
            call.reply = Reply.model_validate(call.canonical)
        return call.reply
    addresses = call.admitted_tool.signature.bound
    texts = {
        name: "\n".join(_texts(value))
        for name, value in call.canonical.items()
        if name not in addresses
    }
    subject = texts.pop("subject", "")
    return Reply(to="", subject=subject, text="\n".join(texts.values()))


def _hold(rule: str, reason: str, call: GateCall, terms: Terms) -> Ruling:
    """Hold a reply, with all findings: an approval lifts these rules, so whoever approves sees what
    each of them found."""
    return hold(rule, reason, _SAY)._replace(findings=findings_of(call, terms))


def findings_of(call: GateCall, terms: Terms) -> tuple[dict[str, Any], ...]:
    """All that the rules found in a reply, as a reviewer's screen shows it."""
    look = look_through(call, terms)
    findings = [finding.as_json() for finding in look.content]
    findings += [{"rule": COMMITMENT, **promise.as_json()} for promise in look.promises]
    findings += [{"rule": CLAIM, **claim.as_json()} for claim in look.claims]
    findings += [{"rule": SUBJECT, **claim.as_json()} for claim in look.subjects]
    return tuple(findings)


def _words(finding: ContentFinding) -> str:
    return f"{finding.text!r}: {finding.reason}"


def _first_and_more(words: list[str]) -> str:
    more = f" and {len(words) - 1} more" if len(words) > 1 else ""
    return words[0] + more


def _allowed(call: GateCall, terms: Terms, results: Sequence[Mapping[str, Any]]) -> AllowedContent:
    """The desk's own and the operator's list; of the customer's, the proven address, the sender's,
    what tools gave.

    A tool may give back a note that an outsider wrote, so its word is not enough for an address, an
    account or a telephone number.
    """
    message, listed = call.ctx.envelope.message, terms.outgoing
    own = [
        call.principal.address,
        call.principal.customer_id,
        None if message is None else message.sender.address,
    ]
    given = [text[:200] for result in results for text in _texts(result["data"])]
    names = [text for text in given if "@" not in text and not any(accounts_in(text))]
    return AllowedContent(
        hosts=listed.hosts,
        addresses=(*listed.addresses, *terms.recipients),
        phones=listed.phones,
        numbers=[number for result in results for number in _numbers_of_things(result["data"])],
        texts=(*terms.own_texts, *call.cited),
        said=_said(call),
        unproven_names=_unproven_names(call, terms),
        accounts=listed.accounts,
        canaries=listed.canaries,
        own=[*filter(None, own), *names],
        others=call.others,
    )


def _numbers_of_things(data: Any) -> Iterator[str]:
    """What stands in fields that are named after an order, a parcel or an invoice."""
    fields = data.items() if isinstance(data, MAPPINGS) else ()
    for name, value in fields:
        if isinstance(value, str | int):
            is_number = _NUMBER.fullmatch(str(value)) is not None
            if is_number and set(str(name).lower().split("_")) & _NUMBERED:
                yield str(value)
        elif isinstance(value, MAPPINGS):
            yield from _numbers_of_things(value)


def _said(call: GateCall) -> list[str]:
    """The message, where somebody is proven to have written it: what a stranger writes under a
    customer's address does not come back to that customer."""
    message = call.ctx.envelope.message
    if message is None or not message.principal.may_act:
        return []
    return [message.subject, message.body]


def _unproven_names(call: GateCall, terms: Terms) -> list[str]:
    """Without those that the company itself writes, in its texts or in a reply that a person
    decided about: they are no words of the sender's."""
    message = call.ctx.envelope.message
    if message is None or is_by_person(call):
        return []
    own = (*terms.own_texts, *call.cited)
    return [name for name in unproven_names(message) if not stands_in_any(name, own)]


def _backing(call: GateCall, terms: Terms, results: Sequence[Mapping[str, Any]]) -> Backing:
    message = call.ctx.envelope.message
    return Backing(
        now=datetime.fromtimestamp(call.now, terms.time_zone),
        results=results,
        clauses=terms.clauses,
        quotes=call.cited,
        message="" if message is None else f"{message.subject}\n{message.body}",
    )


def trusted_results(envelope: Envelope, terms: Terms) -> list[dict[str, Any]]:
    """What tools and services gave, taken from stages that no model writes: a model may claim
    any result."""
    trusted: list[dict[str, Any]] = []
    for key, stage in terms.trusted_outputs.items():
        output = envelope.output(key)
        if not isinstance(output, dict):
            continue
        if not isinstance(output.get("results"), list):
            trusted.append({"tool": stage, "effect": "read", "data": output})
            continue
        for result in reversed(Understanding({key: output}).results):
            backs = _backs(str(result.get("tool")), terms)
            if backs and result.get("status") == "success":
                trusted.append(_result(result, terms))
    return trusted


def _backs(tool: str, terms: Terms) -> bool:
    """Not what strangers write, and not the reply that a model handed in: it would stand behind
    itself."""
    return tool not in CLOSING_TOOLS and tool not in terms.outside


def _result(result: Mapping[str, Any], terms: Terms) -> dict[str, Any]:
    tool = str(result.get("tool", ""))
    effect = terms.effects.get(tool, "read")
    return {
        "tool": tool,
        "effect": effect,
        "arguments": result.get("arguments") or {},
        "data": result.get("data") or {},
    }


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, MAPPINGS):
        for item in value.values():
            yield from _texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)
