"""Where a desk's messages come from and its replies leave, as written in desk.yaml."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, field_validator

from deskhand.config.sections.chat import ChatSection
from deskhand.config.sections.section import DeskFile, Items, Section, Variable
from deskhand.model.frozen import Frozen
from deskhand.model.message import Address, written_address

Mode = Literal["auto", "draft", "shadow"]
Security = Literal["tls", "starttls", "none"]
SentCopy = Literal["self", "server", "append"]
MailState = Literal["keywords", "folders", "none"]

Host = Annotated[str, Field(pattern=r"^[^\s/:]+$|^[0-9a-fA-F:]+$", max_length=253)]
Port = Annotated[int, Field(ge=1, le=65535)]
Folder = Annotated[str, Field(min_length=1, max_length=200)]
ChannelName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_-]*$", max_length=60)]

_FILES_COPIES_ITSELF = (
    "smtp.gmail.com",
    "smtp.office365.com",
    "smtp-mail.outlook.com",
    "smtp.mail.me.com",
)
_IMAP_PORTS = {"tls": 993, "starttls": 143, "none": 143}
_SMTP_PORTS = {"tls": 465, "starttls": 587, "none": 25}


class OAuthSpec(Section):
    """How to get access tokens: from a token endpoint, with a refresh token kept in a file."""

    token_url: str = Field(default="https://oauth2.googleapis.com/token", pattern=r"^https?://\S+$")
    """The token endpoint; Google's if absent."""
    client_id: str = Field(min_length=1)
    """The client's id, as registered with the provider."""
    client_secret_file: DeskFile | None = None
    """The file that holds the client's secret, relative to the desk's folder; public clients
    have none."""
    refresh_token_file: DeskFile
    """The file that holds the refresh token, relative to the desk's folder."""
    scope: str | None = None
    """What to ask for, where the provider wants to be told."""


class ImapSection(Section):
    """The mailbox that is read: `{host: mail.example.com, user: support@example.com,
    password_file: secrets/imap}`."""

    host: Host
    """The server's name."""
    port: Port | None = None
    """The port; 993 with TLS, else 143."""
    security: Security = "tls"
    """`tls` from the first byte, `starttls`, or `none` (this machine only)."""
    ca_file: DeskFile | None = None
    """Certificates to trust instead of the system's, relative to the desk's folder."""
    user: str = Field(min_length=1)
    """The name to log in with."""
    password_file: DeskFile | None = None
    """The file that holds the password, relative to the desk's folder."""
    password_env: Variable | None = None
    """The environment variable that holds the password, as `SUPPORT_PASSWORD`."""
    oauth: OAuthSpec | None = None
    """Log in with access tokens (XOAUTH2) instead of a password."""
    folders: list[Folder] = Field(default=["INBOX"], min_length=1)
    """The folders to watch: `[INBOX, Complaints]`."""
    sent: Folder | None = None
    """The folder of sent mail; the one the server marks as such, else `Sent`."""
    drafts: Folder | None = None
    """The folder of drafts; the one the server marks as such, else `Drafts`."""
    state: MailState = "keywords"
    """How mail programs see what became of a mail: `keywords`, `folders` (under Deskhand/) or
    `none`."""
    poll: float = Field(default=60, ge=1, le=3600)
    """Seconds between looks where the server cannot tell of new mail by itself (no IDLE)."""


class SmtpSection(Section):
    """The server that takes replies: `{host: mail.example.com}`."""

    host: Host
    """The server's name."""
    port: Port | None = None
    """The port; 465 with TLS, 587 with STARTTLS, else 25."""
    security: Security = "starttls"
    """`starttls`, `tls` from the first byte, or `none` (this machine only)."""
    ca_file: DeskFile | None = None
    """Certificates to trust instead of the system's, relative to the desk's folder."""
    user: str | None = None
    """The name to log in with; that of the mailbox if absent, empty for a server that asks for
    none."""
    password_file: DeskFile | None = None
    """The file that holds the password, relative to the desk's folder; the mailbox's if absent."""
    password_env: Variable | None = None
    """The environment variable that holds the password."""
    sent_copy: SentCopy | None = None
    """How a copy gets into Sent: `self` (a blind copy to ourselves), `server` (the server does
    it) or `append`."""
    copy_within: float = Field(default=20, ge=0, le=600)
    """Seconds within which a copy to ourselves arrives: how long to look for it before a person
    is asked whether a reply has left."""


class GmailSpec(Section):
    """A Gmail or Workspace mailbox over Google's API: `{user: support@example.com, oauth:
    {...}}`."""

    user: str = Field(default="me", min_length=1)
    """Whose mailbox; the token's owner if absent."""
    oauth: OAuthSpec
    """How to get access tokens."""
    labels: Items[Folder] = Field(default=("INBOX",), min_length=1)
    """The labels to watch, by id."""
    poll: float = Field(default=20, ge=0.1, le=3600)
    """Seconds between looks for new mail."""
    base_url: str = Field(default="https://gmail.googleapis.com", pattern=r"^https?://\S+$")
    """Where the API is."""

    @field_validator("base_url")
    @classmethod
    def _without_slash(cls, url: str) -> str:
        return url.rstrip("/")


class ChannelSection(Section):
    """A channel: a mailbox (`imap` and `smtp`), a Gmail mailbox (`gmail`), a chat on the web
    (`chat`), or files for trying things (`files`)."""

    imap: ImapSection | None = None
    """The mailbox that is read."""
    smtp: SmtpSection | None = None
    """The server that takes replies."""
    gmail: GmailSpec | None = None
    """A Gmail or Workspace mailbox."""
    chat: ChatSection | None = None
    """A chat on the web."""
    files: DeskFile | None = None
    """A maildir, an mbox file or a folder of .eml files, relative to the desk's folder; replies
    go to the outbox."""
    identity: str | None = Field(default=None, min_length=3, max_length=320)
    """Who replies are from: `Acme Support <support@acme.example>`."""
    signature: str = Field(default="", max_length=2000)
    """The lines under every reply."""


class Login(Frozen):
    """A user and where the secret lies; no user means that nobody asks for one."""

    user: str
    password_file: Path | None = None
    password_env: str | None = None
    oauth: OAuthSpec | None = None


class ServerSpec(Frozen):
    """How to reach a server."""

    host: str
    port: int
    security: Security
    ca_file: Path | None
    login: Login | None


class ImapSpec(ServerSpec):
    folders: tuple[str, ...]
    sent: str | None
    drafts: str | None
    state: MailState
    poll: float


class SmtpSpec(ServerSpec):
    sent_copy: SentCopy
    copy_within: float


class ChannelSpec(Frozen):
    """One channel; of `imap` with `smtp`, `gmail`, `chat` and `files` exactly one is there."""

    name: str
    identity: Address
    signature: str
    imap: ImapSpec | None = None
    smtp: SmtpSpec | None = None
    gmail: GmailSpec | None = None
    chat: ChatSection | None = None
    files: Path | None = None

    @property
    def really_sends(self) -> bool:
        return self.files is None and self.chat is None


def chat_of(channels: Mapping[str, ChannelSpec]) -> ChatSection | None:
    """The settings of the desk's chat; None for a desk without one."""
    return next((channel.chat for channel in channels.values() if channel.chat is not None), None)


def identity_of(text: str) -> Address | None:
    """`Name <address>` or a bare address; None when there is no address in it."""
    read = written_address(text)
    return read if read is not None and "@" in read.address.strip("@") else None


def channel_spec(name: str, written: ChannelSection, folder: Path) -> ChannelSpec:
    """The channel with its usual ports, its login and its identity; it must have passed the
    checks."""
    section = written.beside(folder)
    imap, smtp = _servers(section)
    return ChannelSpec(
        name=name,
        identity=identity_of(section.identity or "") or Address(address=f"{name}@localhost"),
        signature=section.signature.strip("\n"),
        imap=imap,
        smtp=smtp,
        gmail=section.gmail,
        chat=section.chat,
        files=section.files,
    )


def _servers(section: ChannelSection) -> tuple[ImapSpec | None, SmtpSpec | None]:
    """The mailbox that is read and the server that takes replies, which logs in alike."""
    if section.imap is None:
        return None, None
    imap = _imap_spec(section.imap)
    if section.smtp is None:
        return imap, None
    return imap, _smtp_spec(section.smtp, section.imap)


def _imap_spec(imap: ImapSection) -> ImapSpec:
    same = imap.model_dump(include=ImapSpec.model_fields.keys() - {"port"})
    return ImapSpec(
        port=imap.port or _IMAP_PORTS[imap.security], login=_mailbox_login(imap), **same
    )


def _smtp_spec(smtp: SmtpSection, imap: ImapSection) -> SmtpSpec:
    same = smtp.model_dump(include=SmtpSpec.model_fields.keys() - {"port", "sent_copy"})
    usual: SentCopy = "server" if smtp.host.lower() in _FILES_COPIES_ITSELF else "self"
    return SmtpSpec(
        port=smtp.port or _SMTP_PORTS[smtp.security],
        login=_smtp_login(smtp, imap),
        sent_copy=smtp.sent_copy or usual,
        **same,
    )


def _mailbox_login(imap: ImapSection) -> Login:
    return Login(
        user=imap.user,
        password_file=imap.password_file,
        password_env=imap.password_env,
        oauth=imap.oauth,
    )


def _smtp_login(smtp: SmtpSection, imap: ImapSection) -> Login | None:
    """Its own user and secret, where it has them, else the mailbox's; None for no login."""
    if smtp.user == "":
        return None
    user = smtp.user or imap.user
    if smtp.password_file is not None or smtp.password_env is not None:
        return Login(user=user, password_file=smtp.password_file, password_env=smtp.password_env)
    return _mailbox_login(imap).model_copy(update={"user": user})
