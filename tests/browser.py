"""A real browser for tests: Chromium without a window, driven over its debugging protocol."""

import asyncio
import base64
import json
import shutil
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from itertools import count
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from tests.waiting import PATIENCE

PROGRAM = (
    shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
)

needs_browser = pytest.mark.skipif(
    PROGRAM is None, reason="Chromium is not installed (Debian: apt-get install chromium)"
)


class Page:
    """One tab. What it loads, complains of and asks is remembered."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self._socket, self._numbers = socket, count(1)
        self._answers: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self.requested: list[str] = []
        self.complaints: list[str] = []
        self.dialogs: list[str] = []
        self._listening = asyncio.create_task(self._listen())

    async def call(self, method: str, **params: Any) -> dict[str, Any]:
        number = next(self._numbers)
        future = self._answers[number] = asyncio.get_running_loop().create_future()
        await self._socket.send_str(json.dumps({"id": number, "method": method, "params": params}))
        async with asyncio.timeout(PATIENCE):
            answer = await future
        assert "error" not in answer, (method, answer["error"])
        return dict(answer["result"])

    async def open(self, url: str) -> None:
        await self.call("Page.navigate", url=url)
        await self.until("location.href !== 'about:blank'")

    async def run(self, script: str) -> Any:
        """The value of a script in the page."""
        answer = await self.call(
            "Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True
        )
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    async def until(self, condition: str) -> None:
        """Wait for something to become true in a page that is loaded, its scripts run, also over
        a change of pages."""
        condition, last = f"document.readyState === 'complete' && ({condition})", ""
        with suppress(TimeoutError):
            async with asyncio.timeout(PATIENCE):
                while True:
                    try:
                        if last := await self.run(condition):
                            return
                    except AssertionError as error:  # between two pages
                        last = str(error)
                    await asyncio.sleep(0.05)
        raise AssertionError(
            f"not within {PATIENCE:g} s: {condition} ({last}); the page says: {await self.words()}"
        )

    async def words(self) -> str:
        return str(await self.run("document.body.innerText"))

    async def fill(self, selector: str, text: str) -> None:
        await self.run(f"document.querySelector({json.dumps(selector)}).select()")
        await self.call("Input.insertText", text=text)

    async def click(self, selector: str) -> None:
        await self.run(f"document.querySelector({json.dumps(selector)}).click()")

    async def press(self, key: str) -> None:
        """A key as a hand presses it."""
        codes = {"Enter": 13, "Escape": 27}
        text = {"Enter": "\r"}.get(key, "" if len(key) > 1 else key)
        known = {"key": key, "windowsVirtualKeyCode": codes.get(key, ord(key[0].upper()))}
        await self.call("Input.dispatchKeyEvent", type="keyDown", text=text, **known)
        await self.call("Input.dispatchKeyEvent", type="keyUp", **known)

    async def press_at_once(self, keys: str) -> None:
        """Keys that count only soon after each other, also where a machine is slow."""
        pressed = "new KeyboardEvent('keydown', { key, bubbles: true })"
        every = f"for (const key of {json.dumps(keys)})"
        await self.run(f"{every} document.activeElement.dispatchEvent({pressed})")

    async def look(
        self, *, width: int, height: int, dark: bool = False, phone: bool = False
    ) -> None:
        await self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=2 if phone else 1,
            mobile=phone,
        )
        feature = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        await self.call("Emulation.setEmulatedMedia", features=[feature])

    async def picture(self, path: Path) -> None:
        shot = await self.call("Page.captureScreenshot", format="png")
        path.write_bytes(base64.b64decode(shot["data"]))

    async def close(self) -> None:
        self._listening.cancel()
        await asyncio.gather(self._listening, return_exceptions=True)
        await self._socket.close()

    async def _listen(self) -> None:
        async for message in self._socket:
            told = json.loads(message.data)
            if "id" in told:
                self._answers.pop(told["id"]).set_result(told)
                continue
            params = told["params"]
            match told["method"]:
                case "Network.requestWillBeSent":
                    self.requested.append(params["request"]["url"])
                case "Page.javascriptDialogOpening":
                    self.dialogs.append(params["message"])
                    dismiss = {"method": "Page.handleJavaScriptDialog", "params": {"accept": False}}
                    await self._socket.send_str(json.dumps({"id": 0, **dismiss}))
                    self._answers[0] = asyncio.get_running_loop().create_future()
                case "Log.entryAdded":
                    self.complaints.append(params["entry"]["text"])
                case "Runtime.exceptionThrown":
                    self.complaints.append(str(params["exceptionDetails"]))


@asynccontextmanager
async def browser() -> AsyncIterator[Page]:
    """A tab of a browser with an empty profile that ends with the test."""
    assert PROGRAM is not None
    with tempfile.TemporaryDirectory(prefix="browser-", ignore_cleanup_errors=True) as profile:
        flags = [
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--no-first-run",
        ]
        flags += [
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-extensions",
            "--disable-sync",
        ]
        process = await asyncio.create_subprocess_exec(
            PROGRAM,
            *flags,
            "--remote-debugging-port=0",
            f"--user-data-dir={profile}",
            "about:blank",
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
        )
        try:
            port = await _port(Path(profile) / "DevToolsActivePort")
            async with aiohttp.ClientSession() as session:
                page = Page(await session.ws_connect(await _tab(session, port), max_msg_size=0))
                for part in ("Page", "Network", "Runtime", "Log"):
                    await page.call(f"{part}.enable")
                try:
                    yield page
                finally:
                    await page.close()
        finally:
            with suppress(ProcessLookupError):
                process.kill()
            await process.wait()


async def _port(file: Path) -> int:
    async with asyncio.timeout(PATIENCE):
        while True:
            lines = file.read_text().splitlines() if file.exists() else []
            if len(lines) == 2:
                return int(lines[0])
            await asyncio.sleep(0.05)


async def _tab(session: aiohttp.ClientSession, port: int) -> str:
    async with asyncio.timeout(PATIENCE):
        while True:
            async with session.get(f"http://127.0.0.1:{port}/json") as answer:
                tabs = [tab for tab in await answer.json() if tab["type"] == "page"]
            if tabs:
                return str(tabs[0]["webSocketDebuggerUrl"])
            await asyncio.sleep(0.05)
