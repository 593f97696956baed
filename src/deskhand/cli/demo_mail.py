"""The desks of `deskhand demo`, and the mail they are given."""

import asyncio
import os
import re
import time
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from email.utils import format_datetime, parsedate_to_datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from zoneinfo import ZoneInfo

if TYPE_CHECKING:
    from deskhand.wiring import LoadedDesk

CHANNEL = "mail"
_ZONE = ZoneInfo("Europe/Prague")
"""That of both desks; moved times keep their hour in it, in summer as in winter."""
_WRITTEN = datetime(2026, 3, 2, tzinfo=_ZONE)
"""The samples are from this week."""
_MAIL_DATE = re.compile(
    rb"^(Date: )(\w{3}, \d{1,2} \w{3} \d{4} \d\d:\d\d:\d\d [+-]\d{4})", re.MULTILINE
)
_EVENT_TIME = re.compile(rb"^(DT(?:START|END|STAMP):)(\d{8}T\d{6}Z)", re.MULTILINE)
_ICALENDAR = "%Y%m%dT%H%M%SZ"


class Shown(NamedTuple):
    """A desk of the demo, and the mailbox its sample mails were sent to."""

    desk: str
    about: str
    identity: str
    server: str
    mails_a_turn: int
    answers_alone: bool = False
    """Whether it shows the mode `auto` here, although the desk ships in `draft`."""


DESKS = (
    Shown(
        "inbox",
        "a company's mailbox, in draft mode",
        "Acme <support@acme.example>",
        "mx.acme.example",
        3,
    ),
    Shown(
        "pharmacy",
        "which pharmacy has which medicine; it ships in draft, the demo sets auto",
        "Dostupnost léků <info@dostupnost-leku.cz>",
        "mx.dostupnost-leku.cz",
        1,
        answers_alone=True,
    ),
)


CHAT_DESK = "orders"
"""The desk whose chat stands on a sample page."""


def with_chat(loaded: "LoadedDesk") -> "LoadedDesk":
    """The shipped desk with a chat that answers by itself."""
    from deskhand.config.sections.channels import ChannelSpec
    from deskhand.config.sections.chat import ChatSection
    from deskhand.model.message import Address

    words = {
        "title": "Lantern Shop",
        "greeting": "Hello! I can help with orders. What is it about?",
    }
    chat = ChatSection.model_validate(
        {"proves": "order", "hours": {"mon-fri": "9:00-17:00"}, "words": {"en": words}}
    )
    identity = Address(address=f"{CHAT_DESK}@localhost")
    channel = ChannelSpec(name="web", identity=identity, signature="", chat=chat)
    changed = {"channels": {"web": channel}, "mode": "auto"}
    return replace(loaded, spec=loaded.spec.model_copy(update=changed))


def at_home(loaded: "LoadedDesk", shown: Shown, folder: Path, undo: float) -> "LoadedDesk":
    """The shipped desk with a folder for a mailbox, and as the mail server of its samples would
    have it."""
    from deskhand.config.sections.channels import ChannelSpec, identity_of
    from deskhand.private_files import make_private_folder

    identity = identity_of(shown.identity)
    assert identity is not None
    incoming = folder / "incoming" / shown.desk
    make_private_folder(incoming)
    channel = ChannelSpec(name=CHANNEL, identity=identity, signature="", files=incoming)
    mail = loaded.spec.mail.model_copy(update={"trusted_servers": [shown.server]})
    changed: dict[str, Any] = {
        "channels": {CHANNEL: channel},
        "mail": mail,
        "undo_seconds": undo,
    }
    if shown.answers_alone:
        changed["mode"] = "auto"
    return replace(loaded, spec=loaded.spec.model_copy(update=changed))


def sample_mails(loaded: "Sequence[LoadedDesk]") -> list[tuple[str, Path]]:
    """Desk and file: each desk's oldest first, a few of one, then of the other."""
    waiting = [
        sorted((loaded_desk.spec.folder / "samples").glob("*.eml"), key=_written_at)
        for loaded_desk in loaded
    ]
    mails: list[tuple[str, Path]] = []
    while any(waiting):
        for shown, files in zip(DESKS, waiting, strict=True):
            mails += [(shown.desk, file) for file in files[: shown.mails_a_turn]]
            del files[: shown.mails_a_turn]
    return mails


def _written_at(file: Path) -> tuple[float, str]:
    from deskhand.mail import parse

    date = parse(file.read_bytes()).headers.get("date", "")
    return parsedate_to_datetime(date).timestamp() if date else 0.0, file.name


async def deliver(mails: Sequence[tuple[str, Path]], folder: Path, pace: float) -> None:
    """Deliver the mails in turn, as a mail server would; a file is whole once a little old."""
    for number, (desk, file) in enumerate(mails):
        if number:
            await asyncio.sleep(pace)
        new = folder / "incoming" / desk / file.name
        new.with_suffix(".part").write_bytes(dated_now(file.read_bytes(), datetime.now(_ZONE)))
        long_whole = time.time() - 5
        os.utime(new.with_suffix(".part"), (long_whole, long_whole))
        new.with_suffix(".part").rename(new)


def dated_now(mail: bytes, now: datetime) -> bytes:
    """A sample mail as if it had been written this week.

    Every date moves by the same number of weeks, so that weekdays and what is said about them stay
    true: "next Tuesday" and the times of invitations lie ahead. A mail that would then be written
    later than now is written now.
    """
    days = timedelta(days=(_monday(now) - _monday(_WRITTEN)).days)

    def header(match: "re.Match[bytes]") -> bytes:
        written = parsedate_to_datetime(match[2].decode())
        moved = (written.astimezone(_ZONE) + days).astimezone(written.tzinfo)
        return match[1] + format_datetime(min(moved, now.astimezone(written.tzinfo))).encode()

    def event(match: "re.Match[bytes]") -> bytes:
        moment = datetime.strptime(match[2].decode(), _ICALENDAR).replace(tzinfo=UTC)
        moved = (moment.astimezone(_ZONE) + days).astimezone(UTC)
        return match[1] + moved.strftime(_ICALENDAR).encode()

    return _EVENT_TIME.sub(event, _MAIL_DATE.sub(header, mail))


def _monday(day: datetime) -> date:
    return day.date() - timedelta(days=day.weekday())
