"""As an operator meets it: `deskhand serve --workers` takes messages in, `deskhand worker` works
them."""

import json
import os
import re
import signal
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.forked import ForkedProcess, run_command, start_command
from tests.servers import PostgresServer, postgres_programs
from tests.waiting import PATIENCE

pytest.importorskip("dbos", reason="DBOS is not installed (pip install deskhand[scale])")
pytestmark = pytest.mark.skipif(
    postgres_programs() is None,
    reason="PostgreSQL's server is not installed (Debian: apt-get install postgresql)",
)


@pytest.fixture
def server() -> Iterator[PostgresServer]:
    started = PostgresServer()
    yield started
    started.remove()


def told(server: PostgresServer, *arguments: str) -> Any:
    done = run_command(*arguments, "--json", "--database", server.url())
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def begin(
    folder: Path, server: PostgresServer, until: str, *arguments: str
) -> tuple[ForkedProcess, str]:
    """A command that keeps running, once it has said this."""
    errors = folder / f"{arguments[0]}.txt"
    errors.touch()
    command = [*arguments, "--database", server.url(), "--outbox", str(folder)]
    process = start_command(command, os.devnull, str(errors))
    deadline = time.monotonic() + PATIENCE
    while True:
        for line in errors.read_text().rpartition("\n")[0].splitlines():
            if until in line:
                return process, line
        if time.monotonic() > deadline:
            process.send(signal.SIGKILL)
            pytest.fail(errors.read_text())
        time.sleep(0.02)


def post(url: str, key: str, number: int) -> tuple[int, str | None]:
    body = {
        "id": f"m{number}",
        "from": "ann@example.com",
        "subject": "My parcel",
        "body": "Where is my parcel?",
    }
    headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
    request = urllib.request.Request(f"{url}/api/messages", json.dumps(body).encode(), headers)
    try:
        with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
            return answer.status, None
    except urllib.error.HTTPError as refused:
        with refused:
            return refused.code, refused.headers["Retry-After"]


@pytest.mark.slow
def test_messages_come_in_by_http_and_a_worker_works_them(
    server: PostgresServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    key = told(server, "keys", "add", "shop", "--scope", "messages:write", "--desk", "sample")[
        "secret"
    ]
    worker, line = begin(tmp_path, server, "works sample", "worker", "sample")
    intake, serving = begin(
        tmp_path, server, "serving", "serve", "sample", "--workers", "--port", "0"
    )
    try:
        url = re.findall(r"http://\S+", serving)[0]
        assert post(url, key, 1)[0] == 202
        server.stop()
        assert post(url, key, 2) == (503, "5")
        server.start()
        deadline = time.monotonic() + PATIENCE
        while post(url, key, 2)[0] != 202:
            assert time.monotonic() < deadline
            time.sleep(0.2)
        while any(
            run["status"] in ("queued", "running") for run in told(server, "runs", "list")["runs"]
        ):
            assert time.monotonic() < deadline
            time.sleep(0.2)
        assert len(told(server, "runs", "list")["runs"]) == 2
        found = told(server, "workers", "list")
        assert [one["id"] for one in found["workers"]] == re.findall(r"own_\w+", line)
        assert found["queues"] == []
    finally:
        for process in (intake, worker):
            process.send(signal.SIGTERM)
        codes = [process.wait() for process in (intake, worker)]
    assert codes == [0, 0]
    assert told(server, "workers", "list")["workers"] == []
    assert (
        told(server, "stop", "sample", "--reason", "wrong prices", "--by", "olga")["stopped"]["by"]
        == "olga"
    )
    [stopped] = told(server, "workers", "list")["stopped"]
    assert (stopped["desk"], stopped["by"], stopped["reason"]) == ("sample", "olga", "wrong prices")
