"""How reviewers hear of what waits, as written in desk.yaml: a mail at set times, a webhook at
once."""

from typing import Annotated, NamedTuple

from pydantic import Field, field_validator

from deskhand.config.sections.channels import ChannelName
from deskhand.config.sections.outgoing import Mailbox
from deskhand.config.sections.section import DeskFile, Items, Section, Variable, written_as_text


class ClockTime(NamedTuple):
    """A time of day in the desk's time zone."""

    hour: int
    minute: int

    @classmethod
    def read(cls, text: str) -> "ClockTime":
        """Reads `08:30`."""
        hour, _, minute = text.partition(":")
        return cls(int(hour), int(minute))


WrittenTime = Annotated[
    ClockTime, written_as_text(ClockTime.read, pattern=r"^([01][0-9]|2[0-3]):[0-5][0-9]$")
]


class DigestSpec(Section):
    """A mail that lists what waits: `{channel: support, to: [lead@acme.example], at:
    ["08:30"]}`."""

    channel: ChannelName
    """The desk's channel that sends it."""
    to: Items[Mailbox] = Field(min_length=1)
    """Who gets it."""
    at: Items[WrittenTime] = Field(min_length=1)
    """When, in the desk's time zone: `["08:30", "13:00"]`. Nothing is sent while nothing waits."""
    page: str | None = Field(default=None, pattern=r"^https?://\S+$")
    """The address of the approvals page, for links, as `https://desk.acme.example/approvals/`."""
    content: bool = False
    """Whether it names senders and subjects."""

    @field_validator("at")
    @classmethod
    def _in_order(cls, at: tuple[ClockTime, ...]) -> tuple[ClockTime, ...]:
        return tuple(sorted(at))


class WebhookSpec(Section):
    """An address that is told at once: `{url: https://hooks.acme.example/desk, secret_file:
    secrets/hook}`."""

    url: str = Field(pattern=r"^https?://\S+$")
    """Where it is posted to; `http` only on this machine."""
    secret_file: DeskFile | None = None
    """The file that holds the secret it is signed with, relative to the desk's folder."""
    secret_env: Variable | None = None
    """The environment variable that holds the secret."""
    content: bool = False
    """Whether it tells the reason in words, the sender and the subject."""


class NotifySpec(Section):
    """How reviewers hear of what waits: `{digest: {...}, webhook: {...}}`."""

    digest: DigestSpec | None = None
    """A mail at set times."""
    webhook: WebhookSpec | None = None
    """A signed request whenever something begins or ceases to wait."""
