"""CalDAV: the few requests we need, each with a time limit; no secret in any error."""

import base64
import ssl
from dataclasses import dataclass
from datetime import UTC
from typing import Any
from urllib.parse import quote, urljoin, urlsplit

import aiohttp
from lxml import etree

from deskhand.adapters.channels.credentials import password_of
from deskhand.adapters.channels.mail_connection import MailLoginRefused, ServerUnavailable
from deskhand.config.sections.calendar import CalDavSpec
from deskhand.errors import ConfigError
from deskhand.model.booking import Span

_TIMEOUT = aiohttp.ClientTimeout(total=30)
LARGEST = 20_000_000
DAV, CALDAV = "{DAV:}", "{urn:ietf:params:xml:ns:caldav}"
_ABOUT = (
    b'<?xml version="1.0"?><propfind xmlns="DAV:" xmlns:c="urn:ietf:params:xml:ns:caldav"><prop>'
    b"<resourcetype/><displayname/><current-user-principal/><c:calendar-home-set/></prop></propfind>"
)
_EVENTS = """<?xml version="1.0"?><c:calendar-query xmlns="DAV:" xmlns:c="urn:ietf:params:xml:ns:caldav">
<prop><getetag/><c:calendar-data/></prop><c:filter><c:comp-filter name="VCALENDAR"><c:comp-filter name="VEVENT">
<c:time-range start="{start}" end="{end}"/></c:comp-filter></c:comp-filter></c:filter></c:calendar-query>"""  # noqa: E501


class Changed(Exception):
    """Somebody wrote the event since we read it."""


@dataclass(frozen=True, slots=True)
class Resource:
    """One thing on the server: what it is called, what it is, and what it points to."""

    href: str
    is_calendar: bool
    name: str
    leads_to: str | None


class CalDavClient:
    """One calendar on one server."""

    def __init__(self, spec: CalDavSpec) -> None:
        self._spec = spec
        self._url = spec.url if spec.url.endswith("/") else f"{spec.url}/"
        parts = urlsplit(spec.url)
        self.where = f"{parts.scheme}://{parts.netloc}{parts.path}"
        self._session: aiohttp.ClientSession | None = None

    async def events(self, frame: Span) -> list[bytes]:
        """All events that touch the frame, each as its calendar data."""
        start, end = (moment.astimezone(UTC).strftime("%Y%m%dT%H%M%SZ") for moment in frame)
        body = _EVENTS.format(start=start, end=end).encode()
        status, _, answer = await self._ask("REPORT", self._url, body, {"Depth": "1"})
        if status != 207:
            raise ServerUnavailable(f"{self.where} does not tell its events: {status}")
        return [
            text.encode()
            for node in _xml(answer, self.where).iter(f"{CALDAV}calendar-data")
            if (text := node.text)
        ]

    async def get(self, name: str) -> tuple[bytes, str] | None:
        """An event and the tag of how it is now; None when it is not there."""
        status, headers, answer = await self._ask("GET", self._href(name))
        if status in (404, 410):
            return None
        if status != 200:
            raise ServerUnavailable(f"{self.where} does not give an event: {status}")
        return answer, headers.get("ETag", "")

    async def put(self, name: str, data: bytes, tag: str | None = None) -> bool:
        """Write an event: a new one, or the one with this tag; False when there is one already."""
        headers = {"Content-Type": "text/calendar; charset=utf-8"}
        if tag is None:
            headers["If-None-Match"] = "*"
        elif tag:
            headers["If-Match"] = tag
        status, _, _ = await self._ask("PUT", self._href(name), data, headers)
        if status == 412:
            if tag is None:
                return False
            raise Changed(name)
        if status not in (200, 201, 204):
            raise ServerUnavailable(f"{self.where} does not take an event: {status}")
        return True

    async def delete(self, name: str) -> None:
        status, _, _ = await self._ask("DELETE", self._href(name))
        if status not in (200, 204, 404, 410):
            raise ServerUnavailable(f"{self.where} does not delete an event: {status}")

    async def about(self, url: str | None = None, depth: int = 0) -> list[Resource]:
        """What lies at an address."""
        status, _, answer = await self._ask(
            "PROPFIND", url or self._url, _ABOUT, {"Depth": str(depth)}
        )
        if status == 404:
            raise ConfigError(
                f"there is nothing at {self.where}", fix="write the calendar's own address"
            )
        if status != 207:
            raise ServerUnavailable(f"{self.where} is no CalDAV server: it answers {status}")
        return [_resource(node) for node in _xml(answer, self.where).iter(f"{DAV}response")]

    async def calendars(self) -> list[str]:
        """The addresses of the calendars this user has, as far as the server leads there."""
        url: str | None = self._url
        seen: set[str] = set()
        while url is not None and url not in seen:
            seen.add(url)
            resources = await self.about(url, depth=1)
            calendars = [
                urljoin(self._url, resource.href) for resource in resources if resource.is_calendar
            ]
            if calendars:
                return calendars
            leads_to = resources[0].leads_to if resources else None
            url = None if leads_to is None else urljoin(self._url, leads_to)
        return []

    async def close(self) -> None:
        if self._session is not None:
            await self._session.close()
            self._session = None

    # --- one request

    def _href(self, name: str) -> str:
        return f"{self._url}{quote(name, safe='')}.ics"

    async def _ask(
        self,
        method: str,
        url: str,
        body: bytes | None = None,
        headers: dict[str, str] | None = None,
    ) -> tuple[int, Any, bytes]:
        if urlsplit(url)[:2] != urlsplit(self._url)[:2]:
            raise ServerUnavailable(
                f"{self.where} leads to another server"
            )  # which does not get the password
        usual = {"Authorization": self._login(), "Content-Type": "application/xml; charset=utf-8"}
        if self._session is None:
            self._session = aiohttp.ClientSession(
                timeout=_TIMEOUT, cookie_jar=aiohttp.DummyCookieJar()
            )
        try:
            async with self._session.request(
                method,
                url,
                data=body,
                headers={**usual, **(headers or {})},
                allow_redirects=False,
                ssl=self._tls(),
            ) as response:
                answer = await response.content.read(LARGEST + 1)
                status, answer_headers = response.status, response.headers
                while len(answer) <= LARGEST and (
                    more := await response.content.read(LARGEST + 1 - len(answer))
                ):
                    answer += more
        except (aiohttp.ClientError, TimeoutError) as error:
            words = str(error) or "no answer in time"
            raise ServerUnavailable(f"{self.where} cannot be reached: {words}") from error
        if len(answer) > LARGEST:
            raise ServerUnavailable(f"{self.where} answers with more than {LARGEST} bytes")
        self._check(status, answer_headers)
        return status, answer_headers, answer

    def _login(self) -> str:
        login = self._spec.login
        return "Basic " + base64.b64encode(f"{login.user}:{password_of(login)}".encode()).decode()

    def _check(self, status: int, headers: Any) -> None:
        if status in (401, 403):
            raise MailLoginRefused(
                f"{self.where} does not let {self._spec.login.user} in: {status}"
            )
        if status in (301, 302, 307, 308):
            target = urlsplit(headers.get("Location", ""))
            raise ConfigError(
                f"{self.where} has moved",
                fix=f"write `url: {target.scheme}://{target.netloc}{target.path}`",
            )
        if status >= 500:
            raise ServerUnavailable(f"{self.where} has a fault of its own: {status}")

    def _tls(self) -> ssl.SSLContext | bool:
        if self._spec.ca_file is None:
            return True
        try:
            return ssl.create_default_context(cafile=str(self._spec.ca_file))
        except (OSError, ssl.SSLError) as error:
            raise ConfigError(
                f"the certificates in {self._spec.ca_file} cannot be read: {error}",
                fix="name a PEM file with `ca_file`",
            ) from None


def _xml(data: bytes, where: str) -> Any:
    """Nothing outside the document is looked up, and no entity is filled in."""
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False
    )
    try:
        return etree.fromstring(data, parser)
    except etree.XMLSyntaxError as error:
        raise ServerUnavailable(
            f"{where} answers with something that is no XML: {error.msg}"
        ) from None


def _resource(node: Any) -> Resource:
    leads = node.find(f".//{CALDAV}calendar-home-set/{DAV}href")
    if leads is None:
        leads = node.find(f".//{DAV}current-user-principal/{DAV}href")
    return Resource(
        href=node.findtext(f"{DAV}href") or "",
        is_calendar=node.find(f".//{DAV}resourcetype/{CALDAV}calendar") is not None,
        name=(node.findtext(f".//{DAV}displayname") or "").strip(),
        leads_to=None if leads is None else leads.text,
    )
