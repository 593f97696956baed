"""MCP servers, a program and a web service, from acceptance to crash.

The web service and one program are written with the official SDK, which takes seconds to start; the
program that fails in every way speaks the protocol by itself.
"""

import asyncio
import json
import os
import re
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from deskhand.adapters.mcp import LONGEST_TEXT, McpServer
from deskhand.cli import main
from deskhand.config.sections.mcp import McpServerSpec, Pin
from deskhand.engine.journal import fold
from deskhand.errors import ConfigError, ToolError
from deskhand.model.envelope import Envelope
from deskhand.model.run import RunStatus
from deskhand.wiring import open_database, open_desk, read_desk
from tests.kit import a_message
from tests.servers import free_port
from tests.waiting import PATIENCE, until

pytestmark = pytest.mark.skipif(
    find_spec("mcp") is None, reason="pip install deskhand[mcp] to test MCP servers"
)

OFFICIAL = Path(__file__).parents[1] / "mcp_server.py"
PROGRAM = Path(__file__).parents[1] / "mcp_program.py"


@pytest.fixture(scope="module")
def web_service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder, port = tmp_path_factory.mktemp("warehouse"), free_port()
    silent = subprocess.DEVNULL
    process = subprocess.Popen(
        [sys.executable, str(OFFICIAL), str(folder), str(port)], stdout=silent, stderr=silent
    )
    try:
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline and process.poll() is None:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.1)
        else:
            pytest.fail("the server did not start in time")
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        process.kill()
        process.wait(PATIENCE)


@asynccontextmanager
async def asked(url: str, pins: dict[str, Pin] | None = None) -> AsyncIterator[McpServer]:
    server = McpServer(McpServerSpec(name="warehouse", url=url, timeout=PATIENCE), pins or {})
    try:
        yield server
    finally:
        await server.close()


async def test_a_web_service_answers_within_bounds(web_service: str) -> None:
    async with asked(web_service) as server:
        found = await server.describe()
        assert found["find_stock"].description == "How many of an article are in stock."
        assert await server.call("find_stock", {"article": "A-1"}, PATIENCE) == {
            "article": "A-1",
            "count": 7,
        }
        assert await server.call("orders_of", {"customer": "c-ann"}, PATIENCE) == {
            "result": ["order of c-ann"]
        }
        several = [
            server.call("find_stock", {"article": str(number)}, PATIENCE) for number in range(5)
        ]
        assert [one["article"] for one in await asyncio.gather(*several)] == [
            "0",
            "1",
            "2",
            "3",
            "4",
        ]
        long = (await server.call("large", {}, PATIENCE))["text"]
        assert LONGEST_TEXT < len(long) < LONGEST_TEXT + 100
        with pytest.raises(ToolError, match="fail"):
            await server.call("fail", {}, PATIENCE)
        with pytest.raises(TimeoutError, match=r"did not answer within 0\.2 s"):
            await server.call("slow", {}, 0.2)
        assert (await server.call("find_stock", {"article": "A-2"}, PATIENCE))["count"] == 7, (
            "it goes on afterwards"
        )


async def test_a_tool_that_changed_is_refused_until_somebody_accepts_it(web_service: str) -> None:
    async with asked(web_service) as server:
        now = await server.describe()
    before = {
        "find_stock": now["find_stock"].changed(description="As it was."),
        "book": now["book"],
    }
    async with asked(web_service, before) as server:
        with pytest.raises(ToolError, match="its description changed") as caught:
            await server.call("find_stock", {"article": "A-1"}, PATIENCE)
        assert not caught.value.recoverable
        booked = await server.call(
            "book", {"article": "A", "count": 1, "request_key": "k"}, PATIENCE, anew=True
        )
        assert booked == {"booked": 1}, "the others are as they were"


async def test_whoever_does_not_wait_for_a_server_leaves_nothing_behind(tmp_path: Path) -> None:
    """The program says when it began; it never speaks the protocol."""
    code = (
        f"import os, pathlib, time; pathlib.Path({str(tmp_path)!r}, str(os.getpid())).touch();"
        " time.sleep(600)"
    )
    spec = McpServerSpec(
        name="silent", command=(sys.executable, "-c", code), timeout=PATIENCE, folder=tmp_path
    )
    server = McpServer(spec, {})
    waiting = asyncio.create_task(server.call("find_stock", {}, PATIENCE))
    await until(lambda: any(tmp_path.iterdir()))
    [begun] = tmp_path.iterdir()
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    await server.close()
    with pytest.raises(ProcessLookupError):
        os.kill(int(begun.name), 0)


async def test_a_server_that_is_not_there_says_so() -> None:
    async with asked(f"http://127.0.0.1:{free_port()}/mcp") as server:
        with pytest.raises(ToolError, match="cannot be reached") as caught:
            await server.call("find_stock", {"article": "A-1"}, 5)
        assert caught.value.error_type == "server_unavailable"


WEB_DESK = """
desk: web
mode: auto
brain: {{scripted: brain.yaml}}
mcp:
  servers: {{warehouse: {{url: "{url}", timeout: 60}}}}
  tools:
    warehouse.find_stock: {{effect: read, as: find_stock}}
    warehouse.book: {{effect: keyed}}
flows: {{work: {{stages: {{decide: {{task: decide, output: plan, next: act}}, act: {{tools: [find_stock]}}}}}}}}
"""  # noqa: E501
CASES = """
cases:
  - id: asks-nobody
    message: {body: How many?}
    expect: {called: [find_stock], status: done}
  - id: given
    message: {body: How many?}
    given: {tools: {find_stock: {article: A-1, count: 3}}}
    expect: {called: [find_stock], status: done}
"""


def test_the_doctor_sees_servers_and_an_eval_asks_none(
    web_service: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    desk = tmp_path / "desk"
    desk.mkdir()
    (desk / "desk.yaml").write_text(WEB_DESK.format(url=web_service))
    (desk / "brain.yaml").write_text(
        "rules:\n  - answer: {reasoning: x, steps: [{tool: find_stock, parameters: {article:"
        " A-1}}]}\n"
    )
    (desk / "evals.yaml").write_text(CASES)
    assert command(capsys, "mcp", "accept", str(desk), "--yes")[0] == 0
    _, said = command(capsys, "doctor", str(desk), "--database", str(tmp_path / "d.db"))
    found = [check["found"] for check in said["checks"] if check["name"] == "mcp"]
    assert found == [
        "warehouse: 2 of 7 tools offered",
        "find_stock (warehouse.find_stock): read, low risk",
        "warehouse_book (warehouse.book): irreversible, low risk",
    ]
    code, said = command(capsys, "eval", str(desk))
    assert code == 0, said
    pins = json.loads((desk / "mcp.lock.json").read_text())
    pins["warehouse.find_stock"]["description"] = "As it was."
    (desk / "mcp.lock.json").write_text(json.dumps(pins))
    code, said = command(capsys, "doctor", str(desk), "--database", str(tmp_path / "d.db"))
    [changed] = [check for check in said["checks"] if check["name"] == "mcp" and not check["ok"]]
    assert (code, changed["found"].endswith("its description changed")) == (1, True)
    assert "deskhand mcp accept" in changed["fix"]


async def test_a_program_of_the_official_sdk_answers(tmp_path: Path) -> None:
    command = (sys.executable, str(OFFICIAL), str(tmp_path))
    server = McpServer(
        McpServerSpec(name="warehouse", command=command, timeout=PATIENCE, folder=tmp_path), {}
    )
    try:
        assert await server.call("find_stock", {"article": "A-1"}, PATIENCE) == {
            "article": "A-1",
            "count": 7,
        }
    finally:
        await server.close()


# --- a program, on a whole desk

DESK = """
desk: shop
brain: {{scripted: brain.yaml}}
mcp:
  servers:
    warehouse: {{command: ["{python}", "{program}", "{folder}"], env: [WAREHOUSE_MODE], timeout: 120}}
  tools:
    warehouse.find_stock: {{effect: read, as: find_stock, timeout: 120}}
    warehouse.book: {{effect: keyed, key: request_key, as: book, timeout: 120}}
    warehouse.hidden: {{effect: read, timeout: 120}}
flows:
  work:
    stages:
      decide: {{task: decide, output: plan, next: act}}
      act: {{tools: [find_stock, book, warehouse_hidden], timeout: 500}}
"""  # noqa: E501
BRAIN = """
rules:
  - answer:
      reasoning: all of it
      steps:
        - {tool: find_stock, parameters: {article: A-1}}
        - {tool: book, parameters: {article: A-1, count: 2}}
        - {tool: book, parameters: {article: A-1, count: 2, request_key: mine}}
        - {tool: warehouse_hidden, parameters: {environment: SECRET}}
        - {tool: warehouse_hidden, parameters: {environment: WAREHOUSE_MODE}}
        - {tool: warehouse_hidden, parameters: {environment: PATH}}
        - {tool: warehouse_hidden, parameters: {environment: HOME}}
"""


def a_desk(folder: Path) -> Path:
    desk, warehouse = folder / "desk", folder / "warehouse"
    desk.mkdir()
    warehouse.mkdir()
    (desk / "desk.yaml").write_text(
        DESK.format(python=sys.executable, program=PROGRAM, folder=warehouse)
    )
    (desk / "brain.yaml").write_text(BRAIN)
    return desk


def command(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, Any]:
    code = main([*arguments, "--json"])
    return code, json.loads(capsys.readouterr().out)


def test_a_program_from_acceptance_to_a_crash_in_the_middle_of_a_call(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET", "never to be told")
    monkeypatch.setenv("WAREHOUSE_MODE", "trial")
    desk, warehouse = a_desk(tmp_path), tmp_path / "warehouse"
    with pytest.raises(ConfigError, match="nobody has accepted"):
        read_desk(str(desk))
    code, said = command(capsys, "mcp", "accept", str(desk), "--yes")
    assert (code, said["accepted"]) == (
        0,
        ["warehouse.book", "warehouse.find_stock", "warehouse.hidden"],
    )
    (warehouse / "die").touch()
    status, results = asyncio.run(worked(desk))
    assert status is RunStatus.DONE
    stock, booked, forged, secret, mode, *others = results
    assert stock["data"] == {"article": "A-1", "count": 7}
    assert booked["data"] == {"booked": 2}
    assert "request_key" in forged["error"]["message"], "the key is nobody's to choose"
    assert (secret["data"], mode["data"]) == ({"result": "nothing"}, {"result": "trial"})
    assert [other["data"] for other in others] == [{"result": "nothing"}] * 2, "PATH and HOME"
    calls = (warehouse / "calls.txt").read_text().splitlines()
    assert [call.partition(" A-1")[0] for call in calls] == [
        "find_stock",
        "book",
    ], "booked once, crash or not"
    (warehouse / "changed").touch()
    code, said = command(capsys, "mcp", "list", str(desk))
    states = {one["tool"]: one["state"] for one in said["tools"]}
    assert (code, states["warehouse.find_stock"], states["warehouse.book"]) == (
        1,
        "changed",
        "accepted",
    )
    assert states["warehouse.fail"] == "not listed"


@asynccontextmanager
async def a_program(folder: Path, pins: dict[str, Pin] | None = None) -> AsyncIterator[McpServer]:
    command = (sys.executable, str(PROGRAM), str(folder))
    server = McpServer(
        McpServerSpec(name="warehouse", command=command, timeout=PATIENCE, folder=folder),
        pins or {},
    )
    try:
        yield server
    finally:
        await server.close()


async def test_a_list_of_tools_that_changes_under_way_stops_what_changed(tmp_path: Path) -> None:
    """The server says that its list changed; what was accepted counts from the next call on."""
    async with a_program(tmp_path) as server:
        pins = await server.describe()
    async with a_program(tmp_path, pins) as server:
        assert (await server.call("find_stock", {"article": "A-1"}, PATIENCE))["count"] == 7
        (tmp_path / "changed").touch()
        assert (await server.call("find_stock", {"article": "A-1"}, PATIENCE))["count"] == 7
        with pytest.raises(ToolError, match=r"its description changed.*an operator has to look"):
            await server.call("find_stock", {"article": "A-1"}, PATIENCE)
        booked = await server.call(
            "book", {"article": "A", "count": 1, "request_key": "k"}, PATIENCE
        )
    assert booked == {"booked": 1}, "the others are as they were"


ONE_TOOL = """
rules: [{answer: {reasoning: all of it, steps: [{tool: find_stock, parameters: {article: A-1}}]}}]
"""


@pytest.mark.parametrize(
    ("trouble", "words"),
    [
        ("dies", "warehouse went away during the call"),
        ("hang", "did not answer within 1 s"),
        ("changed", "is not what was accepted"),
    ],
)
def test_whatever_a_server_does_the_run_ends_with_words_for_it(
    trouble: str,
    words: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("WAREHOUSE_MODE", "trial")
    desk = a_desk(tmp_path)
    (desk / "brain.yaml").write_text(ONE_TOOL)
    if trouble == "hang":
        text = (desk / "desk.yaml").read_text()
        (desk / "desk.yaml").write_text(
            text.replace("as: find_stock, timeout: 120", "as: find_stock, timeout: 1")
        )
    assert command(capsys, "mcp", "accept", str(desk), "--yes")[0] == 0
    (tmp_path / "warehouse" / trouble).touch()
    status, results = asyncio.run(worked(desk))
    assert status is RunStatus.DONE
    assert re.search(words, results[-1]["error"]["message"]), results[-1]


def test_a_huge_result_is_cut_and_the_run_goes_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WAREHOUSE_MODE", "trial")
    desk = a_desk(tmp_path)
    (desk / "brain.yaml").write_text(ONE_TOOL)
    assert command(capsys, "mcp", "accept", str(desk), "--yes")[0] == 0
    (tmp_path / "warehouse" / "huge").touch()
    status, results = asyncio.run(worked(desk))
    assert status is RunStatus.DONE
    text = results[-1]["data"]["text"]
    assert text.startswith('{"article": "A-1", "count": 7')
    assert text.endswith(f"[cut off after {LONGEST_TEXT:,} characters]")


async def worked(desk: Path) -> tuple[RunStatus, list[dict[str, Any]]]:
    async with (
        open_database(str(desk.parent / "desk.db")) as database,
        open_desk(read_desk(str(desk)), database, outbox=desk.parent / "outbox") as working,
    ):
        accepted = await working.dispatcher.submit(a_message())
        async with asyncio.timeout(PATIENCE):
            status = await working.dispatcher.wait(accepted.run_id)
        rows = await working.store.rows(accepted.run_id)
    results: list[dict[str, Any]] = fold(Envelope(), rows).outputs["act"]["results"]
    return status, results
