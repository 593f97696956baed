"""Channels: where messages come from and replies leave."""

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, TypeAlias

from deskhand.adapters.channels.folder_outbox import FolderOutbox
from deskhand.adapters.channels.outgoing_mail import OutgoingMail
from deskhand.adapters.channels.routed_outbox import SendingChannel
from deskhand.config.desk import DeskSpec
from deskhand.engine.notifier import Digest, Hook, Notifier
from deskhand.errors import DeskhandError
from deskhand.model.message import CREATE_DRAFT, Reply
from deskhand.ports import (
    Clock,
)
from deskhand.wiring.databases import (
    Database,
    DeskStore,
    channel_store,
    open_database,
    open_store,
    trust_store,
)

if TYPE_CHECKING:
    from deskhand.adapters.channels.files_channel import FilesChannel
    from deskhand.adapters.channels.gmail_channel import GmailChannel
    from deskhand.adapters.channels.mail_channel import MailChannel

DeskChannel: TypeAlias = "MailChannel | GmailChannel | FilesChannel"


def desk_channels(spec: DeskSpec, database: Database, store: DeskStore) -> "list[DeskChannel]":
    """A desk's channels, not yet connected to anything."""
    from deskhand.adapters.channels.files_channel import FilesChannel
    from deskhand.adapters.channels.gmail_channel import GmailChannel
    from deskhand.adapters.channels.mail_channel import MailChannel

    made: list[DeskChannel] = []
    trust = trust_store(database, spec.name)
    kept = spec.trust is not None or "draft" in (spec.mode, *spec.modes.values())
    drafts = kept or offers(spec, CREATE_DRAFT)
    for name, channel in spec.channels.items():
        memory = channel_store(database, spec.name, name, store.owner)
        limit = spec.limits.max_message_bytes
        if channel.imap is not None:
            made.append(MailChannel(channel, memory, store, trust, max_bytes=limit, drafts=drafts))
        elif channel.gmail is not None:
            made.append(GmailChannel(channel, memory, store, trust, max_bytes=limit))
        else:
            made.append(FilesChannel(channel, memory, max_bytes=limit))
    return made


def offers(spec: DeskSpec, tool: str) -> bool:
    """Whether any stage of the desk may call this tool."""
    return any(
        tool in stage.tools for flow in spec.flows.values() for stage in flow.stages.values()
    )


def mailboxes(spec: DeskSpec, database: Database) -> "list[MailChannel]":
    """A desk's IMAP mailboxes, to look into without reading them for good."""
    from deskhand.adapters.channels.mail_channel import MailChannel

    store = open_store(database, spec.name)
    return [one for one in desk_channels(spec, database, store) if isinstance(one, MailChannel)]


async def check_channels(spec: DeskSpec) -> dict[str, str | DeskhandError]:
    """What every channel says when it is tried, by name; nothing is read for good, sent or
    remembered."""
    found: dict[str, str | DeskhandError] = {}
    if not spec.channels:
        return found
    with TemporaryDirectory(prefix="deskhand-") as scratch:
        async with open_database(str(Path(scratch) / "check.db")) as database:
            for channel in desk_channels(spec, database, open_store(database, spec.name)):
                try:
                    found[channel.name] = await channel.check()
                except DeskhandError as error:
                    found[channel.name] = error
                finally:
                    await channel.close()
    return found


def sending_channels(channels: "Sequence[DeskChannel]") -> dict[str, SendingChannel]:
    from deskhand.adapters.channels.files_channel import FilesChannel

    return {channel.name: channel for channel in channels if not isinstance(channel, FilesChannel)}


def review_notifier(
    spec: DeskSpec,
    database: Database,
    store: DeskStore,
    channels: "Sequence[DeskChannel]",
    outbox: Path,
    clock: Clock,
) -> Notifier:
    """Tells reviewers what waits, as the desk asks for it; at rest until it is started."""
    from deskhand.adapters.stores.notices import SqlNoticeStore
    from deskhand.adapters.webhooks import Webhook

    wanted = spec.reviews.notify
    folder = FolderOutbox(outbox, sender=f"{spec.name}@localhost")

    async def mail(reply: Reply, key: str) -> object:
        assert wanted.digest is not None
        carrier = sending_channels(channels).get(wanted.digest.channel)
        return await (
            folder.send(reply, key)
            if carrier is None
            else carrier.send(OutgoingMail(reply, key, None))
        )

    async def find(key: str) -> object | None:
        assert wanted.digest is not None
        carrier = sending_channels(channels).get(wanted.digest.channel)
        return await (folder.find(key) if carrier is None else carrier.find(key))

    hook = None if wanted.webhook is None else Hook(wanted.webhook, Webhook(wanted.webhook).post)
    digest = None if wanted.digest is None else Digest(wanted.digest, mail, find, spec.time_zone)
    return Notifier(store, SqlNoticeStore(database, spec.name, clock.now), clock, hook, digest)
