"""An IMAP server that answers as a script says: for what real servers do and Dovecot does not."""

import asyncio
import re
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from deskhand.config.sections.channels import Login, ServerSpec

PASSWORD = "open sesame"
USER = "support@acme.test"
GREETING = "* OK ready"
HANG_UP = "!"
"""An answer that ends with this ends the connection."""

_LITERAL = re.compile(rb"\{(\d+)(\+?)\}\r\n$")


@dataclass
class ScriptedImap:
    """Answers each command with what the script has for it, else with OK.

    A command is known by its first word, for UID commands by its first two. `TAG` stands for the
    command's own tag. Of several answers each is given once, the last one for ever.
    """

    answers: dict[str, list[str]]
    greeting: str
    capabilities: str
    port: int = 0
    heard: list[str] = field(default_factory=list)
    connections: int = 0

    @property
    def verbs(self) -> list[str]:
        return [_verb(line) for line in self.heard]

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            writer.write(self.greeting.removesuffix(HANG_UP).encode() + b"\r\n")
            if not self.greeting.endswith(HANG_UP):
                while line := await self._command(reader, writer):
                    self.heard.append(line)
                    if not await self._answer(line, reader, writer):
                        break
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass  # the client or the test is over
        finally:
            writer.close()

    async def _command(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> str:
        """The next command with its literals in it."""
        line = await reader.readline()
        while match := _LITERAL.search(line):
            if not match[2]:
                writer.write(b"+ go ahead\r\n")
            line += await reader.readexactly(int(match[1])) + await reader.readline()
        return line.decode(errors="replace").removesuffix("\r\n")

    async def _answer(
        self, line: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> bool:
        """False where the connection is over."""
        tag, verb = line.split()[0], _verb(line)
        default = f"* CAPABILITY {self.capabilities}\r\nTAG OK done" if verb == "CAPABILITY" else ""
        script = self.answers.get(verb) or [default or "TAG OK done"]
        answer = script.pop(0) if len(script) > 1 else script[0]
        text = answer.removesuffix(HANG_UP).replace("TAG", tag)
        if text:
            writer.write(text.encode("utf-8", "surrogateescape") + b"\r\n")
        if answer.endswith(HANG_UP):
            return False
        if verb in ("IDLE", "AUTHENTICATE") and "+ " in text:
            self.heard.append((await reader.readline()).decode().strip())
            end = self.answers.get(f"{verb} END", ["TAG OK done"])[0]
            writer.write(end.replace("TAG", tag).encode() + b"\r\n")
        return True


def _verb(line: str) -> str:
    words = line.upper().split()[1:3]
    return " ".join(words if words[:1] == ["UID"] else words[:1])


@asynccontextmanager
async def scripted_imap(
    answers: Mapping[str, str | list[str]] | None = None,
    *,
    greeting: str = GREETING,
    capabilities: str = "IMAP4rev1 IDLE UIDPLUS MOVE",
) -> AsyncIterator[ScriptedImap]:
    script: dict[str, list[str]] = {}
    for verb, answer in (answers or {}).items():
        script[verb] = [answer] if isinstance(answer, str) else list(answer)
    imap = ScriptedImap(script, greeting, capabilities)
    server = await asyncio.start_server(imap.serve, "127.0.0.1", 0)
    imap.port = int(server.sockets[0].getsockname()[1])
    try:
        yield imap
    finally:
        server.close()


def scripted_spec(port: int, folder: Path) -> ServerSpec:
    (folder / "secret").write_text(PASSWORD)
    login = Login(user=USER, password_file=folder / "secret")
    return ServerSpec(host="127.0.0.1", port=port, security="none", ca_file=None, login=login)
