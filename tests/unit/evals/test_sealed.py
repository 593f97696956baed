"""Nothing leaves a sandbox."""

import asyncio
import socket
import urllib.request
from contextlib import suppress

import pytest

from deskhand.evals.sealed import Sealed, ThroughTheSeal, refusals, sealed
from deskhand.model.chat import ChatRequest, Completion

FAR = ("203.0.113.1", 9)


def reach() -> None:
    """A datagram socket that connects sends nothing; a machine without a network says so, which
    is none of ours."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as out, suppress(OSError):
        out.connect(FAR)


def test_a_sandbox_opens_no_connection_to_another_machine() -> None:
    with sealed():
        with pytest.raises(Sealed, match=FAR[0]):
            reach()
        with pytest.raises(Sealed):
            urllib.request.urlopen("http://shop.example/", timeout=1)
        assert refusals() == 2
    reach()
    assert refusals() == 0  # outside nothing is refused


async def test_neither_does_a_thread_or_a_task_that_it_starts() -> None:
    with sealed():
        with pytest.raises(Sealed):
            await asyncio.to_thread(reach)
        with pytest.raises(Sealed):
            await asyncio.open_connection(*FAR)


async def test_this_machine_and_a_chosen_model_can_be_reached() -> None:
    class Model:
        async def complete(self, request: ChatRequest) -> Completion:
            reach()
            return Completion("yes", request.model)

        def stream(self, request: ChatRequest) -> None: ...

    server = await asyncio.start_server(lambda reader, writer: writer.close(), "127.0.0.1", 0)
    async with server:
        with sealed():
            _, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
            writer.close()
            await writer.wait_closed()
            answer = await ThroughTheSeal(Model()).complete(ChatRequest((), "m"))  # type: ignore[arg-type]
            assert answer.text == "yes"
            with pytest.raises(Sealed):
                reach()
