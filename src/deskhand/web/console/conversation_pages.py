"""Messages: the conversations of all desks, and one of them as a thread in which people answer."""

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from starlette.responses import RedirectResponse, Response

from deskhand.engine.decisions import check_colleagues_note, decisions_for
from deskhand.engine.manual_reply import answer_chat
from deskhand.errors import Conflict, IncompleteDecision, NotFound
from deskhand.model.access import Role
from deskhand.model.contact import Contact
from deskhand.model.ids import new_id
from deskhand.model.message import CHAT, Message
from deskhand.model.run import ConversationTurn, Decision, Event, Review, ReviewKind, Run
from deskhand.web.api.access import ServedDesk
from deskhand.web.api.problems import Refused
from deskhand.web.console.actions import act
from deskhand.web.console.composing import read_helps, stream_draft, whole_draft
from deskhand.web.console.frame import Frame
from deskhand.web.console.labels import age
from deskhand.web.console.notices import with_notice
from deskhand.web.console.runs_pages import STATUSES
from deskhand.web.console.screened_page import read_before
from deskhand.web.console.session import Visit
from deskhand.web.console.thread import NOTE, Thread, read_thread
from deskhand.web.file_response import file_response

PLACE = "/messages/"
PAGE = 40
_NOTICED = {"take_over": "taken_over", "give_back": "given_back"}
"""Actions that the next page says were done."""
_MOMENT = 3.0
"""Seconds to wait for a reply to leave, so that the thread shows it."""
Tab = Literal["all", "people", "mine"]


@dataclass(frozen=True, slots=True)
class ListedConversation:
    """A conversation in the list, by its newest message."""

    desk: str
    run: Run
    message: Message
    age: str
    taken_by: str | None

    @property
    def path(self) -> str:
        return f"{PLACE}{self.desk}/{self.run.id}"


class ChatPages:
    """Chats among the messages: links of earlier versions, and files that came with lines."""

    async def chat(self, visit: Visit) -> Response:
        """Lead to the thread that the chat is now part of."""
        named = visit.request.query_params
        desk = visit.desk(named.get("desk", ""))
        conversation = named.get("conversation", "")[:1000]
        runs = await desk.store.runs(conversation=conversation, limit=1)
        if not runs:
            raise NotFound("there is no such chat")
        return RedirectResponse(f"/messages/{desk.spec.name}/{runs[0].id}", 303)

    async def file(self, visit: Visit) -> Response:
        """A file that came with a line."""
        desk = visit.desk(visit.request.path_params["desk"])
        message = visit.request.query_params.get("message", "")[:1000]
        turn = await desk.store.message_known(CHAT, message)
        if turn is None:
            raise NotFound("there is no such message")
        number = int(visit.request.path_params["number"])
        stored = [file for file in await desk.store.files(turn.run.id) if not file.by]
        if number >= len(stored):
            raise NotFound("there is no such file")
        return file_response(await desk.store.file(turn.run.id, stored[number].id), inline=False)


class ConversationPages:
    def __init__(self, frame: Frame) -> None:
        self._frame = frame

    async def conversations(self, visit: Visit) -> Response:
        listed, around = await asyncio.gather(
            self._list(visit), self._frame.around(visit, "messages")
        )
        return self._frame.html(visit.request, "messages.html", **around, **listed, thread=None)

    async def thread(self, visit: Visit) -> Response:
        return await self._show(visit, None)

    async def _show(
        self, visit: Visit, problem: str | None, status: int = 200, *, text: str = ""
    ) -> Response:
        desk, run_id = _place(visit)
        run = await desk.store.run(run_id)
        thread, listed, around = await asyncio.gather(
            read_thread(desk, run), self._list(visit), self._frame.around(visit, "messages")
        )
        passages = visit.request.query_params.get("passages", "")
        taken_by, contact, helps = await asyncio.gather(
            desk.store.taken_over_by(thread.run.conversation),
            _contact(desk, thread),
            read_helps(desk, thread, visit.name, passages),
        )
        return self._frame.html(
            visit.request,
            "messages.html",
            status,
            **around,
            **listed,
            thread=thread,
            taken_by=taken_by,
            contact=contact,
            statuses=STATUSES,
            reply_by=_reply_by(thread),
            **helps,
            problem=problem,
            text=text,
            key=new_id("said"),
        )

    async def _list(self, visit: Visit) -> dict[str, Any]:
        params = visit.request.query_params
        tab: Tab = "mine" if params.get("tab") == "mine" else "all"
        if params.get("tab") == "people":
            tab = "people"
        rows, more, counts = await _read_list(visit, tab, read_before(params))
        return {"rows": rows, "more": more, "counts": counts, "tab": tab, "place": PLACE}

    async def act(self, visit: Visit) -> Response:
        """Reply, note, draft, take over or give back; what cannot be is said above the words,
        which stay."""
        desk, run_id = _place(visit)
        action = visit.request.path_params["action"]
        text = visit.form.get("text", "").strip()
        run = await desk.store.run(run_id)
        if action == "draft" and visit.part:
            return stream_draft(desk, run.id)
        try:
            if action == "draft":
                return await self._show(visit, None, text=await whole_draft(desk, run.id))
            if action == "reply":
                await _reply(visit, desk, run, text)
            elif action == "note":
                await _note(visit, desk, run, text)
            elif action == "take_over":
                await desk.store.take_over(run.conversation, visit.name)
            elif action == "give_back":
                await desk.store.give_back(run.conversation, visit.name)
            else:
                raise Refused(404, f"there is no action {action!r}")
        except (Conflict, IncompleteDecision) as error:
            return await self._show(visit, str(error), 409, text=text)
        return RedirectResponse(_after(action, f"{desk.spec.name}/{run_id}"), 303)


async def _reply(visit: Visit, desk: ServedDesk, run: Run, text: str) -> None:
    """Send what a person wrote: in a chat as a line, else as the answer to what waits."""
    if not text:
        raise Conflict("the answer is empty; write something")
    if await desk.chats.chat(run.conversation) is not None:
        key = visit.form.get("key", "")[:100] or new_id("said")
        await answer_chat(desk.chats, run.conversation, key, visit.name, text)
        desk.dispatcher.wake()
        return
    thread = await read_thread(desk, run)
    review = thread.open_review
    decision = _decision_for(review)
    if review is None or decision is None:
        raise Conflict(_NOTHING_WAITS)
    if not visit.role.covers(Role.APPROVER):
        raise Refused(403, f"to decide what waits needs the role {Role.APPROVER}; leave a note")
    form = {
        "text": text,
        "version": str(review.version),
        "hash": review.payload_hash,
    }
    await act(desk, decision, review.id, form, visit.session.user, patience=_MOMENT)


_NOTHING_WAITS = (
    "no message of this conversation waits for an answer; write from your mail program, or wait"
    " until the customer writes again"
)


def _decision_for(review: Review | None) -> Decision | None:
    """What answering means for the review that waits; None where it takes no answer."""
    if review is None:
        return None
    possible = decisions_for(review)
    if Decision.ANSWER in possible:
        return Decision.ANSWER
    takes_edit = review.kind is ReviewKind.REPLY and Decision.EDIT in possible
    return Decision.EDIT if takes_edit else None


def _after(action: str, of: str) -> str:
    """Where an action leads: to the end of the thread, which says what was done."""
    place = f"{PLACE}{of}#end"
    return with_notice(place, _NOTICED[action], of) if action in _NOTICED else place


async def _contact(desk: ServedDesk, thread: Thread) -> Contact | None:
    """Whom the conversation is with; None once the message was erased."""
    if thread.message is None:
        return None
    return await desk.contacts.seen(thread.message.writer.address)


def _reply_by(thread: Thread) -> str:
    """How a reply leaves: `chat`, `answer`, or not at all."""
    if thread.is_chat:
        return "chat"
    return "answer" if _decision_for(thread.open_review) is not None else ""


async def _note(visit: Visit, desk: ServedDesk, run: Run, text: str) -> None:
    check_colleagues_note(text)
    await desk.store.record_event(Event(NOTE, run.id, visit.name, {"text": text}))


async def _read_list(
    visit: Visit, tab: Tab, before: int | None
) -> tuple[list[ListedConversation], int | None, dict[str, int]]:
    """A page of conversations, the latest first, where the next begins, and counts by tab."""
    now = time.time()
    listed: list[ListedConversation] = []
    counts = {"people": 0, "mine": 0}
    of_desks = await visit.of_each_desk(lambda desk: desk.store.taken_over())
    latest: dict[str, Sequence[ConversationTurn]] = {}
    if tab == "all":
        latest = await visit.of_each_desk(
            lambda desk: desk.store.conversations(limit=PAGE + 1, before=before)
        )
    for name, taken in of_desks.items():
        takers = {taken_over.conversation: taken_over.by for taken_over in taken}
        mine = [taken_over for taken_over in taken if taken_over.by == visit.name]
        counts["people"] += len(taken)
        counts["mine"] += len(mine)
        chosen = mine if tab == "mine" else taken
        turns = [taken_over.turn for taken_over in chosen if taken_over.turn is not None]
        shown_turns = latest.get(name, turns)
        listed += [_listed(name, turn, takers, now) for turn in shown_turns]
    listed.sort(key=lambda row: row.run.position, reverse=True)
    shown = listed[:PAGE]
    more = shown[-1].run.position if len(listed) > PAGE else None
    return shown, more, counts


def _listed(
    desk: str, turn: ConversationTurn, takers: Mapping[str, str], now: float
) -> ListedConversation:
    run = turn.run
    taken_by = takers.get(run.conversation)
    return ListedConversation(desk, run, turn.message, age(now - run.created_at), taken_by)


def _place(visit: Visit) -> tuple[ServedDesk, str]:
    params: Mapping[str, str] = visit.request.path_params
    return visit.desk(params["desk"]), params["run"][:200]
