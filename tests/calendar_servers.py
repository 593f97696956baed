"""A real CalDAV server for tests: Radicale on loopback, in a folder of its own."""

import base64
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from functools import cache
from pathlib import Path
from uuid import uuid4

import aiohttp

from tests.at_end import at_end
from tests.servers import free_port
from tests.waiting import PATIENCE

USER, PASSWORD = "support", "open sesame"
_CONFIGURATION = """
[server]
hosts = 127.0.0.1:{port}
[auth]
type = htpasswd
htpasswd_filename = {folder}/users
htpasswd_encryption = plain
delay = 0
[storage]
filesystem_folder = {folder}/collections
[logging]
level = error
"""


class RadicaleServer:
    """A throw-away server with one user."""

    def __init__(self) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="deskhand-radicale-"))
        self.port = free_port()
        (self._folder / "users").write_text(f"{USER}:{PASSWORD}\n")
        (self._folder / "config").write_text(
            _CONFIGURATION.format(port=self.port, folder=self._folder)
        )
        self.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/"

    def start(self) -> None:
        command = [sys.executable, "-m", "radicale", "--config", str(self._folder / "config")]
        self._process = subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        deadline = time.monotonic() + PATIENCE
        while not self._answers():
            assert self._process.poll() is None, "Radicale ended by itself"
            assert time.monotonic() < deadline, "Radicale did not come up within 60 s"
            time.sleep(0.05)

    def stop(self) -> None:
        self._process.terminate()
        self._process.wait(timeout=PATIENCE)

    def remove(self) -> None:
        self.stop()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _answers(self) -> bool:
        try:
            with socket.create_connection(("127.0.0.1", self.port), timeout=1):
                return True
        except OSError:
            return False

    async def new_calendar(self) -> "Collection":
        collection = Collection(f"{self.url}{USER}/{uuid4().hex[:12]}/")
        assert await collection.ask("MKCALENDAR", "") == 201
        return collection


class Collection:
    """A calendar as a colleague's program uses it."""

    def __init__(self, url: str) -> None:
        self.url = url

    async def ask(self, method: str, name: str, data: str | None = None) -> int:
        return (await self._ask(method, name, data))[0]

    async def text(self, name: str) -> str | None:
        status, text = await self._ask("GET", name)
        return text if status == 200 else None

    async def names(self) -> list[str]:
        """What lies in the calendar."""
        _, text = await self._ask("PROPFIND", "")
        return sorted(re.findall(r"/([^/<]+\.ics)<", text))

    async def add(self, uid: str, *lines: str) -> None:
        event = "\r\n".join(
            ["BEGIN:VEVENT", f"UID:{uid}", "DTSTAMP:20260101T000000Z", *lines, "END:VEVENT"]
        )
        data = f"BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:test\r\n{event}\r\nEND:VCALENDAR\r\n"
        assert await self.ask("PUT", f"{uid}.ics", data) in (201, 204)

    async def _ask(self, method: str, name: str, data: str | None = None) -> tuple[int, str]:
        login = {
            "Authorization": "Basic " + base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()
        }
        timeout = aiohttp.ClientTimeout(total=60)
        async with (
            aiohttp.ClientSession(headers=login, timeout=timeout) as session,
            session.request(method, self.url + name, data=data, headers={"Depth": "1"}) as response,
        ):
            return response.status, await response.text()


@cache
def radicale() -> RadicaleServer:
    """The one server all tests share."""
    server = RadicaleServer()
    at_end(server.remove)
    return server
