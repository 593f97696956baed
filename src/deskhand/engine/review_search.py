"""Searches the review queue in one stable order, page by page, also by words of a message."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from deskhand.model.message import REPLY, Message
from deskhand.model.queue import QueuePosition, ReviewFilter
from deskhand.model.run import Review
from deskhand.ports import Store

_PAGE = 200
MOST_SEARCHED = 5000
"""Reviews that one search looks through."""


@dataclass(frozen=True, slots=True)
class Item:
    review: Review
    message: Message | None
    """None once it was erased."""


def terms_of(words: str) -> tuple[str, ...]:
    """The words to search for; a review must have all of them, in upper or lower case."""
    return tuple(words.casefold().split())[:20]


async def walk(
    store: Store,
    wanted: ReviewFilter,
    terms: Sequence[str] = (),
    *,
    beyond: QueuePosition | None = None,
    limit: int,
    backwards: bool = False,
) -> list[Item]:
    """Emergencies first, then the oldest; `backwards` reverses that.

    `beyond` is the place of the last item seen. What comes in or is decided meanwhile moves
    nothing: no item is shown twice, none is skipped.
    """
    items: list[Item] = []
    for emergency in (False, True) if backwards else (True, False):
        if beyond is not None and emergency == beyond[0] and emergency != backwards:
            continue  # the place lies in the other part, which comes after this one
        after = beyond[1:] if beyond is not None and emergency != beyond[0] else None
        part = replace(wanted, emergency=emergency)
        items += await search(
            store, part, terms, after=after, limit=limit - len(items), backwards=backwards
        )
        if len(items) >= limit:
            break
    return items


async def search(
    store: Store,
    wanted: ReviewFilter,
    terms: Sequence[str] = (),
    *,
    after: tuple[float, str] | None = None,
    limit: int,
    backwards: bool = False,
) -> list[Item]:
    """Reviews in order of time alone, oldest first."""
    items: list[Item] = []
    searched = 0
    while len(items) < limit and searched < MOST_SEARCHED:
        page = _PAGE if terms else limit - len(items)
        reviews = await store.find_reviews(wanted, limit=page, after=after, backwards=backwards)
        messages = await store.messages([review.run_id for review in reviews])
        page_items = [Item(review, messages.get(review.run_id)) for review in reviews]
        items += [item for item in page_items if not terms or _is_about(item, terms)]
        if len(reviews) < page:
            break
        searched += len(reviews)
        after = (reviews[-1].created_at, reviews[-1].id)
    return items[:limit]


def _is_about(item: Item, terms: Sequence[str]) -> bool:
    review = item.review
    message = item.message
    reply: Any = review.payload.get(REPLY)
    texts = [review.id, review.run_id, review.reason, review.assignee or ""]
    if isinstance(reply, dict):
        texts.append(str(reply.get("text") or ""))
    if message is not None:
        texts += [message.subject, str(message.writer), str(message.sender), message.words]
    text = "\n".join(texts).casefold()
    return all(term in text for term in terms)
