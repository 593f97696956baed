"""What makes a channel or a mode wrong: half a mailbox, a password over an open line, a category
nobody gives."""

from deskhand.config.rules.finding import ConfigFinding, ConfigFindings, DeskDraft
from deskhand.config.sections.channels import (
    ChannelSection,
    ImapSection,
    SmtpSection,
    identity_of,
)
from deskhand.config.sections.chat import ChatSection
from deskhand.config.suggestions import did_you_mean
from deskhand.config.yaml import YamlPlace
from deskhand.scheduling.hours import HoursUnreadable, read_hours

ELSE = "else"
_THIS_MACHINE = ("localhost", "127.0.0.1", "::1")


def channel_findings(draft: DeskDraft) -> ConfigFindings:
    yield from _several_chats(draft)
    for name, channel in draft.desk.channels.items():
        yield from _kind(("channels", name), channel)
        yield from _identity(("channels", name), channel)
        if channel.chat is not None:
            yield from _chat(("channels", name, "chat"), channel.chat)
            yield from _chat_mail(("channels", name, "chat", "mail_by"), channel.chat, draft)
        if channel.imap is not None:
            yield from _secret(("channels", name, "imap"), channel.imap)
        for key, server in (("imap", channel.imap), ("smtp", channel.smtp)):
            if (
                server is not None
                and server.security == "none"
                and server.host.lower() not in _THIS_MACHINE
            ):
                problem = (
                    f"`security: none` would send the password to {server.host} for everybody to"
                    " read"
                )
                yield ConfigFinding(
                    ("channels", name, key, "security"), problem, "write `starttls` or `tls`"
                )


def _several_chats(draft: DeskDraft) -> ConfigFindings:
    chats = [name for name, channel in draft.desk.channels.items() if channel.chat is not None]
    for name in chats[1:]:
        problem = f"the desk has a chat already: `{chats[0]}`"
        yield ConfigFinding(("channels", name, "chat"), problem, "keep one of them")


def _chat(place: YamlPlace, chat: ChatSection) -> ConfigFindings:
    if chat.login_secret_file is not None and chat.login_secret_env is not None:
        problem = "there are several secrets: login_secret_file, login_secret_env"
        yield ConfigFinding((*place, "login_secret_env"), problem, "keep one of them")
    try:
        read_hours(chat.hours or {})
    except HoursUnreadable as error:
        yield ConfigFinding((*place, "hours"), str(error), 'write `{mon-fri: "9:00-17:00"}`')


def _chat_mail(place: YamlPlace, chat: ChatSection, draft: DeskDraft) -> ConfigFindings:
    """The mails of a chat leave by a channel that there is and that sends mail."""
    channels = draft.desk.channels
    if chat.proves is not None and chat.proves not in draft.desk.slots:
        slots = sorted(draft.desk.slots)
        fix = did_you_mean(chat.proves, slots, otherwise="name a slot of the desk")
        yield ConfigFinding((*place[:-1], "proves"), f"there is no slot `{chat.proves}`", fix)
    if chat.mail_by is None:
        return
    sending = [name for name, other in channels.items() if other.smtp or other.gmail]
    if chat.mail_by not in sending:
        fix = did_you_mean(chat.mail_by, sending, otherwise="name a channel with `smtp` or `gmail`")
        yield ConfigFinding(place, f"no channel `{chat.mail_by}` sends mail", fix)


def mode_findings(draft: DeskDraft) -> ConfigFindings:
    modes = draft.desk.modes
    if modes and draft.desk.mode is not None:
        yield ConfigFinding(
            ("mode",),
            "`mode` has no effect beside `modes`",
            "keep one of the two; `modes` has `else`",
        )
    categories = {*draft.categories()}
    for category in modes:
        if categories and category != ELSE and category not in categories:
            fix = did_you_mean(
                category, sorted(categories), otherwise=f"name a category, or `{ELSE}`"
            )
            yield ConfigFinding(
                ("modes", category),
                f"no stage gives the category `{category}`",
                fix,
                echo_of=("flows",),
            )


def _kind(place: YamlPlace, channel: ChannelSection) -> ConfigFindings:
    kinds = [
        name for name in ("imap", "gmail", "chat", "files") if getattr(channel, name) is not None
    ]
    if channel.imap is not None and channel.smtp is None:
        fix = (
            "add `smtp: {host: ...}`; with `mode: draft` nothing is sent unless somebody"
            " approves it"
        )
        yield ConfigFinding(
            place,
            "a mailbox that is read needs a server that takes the replies",
            fix,
            (*place, "smtp"),
        )
    if channel.smtp is not None and channel.imap is None:
        yield ConfigFinding(
            (*place, "smtp"), "`smtp` needs `imap` beside it", "add `imap: {...}`", (*place, "imap")
        )
    if not kinds and channel.smtp is None:
        yield ConfigFinding(
            place,
            "the channel has no kind",
            "add `imap` and `smtp`, `gmail`, `chat` or `files`",
            place,
        )
    if len(kinds) > 1:
        problem = f"the channel is of several kinds: {', '.join(kinds)}"
        yield ConfigFinding((*place, kinds[1]), problem, "make one channel of each")


def _identity(place: YamlPlace, channel: ChannelSection) -> ConfigFindings:
    if channel.identity is None:
        if channel.imap is not None or channel.gmail is not None:
            fix = "add `identity: Acme Support <support@acme.example>`"
            yield ConfigFinding(
                place,
                "the channel does not say who its replies are from",
                fix,
                (*place, "identity"),
            )
    elif identity_of(channel.identity) is None or "\n" in channel.identity:
        fix = "write `Acme Support <support@acme.example>`"
        yield ConfigFinding((*place, "identity"), "`identity` holds no mail address", fix)


def _secret(place: YamlPlace, server: ImapSection | SmtpSection) -> ConfigFindings:
    ways = [
        key
        for key in ("password_file", "password_env", "oauth")
        if getattr(server, key, None) is not None
    ]
    if not ways:
        fix = "add `password_file: secrets/imap`, `password_env: NAME` or `oauth: {...}`"
        yield ConfigFinding(place, "nothing says where the password lies", fix, place)
    if len(ways) > 1:
        yield ConfigFinding(
            (*place, ways[1]), f"there are several secrets: {', '.join(ways)}", "keep one of them"
        )
