"""The stages of a desk, put together: gate, sending, flows and the worker."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

from deskhand.agents.agent import Agent, Parts
from deskhand.agents.profiled import Agents
from deskhand.agents.prompts import PromptRegistry
from deskhand.agents.replying.review_reasons import KnownSender, review_reasons_of
from deskhand.agents.replying.sending import Sending
from deskhand.agents.replying.services import dispatch_through, review_through
from deskhand.agents.retrieval import Source, retrieve_from
from deskhand.config.desk import DeskSpec
from deskhand.engine.loop import End, Flow
from deskhand.engine.offered_slots import offered_before
from deskhand.engine.screening import Pace, Screen
from deskhand.engine.worker import AtRest, BeforeRest, Screening, Worker
from deskhand.evals.lane import EarnedModes, SentLately
from deskhand.model.envelope import Envelope
from deskhand.model.message import Message
from deskhand.model.principal import PrincipalKind
from deskhand.model.spec import FlowSpec
from deskhand.ports import (
    Brain,
    Clock,
    Sink,
)
from deskhand.tools.calendar_tools import CHECK_CALENDAR
from deskhand.tools.delivery import DELIVER
from deskhand.tools.gate import Gate
from deskhand.tools.services import ServiceFunction
from deskhand.tools.terms import always_asked, own_questions
from deskhand.trust.standing import lower_of
from deskhand.wiring.databases import DeskStore
from deskhand.wiring.desks import LoadedDesk
from deskhand.wiring.routing import own_addresses


def reply_sending(
    spec: DeskSpec, store: DeskStore, clock: Clock, counted: SentLately | None = None
) -> Sending:
    """By desk.yaml alone; `counted` says how many replies left where the store, being a
    sandbox's, cannot know."""
    real = {name for name, channel in spec.channels.items() if channel.really_sends}

    async def sent_lately(conversation: str, run_id: str) -> int:
        if counted is not None:
            return counted(run_id, clock.now() - 3600)
        return await store.replies_since(conversation, DELIVER, clock.now() - 3600, beside=run_id)

    async def mode_for(category: str | None) -> str:
        return _first_mode(spec, category)

    return Sending(
        mode_for=mode_for,
        undo_for=lambda message: (
            spec.undo_seconds if message is not None and message.channel in spec.channels else 0.0
        ),
        by_mail=lambda message: message is not None and message.channel in real,
        sent_lately=sent_lately,
        replies_per_hour=spec.limits.replies_per_hour,
        replies_per_run=spec.limits.replies_per_run,
        always_ask=always_asked(spec),
        own_questions=own_questions(spec),
    )


def _first_mode(spec: DeskSpec, category: str | None) -> str:
    """What a desk does with its replies where nothing is known of how good they are."""
    ceiling = spec.mode_for(category)
    return ceiling if spec.trust is None else lower_of(spec.trust.start, ceiling)


async def mode_as_recorded(spec: DeskSpec, earned: EarnedModes, category: str | None) -> str:
    """What a replayed reply met; a mode that desk.yaml does not allow any more is not met."""
    return lower_of(earned.mode() or _first_mode(spec, category), spec.mode_for(category))


def answered_before(store: DeskStore) -> KnownSender:
    async def known(envelope: Envelope) -> bool:
        """A sender whom nobody has proven is known from the same conversation only: its address
        may be borrowed."""
        message, run_id = envelope.message, envelope.run_id
        if message is None:
            return False
        conversation, sender = message.conversation, message.sender.address
        if await store.replies_since(conversation, DELIVER, 0.0, beside=run_id):
            return True
        proven = message.principal.kind is not PrincipalKind.ANONYMOUS
        return proven and await store.replies_to(sender, DELIVER, 0.0, beside=conversation) > 0

    return known


def _screen(spec: DeskSpec, store: DeskStore, clock: Clock) -> Screen:
    sending = [name for name, channel in spec.channels.items() if channel.really_sends]
    return Screen(store, clock, own_addresses(spec), Pace(sending, spec.limits.replies_per_hour))


def desk_worker(
    spec: DeskSpec,
    store: DeskStore,
    flows: Mapping[str, Flow],
    clock: Clock,
    screened: Screening | None = None,
    before_rest: BeforeRest | None = None,
    at_rest: AtRest | None = None,
    answering: Flow | None = None,
) -> Worker:
    """`screened` is asked first, where more is known than the store can say."""
    screen = _screen(spec, store, clock)

    async def ask(message: Message) -> End | None:
        found = None if screened is None else await screened(message)
        return found or await screen(message)

    return Worker(
        store,
        flows,
        clock,
        screen=ask,
        recall=partial(offered_before, store) if _offers_times(flows) else None,
        before_rest=before_rest,
        at_rest=at_rest,
        expiry=spec.reviews.expiry,
        answering=answering,
    )


def _offers_times(flows: Mapping[str, Flow]) -> bool:
    return any(
        CHECK_CALENDAR in stage.tools
        for flow in flows.values()
        for stage in flow.spec.stages.values()
    )


def stage_parts(
    loaded: LoadedDesk,
    gate: Gate,
    brain: Brain | None,
    prompts: PromptRegistry,
    events: Sink | None = None,
    sending: Sending | None = None,
    agents: Agents | None = None,
    sources: Sequence[Source] = (),
    known: KnownSender | None = None,
) -> Parts:
    services: dict[str, ServiceFunction] = {
        "retrieve": retrieve_from(sources),
        "review": review_through(gate, known) if known else review_through(gate),
        "dispatch": dispatch_through(gate, sending),
        **loaded.code.services,
    }
    return Parts(brain, gate, prompts, services, events, sending, agents)


def desk_flows(loaded: LoadedDesk, parts: Parts, known: KnownSender) -> Mapping[str, Flow]:
    code = loaded.code
    return {
        name: Flow(
            flow,
            {
                stage: (
                    Agent(
                        spec,
                        _parts_in(flow, parts, known),
                        pre_process=code.before.get(stage),
                        post_process=code.after.get(stage),
                    ).process
                )
                for stage, spec in flow.stages.items()
            },
        )
        for name, flow in loaded.spec.flows.items()
    }


def _parts_in(flow: FlowSpec, parts: Parts, known: KnownSender) -> Parts:
    """What the flow's review stage asks of replies holds for those that an agent or a plan hands
    in as well."""
    if parts.sending is None:
        return parts
    reasons = review_reasons_of(flow.stages.values(), known)
    return replace(parts, sending=replace(parts.sending, review_reasons=reasons))
