"""A chat as colleagues see it: what was said, and where they answer in it themselves."""

from collections.abc import Mapping

from starlette.responses import RedirectResponse, Response

from deskhand.engine.manual_reply import answer_chat
from deskhand.errors import IncompleteDecision, NotFound
from deskhand.model.ids import new_id
from deskhand.model.message import CHAT
from deskhand.web.console.frame import Frame
from deskhand.web.console.session import HOME, Visit, chat_path
from deskhand.web.file_response import file_response

PLACE = f"{HOME}chat"


class ChatPages:
    """One chat: its lines, a form to answer in it, and who has it."""

    def __init__(self, frame: Frame) -> None:
        self._frame = frame

    async def chat(self, visit: Visit) -> Response:
        """The page; a form says something, takes the chat over or gives it back."""
        if visit.request.method == "POST":
            return await self._act(visit)
        return await self._show(visit, visit.request.query_params)

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

    async def _act(self, visit: Visit) -> Response:
        form = visit.form
        desk = visit.desk(form.get("desk", ""))
        conversation = form.get("conversation", "")[:1000]
        if await desk.chats.chat(conversation) is None:
            raise NotFound("there is no such chat")
        try:
            if "say" in form:
                key = form.get("key", "")[:100] or new_id("said")
                text = form.get("text", "")
                await answer_chat(desk.chats, conversation, key, visit.name, text)
            elif "take" in form:
                await desk.store.take_over(conversation, visit.name)
            else:
                await desk.store.give_back(conversation, visit.name)
        except IncompleteDecision as error:
            return await self._show(visit, form, problem=str(error), status=422)
        return RedirectResponse(chat_path(desk.spec.name, conversation), 303)

    async def _show(
        self, visit: Visit, named: Mapping[str, str], *, problem: str = "", status: int = 200
    ) -> Response:
        desk = visit.desk(named.get("desk", ""))
        conversation = named.get("conversation", "")[:1000]
        chat = await desk.chats.chat(conversation)
        if chat is None:
            raise NotFound("there is no such chat")
        shown = {
            "chat": chat,
            "desk_name": desk.spec.name,
            "lines": await desk.chats.lines(conversation, limit=1000),
            "standing": await desk.chats.standing(conversation),
        }
        if visit.request.query_params.get("part") == "lines":
            return self._frame.html(visit.request, "_chat_lines.html", **shown)
        return self._frame.html(
            visit.request,
            "chat.html",
            status,
            **await self._frame.around(visit, "approvals"),
            **shown,
            place=PLACE,
            path=chat_path(desk.spec.name, conversation),
            key=new_id("said"),
            problem=problem,
        )
