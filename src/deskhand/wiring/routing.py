"""Which way a message goes, by a desk's rules."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

from deskhand.config.desk import DeskSpec
from deskhand.config.without_model import stand_ins
from deskhand.mail.authentication import MailTrust, principal_of
from deskhand.mail.automatic import automatic
from deskhand.mail.preprocess import UNCHANGED, prepared_by
from deskhand.mail.reply import visible_reply
from deskhand.mail.threads import placed
from deskhand.model.message import Message
from deskhand.model.run import Accepted
from deskhand.routing.message_router import MessageRouter
from deskhand.wiring.databases import Database, DeskStore, open_store
from deskhand.wiring.desks import LoadedDesk

if TYPE_CHECKING:
    from deskhand.brain.embedded_desk import Intents


def flow_of(spec: DeskSpec) -> Callable[[Message], str]:
    return lambda message: message.route.flow if message.route is not None else spec.default_flow


def desk_router(spec: DeskSpec) -> MessageRouter:
    """The desk's routing rules, ready to decide."""

    @cache
    def intents() -> "Intents | None":
        from deskhand.brain.build import learned_intents
        from deskhand.language.intent_examples import load_intents

        return learned_intents(spec, load_intents(spec.folder))

    def intent(message: Message) -> str | None:
        model = intents()
        text = f"{message.subject}\n{visible_reply(message.body)}".strip()
        return model.predict([text])[0].label if model is not None and text else None

    return MessageRouter(
        spec.routing,
        spec.default_flow,
        language=message_language,
        intent=intent,
        stand_ins=spec.stand_ins,
    )


def routed_by(loaded: LoadedDesk) -> Callable[[Message], Awaitable[Message]]:
    """Decides each message's way by the desk's rules, aside from the event loop where that takes
    reading, and has it read by the preprocessor that its rule or its profile names."""
    router, own = desk_router(loaded.spec), loaded.code.preprocessors

    async def routed(message: Message) -> Message:
        decided = (
            await asyncio.to_thread(router.route, message)
            if router.reads
            else router.route(message)
        )
        agent = loaded.spec.profiles.get(decided.profile or "")
        first = decided.preprocess or (agent.preprocess if agent is not None else None)
        message = message.changed(route=decided.changed(preprocess=first), prepared=None)
        return message if first in (None, UNCHANGED) else await prepared_by(message, first, own)

    return routed


def routed_as_said(loaded: LoadedDesk) -> Callable[[Message, bool | None], Awaitable[Message]]:
    """As `routed_by`, for somebody who may know whether the desk's agents were at work or the
    flows in their place."""
    spec = loaded.spec

    @cache
    def routed(agents: bool | None) -> Callable[[Message], Awaitable[Message]]:
        known = {
            None: spec.stand_ins,
            True: {},
            False: stand_ins(spec, dict.fromkeys(spec.profiles, "")),
        }[agents]
        return routed_by(replace(loaded, spec=spec.model_copy(update={"stand_ins": known})))

    return lambda message, agents: routed(agents)(message)


def message_language(message: Message) -> str | None:
    from deskhand.language.identify import identify

    return identify(visible_reply(message.body) or message.subject).code


def mail_intake(
    spec: DeskSpec, store: DeskStore, submit: Callable[[Message], Awaitable[Accepted]]
) -> Callable[[Message], Awaitable[Accepted]]:
    """What a mailbox hands its mail to: whose it is and which conversation it belongs to are
    settled before a run."""
    trust = mail_trust(spec)

    own = own_addresses(spec)

    async def hand_in(message: Message) -> Accepted:
        principal = principal_of(message, trust)
        mail = await placed(message.model_copy(update={"principal": principal}), store)
        if automatic(mail, own) is not None:
            # beside the conversation: what a program sends must neither answer nor outdate anything
            # there
            mail = mail.model_copy(update={"conversation": f"automatic:{mail.id}"[:1000]})
        return await submit(mail)

    return hand_in


def mail_trust(spec: DeskSpec) -> MailTrust:
    """Whose word about a mail's sender the desk believes."""
    return MailTrust(spec.mail.trusted_servers, spec.mail.forwarders)


def own_addresses(spec: DeskSpec) -> list[str]:
    """The addresses that the desk itself writes from."""
    return [channel.identity.address for channel in spec.channels.values()]


async def hand_in(loaded: LoadedDesk, database: Database, message: Message) -> Accepted:
    """Accept a mail for whichever process serves the desk."""
    spec, store = loaded.spec, open_store(database, loaded.spec.name)
    routed, flow_for = routed_by(loaded), flow_of(spec)

    async def accept(mail: Message) -> Accepted:
        mail = await routed(mail)
        return await store.accept(mail, flow=flow_for(mail))

    return await mail_intake(spec, store, accept)(message)
