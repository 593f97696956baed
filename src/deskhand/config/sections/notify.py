"""How reviewers hear of what waits, as written in desk.yaml: a mail at set times, a webhook at
once."""

from pathlib import Path
from typing import Annotated

from pydantic import Field

from deskhand.config.sections.channels import ChannelName, File, Variable
from deskhand.config.sections.outgoing import Mailbox
from deskhand.config.sections.section import Section
from deskhand.model.frozen import Frozen

ClockTime = Annotated[str, Field(pattern=r"^([01][0-9]|2[0-3]):[0-5][0-9]$")]


class DigestSection(Section):
    """A mail that lists what waits: `{channel: support, to: [lead@acme.example], at:
    ["08:30"]}`."""

    channel: ChannelName
    """The desk's channel that sends it."""
    to: list[Mailbox] = Field(min_length=1)
    """Who gets it."""
    at: list[ClockTime] = Field(min_length=1)
    """When, in the desk's time zone: `["08:30", "13:00"]`. Nothing is sent while nothing waits."""
    page: str | None = Field(default=None, pattern=r"^https?://\S+$")
    """The address of the approvals page, for links, as `https://desk.acme.example/approvals/`."""
    content: bool = False
    """Whether it names senders and subjects."""


class WebhookSection(Section):
    """An address that is told at once: `{url: https://hooks.acme.example/desk, secret_file:
    secrets/hook}`."""

    url: str = Field(pattern=r"^https?://\S+$")
    """Where it is posted to; `http` only on this machine."""
    secret_file: File | None = None
    """The file that holds the secret it is signed with, relative to the desk's folder."""
    secret_env: Variable | None = None
    """The environment variable that holds the secret."""
    content: bool = False
    """Whether it tells the reason in words, the sender and the subject."""


class NotifySection(Section):
    """How reviewers hear of what waits: `{digest: {...}, webhook: {...}}`."""

    digest: DigestSection | None = None
    """A mail at set times."""
    webhook: WebhookSection | None = None
    """A signed request whenever something begins or ceases to wait."""


class DigestSpec(Frozen):
    channel: str
    to: tuple[str, ...]
    at: tuple[tuple[int, int], ...]
    """Hours and minutes."""
    page: str | None = None
    content: bool = False


class WebhookSpec(Frozen):
    url: str
    secret_file: Path | None = None
    secret_env: str | None = None
    content: bool = False


class NotifySpec(Frozen):
    digest: DigestSpec | None = None
    webhook: WebhookSpec | None = None


def notify_spec(section: NotifySection, folder: Path) -> NotifySpec:
    digest, webhook = section.digest, section.webhook
    return NotifySpec(
        digest=None
        if digest is None
        else DigestSpec(
            channel=digest.channel,
            to=tuple(digest.to),
            at=tuple(sorted((int(time[:2]), int(time[3:])) for time in digest.at)),
            page=digest.page,
            content=digest.content,
        ),
        webhook=None
        if webhook is None
        else WebhookSpec(
            url=webhook.url,
            secret_file=None if webhook.secret_file is None else folder / webhook.secret_file,
            secret_env=webhook.secret_env,
            content=webhook.content,
        ),
    )
