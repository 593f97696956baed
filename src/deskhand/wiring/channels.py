"""Channels: where messages come from and replies leave."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeAlias

from deskhand.adapters.channels.folder_outbox import FolderOutbox
from deskhand.adapters.channels.outgoing_mail import OutgoingMail
from deskhand.adapters.channels.routed_outbox import SendingChannel
from deskhand.adapters.stores.channels import SqlChannelStore
from deskhand.config.desk import DeskSpec
from deskhand.config.sections.channels import ChannelSpec
from deskhand.config.uses import offers_tool
from deskhand.engine.notifier import Digest, Notifier
from deskhand.errors import DeskhandError
from deskhand.model.message import CREATE_DRAFT, Reply
from deskhand.ports import Clock
from deskhand.wiring.databases import (
    Database,
    DeskStore,
    channel_store,
    scratch_database,
    trust_store,
)

if TYPE_CHECKING:
    from deskhand.adapters.channels.files_channel import FilesChannel
    from deskhand.adapters.channels.gmail_channel import GmailChannel
    from deskhand.adapters.channels.mail_channel import MailChannel

DeskChannel: TypeAlias = "MailChannel | GmailChannel | FilesChannel"


def desk_channels(spec: DeskSpec, database: Database, store: DeskStore) -> "list[DeskChannel]":
    """A desk's channels, not yet connected to anything."""
    channels = []
    for name, channel in spec.channels.items():
        memory = channel_store(database, spec.name, name, store.owner)
        channels.append(_channel(spec, channel, memory, database, store))
    return [channel for channel in channels if channel is not None]


def _channel(
    spec: DeskSpec,
    channel: ChannelSpec,
    memory: SqlChannelStore,
    database: Database,
    store: DeskStore,
) -> "DeskChannel | None":
    """Imports what speaks with this kind of channel, and no other."""
    limit = spec.limits.max_message_bytes
    if channel.imap is not None:
        from deskhand.adapters.channels.mail_channel import MailChannel

        drafts = _keeps_drafts(spec)
        trust = trust_store(database, spec.name)
        return MailChannel(channel, memory, store, trust, max_bytes=limit, drafts=drafts)
    if channel.gmail is not None:
        from deskhand.adapters.channels.gmail_channel import GmailChannel

        trust = trust_store(database, spec.name)
        return GmailChannel(channel, memory, store, trust, max_bytes=limit)
    if channel.files is not None:
        from deskhand.adapters.channels.files_channel import FilesChannel

        return FilesChannel(channel, memory, max_bytes=limit)
    return None


def _keeps_drafts(spec: DeskSpec) -> bool:
    """Whether replies of the desk may ever lie in its mailboxes as drafts."""
    if spec.trust is not None or "draft" in (spec.mode, *spec.modes.values()):
        return True
    return offers_tool(spec, CREATE_DRAFT)


def sending_names(spec: DeskSpec) -> set[str]:
    """The names of the channels on which replies really leave."""
    return {name for name, channel in spec.channels.items() if channel.really_sends}


def sending_channels(channels: "Sequence[DeskChannel]") -> "dict[str, MailChannel | GmailChannel]":
    """The channels that carry replies, by name: all but those that only read files."""
    if not channels:
        return {}
    from deskhand.adapters.channels.files_channel import FilesChannel

    return {channel.name: channel for channel in channels if not isinstance(channel, FilesChannel)}


def mailboxes(spec: DeskSpec, database: Database) -> "list[MailChannel]":
    """A desk's IMAP mailboxes, to look into without marking anything as read."""
    from deskhand.adapters.channels.mail_channel import MailChannel

    channels = desk_channels(spec, database, database.store(spec.name))
    return [channel for channel in channels if isinstance(channel, MailChannel)]


def claimed_mailboxes(spec: DeskSpec, database: Database) -> "list[MailChannel | GmailChannel]":
    """A desk's mailboxes of every kind, to see and to change whose they are."""
    from deskhand.adapters.channels.files_channel import FilesChannel

    channels = desk_channels(spec, database, database.store(spec.name))
    return [channel for channel in channels if not isinstance(channel, FilesChannel)]


async def check_channels(spec: DeskSpec) -> dict[str, str | DeskhandError]:
    """What every channel says when it is tried, by name; nothing is read for good or sent."""
    answers: dict[str, str | DeskhandError] = {}
    if not spec.channels:
        return answers
    async with scratch_database() as database:
        for channel in desk_channels(spec, database, database.store(spec.name)):
            try:
                answers[channel.name] = await channel.check()
            except DeskhandError as error:
                answers[channel.name] = error
            finally:
                await channel.close()
    return answers


def review_notifier(
    spec: DeskSpec,
    database: Database,
    store: DeskStore,
    channels: "Sequence[DeskChannel]",
    outbox: Path,
    clock: Clock,
) -> Notifier:
    """Tells reviewers what waits, as desk.yaml asks for it; at rest until it is started."""
    from deskhand.adapters.stores.notices import SqlNoticeStore

    wanted = spec.reviews.notify
    digest = None
    if wanted.digest is not None:
        folder = FolderOutbox(outbox, sender=f"{spec.name}@localhost")
        post = ChannelPost(folder, sending_channels(channels).get(wanted.digest.channel))
        digest = Digest(wanted.digest, post.send, post.find, spec.time_zone)
    return Notifier(store, SqlNoticeStore(database, spec.name, clock.now), clock, digest)


class MailingChannel(SendingChannel, Protocol):
    """A channel that sends mail."""

    async def check_sending(self) -> None: ...


class ChannelPost:
    """Sends mails that answer none on a channel, or into the outbox folder where there is none."""

    def __init__(self, folder: FolderOutbox, channel: MailingChannel | None) -> None:
        self._folder, self._channel = folder, channel

    async def check(self) -> None:
        """Raise a DeskhandError where no mail would leave now."""
        if self._channel is not None:
            await self._channel.check_sending()

    async def send(self, reply: Reply, key: str) -> str:
        if self._channel is None:
            return await self._folder.send(reply, key)
        return await self._channel.send(OutgoingMail(reply, key, None))

    async def find(self, key: str) -> str | None:
        if self._channel is None:
            return await self._folder.find(key)
        return await self._channel.find(key)
