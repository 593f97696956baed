"""What works beside the runs of a desk: channels, notices, webhooks, the search, chat mails."""

from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass

from deskhand.adapters.stores.chats import SqlChats
from deskhand.config.desk import DeskSpec
from deskhand.config.sections.channels import chat_of
from deskhand.engine.channel_runner import ChannelRunner
from deskhand.engine.chat_codes import ChatCodes
from deskhand.engine.chat_mailer import ChatMailer
from deskhand.engine.clock import SystemClock
from deskhand.engine.notifier import Notifier
from deskhand.engine.search_indexer import SearchIndexer
from deskhand.engine.webhook_courier import WebhookCourier
from deskhand.wiring.assembly import DeskSetup
from deskhand.wiring.channels import review_notifier
from deskhand.wiring.chat_mails import chat_codes, chat_post
from deskhand.wiring.databases import channel_store, search_index
from deskhand.wiring.routing import desk_intake
from deskhand.wiring.webhooks import webhook_courier
from deskhand.wiring.workers import DeskDispatcher


@dataclass(frozen=True, slots=True, kw_only=True)
class BackgroundWork:
    """At rest until it is started."""

    spec: DeskSpec
    runners: Sequence[ChannelRunner]
    """They keep the desk's channels at work; none where nobody asked to listen."""
    notifier: Notifier
    courier: WebhookCourier
    indexer: SearchIndexer
    chats: SqlChats
    mailer: ChatMailer
    codes: ChatCodes

    def start(self, *, live: bool, listen: bool) -> None:
        """Only a live desk mails its chats; only one that listens reads channels and tells people
        and programs what happens."""
        if live and chat_of(self.spec.channels) is not None:
            self.mailer.start()
        for runner in self.runners:
            runner.start()
        if listen:
            self.notifier.start()
            self.courier.start()
            self.indexer.start()


def open_background(
    closing: AsyncExitStack, setup: DeskSetup, dispatcher: DeskDispatcher, *, listen: bool
) -> BackgroundWork:
    """The work beside a desk's runs, which `closing` stops."""
    spec, clock = setup.loaded.spec, SystemClock()
    runners = _channel_runners(setup, dispatcher) if listen else []
    for runner in reversed(runners):
        closing.push_async_callback(runner.stop)
    notifier = review_notifier(
        spec, setup.database, setup.store, setup.channels, setup.outbox, clock
    )
    closing.push_async_callback(notifier.stop)
    courier = webhook_courier(setup.database, spec.name, spec, clock)
    closing.push_async_callback(courier.stop)
    indexer = SearchIndexer(search_index(setup.database, spec))
    closing.push_async_callback(indexer.stop)

    chats = SqlChats(setup.database, spec.name)
    post = chat_post(spec, setup.channels, setup.outbox)
    mailer = ChatMailer(chats, post.send, clock, spec.name)
    closing.push_async_callback(mailer.stop)
    codes = chat_codes(setup.loaded, chats, setup.own_tables, post, clock)
    closing.push_async_callback(codes.close)

    return BackgroundWork(
        spec=spec,
        runners=runners,
        notifier=notifier,
        courier=courier,
        indexer=indexer,
        chats=chats,
        mailer=mailer,
        codes=codes,
    )


def _channel_runners(setup: DeskSetup, dispatcher: DeskDispatcher) -> list[ChannelRunner]:
    """What keeps each of the desk's channels at work."""
    spec, store = setup.loaded.spec, setup.store
    intake = desk_intake(spec, store, dispatcher.submit)
    return [
        ChannelRunner(
            channel,
            channel_store(setup.database, spec.name, channel.name, store.owner),
            intake,
            SystemClock(),
        )
        for channel in setup.channels
    ]
