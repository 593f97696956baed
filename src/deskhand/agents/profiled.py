"""A stage that a profile works: the tool loop inside a flow, and what its end means for the run."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, cast

from deskhand.agents.calling import ESCALATED
from deskhand.agents.held import Held
from deskhand.agents.loop import AgentLoop, Brief
from deskhand.agents.routing import facts_of
from deskhand.agents.transcript import RESULTS, TURNS, Transcript
from deskhand.config.profiles import prompt_key
from deskhand.errors import ConfigError, PermanentError, RetryableError
from deskhand.model.codes import ErrorCode
from deskhand.model.envelope import Envelope
from deskhand.model.message import Message
from deskhand.model.outcome import Outcome
from deskhand.model.profile import ProfileSpec
from deskhand.model.run import Decision, RunStatus
from deskhand.model.spec import AgentSpec
from deskhand.ports import ChatModel, PromptSource, Sink, StageContext, ToolGate
from deskhand.tools.registry import Tool
from deskhand.tools.services import ServiceResult

REVISE = (
    "A colleague read your reply before it was sent and wants it changed: {note}\n"
    "Answer with the whole new text of the reply and nothing else."
)
AGAIN = "A colleague looked at this and asks you to go on.{note}"
ANSWERS = "answers"
"""A field of the output: whether the agent's last words are the reply."""


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


class ProfileStage:
    """One stage of one flow, worked by a profile."""

    def __init__(
        self, spec: AgentSpec, agents: Agents, gate: ToolGate, prompts: PromptSource | None, events: Sink | None
    ) -> None:
        if spec.profile is None or spec.profile not in agents.profiles:
            raise ConfigError(
                f"agent {spec.name!r} names profile {spec.profile!r}, which nobody brought",
                fix="pass it in Parts(agents=Agents(profiles=...))",
            )
        self._spec, self._profile, self._prompts = spec, agents.profiles[spec.profile], prompts
        self._models, self._usual = agents.models, agents.usual
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
        if isinstance(ended, Held):
            return ended.result(self._spec.name).changed(output=self._output(ctx))
        if ended.code is not None:
            raise (RetryableError if ended.retryable else PermanentError)(ended.error or "", ErrorCode(ended.code))
        output = self._output(ctx) | {
            "run": ctx.run_id,
            "status": ended.status,
            "final_message": ended.final_message,
            "iterations": ended.iterations,
            "error": ended.error,
            ANSWERS: False,
        }
        if ended.status != "completed":
            return _handed_over(output, ended.error or ended.status)
        if (escalated := _wants_a_person(output[RESULTS])) is not None:
            return _handed_over(output, escalated)
        if not ended.final_message.strip():
            return _handed_over(output, "the agent ended without a word")
        return ServiceResult(output=output | {ANSWERS: True})

    # --- what the model is told

    def _brief(self, envelope: Envelope, run_id: str) -> Brief:
        spec, message = self._spec, envelope.message
        role = None if spec.model_role is None else self._models.get(spec.model_role)
        return Brief(
            system=self._system(envelope),
            heard=self._news(envelope, run_id),
            model=self._profile.choose_model(_intent(envelope), role, self._usual),
            private=() if message is None else _private(message),
        )

    def _system(self, envelope: Envelope) -> str:
        if not self._profile.is_template or self._prompts is None:
            return self._profile.system_prompt
        return self._prompts.render(prompt_key(self._profile.name), facts_of(envelope, {}))

    def _news(self, envelope: Envelope, run_id: str) -> tuple[str, ...]:
        """What the next round begins with: the message, a reviewer's wish, or nothing where only its end is open."""
        output = envelope.output(self._spec.output_key)
        talk = Transcript.of(output)
        if not talk.turns or output.get("run", run_id) != run_id:
            return (customer_text(envelope),)
        noted = envelope.metadata.get("decision") or {}
        note = str(noted.get("note") or "")
        if noted.get("decision") == Decision.REVISE:
            return (REVISE.format(note=envelope.metadata.get("instruction") or note),)
        if noted.get("decision") == Decision.RETRY and talk.said_last_word and not output.get(ANSWERS):
            return (AGAIN.format(note=f" {note}" if note else ""),)
        return ()

    def _output(self, ctx: StageContext) -> dict[str, Any]:
        kept = ctx.envelope.output(self._spec.output_key)
        return dict(cast(dict[str, Any], kept)) if isinstance(kept, dict) else {TURNS: [], RESULTS: []}


def customer_text(envelope: Envelope) -> str:
    """The message as the model reads it: as a preprocessor wrote it, or with its sender and subject above it."""
    message = envelope.message
    if message is None or envelope.metadata.get("preprocessed"):
        return envelope.raw_input
    return f"From: {message.sender}\nSubject: {message.subject}\n\n{envelope.raw_input}"


def answer_in(output: Mapping[str, Any]) -> str | None:
    """The agent's last words, where they are the reply."""
    return str(output["final_message"]) if output.get(ANSWERS) is True else None


def _wants_a_person(results: list[dict[str, Any]]) -> str | None:
    """Why the desk's policy stopped the agent, if it did."""
    return str(results[-1][ESCALATED]) if results and ESCALATED in results[-1] else None


def _handed_over(output: dict[str, Any], reason: str) -> ServiceResult:
    return ServiceResult(output=output, outcome=Outcome.TERMINATE, status=RunStatus.NEEDS_REVIEW, reason=reason)


def _intent(envelope: Envelope) -> str | None:
    """The newest output that names one."""
    for output in reversed(list(envelope.outputs.values())):
        for name in ("intent_id", "intent", "category"):
            value = output.get(name) if isinstance(output, dict) else None
            if isinstance(value, str) and value:
                return value
    return None


def _private(message: Message) -> tuple[str, ...]:
    """What names the customer: hidden from the model when the desk redacts."""
    proven = message.principal
    named = (message.sender.name, message.sender.address, proven.customer_id, proven.address)
    return tuple(dict.fromkeys(name for name in named if name and name.strip()))
