"""The outbox of files."""

from email import message_from_bytes
from pathlib import Path

import pytest

from deskhand.adapters.channels.folder_outbox import FolderOutbox
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
