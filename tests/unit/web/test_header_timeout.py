"""What the server's HTTP protocol does when a client stops sending."""

import asyncio
import socket
from typing import Any

import uvicorn
from uvicorn.server import ServerState

from deskhand.web.header_timeout import HeaderTimeoutProtocol


async def test_an_answer_leaves_although_the_client_stopped_sending_in_the_same_round() -> None:
    client, server = socket.socketpair()

    async def app(scope: Any, receive: Any, send: Any) -> None:
        client.shutdown(socket.SHUT_WR)
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
    assert b"an answer" in received
