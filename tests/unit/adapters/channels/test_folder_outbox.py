"""The outbox of files."""

import subprocess
from collections.abc import Iterator
from email import message_from_bytes
from pathlib import Path

import pytest

from deskhand.adapters.channels.folder_outbox import FolderOutbox
from deskhand.errors import ToolError
from deskhand.model.message import Reply


@pytest.mark.parametrize(
    ("answers", "named"),
    [("<1@example.com>", "<1@example.com>"), ("msg_06gxxp3n3b7e51156pfn", None), (None, None)],
)
async def test_only_a_mail_is_named_as_what_is_answered(
    tmp_path: Path, answers: str | None, named: str | None
) -> None:
    """A message of the API has an id, which no mail program knows."""
    reply = Reply(to="ann@example.com", subject="Re: Hi", text="Hello", in_reply_to=answers)
    left = Path(await FolderOutbox(tmp_path).send(reply, "run_1.2.0"))
    mail = message_from_bytes(left.read_bytes())
    assert (mail["In-Reply-To"], mail["References"]) == (named, named)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "disk"
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(folder)]
    if subprocess.run(command, capture_output=True, check=False).returncode != 0:
        pytest.skip("this user may not mount a small disk")
    yield folder
    subprocess.run(["umount", folder], check=True)


async def test_a_full_disk_is_tried_again_and_leaves_nothing_half_written(
    small_disk: Path,
) -> None:
    outbox = FolderOutbox(small_disk)
    reply = Reply(to="ann@example.com", subject="Re: Hi", text="Hello\n" * 2000)
    filler = small_disk / "filler"
    filler.write_bytes(b"\0" * 60_000)
    with pytest.raises(ToolError, match=r"outbox .* cannot be written: No space left") as refused:
        await outbox.send(reply, "run_1.2.0")
    assert refused.value.recoverable  # so the delivery waits and is tried again
    assert list(small_disk.iterdir()) == [filler]
    filler.unlink()
    assert Path(await outbox.send(reply, "run_1.2.0")).read_bytes()


async def test_a_folder_that_cannot_be_made_is_no_riddle(tmp_path: Path) -> None:
    (tmp_path / "outbox").write_text("a file")
    reply = Reply(to="ann@example.com", subject="Re: Hi", text="Hello")
    with pytest.raises(ToolError, match="cannot be written: Not a directory"):
        await FolderOutbox(tmp_path / "outbox" / "here").send(reply, "run_1.2.0")
