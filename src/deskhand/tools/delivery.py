"""The one way a reply leaves: a tool like any other, so the gate and the ledger stand before it."""

from typing import Any

from deskhand.model.message import DELIVER, KEEP_DRAFT, InvitationAnswer, Reply
from deskhand.ports import Drafts, Outbox
from deskhand.tools.context import Context
from deskhand.tools.registry import Tool, tool

PATIENCE = 100.0
"""Seconds: a mail server may take its time, and whoever gives up early does not know whether the
mail has left."""


def delivery_tool(outbox: Outbox) -> Tool:
    async def find(key: str, arguments: dict[str, Any]) -> dict[str, Any] | None:
        place = await outbox.find(key)
        return None if place is None else {"delivered": place}

    @tool(effect="keyed", risk="medium", name=DELIVER, probe=find, timeout=PATIENCE)
    async def deliver_reply(
        to: str,
        subject: str,
        text: str,
        ctx: Context,
        language: str | None = None,
        in_reply_to: str | None = None,
        invitation: InvitationAnswer | None = None,
        cc: list[str] | None = None,
        attachments: list[str] | None = None,
    ) -> dict[str, Any]:
        """Send a reply to the customer."""
        reply = Reply(
            to=to,
            subject=subject,
            text=text,
            language=language,
            in_reply_to=in_reply_to,
            invitation=invitation,
            cc=tuple(cc or ()),
            attachments=tuple(attachments or ()),
            by_person=bool(ctx.approved_by),
        )
        return {"delivered": await outbox.send(reply, ctx.effect_key)}

    return deliver_reply


def draft_tool(drafts: Drafts) -> Tool:
    async def find(key: str, arguments: dict[str, Any]) -> dict[str, Any] | None:
        place = await drafts.find_draft(key)
        return None if place is None else {"draft": place}

    @tool(effect="reversible", name=KEEP_DRAFT, probe=find, timeout=PATIENCE)
    async def keep_draft(
        to: str,
        subject: str,
        text: str,
        ctx: Context,
        language: str | None = None,
        in_reply_to: str | None = None,
        invitation: InvitationAnswer | None = None,
        cc: list[str] | None = None,
        attachments: list[str] | None = None,
    ) -> dict[str, Any]:
        """Keep a reply among the drafts of the customer's channel."""
        reply = Reply(
            to=to,
            subject=subject,
            text=text,
            language=language,
            in_reply_to=in_reply_to,
            invitation=invitation,
            cc=tuple(cc or ()),
            attachments=tuple(attachments or ()),
            by_person=True,  # whoever sends it from a mail program
        )
        return {"draft": await drafts.keep_draft(reply, ctx.effect_key)}

    return keep_draft
