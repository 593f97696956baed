"""The few calls of the Gmail API that a channel needs, in the shapes Google documents."""

import base64
import binascii
from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple
from urllib.parse import quote

import aiohttp

from deskhand.adapters.channels.credentials import Tokens
from deskhand.adapters.channels.mail_connection import MailLoginRefused, ServerUnavailable
from deskhand.config.sections.channels import GmailSpec
from deskhand.errors import ToolError

_TIMEOUT = aiohttp.ClientTimeout(total=60)
_PAGE = 100
_MOST_PAGES = 200


class HistoryGone(Exception):
    """The history id is older than what Gmail keeps (about a week)."""


class GmailMail(NamedTuple):
    raw: bytes
    labels: frozenset[str]


class Gmail:
    def __init__(self, spec: GmailSpec) -> None:
        self._root = f"{spec.base_url}/gmail/v1/users/{quote(spec.user)}"
        self._where = spec.base_url
        self._tokens = Tokens(spec.oauth)
        self._session: aiohttp.ClientSession | None = None
        self._labels: dict[str, str] = {}

    async def close(self) -> None:
        session, self._session = self._session, None
        if session is not None:
            await session.close()

    async def profile(self) -> dict[str, Any]:
        return await self._get("profile")

    async def added_since(self, history: str) -> tuple[list[str], str]:
        """Ids of mails that came since, oldest first, and the newest history id."""
        ids: list[str] = []
        page: str | None = None
        newest = history
        for _ in range(_MOST_PAGES):
            answer = await self._get(
                "history",
                startHistoryId=history,
                historyTypes="messageAdded",
                maxResults=str(_PAGE),
                **({"pageToken": page} if page else {}),
            )
            newest = str(answer.get("historyId", newest))
            for record in answer.get("history", ()):
                ids += [str(added["message"]["id"]) for added in record.get("messagesAdded", ())]
            page = answer.get("nextPageToken")
            if not page:
                break
        return list(dict.fromkeys(ids)), newest

    async def arrived_since(self, at: float) -> list[str]:
        """Ids of mails that Gmail took in since then, oldest first."""
        ids: list[str] = []
        page: str | None = None
        for _ in range(_MOST_PAGES):
            query = {
                "q": f"after:{int(at) - 60}",
                "maxResults": str(_PAGE),
                **({"pageToken": page} if page else {}),
            }
            answer = await self._get("messages", **query)
            ids += [str(mail["id"]) for mail in answer.get("messages", ())]
            page = answer.get("nextPageToken")
            if not page:
                break
        return ids[::-1]

    async def mail(self, gmail_id: str) -> GmailMail | None:
        """None when it was deleted since."""
        answer = await self._ask(
            "GET", f"messages/{quote(gmail_id)}", query={"format": "raw"}, missing=True
        )
        if answer is None:
            return None
        try:
            raw = base64.urlsafe_b64decode(str(answer["raw"]) + "===")
        except (binascii.Error, KeyError, ValueError) as error:
            raise ServerUnavailable(
                f"{self._where}: mail {gmail_id} came without its text"
            ) from error
        return GmailMail(raw, frozenset(str(label) for label in answer.get("labelIds", ())))

    async def with_message_id(self, message_id: str) -> list[dict[str, Any]]:
        answer = await self._get(
            "messages", q=f"rfc822msgid:{message_id.strip('<>')}", includeSpamTrash="true"
        )
        return list(answer.get("messages", ()))

    async def send(
        self, raw: bytes, thread: str | None, before: Callable[[], Awaitable[None]]
    ) -> None:
        """A ToolError says that it did not leave, any other fault that nobody knows.

        What `before` raises, just before the mail is given to Gmail, passes through.
        """
        body = {"raw": _encoded(raw), **({"threadId": thread} if thread else {})}
        try:
            token = await self._tokens.token()
        except (ServerUnavailable, MailLoginRefused) as error:
            raise ToolError("mail_server", str(error)) from error
        await before()
        async with self._http().post(
            f"{self._root}/messages/send", json=body, headers=_bearer(token)
        ) as response:
            if response.status >= 500:
                raise ConnectionError(
                    f"{self._where} answered {response.status} after it had been given the mail"
                )
            if response.status != 200:
                if response.status == 401:
                    self._tokens.forget()
                again = response.status in (401, 403, 429)
                raise ToolError(
                    "mail_refused", f"{self._where} answered {response.status}", recoverable=again
                )

    async def draft(self, raw: bytes, thread: str | None) -> None:
        message = {"raw": _encoded(raw), **({"threadId": thread} if thread else {})}
        await self._ask("POST", "drafts", body={"message": message})

    async def relabel(self, gmail_id: str, *, add: str, remove: str) -> None:
        body = {
            "addLabelIds": [await self._label(add)],
            "removeLabelIds": [await self._label(remove)],
        }
        await self._ask("POST", f"messages/{quote(gmail_id)}/modify", body=body, missing=True)

    async def labels(self) -> dict[str, str]:
        """The ids of the mailbox's labels, by name."""
        answer = await self._get("labels")
        return {str(label["name"]): str(label["id"]) for label in answer.get("labels", ())}

    async def make_label(self, name: str, *, shown: bool = True) -> str:
        """The new label's id; one that is not `shown` does not clutter Gmail's list."""
        visible = {"labelListVisibility": "labelShow", "messageListVisibility": "show"}
        hidden = {"labelListVisibility": "labelHide", "messageListVisibility": "hide"}
        body = {"name": name, **(visible if shown else hidden)}
        made = await self._ask("POST", "labels", body=body)
        return str((made or {})["id"])

    async def remove_label(self, label_id: str) -> None:
        await self._ask("DELETE", f"labels/{quote(label_id)}", missing=True)

    # --- inside

    async def _label(self, name: str) -> str:
        """The id of a label of ours, which is made when it is missing."""
        if not self._labels:
            self._labels = await self.labels()
        if name not in self._labels:
            self._labels[name] = await self.make_label(name)
        return self._labels[name]

    async def _get(self, path: str, **query: str) -> dict[str, Any]:
        answer = await self._ask("GET", path, query=query)
        assert answer is not None
        return answer

    async def _ask(
        self,
        method: str,
        path: str,
        *,
        query: dict[str, str] | None = None,
        body: dict[str, Any] | None = None,
        missing: bool = False,
    ) -> dict[str, Any] | None:
        headers = _bearer(await self._tokens.token())
        try:
            async with self._http().request(
                method, f"{self._root}/{path}", params=query, json=body, headers=headers
            ) as response:
                if response.status == 204:
                    return {}
                if response.status == 200:
                    answer: Any = await response.json(content_type=None)
                    return answer if isinstance(answer, dict) else {}
                status = response.status
        except (aiohttp.ClientError, TimeoutError, ValueError) as error:
            raise ServerUnavailable(f"{self._where}: {type(error).__name__}") from error
        if status == 404 and path == "history":
            raise HistoryGone
        if status == 404 and missing:
            return None
        if status == 401:
            self._tokens.forget()
            raise MailLoginRefused(f"{self._where} does not take the access token")
        raise ServerUnavailable(
            f"{self._where}: {method} {path.partition('/')[0]} was answered with {status}"
        )

    def _http(self) -> aiohttp.ClientSession:
        if self._session is None:
            self._session = aiohttp.ClientSession(timeout=_TIMEOUT)
        return self._session


def _bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def _encoded(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).decode()
