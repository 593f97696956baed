"""The text that a review is searched by, kept in a column of its row.

The database alone finds words then, in every review, however many there are.
"""

from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa
from pydantic import ValidationError

from deskhand.adapters.stores.rows import unpack
from deskhand.adapters.stores.tables.reviews import reviews
from deskhand.adapters.stores.tables.runs import messages, runs
from deskhand.engine.review_search import searched_text
from deskhand.model.message import Message

CHUNK = 200

_PARTS = (
    sa.select(
        reviews.c.id,
        runs.c.id.label("run_id"),
        reviews.c.reason,
        reviews.c.assignee,
        reviews.c.payload,
        messages.c.body,
    )
    .join(runs, runs.c.position == reviews.c.run)
    .outerjoin(messages, messages.c.run == reviews.c.run)
)
_OF_RUN = (
    sa.select(runs.c.id, messages.c.body)
    .outerjoin(messages, messages.c.run == runs.c.position)
    .where(runs.c.position == sa.bindparam("position"))
)


def text_of(
    review_id: str,
    run_id: str,
    reason: str,
    assignee: str | None,
    payload: bytes | None,
    message: bytes | None,
) -> str:
    """The text of a review, from the columns of its row and of its message's."""
    return searched_text(
        review_id, run_id, reason, assignee, unpack(payload) or {}, _message(message)
    )


def _message(body: bytes | None) -> Message | None:
    """None as well for a body that somebody changed until it is no message any more: `audit
    verify` tells of it."""
    if body is None:
        return None
    try:
        return Message.model_validate_json(body)
    except ValidationError:
        return None


def text_of_new(
    core: sa.Connection, position: int, review_id: str, reason: str, payload: bytes
) -> str:
    """The text of a review that is about to be written; nobody has it yet."""
    run_id, message = core.execute(_OF_RUN, {"position": position}).one()
    return text_of(review_id, run_id, reason, None, payload, message)


def write_texts_of_run(core: sa.Connection, position: int) -> None:
    """Write the texts of a run's reviews anew, after they or its message changed."""
    _write(core, core.execute(_PARTS.where(reviews.c.run == position)).all())


def write_text(core: sa.Connection, review_id: str) -> None:
    """Write the text of a review anew, after something of it changed."""
    _write(core, core.execute(_PARTS.where(reviews.c.id == review_id)).all())


def write_all_texts(core: sa.Connection) -> None:
    """For a migration: the texts of all reviews there are."""
    after = ""
    in_order = _PARTS.order_by(reviews.c.id).limit(CHUNK)
    while rows := core.execute(in_order.where(reviews.c.id > after)).all():
        _write(core, rows)
        after = rows[-1].id


def _write(core: sa.Connection, rows: Sequence[Any]) -> None:
    for row in rows:
        here = reviews.c.id == row.id
        core.execute(reviews.update().where(here).values(search_text=text_of(*row)))
