"""What helps somebody who writes an answer: passages of articles, canned replies, the desk's own
draft."""

import json
import logging
from collections.abc import AsyncIterator
from typing import Any

from starlette.responses import Response, StreamingResponse

from deskhand.engine.canned_replies import canned_replies, values_for
from deskhand.errors import Conflict, DeskhandError
from deskhand.mail.reply import visible_reply
from deskhand.web.api.access import ServedDesk
from deskhand.web.console.frame import HEADERS
from deskhand.web.console.thread import Thread

log = logging.getLogger("deskhand.web")

_PASSAGES = 5
_LONGEST_QUESTION = 500


async def read_helps(desk: ServedDesk, thread: Thread, me: str, question: str) -> dict[str, Any]:
    """What the box offers. Passages are looked for only where somebody asks."""
    asked = question.strip()[:_LONGEST_QUESTION]
    language = None
    if thread.open_review is not None:
        language = thread.open_review.facts.get("language")
    values = values_for(thread.message, {}, reviewer=me, desk=desk.spec.name)
    return {
        "canned": canned_replies(desk.spec.reviews.canned, language, values),
        "can_draft": thread.message is not None and desk.drafts.can_draft(thread.run.flow),
        "passages": await desk.knowledge.search(asked, limit=_PASSAGES) if asked else [],
        "asked_passages": asked,
        "newest_words": _newest_words(thread),
    }


def _newest_words(thread: Thread) -> str:
    """What the customer said last: what one looks for first."""
    if thread.message is None:
        return ""
    words = visible_reply(thread.message.words) or thread.message.words
    return " ".join(words.split())[:_LONGEST_QUESTION]


async def whole_draft(desk: ServedDesk, run_id: str) -> str:
    """The desk's draft; Conflict says why there is none."""
    text = ""
    async for written in desk.drafts.write(run_id):
        text = written
    return text


def stream_draft(desk: ServedDesk, run_id: str) -> Response:
    """The draft while it is written: a line of JSON for each state of it."""
    headers = {**HEADERS, "Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    return StreamingResponse(
        _lines(desk, run_id), media_type="application/x-ndjson", headers=headers
    )


async def _lines(desk: ServedDesk, run_id: str) -> AsyncIterator[str]:
    try:
        async for written in desk.drafts.write(run_id):
            yield _line(text=written)
        yield _line(done=True)
    except Conflict as error:
        yield _line(problem=str(error))
    except DeskhandError as error:
        log.warning("no draft for %s: %s", run_id, error)
        yield _line(problem=f"the desk cannot draft now: {error}")


def _line(**fields: object) -> str:
    return json.dumps(fields, ensure_ascii=False) + "\n"
