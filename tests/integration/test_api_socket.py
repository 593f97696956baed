"""The API behind a real server on a real socket."""

import asyncio
import socket
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest
import uvicorn

from deskhand.cli.serve import begin_to_stop
from tests.api_kit import Client, Served, is_problem, served
from tests.waiting import PATIENCE, until

FIFTY_MEGABYTES = 50_000_000


@pytest.fixture
async def shop(tmp_path: Path) -> AsyncIterator[Served]:
    async with served(tmp_path) as running:
        yield running


@pytest.fixture
async def client(shop: Served) -> AsyncIterator[httpx.AsyncClient]:
    key: Client = await shop.client()
    with socket.create_server(("127.0.0.1", 0)) as listener:
        server = uvicorn.Server(uvicorn.Config(shop.app, log_config=None, ws="none"))
        serving = asyncio.create_task(server.serve(sockets=[listener]))
        base = f"http://127.0.0.1:{listener.getsockname()[1]}"
        headers = {
            "Authorization": key.headers["Authorization"],
            "Content-Type": "application/json",
        }
        async with httpx.AsyncClient(base_url=base, headers=headers, timeout=PATIENCE) as caller:
            yield caller
        server.should_exit = True
        await serving


async def pieces(total: int) -> AsyncIterator[bytes]:
    for _ in range(0, total, 100_000):
        yield b" " * 100_000


async def test_fifty_megabytes_are_refused_in_words_whether_announced_or_not(
    client: httpx.AsyncClient,
) -> None:
    is_problem(
        await client.post("/api/messages", content=pieces(FIFTY_MEGABYTES)),
        413,
        "message_too_large",
    )
    announced = {"Content-Length": str(FIFTY_MEGABYTES)}
    refused = await client.post("/api/messages", content=pieces(FIFTY_MEGABYTES), headers=announced)
    is_problem(refused, 413, "message_too_large")
    accepted = await client.post(
        "/api/messages?wait=20", json={"from": "ann@example.com", "body": "Hello"}
    )
    assert accepted.json()["status"] == "sent"


async def test_paths_in_any_bytes_are_not_found(client: httpx.AsyncClient) -> None:
    for path in (
        "/api/runs/%ff%00",
        "/api/runs/%ed%a0%80",
        "/%2e%2e/%2e%2e/etc/passwd",
        "/api/runs/a%2fb",
    ):
        is_problem(await client.get(path), 404, "not_found")


async def test_a_server_that_stops_answers_whoever_waits(
    client: httpx.AsyncClient, shop: Served
) -> None:
    body = {"from": "ann@example.com", "body": "slow"}
    waiting = asyncio.create_task(client.post("/api/messages?wait=30", json=body))
    await until(shop.is_working)
    await shop.desks["shop"].dispatcher.stop(grace=0)
    answer = await asyncio.wait_for(waiting, PATIENCE)
    assert (answer.status_code, answer.json()["status"]) == (202, "queued")


async def test_a_signal_to_stop_answers_whoever_waits_while_the_run_goes_on(shop: Served) -> None:
    key = await shop.client()
    body = {"from": "ann@example.com", "body": "slow"}
    config = uvicorn.Config(shop.app, log_config=None, timeout_graceful_shutdown=20)
    server = uvicorn.Server(config)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        serving = asyncio.create_task(server.serve(sockets=[listener]))
        url = f"http://127.0.0.1:{listener.getsockname()[1]}/api/messages?wait=30"
        headers = {"Authorization": key.headers["Authorization"]}
        async with httpx.AsyncClient(headers=headers, timeout=PATIENCE) as caller:
            waiting = asyncio.create_task(caller.post(url, json=body))
            await until(shop.is_working)
            begin_to_stop(server)
            answer = await waiting
        await serving
    assert (answer.status_code, answer.json()["status"]) == (202, "running")
    assert answer.headers["Location"] == f"/api/runs/{answer.json()['run']}"
