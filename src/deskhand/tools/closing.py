"""How a plan or a model ends its work: a reply handed in, a draft for a person, a person asked for.

None of these does anything by itself. A call says what is wanted and passes the gate like any
other. At the end of the work `agents/replying/delivery.py` carries it out: through `deliver_reply`
with all its checks, in the desk's mode.
"""

from collections.abc import Awaitable, Callable
from typing import Annotated, Any

from pydantic import BaseModel, Field

from deskhand.errors import ToolError
from deskhand.model.message import CREATE_DRAFT, ESCALATE, SEND_REPLY
from deskhand.model.run import Effect, EffectState
from deskhand.ports import SearchesWeb
from deskhand.tools.authority import SenderAddress
from deskhand.tools.context import Context
from deskhand.tools.registry import Tool, tool
from deskhand.tools.web_search import WEB_SEARCH, web_search_tool

__all__ = ["CREATE_DRAFT", "ESCALATE", "SEND_REPLY", "closing_tools"]

LONGEST_BODY = 50_000
Line = Annotated[str, Field(max_length=900, pattern=r"^[^\x00-\x1f\x7f]*$")]
Body = Annotated[str, Field(max_length=LONGEST_BODY, pattern=r"\S")]
Reason = Annotated[str, Field(max_length=2000, pattern=r"\S")]

MAY_BE_ABSENT = (WEB_SEARCH,)
"""Known by name, but offered only where the desk says whom to ask."""


class QuotedSource(BaseModel):
    """Words of a source that a reply rests on."""

    id: Annotated[str, Field(max_length=300)]
    quote: Annotated[str, Field(max_length=4000)]


Sources = Annotated[list[QuotedSource], Field(max_length=50)]
EffectsOf = Callable[[str], Awaitable[list[Effect]]]


async def _none(run_id: str) -> list[Effect]:
    return []


def closing_tools(effects_of: EffectsOf = _none, replies_per_run: int = 1) -> tuple[Tool, ...]:
    """The three of them; `effects_of` tells what a run has done, so that it hands in no more
    replies than it may."""

    async def count_reply(ctx: Context) -> None:
        handed_in = [
            effect
            for effect in await effects_of(ctx.run_id)
            if effect.tool in (SEND_REPLY, CREATE_DRAFT)
            and effect.state is EffectState.DONE
            and str(effect.key) != ctx.effect_key
        ]
        if len(handed_in) >= replies_per_run:
            words = (
                "this message has its reply already"
                if replies_per_run == 1
                else f"{len(handed_in)} replies are in"
            )
            raise ToolError(
                "already_replied", f"{words}; nothing more can be sent", recoverable=False
            )

    @tool(effect="keyed", risk="medium", name=SEND_REPLY, public=True)
    async def send_reply(
        subject: Line,
        body: Body,
        ctx: Context,
        to: SenderAddress | None = None,
        sources: Sources | None = None,
    ) -> dict[str, Any]:
        """Send an e-mail reply to the customer. Use it once, when everything is done; it leaves
        when your work ends.

        Args:
            subject: The subject line.
            body: The text of the reply, without a quotation of what is answered.
            to: The customer's own address; it is known if you leave it out.
            sources: For every sentence that states a fact, the tool or article it is taken from and
            the very words there.
        """
        await count_reply(ctx)
        return {"status": "queued"}

    @tool(effect="reversible", name=CREATE_DRAFT)
    async def create_draft(
        subject: Line,
        body: Body,
        ctx: Context,
        to: SenderAddress | None = None,
        sources: Sources | None = None,
    ) -> dict[str, Any]:
        """Write a reply that a colleague looks at before it is sent.

        Args:
            subject: The subject line.
            body: The text of the reply, without a quotation of what is answered.
            to: The customer's own address; it is known if you leave it out.
            sources: The tools or articles that it rests on, with the very words there.
        """
        await count_reply(ctx)
        return {"status": "created"}

    @tool(effect="reversible", name=ESCALATE)
    async def escalate(reason: Reason) -> dict[str, Any]:
        """Hand the conversation over to a colleague. Nothing more is done about it automatically.

        Args:
            reason: Why a person is needed, in one or two sentences.
        """
        return {"status": "escalated"}

    return send_reply, create_draft, escalate


def built_in_tools(
    effects_of: EffectsOf,
    replies_per_run: int,
    engine: SearchesWeb | None = None,
    limit: int = 5,
    timeout: float = 10.0,
) -> tuple[Tool, ...]:
    """The tools every desk has by name: an agent or a plan is offered those it lists."""
    searching = () if engine is None else (web_search_tool(engine, limit, timeout),)
    return (*closing_tools(effects_of, replies_per_run), *searching)
