"""Which way a desk's messages go, and how they come in."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

from deskhand.config.desk import DeskSpec
from deskhand.mail.intake import Submit, mail_intake
from deskhand.mail.reply import visible_reply
from deskhand.model.message import Message
from deskhand.model.run import Accepted
from deskhand.routing.message_router import MessageRouter
from deskhand.routing.routing_step import RoutingStep, stand_ins_for

if TYPE_CHECKING:
    from deskhand.wiring.databases import Database, DeskStore
    from deskhand.wiring.desks import LoadedDesk


def flow_of(spec: DeskSpec) -> Callable[[Message], str]:
    """The flow that works a message: the one its route names, else the desk's default."""

    def flow_for(message: Message) -> str:
        return spec.default_flow if message.route is None else message.route.flow

    return flow_for


def desk_router(spec: DeskSpec) -> MessageRouter:
    """The desk's routing rules, ready to decide."""
    from deskhand.brain.desk_intents import intent_reader

    return MessageRouter(
        spec.routing,
        spec.default_flow,
        language=message_language,
        intent=intent_reader(spec),
        stand_ins=spec.stand_ins,
    )


def message_language(message: Message) -> str | None:
    """The language that a message is written in; None where it cannot be told."""
    from deskhand.language.identify import identify

    return identify(visible_reply(message.body) or message.subject).code


def routed_by(loaded: "LoadedDesk") -> RoutingStep:
    """Routes messages by the desk's rules."""
    spec = loaded.spec
    return RoutingStep(spec, desk_router(spec), loaded.code.preprocessors)


def routed_as_said(loaded: "LoadedDesk") -> Callable[[Message, bool | None], Awaitable[Message]]:
    """As `routed_by`, for a caller who may know whether the desk's agents were at work."""

    @cache
    def routing(agents_at_work: bool | None) -> RoutingStep:
        instead = {"stand_ins": stand_ins_for(loaded.spec, agents_at_work)}
        return routed_by(replace(loaded, spec=loaded.spec.model_copy(update=instead)))

    return lambda message, agents_at_work: routing(agents_at_work)(message)


def desk_intake(spec: DeskSpec, store: "DeskStore", submit: Submit) -> Submit:
    """What a desk's mailboxes hand their mail to."""
    return mail_intake(spec.mail_trust, store, submit)


async def hand_in(loaded: "LoadedDesk", database: "Database", message: Message) -> Accepted:
    """Accept a mail for whichever process serves the desk."""
    store = database.store(loaded.spec.name)
    route, flow_for = routed_by(loaded), flow_of(loaded.spec)

    async def accept(mail: Message) -> Accepted:
        routed = await route(mail)
        return await store.accept(routed, flow=flow_for(routed))

    return await desk_intake(loaded.spec, store, accept)(message)
