"""What every store promises about files: kept with their message, whole, once, and erased."""

from hashlib import sha256

import pytest

from deskhand.errors import Conflict, NotFound
from deskhand.model.attached_files import AttachedFile, FileOrigin
from deskhand.model.message import Attachment
from deskhand.model.queue import ReviewFilter
from deskhand.model.run import Decision, NewReview, ReviewKind, RunStatus, Verdict
from tests.conformance.adapters import Stores
from tests.kit import a_message

BYTES = bytes(range(256)) * 4000
FILES = (
    Attachment(name="a.bin", type="application/pdf", size=len(BYTES), content=BYTES),
    Attachment(name="large.bin", type="x/y", size=9, content=b"x", not_kept="too large"),
    Attachment(name="empty.txt", type="text/plain", size=0, content=b""),
)


async def test_files_are_kept_with_their_message(stores: Stores) -> None:
    store, other = await stores(), await stores("other")
    message = a_message().changed(attachments=FILES)
    accepted = await store.accept(message, flow="flow")
    assert (await store.accept(message, flow="flow")).duplicate
    first, last = await store.files(accepted.run_id)
    assert (first.name, first.number, first.size) == ("a.bin", 1, len(BYTES))
    assert (first.digest, first.origin) == (sha256(BYTES).hexdigest(), FileOrigin.MESSAGE)
    assert (last.name, last.number) == ("empty.txt", 3)
    assert await store.file(accepted.run_id, first.id) == AttachedFile(
        "a.bin", "application/pdf", BYTES
    )
    stored = await store.message(accepted.run_id)
    assert stored is not None
    assert [file.content for file in stored.attachments] == [None, None, None]
    assert await other.files(accepted.run_id) == []
    with pytest.raises(NotFound):
        await other.file(accepted.run_id, first.id)
    with pytest.raises(NotFound):  # what a customer sent is nothing to send along
        await store.file(accepted.run_id, first.id, FileOrigin.REPLY)


async def test_a_reviewers_file_belongs_to_the_run_and_goes_with_it(stores: Stores) -> None:
    store = await stores()
    run_id = (await store.accept(a_message().changed(attachments=FILES), flow="flow")).run_id
    await store.claim(run_id, {"flow": "v1"})
    asked = NewReview(ReviewKind.REPLY, "unsure", {"reply": {"to": "a@b.cz", "text": "Hello"}})
    await store.finish(run_id, RunStatus.WAITING_REVIEW, review=asked)
    [review] = await store.find_reviews(ReviewFilter(run_id=run_id))
    brought = await store.attach(review.id, "ida", AttachedFile("b.pdf", "application/pdf", b"%"))
    assert (brought.run_id, brought.origin, brought.by) == (run_id, FileOrigin.REPLY, "ida")
    assert [file.id for file in await store.files(run_id)][-1] == brought.id
    await store.decide(review.id, Verdict(Decision.REJECT, "ida", review.version))
    with pytest.raises(Conflict):
        await store.attach(review.id, "ida", AttachedFile("c.pdf", "application/pdf", b"%"))
    await store.cancel(run_id, "ida")
    await store.erase("ann@example.com", "ida")
    assert await store.files(run_id) == []
