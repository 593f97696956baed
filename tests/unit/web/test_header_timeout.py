"""What the server's HTTP protocol does when a client stops sending."""

import asyncio
import socket
from collections.abc import Callable
from typing import Any

import pytest
import uvicorn
from uvicorn.server import ServerState

from deskhand.cli.service_process import compiled_event_loop
from deskhand.web.header_timeout import HeaderTimeoutProtocol

LOOPS = {"python": (None, 1), "compiled": (compiled_event_loop(), 0)}
"""With the rounds after which the answer is made: one loop looks for what came in before the tasks
of a round, the other after them."""


@pytest.mark.parametrize(("loop", "rounds"), LOOPS.values(), ids=LOOPS)
def test_an_answer_leaves_although_the_client_stopped_sending_in_the_same_round(
    loop: Callable[[], asyncio.AbstractEventLoop] | None, rounds: int
) -> None:
    with asyncio.Runner(loop_factory=loop) as runner:
        assert b"an answer" in runner.run(_answer_to_who_stops_sending(rounds))


async def _answer_to_who_stops_sending(rounds: int) -> bytes:
    client, server = socket.socketpair()

    async def app(scope: Any, receive: Any, send: Any) -> None:
        client.shutdown(socket.SHUT_WR)
        for _ in range(rounds):
            await asyncio.sleep(0)
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"an answer"})

    config = uvicorn.Config(app, log_config=None, lifespan="off")
    loop = asyncio.get_running_loop()
    received = b""
    with client:
        client.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        client.setblocking(False)
        await loop.connect_accepted_socket(
            lambda: HeaderTimeoutProtocol(config, ServerState(), {}), server
        )
        while part := await loop.sock_recv(client, 4096):
            received += part
    return received
