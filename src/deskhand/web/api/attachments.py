"""Files of runs: what customers attached, and what reviewers attach to replies."""

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path, Query, Request
from fastapi.responses import Response

from deskhand.engine.attachment_list import ListedFile, list_files, read_attachments
from deskhand.model.access import Scope
from deskhand.model.attached_files import (
    ANY_TYPE,
    AttachedFile,
    FileOrigin,
    safe_file_name,
    safe_type,
)
from deskhand.web.api.access import Caller, may
from deskhand.web.api.request_body import read_bytes
from deskhand.web.api.views import View
from deskhand.web.file_response import file_response

router = APIRouter(prefix="/api", tags=["attachments"])

RunReader = Annotated[Caller, Depends(may(Scope.RUNS_READ))]
ReviewReader = Annotated[Caller, Depends(may(Scope.REVIEWS_READ))]
Decider = Annotated[Caller, Depends(may(Scope.REVIEWS_WRITE))]
_FILE: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {ANY_TYPE: {"schema": {"type": "string", "format": "binary"}}},
    }
}
Id = Annotated[str, Path(max_length=200)]


class AttachmentView(View):
    attachment: str | None
    """The id to open it by; null where its bytes are not kept."""
    origin: FileOrigin
    name: str
    type: str
    size: int
    not_kept: str | None
    """Why its bytes are not kept."""
    by: str | None
    """Who brought it, where it is to leave with a reply."""

    @classmethod
    def of(cls, file: ListedFile) -> "AttachmentView":
        return cls(
            attachment=file.attachment,
            origin=file.origin,
            name=file.name,
            type=file.type,
            size=file.size,
            not_kept=file.not_kept,
            by=file.by,
        )


@router.get("/runs/{run_id}/attachments")
async def list_attachments(caller: RunReader, run_id: Id) -> list[AttachmentView]:
    """What came with a run's message, in order, and what reviewers brought for its replies."""
    _, files = await caller.look(f"run {run_id}", lambda store: read_attachments(store, run_id))
    return list(map(AttachmentView.of, files))


@router.get("/runs/{run_id}/attachments/{attachment_id}", response_class=Response)
async def open_attachment(caller: RunReader, run_id: Id, attachment_id: Id) -> Response:
    """The file itself, always as a download."""
    _, file = await caller.look(
        f"attachment {attachment_id}", lambda store: store.file(run_id, attachment_id)
    )
    return file_response(file)


@router.get("/reviews/{review_id}/attachments")
async def list_of_review(caller: ReviewReader, review_id: Id) -> list[AttachmentView]:
    """The same, of the run that a review belongs to."""
    desk, review = await caller.look(f"review {review_id}", lambda store: store.review(review_id))
    files = await read_attachments(desk.store, review.run_id)
    return list(map(AttachmentView.of, files))


@router.post("/reviews/{review_id}/attachments", status_code=201, openapi_extra=_FILE)
async def attach(
    request: Request,
    caller: Decider,
    review_id: Id,
    name: Annotated[str, Query(min_length=1, max_length=255)],
) -> AttachmentView:
    """Bring a file that is to leave with a reply: the body is the file, `name` its name.

    Nothing is sent by it: name its id under `edit.attachments` of a decision.
    """
    desk, review = await caller.look(f"review {review_id}", lambda store: store.review(review_id))
    content = await read_bytes(request, desk.spec.limits.max_attachment_bytes)
    file_type = safe_type(request.headers.get("content-type", ""))
    file = AttachedFile(safe_file_name(name), file_type, content)
    stored = await desk.store.attach(review.id, caller.key.name, file)
    [listed] = list_files(None, [stored])
    return AttachmentView.of(listed)


@router.get("/reviews/{review_id}/attachments/{attachment_id}", response_class=Response)
async def open_of_review(caller: ReviewReader, review_id: Id, attachment_id: Id) -> Response:
    """The same, of the run that a review belongs to."""
    desk, review = await caller.look(f"review {review_id}", lambda store: store.review(review_id))
    return file_response(await desk.store.file(review.run_id, attachment_id))
