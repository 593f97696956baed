"""Mail from files: a folder, a maildir and an mbox are watched, and replies leave into the
outbox."""

import mailbox
import os
import time
from pathlib import Path

import pytest

from deskhand.model.run import RunStatus
from deskhand.wiring import Desk
from tests.mail_desk import at_work
from tests.mail_servers import a_mail
from tests.waiting import until

DESK = """
desk: mails
mode: auto
brain: {scripted: brain.yaml}
channels: {try: {files: ../mail}}
undo_seconds: 0
flows:
  answer:
    stages:
      draft: {task: draft, next: dispatch}
      dispatch: {service: dispatch}
"""


def desk_in(folder: Path) -> Path:
    desk = folder / "desk"
    desk.mkdir()
    (desk / "desk.yaml").write_text(DESK)
    (desk / "brain.yaml").write_text(
        "rules:\n  - answer: {text: It is on its way., language: en}\n"
    )
    return desk


def write(kind: str, place: Path, *numbers: int) -> None:
    if kind == "folder":
        place.mkdir(exist_ok=True)
        for number in numbers:
            file = place / f"{number}.eml"
            file.write_bytes(a_mail(number))
            os.utime(file, (time.time() - 60, time.time() - 60))
    elif kind == "maildir":
        box = mailbox.Maildir(place)
        for number in numbers:
            box.add(a_mail(number))
    else:
        mbox = mailbox.mbox(place)
        for number in numbers:
            mbox.add(a_mail(number))
        mbox.close()
        os.utime(place, (time.time() - 60, time.time() - 60))


async def all_sent(desk: Desk, count: int) -> None:
    async def sent() -> bool:
        return len(await desk.store.runs(status=RunStatus.SENT)) == count

    await until(sent)


@pytest.mark.parametrize("kind", ["folder", "maildir", "mbox"])
async def test_files_are_handed_in_once_and_answered_into_the_outbox(
    tmp_path: Path, kind: str
) -> None:
    write(kind, tmp_path / "mail", 1, 2)
    desk_folder = desk_in(tmp_path)
    for expected in (2, 3):  # a second life sees the new file alone
        async with at_work(desk_folder) as desk:
            await all_sent(desk, expected)
            assert len(await desk.store.runs()) == expected
        write(kind, tmp_path / "mail", 3)
    assert len(list((tmp_path / "outbox").glob("*.eml"))) == 3
