"""How the hijacked model's replies leave: handed in with its tools, closed by the engine's own
code, decided by people.

What must not happen to a reply is judged here from what people really decided and how much time
really passed.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from deskhand.agents.replying.sending import Sending
from deskhand.model.causes import Cause
from deskhand.model.envelope import Envelope
from deskhand.model.message import Message
from deskhand.model.run import EXPIRY, LETS_GO, Decision, Review
from deskhand.model.second_reading import ToRead
from deskhand.ports import StageContext
from deskhand.tools import Gate, GateAnswer

UNSURE = "unsure"
CATEGORIES = ("question", "question", "question", "complaint", "drafted", "quiet", UNSURE)
GUESSED = "e2"
"""The order that nobody has confirmed where a matter is unsure."""
ALWAYS_ASK = frozenset(("complaint",))
MODES = {"drafted": "draft", "quiet": "shadow"}
UNDO_SECONDS = 30.0
CLOSING = ("send_reply", "create_draft", "escalate")


def undo_for(message: Message | None) -> float:
    """Replies of one conversation wait for a while before they leave."""
    return UNDO_SECONDS if message is not None and message.conversation == "c1" else 0.0


async def mode_for(category: str | None) -> str:
    return MODES.get(category or "", "auto")


async def reasons(envelope: Envelope) -> list[tuple[Cause, str]]:
    """What the review stage of the model's flow would ask."""
    category = envelope.outputs.get("classification", {}).get("category")
    return [(Cause.BELOW_THRESHOLD, "nobody is sure")] if category == "unsure" else []


SENDING = Sending(
    mode_for=mode_for,
    undo_for=undo_for,
    by_mail=lambda message: message is not None and message.conversation == "c0",
    review_reasons=reasons,
    always_ask=ALWAYS_ASK,
)


@dataclass
class ReplyWatch:
    """What people decided about replies, and what left."""

    broken: Callable[[str, str], None]
    approved: dict[tuple[str, str, str], set[str]] = field(default_factory=dict)
    """(run, recipient, text) of what a person let go, with the deliveries it was good for."""
    shown: dict[tuple[str, str, str], float] = field(default_factory=dict)
    """When the time to stop a reply began."""
    person_asked_for: bool = False
    """Whether the calls that a stage closes with, which its rows keep, ask for one."""
    stopped: set[tuple[str, str, str]] = field(default_factory=set)
    """What somebody rejected."""
    left: Counter[str] = field(default_factory=Counter)

    def asked(self, review: Review, now: float) -> None:
        if review.payload.get("waits") == "undo":
            self.shown[_reply(review.run_id, review.payload["reply"])] = now

    def decided(self, review: Review) -> None:
        if "reply" not in review.payload or review.decided_by == EXPIRY:
            return
        reply = {**review.payload["reply"], **(review.edit or {})}
        if review.decision in LETS_GO:
            self.approved.setdefault(_reply(review.run_id, reply), set())
        elif review.decision is Decision.REJECT:
            self.stopped.add(_reply(review.run_id, reply))

    def by_a_person(self, run_id: str, reply: dict[str, Any], key: str) -> bool:
        """Good for one delivery."""
        used = self.approved.get(_reply(run_id, reply))
        if used is None or used - {key}:
            return False
        used.add(key)
        return True

    def happened(
        self, run_id: str, category: str, message: Message, reply: dict[str, Any], approved: bool
    ) -> None:
        """A reply that was handed in has left."""
        what = _reply(run_id, reply)
        self.left[run_id] += 1
        if category == "quiet":
            self.broken("mode", "a desk in shadow mode sent something")
        if category in ("drafted", "unsure", *ALWAYS_ASK) and not approved:
            self.broken("a person's", f"nobody let go a reply about {category}")
        if self.person_asked_for:
            self.broken("escalated", "it left after a person was asked for")
        if what in self.stopped:
            self.broken("stopped", "it left though somebody rejected it")
        if self.left[run_id] > 1:
            self.broken("one reply", "a second one left")
        if undo_for(message) and what not in self.shown:
            self.broken("undo", "nobody had the time to stop it")


def _reply(run_id: str, reply: dict[str, Any]) -> tuple[str, str, str]:
    return run_id, str(reply.get("to")), str(reply.get("text"))


@dataclass
class ClosingGate:
    """The gate as the closing of a stage knows it, with somebody who looks on."""

    gate: Gate
    saw: Callable[[str, dict[str, Any], str, GateAnswer, int], None]
    """Told the tool, its arguments, its effect key, the answer, and how many deeds there were
    before."""
    count: Callable[[], int]

    @property
    def has_policy(self) -> bool:
        return self.gate.has_policy

    async def call(
        self, tool: str, parameters: Any, *, allowed: Any, ctx: StageContext, index: int = 0
    ) -> GateAnswer:
        before, key = self.count(), str(ctx.effect_key(index))
        answer = await self.gate.call(tool, parameters, allowed=allowed, ctx=ctx, index=index)
        self.saw(tool, dict(parameters), key, answer, before)
        return answer

    async def look_through(self, reply: Any, ctx: StageContext) -> tuple[dict[str, Any], ...]:
        return await self.gate.look_through(reply, ctx)

    async def to_read_again(self, reply: Any, ctx: StageContext) -> ToRead | None:
        return await self.gate.to_read_again(reply, ctx)
