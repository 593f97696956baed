"""A customer's message and our answer to it, whatever channel they travel on."""

import re
from collections.abc import Mapping
from datetime import datetime
from email.utils import parseaddr
from functools import cached_property
from typing import Any, Literal, Self

from pydantic import (
    Field,
    SerializerFunctionWrapHandler,
    field_validator,
    model_serializer,
    model_validator,
)

from deskhand.model.frozen import Frozen, Moment
from deskhand.model.principal import ANONYMOUS, Principal, PrincipalKind, asserted

REPLY = "reply"
"""The output key under which a drafted reply waits for review and dispatch."""
ON_REQUEST = "x-deskhand-on-request"
"""A header of messages that somebody handed in later on: every answer to them is looked at by a
person."""
ANSWERED_BEFORE = "x-deskhand-answered-before"
"""A header of messages that were answered although the database knew nothing of them: what shows
it. A person looks at them, and nothing is done before."""
SENT_BEFORE = "x-deskhand-sent-before"
"""Beside it: what was answered then, where that was found."""
HIDDEN = "x-deskhand-hidden"
"""A header of mails that hide words from their reader: the words, which no model and no prompt
is shown."""
UNREADABLE = "x-deskhand-unreadable"
"""A header of mails that could not be read, with the reason: a person gets them, and no stage."""

USUAL_CHANNEL = "api"
"""The channel of messages that programs hand in without naming one."""
CHAT = "chat"
"""The channel on which people talk in short turns and read at once."""
HANDED_BACK = "api:triage"
"""The channel of tickets that a program hands in over the API. Handing the answer back to it is
its delivery: nothing else leaves. No channel of a desk can have this name."""
DELIVER = "deliver_reply"
"""The tool through which every reply leaves; only the engine's own stages name it, never a plan
or a model."""
OUTBOX_AWAY = "outbox_away"
"""The type of the error when the outbox's folder cannot be written, as on a full disk."""
KEEP_DRAFT = "keep_draft"
"""Reserved like deliver_reply."""
ENGINE_TOOLS = (DELIVER, KEEP_DRAFT)

SEND_REPLY, CREATE_DRAFT, ESCALATE = "send_reply", "create_draft", "escalate"
CLOSING_TOOLS = (SEND_REPLY, CREATE_DRAFT, ESCALATE)
"""How a plan or a model ends its work: it hands something in, and the engine carries it out
under the desk's mode."""
OWN_TOOLS = (*ENGINE_TOOLS, *CLOSING_TOOLS)

_MADE_FROM_FIELDS = ("facts", "as_told")
"""What a message remembers once it was asked for."""
_LONGEST_ADDRESS = 1_000
"""Characters of somebody's name and address that are taken apart."""
_UNFIT = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]+")
"""What no header can carry, and what turns the direction of reading."""
_ANSWERED = re.compile(r"(?:re|aw|antw|odp|sv|rép)(?:\[[0-9]{1,3}\])? ?:", re.I)
"""How the subject of an answer begins, in the languages of the large mail programs."""


class Address(Frozen):
    """Somebody's address on a channel: an e-mail address, a chat handle, a customer number."""

    address: str
    name: str = ""

    def __str__(self) -> str:
        return f"{self.name} <{self.address}>" if self.name else self.address


def written_address(text: str) -> Address | None:
    """Somebody written as `Ann Lee <ann@example.com>` or as a bare address; None for what cannot
    be read."""
    if len(text) > _LONGEST_ADDRESS:
        return None
    try:
        name, address = parseaddr(text)
    except (RecursionError, IndexError):  # comments in comments without end
        return None
    return Address(address=address, name=name) if address else None


class Attachment(Frozen):
    """A file that came with a message. Its bytes lie beside the message, not in it."""

    name: str
    type: str
    size: int
    text: str | None = None
    digest: str | None = None
    """The SHA-256 of the bytes that are kept; None where none are."""
    not_kept: str | None = None
    """Why the bytes were not kept, in words."""
    content: bytes | None = Field(default=None, exclude=True, repr=False)
    """The bytes on their way into the store; no record of the message has them."""


UNCHANGED = "default"
PREPROCESSORS = (UNCHANGED, "crisp")
"""Those that every desk has."""


class Prepared(Frozen):
    """The customer and his own words, taken out of what a helpdesk put around them: a help to read,
    and no proof.

    A preprocessor that cannot read a message gives none, and the message is taken as it is.
    """

    by: str = ""
    """The preprocessor's name."""
    name: str = ""
    address: str = ""
    text: str = ""
    """What the customer wrote."""
    prompt: str = ""
    """What an agent is told; made of the rest where it is empty."""
    failed: str | None = None
    """Why the message could not be read and is taken as it is; None when it was read."""


def inquiry(name: str, address: str, subject: str, text: str) -> str:
    """The message as an agent is told of it."""
    return f"New support inquiry from {name or address} ({address}):\nSubject: {subject}\n\n{text}"


class Route(Frozen):
    """What the routing rules decided about a message; kept with it, so that the run tells why it
    went this way."""

    route: Literal["pipeline", "agent"] = "pipeline"
    profile: str | None = None
    flow: str
    instead_of: str | None = None
    """The flow it would have taken had the agent there a model to ask."""
    rule: str | None = None
    """None when no rule matched."""
    why: str = ""
    preprocess: str | None = None
    """The preprocessor that reads the message first."""


class ReplyAddresses(Frozen):
    """Where the answer to a message goes, as found out when it was accepted."""

    to: str = ""
    """Empty where nobody knows: a person says it."""
    cc: tuple[str, ...] = ()
    doubt: str | None = None
    """Why a person must confirm these addresses first; None where the answer may go there by
    itself."""


class Message(Frozen):
    """One inbound message. `id` is unique on its channel; duplicates are recognised by it."""

    id: str = Field(min_length=1, max_length=1000)
    channel: str = Field(default=USUAL_CHANNEL, min_length=1, max_length=100)
    conversation: str = Field(min_length=1, max_length=1000)
    sender: Address
    principal: Principal = ANONYMOUS
    """Who the sender is, as said by somebody who may say so; never taken from what the sender
    wrote."""
    recipients: tuple[Address, ...] = ()
    cc: tuple[Address, ...] = ()
    subject: str = ""
    body: str = ""
    headers: dict[str, str] = Field(default_factory=dict)
    attachments: tuple[Attachment, ...] = ()
    received_at: Moment
    route: Route | None = None
    """Which way it goes, as the desk's rules decided when it was accepted."""
    prepared: Prepared | None = None
    """What the preprocessor that its rule names read in it, then; None where no rule names one."""
    reply_addresses: ReplyAddresses | None = None
    """None for messages that were stored before this was found out."""
    page: bytes | None = Field(default=None, exclude=True, repr=False)
    """The HTML that the sender laid out, on its way into the store; a file of the run, for people
    alone. No model and no prompt is shown it."""

    @property
    def words(self) -> str:
        """What the customer wrote, without what a helpdesk put around it as far as a
        preprocessor could tell."""
        return (
            self.body
            if self.prepared is None or self.prepared.failed is not None
            else self.prepared.text
        )

    @property
    def prompt(self) -> str:
        """What an agent is told of it."""
        return (
            self.body
            if self.prepared is None or self.prepared.failed is not None
            else self.prepared.prompt
        )

    @property
    def writer(self) -> Address:
        """Who wrote it: the customer whom a trusted forwarder named, else the sender."""
        if self.principal.kind is not PrincipalKind.FORWARDED or not self.principal.address:
            return self.sender
        read = self.prepared
        is_principal = (
            read is not None and read.address.casefold() == self.principal.address.casefold()
        )
        return Address(
            address=self.principal.address,
            name=read.name if read is not None and is_principal else "",
        )

    @cached_property
    def facts(self) -> dict[str, Any]:
        """The message as conditions, prompts and templates read it; whoever is given it changes
        nothing in it."""
        return self.model_dump(mode="json", exclude={"headers"})

    def changed(self, **values: Any) -> Self:
        """As every value changes, without what was made from the fields as they were."""
        copy = super().changed(**values)
        for name in _MADE_FROM_FIELDS:
            copy.__dict__.pop(name, None)
        return copy

    @cached_property
    def as_told(self) -> "Message":
        """The message as prompts and templates are given it: without the names in its headers
        where nobody has proven who wrote, since their words would come back in a reply."""
        if self.principal.may_act:
            return self
        prepared = self.prepared
        if prepared is not None:
            unnamed = inquiry("", prepared.address, "", "").partition("\n")[0]
            named = inquiry(prepared.name, prepared.address, "", "").partition("\n")[0]
            prompt = prepared.prompt.replace(named, unnamed, 1)
            prepared = prepared.changed(name="", prompt=prompt)
        sender = self.sender.changed(name="")
        recipients = tuple(address.changed(name="") for address in self.recipients)
        cc = tuple(address.changed(name="") for address in self.cc)
        return self.changed(sender=sender, recipients=recipients, cc=cc, prepared=prepared)

    @property
    def named(self) -> str:
        """What the writer is called in the message, proven or not: to read it, not to answer."""
        prepared = "" if self.prepared is None else self.prepared.name
        return prepared or self.sender.name

    @property
    def correspondent(self) -> str:
        """The customer whom a trusted forwarder named, else whoever wrote to us."""
        return self.writer.address

    @property
    def author(self) -> str:
        """One word for the person whom the conversation belongs to, and for how he was proven.

        An unproven address is worth what the mailbox or the API key is worth that it came by.
        """
        sender = self.sender.address.strip().lower()
        match self.principal.kind:
            case PrincipalKind.ANONYMOUS if self.principal.via is not None:
                return f"unproven:{self.principal.via}:{sender}"
            case PrincipalKind.ANONYMOUS:
                return f"unproven:{sender}"
            case PrincipalKind.FORWARDED:
                return f"forwarded:{self.principal.name}:{sender}"
            case _:
                return self.principal.name

    @model_validator(mode="before")
    @classmethod
    def _as_stored_earlier(cls, data: Any) -> Any:
        """Messages stored before there were principals carry the customer an API key asserted."""
        if not isinstance(data, dict) or "customer_id" not in data:
            return data
        fields = {name: value for name, value in data.items() if name != "customer_id"}
        customer_id = data["customer_id"]
        return (
            fields
            if customer_id is None
            else {"principal": asserted(customer_id, by="an API key"), **fields}
        )


InvitationAnswer = Literal["accepted", "declined", "tentative"]
INVITATION_ANSWERS: tuple[str, ...] = ("accepted", "tentative", "declined")


class Reply(Frozen):
    """What goes back to the customer."""

    to: str
    subject: str
    text: str
    language: str | None = None
    in_reply_to: str | None = None
    invitation: InvitationAnswer | None = None
    """What the reply answers to the invitation in the message, for the organizer's calendar to
    read."""
    cc: tuple[str, ...] = ()
    attachments: tuple[str, ...] = ()
    """The ids of files of the run that are sent along; only people attach any."""
    by_person: bool = Field(default=False, exclude=True)
    """Whether a person approved or wrote it; known when it leaves, and no part of what was
    approved."""

    @field_validator("cc", "attachments", mode="before")
    @classmethod
    def _none(cls, listed: Any) -> Any:
        return listed or ()

    @model_serializer(mode="wrap")
    def _without_empty_lists(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Most replies have none: their records look as they always did."""
        fields: dict[str, Any] = handler(self)
        for name in ("cc", "attachments"):
            if not fields.get(name):
                fields.pop(name, None)
        return fields

    @classmethod
    def to_message(cls, message: Message, text: str, *, language: str | None = None) -> Self:
        subject = " ".join(_UNFIT.sub(" ", message.subject).split())
        if not _ANSWERED.match(subject):
            subject = f"Re: {subject}".rstrip()
        goes = message.reply_addresses or ReplyAddresses(to=message.correspondent)
        return cls(
            to=goes.to,
            subject=subject,
            text=text,
            language=language,
            in_reply_to=message.id,
            cc=goes.cc,
        )


def delivery_of(reply: Mapping[str, Any]) -> list[Any]:
    """The call of `deliver_reply` that a reply stands for, as its approval is bound to it."""
    return [DELIVER, {"cc": None, "attachments": None, **reply}]


def iso(moment: datetime) -> str:
    return moment.isoformat(timespec="milliseconds")


def message_of(message: Message | None) -> dict[str, Any] | None:
    """A message as it stands in documents about runs; None for one that was erased."""
    if message is None:
        return None
    return {
        "id": message.id,
        "channel": message.channel,
        "from": str(message.sender),
        "principal": message.principal.model_dump(mode="json"),
        "subject": message.subject,
        "received_at": iso(message.received_at),
        "prepared": None if message.prepared is None else _prepared(message.prepared),
    }


def _prepared(read: Prepared) -> dict[str, Any]:
    """What the preprocessor found, or why the message passed as it is."""
    return {"by": read.by, "name": read.name, "address": read.address, "failed": read.failed}
