"""Searches the review queue in one stable order, page by page, also by words of a message."""

import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from deskhand.model.message import REPLY, Message
from deskhand.model.queue import QueuePosition, ReviewFilter
from deskhand.model.run import Review

if TYPE_CHECKING:  # ports bring every model along, and a list needs few of them
    from deskhand.ports.lists import Lists

_MOST_TERMS = 20


@dataclass(frozen=True, slots=True)
class ReviewHit:
    review: Review
    message: Message | None
    """None once it was erased."""


class _FoldedSearch(dict[int, str]):
    """What each character becomes, by its number; made when a character is first met."""

    def __missing__(self, number: int) -> str:
        plain = unicodedata.normalize("NFKD", chr(number).casefold())
        letters = "".join(letter for letter in plain if not unicodedata.combining(letter))
        folded = letters.casefold().replace("\0", "").encode("utf-8", "ignore").decode()
        self[number] = folded
        return folded


_FOLDING = _FoldedSearch()


def fold(text: str) -> str:
    """The text without what a search overlooks: upper case, accents and widths of letters.

    Each character is folded by itself. So whatever is part of a text is part of the folded text
    once it is folded too. What a database cannot keep as text is left out.
    """
    return text.translate(_FOLDING)


def terms_of(words: str) -> tuple[str, ...]:
    """The words to search for; a review must have all of them, however they are written."""
    terms = dict.fromkeys(fold(words).split())
    return tuple(terms)[:_MOST_TERMS]


def searched_text(
    review_id: str,
    run_id: str,
    reason: str,
    assignee: str | None,
    payload: Mapping[str, Any],
    message: Message | None,
) -> str:
    """All that a review is found by, folded: the stores keep it beside the review."""
    texts = [review_id, run_id, reason, assignee or ""]
    reply = payload.get(REPLY)
    if isinstance(reply, dict):
        texts.append(str(reply.get("text") or ""))
    if message is not None:
        texts += [message.subject, str(message.writer), str(message.sender), message.words]
    return fold("\n".join(texts))


async def walk(
    store: "Lists",
    wanted: ReviewFilter,
    *,
    beyond: QueuePosition | None = None,
    limit: int,
    backwards: bool = False,
) -> list[ReviewHit]:
    """The most dangerous first, then the nearest deadline, then the oldest; `backwards` reverses
    that.

    `beyond` is the place of the last item seen. What comes in or is decided meanwhile moves
    nothing: no item is shown twice, none is skipped.
    """
    reviews = await store.next_due(wanted, limit=limit, after=beyond, backwards=backwards)
    return await _with_messages(store, reviews)


async def search(
    store: "Lists",
    wanted: ReviewFilter,
    *,
    after: tuple[float, str] | None = None,
    limit: int,
    backwards: bool = False,
) -> list[ReviewHit]:
    """Reviews in order of time alone, oldest first; every review of the desk is searched."""
    reviews = await store.find_reviews(wanted, limit=limit, after=after, backwards=backwards)
    return await _with_messages(store, reviews)


async def _with_messages(store: "Lists", reviews: Sequence[Review]) -> list[ReviewHit]:
    messages = await store.messages([review.run_id for review in reviews])
    return [ReviewHit(review, messages.get(review.run_id)) for review in reviews]
