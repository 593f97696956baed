"""A stage that a profile works: the tool loop inside a flow, and what its end means for the run."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, cast

from deskhand.agents.earlier_turns import with_earlier_turns
from deskhand.agents.last_words import FIELDS, HOW_TO_END, last_words
from deskhand.agents.loop import AgentLoop
from deskhand.agents.replying.closing import Closing
from deskhand.agents.replying.delivery import ReplyDelivery, held_result
from deskhand.agents.replying.sending import Sending
from deskhand.agents.routing import facts_for_texts
from deskhand.agents.transcript import ESCALATED, RESULTS, TURNS, Transcript
from deskhand.agents.turn_request import Brief, heard_from_customer
from deskhand.brain.message_block import arrival
from deskhand.config.sections.profiles import prompt_key
from deskhand.errors import ConfigError, PermanentError, RetryableError
from deskhand.model.authorship import AGENT, Written
from deskhand.model.codes import ErrorCode
from deskhand.model.envelope import Envelope
from deskhand.model.message import CREATE_DRAFT, SEND_REPLY, Message
from deskhand.model.outcome import Outcome
from deskhand.model.profile import ProfileSpec
from deskhand.model.run import Decision, ReviewKind, RunStatus
from deskhand.model.spec import AgentSpec
from deskhand.model.understanding import Understanding
from deskhand.ports import ChatModel, Held, PromptSource, Sink, StageContext, ToolGate
from deskhand.tools.registry import Tool
from deskhand.tools.services import ServiceResult

REVISE = (
    "A colleague read your reply before it was sent and wants it changed: {note}\n"
    "Answer with the whole new text of the reply and nothing else."
)
AGAIN = "A colleague looked at this and asks you to go on.{note}"
REVISED = "rewritten as a colleague asked: look once more before it is sent"
END = "end"
"""A field of the output: what the agent's work came to."""
ANSWER, HANDED_IN, PERSON = "answer", "handed_in", "person"
"""Its last words are the reply; a reply was handed in through a tool; a person has to look."""
REPLYING = frozenset((SEND_REPLY, CREATE_DRAFT))


@dataclass(frozen=True, slots=True)
class Agents:
    """What profile stages work with."""

    profiles: Mapping[str, ProfileSpec]
    chat: ChatModel
    tools: Iterable[Tool]
    """All there are; a profile sees those it names."""
    models: Mapping[str, str]
    """Role to `provider/model`."""
    usual: str | None = None
    """The desk's default model."""
    streams: bool = False
    """Whether somebody watches the text as it comes in."""
    time_zone: str = "UTC"
    """The time zone of the dates that an agent reads."""


class ProfileStage:
    """One stage of one flow, worked by a profile."""

    def __init__(
        self,
        spec: AgentSpec,
        agents: Agents,
        gate: ToolGate,
        prompts: PromptSource | None = None,
        events: Sink | None = None,
        sending: Sending | None = None,
    ) -> None:
        if spec.profile is None or spec.profile not in agents.profiles:
            raise ConfigError(
                f"agent {spec.name!r} names profile {spec.profile!r}, which nobody brought",
                fix="pass it in Parts(agents=Agents(profiles=...))",
            )
        self._spec, self._profile, self._prompts = spec, agents.profiles[spec.profile], prompts
        self._models, self._usual = agents.models, agents.usual
        self._gate, self._sending, self._time_zone = gate, sending, agents.time_zone
        self._loop = AgentLoop(
            self._profile,
            agents.chat,
            gate,
            agents.tools,
            stage=spec.name,
            output_key=spec.output_key,
            events=events,
            streams=agents.streams,
        )

    async def work(self, envelope: Envelope, ctx: StageContext) -> ServiceResult:
        ended = await self._loop.work(self._brief(envelope, ctx.run_id), ctx)
        before = self._output(ctx)
        if isinstance(ended, Held):
            return held_result(ended, self._spec.name).changed(output=before)
        if ended.code is not None:
            raise (RetryableError if ended.retryable else PermanentError)(
                ended.error or "", ErrorCode(ended.code)
            )
        output = _without_words(before) | {
            "run": ctx.run_id,
            "status": ended.status,
            "final_message": ended.final_message,
            "iterations": ended.iterations,
            "began": ended.began,
            "error": ended.error,
            END: PERSON,
        }
        if ended.status != "completed":
            return _handed_over(output, ended.error or ended.status)
        return await self._close(output, envelope, ctx)

    async def _close(
        self, output: dict[str, Any], envelope: Envelope, ctx: StageContext
    ) -> ServiceResult:
        """What the agent's calls and last words mean for the run."""
        own = [result for result in output[RESULTS] if result["iteration"] > output["began"]]
        if (
            why := next((str(result[ESCALATED]) for result in own if ESCALATED in result), None)
        ) is not None:
            return _handed_over(output, why)
        made = [
            (str(result["tool"]), result["arguments"])
            for result in own
            if result["status"] == "success"
        ]
        most = self._sending.replies_per_run if self._sending is not None else 1
        closing, text = Closing.of(made, envelope, most), str(output["final_message"])
        if not closing and not text.strip():
            return _handed_over(output, "the agent ended without a word")
        words = None if closing else last_words(text)
        if not closing and words is None:
            return _handed_over(output, "the agent's last words are data, not a reply")
        if words is not None and not _rewrites(output):
            return ServiceResult(output=output | words | {END: ANSWER})
        if words is not None:
            written = Written.of(words, AGENT)
            closing = Closing.rewriting(envelope, words["text"], REVISED, written)
        output |= {END: HANDED_IN if closing.escalated is None else PERSON}
        rounds = sum("heard" in turn for turn in output[TURNS])
        sending = self._sending or Sending()
        delivery = ReplyDelivery(ctx.envelope, sending, self._gate, ctx)
        closed = await delivery.close(closing, output, first=rounds - 1)
        return (
            closed.changed(resume=closed.resume or self._spec.name)
            if _asks_about_reply(closed)
            else closed
        )

    # --- what the model is told

    def _brief(self, envelope: Envelope, run_id: str) -> Brief:
        message = envelope.message
        private = () if message is None else _private(message)
        role = self._models.get(self._spec.model_role or "")
        is_revised = _decision(envelope) == Decision.REVISE
        return Brief(
            system=self._system(envelope),
            heard=self._news(envelope, run_id),
            model=self._profile.choose_model(Understanding.of(envelope).topic, role, self._usual),
            private=private,
            without=REPLYING if is_revised else frozenset(),
        )

    def _system(self, envelope: Envelope) -> str:
        """The profile's own words, and how a reply is handed in with what it rests on."""
        own = self._profile.system_prompt
        if self._profile.is_template and self._prompts is not None:
            facts = facts_for_texts(envelope, {})
            own = self._prompts.render(prompt_key(self._profile.name), facts)
        return f"{own}\n\n{HOW_TO_END}"

    def _news(self, envelope: Envelope, run_id: str) -> tuple[str, ...]:
        """What the next round begins with: the message, a reviewer's wish, or nothing where only
        its end is open."""
        output = envelope.output(self._spec.output_key)
        talk = Transcript.of(output)
        if not talk.turns or output.get("run", run_id) != run_id:
            text = self._customer_message(envelope)
            return (text if talk.turns else with_earlier_turns(envelope, text),)
        note = str((envelope.metadata.get("decision") or {}).get("note") or "")
        if _decision(envelope) == Decision.REVISE:
            return (REVISE.format(note=envelope.metadata.get("instruction") or note),)
        over = talk.said_last_word or talk.stopped
        if _decision(envelope) == Decision.RETRY and over and output.get(END) == PERSON:
            return (AGAIN.format(note=f" {note}" if note else ""),)
        return ()

    def _customer_message(self, envelope: Envelope) -> str:
        message = envelope.message
        lead = ""
        if message is not None:
            lead = arrival(message.received_at, envelope.raw_input, self._time_zone)
        return heard_from_customer(customer_text(envelope), lead)

    def _output(self, ctx: StageContext) -> dict[str, Any]:
        kept = ctx.envelope.output(self._spec.output_key)
        return (
            dict(cast(dict[str, Any], kept)) if isinstance(kept, dict) else {TURNS: [], RESULTS: []}
        )


def customer_text(envelope: Envelope) -> str:
    """The message as the model reads it: as a preprocessor wrote it, or with its sender and
    subject above it."""
    if envelope.message is None:
        return envelope.raw_input
    message = envelope.message.as_told
    if message.prepared is not None and message.prepared.failed is None:
        return (  # after what it answers as well
            f"{envelope.raw_input.removesuffix(message.words)}{message.prompt}"
        )
    return f"From: {message.sender}\nSubject: {message.subject}\n\n{envelope.raw_input}"


def answer_in(output: Mapping[str, Any]) -> str | None:
    """The agent's last words, where they are the reply."""
    if output.get(END) != ANSWER:
        return None
    return str(output.get("text") or output["final_message"])


def _decision(envelope: Envelope) -> str | None:
    """What a person decided last, if anybody did."""
    return (envelope.metadata.get("decision") or {}).get("decision")


def _rewrites(output: Mapping[str, Any]) -> bool:
    """Whether an earlier round had handed in a reply: then this round's last words stand in its
    place."""
    earlier = [result for result in output[RESULTS] if result["iteration"] <= output["began"]]
    return any(result["tool"] in REPLYING and result["status"] == "success" for result in earlier)


def _asks_about_reply(result: ServiceResult) -> bool:
    """A reply that waits may be sent back to the agent with a wish."""
    return (
        result.outcome is Outcome.CONFIRM
        and result.ask is not None
        and result.ask.kind == ReviewKind.REPLY
    )


def _without_words(output: dict[str, Any]) -> dict[str, Any]:
    """Without what an earlier round's last words said of themselves."""
    return {name: value for name, value in output.items() if name not in ("text", *FIELDS)}


def _handed_over(output: dict[str, Any], reason: str) -> ServiceResult:
    return ServiceResult(
        output=output, outcome=Outcome.TERMINATE, status=RunStatus.NEEDS_REVIEW, reason=reason
    )


def _private(message: Message) -> tuple[str, ...]:
    """What names the customer: hidden from the model when the desk redacts."""
    proven = message.principal
    named = [message.sender.name, message.sender.address, proven.customer_id, proven.address]
    if message.prepared is not None:
        named += [message.prepared.name, message.prepared.address]
    return tuple(dict.fromkeys(name for name in named if name and name.strip()))
