"""Chats among the messages: links of earlier versions lead to the thread, which shows its files."""

from starlette.responses import RedirectResponse, Response

from deskhand.errors import NotFound
from deskhand.model.message import CHAT
from deskhand.web.console.session import Visit
from deskhand.web.file_response import file_response


class ChatPages:
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
