"""A search engine that answers as SearXNG does: `GET /search?q=...&format=json`."""

import json
from typing import Any, cast

import aiohttp

from deskhand.errors import ToolError

LARGEST = 2_000_000
"""Bytes of one answer; a page of results has a few ten thousand."""


class SearxSearch:
    """Asks one address: it follows no redirects and uses no proxies of the environment."""

    def __init__(self, url: str, timeout: float = 10.0) -> None:
        self._url, self._timeout = url, timeout

    async def search(self, query: str) -> list[dict[str, str]]:
        """Title, address and text of what was found, best first."""
        limit = aiohttp.ClientTimeout(total=self._timeout)
        parameters = {"q": query, "format": "json"}
        try:
            async with (
                aiohttp.ClientSession(timeout=limit) as session,
                session.get(self._url, params=parameters, allow_redirects=False) as response,
            ):
                if response.status != 200:
                    raise _refused(response.status)
                body = await _bounded(response)
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            words = "the search engine does not answer"
            raise ToolError("search_unavailable", words) from error
        return _results(body)


async def _bounded(response: aiohttp.ClientResponse) -> bytes:
    body = bytearray()
    async for piece in response.content.iter_chunked(65536):
        body += piece
        if len(body) > LARGEST:
            raise ToolError("search_unreadable", "the search engine's answer is too large")
    return bytes(body)


def _refused(status: int) -> ToolError:
    if status == 403:
        words = (
            "the search engine gives no JSON (its settings must list `json` under search.formats)"
        )
        return ToolError("search_refused", words, recoverable=False)
    if status == 429:
        return ToolError("search_refused", "the search engine was asked too often; try later")
    return ToolError(
        "search_refused",
        f"the search engine answered with status {status}",
        recoverable=status >= 500,
    )


def _results(body: bytes) -> list[dict[str, str]]:
    try:
        answer: Any = json.loads(body)
    except (ValueError, RecursionError):
        raise ToolError("search_unreadable", "the search engine did not answer in JSON") from None
    listed = cast(dict[str, Any], answer).get("results") if isinstance(answer, dict) else None
    if not isinstance(listed, list):
        raise ToolError("search_unreadable", "the search engine's answer holds no list of results")
    entries = [cast(dict[str, Any], entry) for entry in listed if isinstance(entry, dict)]
    return [
        {
            "title": _text(entry.get("title")),
            "url": _text(entry.get("url")),
            "text": _text(entry.get("content")),
        }
        for entry in entries
    ]


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
