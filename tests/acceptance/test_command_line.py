"""The installed command as a user meets it: its own process, its exit codes, its signals."""

import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.automatic import automatic_copy
from tests.cli_kit import SAMPLES
from tests.forked import run_command, start_command
from tests.servers import free_port
from tests.waiting import PATIENCE

DESKHAND = [sys.executable, "-m", "deskhand.cli"]


@pytest.fixture
def clean(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in [name for name in os.environ if name.startswith(("DESKHAND_", "SAMPLE_"))]:
        monkeypatch.delenv(name)
    return tmp_path


@pytest.fixture
def parcels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample desk as it sends by itself."""
    return automatic_copy("sample", tmp_path_factory.mktemp("desks") / "sample")


def deskhand(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """In a process of its own that has imported everything already."""
    return run_command(*map(str, arguments))


def started_anew(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """As a user starts it."""
    return subprocess.run(
        [*DESKHAND, *map(str, arguments)], capture_output=True, text=True, timeout=PATIENCE
    )


HEAVY = (
    "aiohttp",
    "alembic",
    "asyncpg",
    "fastapi",
    "numpy",
    "onnxruntime",
    "pydantic",
    "sklearn",
    "sqlalchemy",
    "uvicorn",
)

SHOWN_BY = ("COLUMNS", "FORCE_COLOR", "LINES", "TTY_COMPATIBLE", "TTY_INTERACTIVE")
"""What tells of a window. Readline sets some of them behind Python's back, and a test process
which another one started finds them there."""


@pytest.mark.parametrize(
    "start",
    [
        "import deskhand",
        "from deskhand.cli.app import command_line; command_line()",
        "from deskhand import Message, tool",
    ],
)
def test_nothing_heavy_is_imported_before_it_is_needed(start: str) -> None:
    """What this is worth in CPU time is measured in bench/startup.py."""
    allowed = ("pydantic",) if "Message" in start else ()
    code = f"{start}\nimport sys\nprint([name for name in {HEAVY} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert [name for name in json.loads(done.stdout.replace("'", '"')) if name not in allowed] == []


@pytest.mark.slow
def test_a_command_that_looks_starts_without_what_works(clean: Path) -> None:
    """No model, no HTTP client or server and no PostgreSQL driver: they take seconds to import. Nor
    the reader of YAML that is written in Python, as long as nothing is wrong with a file. What only
    reads a SQLite file does without SQLAlchemy, too, and a desk without code of its own is read
    without what runs tools, asks models or reads mail. Prompts that only fill in values need no
    Jinja2, and what is written into a pipe, as long as nothing has to be cut, no Rich."""
    working = ("agents", "brain", "engine.loop", "mail", "outgoing", "tools.gate", "tools.registry")
    unneeded = (
        *HEAVY,
        "sqlalchemy.orm",
        "sqlalchemy.dialects.postgresql",
        "ruamel.yaml",
        "holidays",
        "jinja2",
        "rich.console",
        *(f"deskhand.{name}" for name in working),
    )
    lists = ("pydantic",)
    deskhand("run", SAMPLES / "order-status.eml", "--desk", "sample", "--live")
    stores = (*lists, "sqlalchemy", "deskhand.mail", "rich.console")
    for command, needed in (
        ("runs list", (*lists, "rich.console")),
        ("reviews list", (*lists, "rich.console")),
        (f"doctor inbox --port {free_port()}", lists),  # a taken one is told at length
        ("modes show inbox", lists),
        ("stop sample", stores),
        ("tickets list", stores),
        ("contacts list", stores),
        ("telemetry sinks inbox", (*stores, "deskhand.agents")),
        ("route --analyse inbox", (*lists, "rich.console")),
    ):
        heavy = [name for name in unneeded if name not in needed]
        code = (
            "import sys\nfrom deskhand.cli import main\n"
            f"main({command.split()})\n"
            f"print([name for name in {heavy} if name in sys.modules], file=sys.stderr)"
        )
        done = subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            check=True,
            env={name: value for name, value in os.environ.items() if name not in SHOWN_BY},
        )
        assert (command, done.stderr.splitlines()[-1]) == (command, "[]")


def test_json_alone_is_on_stdout(clean: Path, parcels: Path) -> None:
    done = started_anew("run", SAMPLES / "which-parcel.json", "--desk", parcels, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    assert [turn["status"] for turn in json.loads(done.stdout)["turns"]] == ["waiting_user", "sent"]


@pytest.mark.slow
def test_an_answer_days_later_in_another_process_goes_on(clean: Path, parcels: Path) -> None:
    for number, body in enumerate(("When will my parcel come?", "It is P-1003.")):
        message = {
            "from": "ben@example.com",
            "conversation": "c1",
            "subject": "Parcel",
            "body": body,
        }
        (clean / f"{number}.json").write_text(json.dumps(message))
    first = json.loads(deskhand("run", "0.json", "--desk", parcels, "--live", "--json").stdout)
    second = json.loads(deskhand("run", "1.json", "--desk", parcels, "--live", "--json").stdout)
    assert (first["status"], second["status"]) == ("waiting_user", "sent")
    assert "P-1003" in second["reply"]["text"]


def test_a_database_in_a_folder_that_may_not_be_written_is_one_clear_line(clean: Path) -> None:
    if os.geteuid() == 0:
        done = deskhand(
            "run",
            SAMPLES / "spam.eml",
            "--desk",
            "sample",
            "--live",
            "--database",
            "/proc/deskhand.db",
        )
    else:
        clean.chmod(0o500)
        done = deskhand("run", SAMPLES / "spam.eml", "--desk", "sample", "--live")
    assert done.returncode == 1
    assert done.stderr.startswith("error: database ")
    assert done.stderr.count("\n") == 1


# --- serve


class StartedAnew:
    """A process that Python and everything else starts in, as a user's does."""

    def __init__(self, arguments: Sequence[str], errors: Path) -> None:
        with errors.open("ab") as output:
            self._process = subprocess.Popen(
                [*DESKHAND, *arguments], stderr=output, stdout=subprocess.DEVNULL
            )
        self.pid = self._process.pid

    def send(self, number: signal.Signals) -> None:
        self._process.send_signal(number)

    def wait(self) -> int:
        return self._process.wait(timeout=PATIENCE)


class Served:
    """A serving process and what it logs."""

    def __init__(self, errors: Path, desk: Path, *arguments: str, anew: bool = False) -> None:
        command = ["serve", str(desk), "--port", "0", "--log-json", *arguments]
        self._errors = errors
        errors.touch()
        self._process = (
            StartedAnew(command, errors)
            if anew
            else start_command(command, os.devnull, str(errors))
        )
        self.pid = self._process.pid
        self._code: int | None = None
        self.url = ""

    @property
    def errors(self) -> str:
        """What it has said so far."""
        return self._errors.read_text()

    @property
    def lines(self) -> list[dict[str, Any]]:
        """What it has logged so far."""
        whole = self.errors.rpartition("\n")[0]
        return [json.loads(line) for line in whole.splitlines()]

    def until_it_serves(self) -> None:
        until = time.monotonic() + PATIENCE
        while not self.url:
            assert time.monotonic() < until, self.errors
            time.sleep(0.02)
            urls = [re.search(r"http://\S+", line["message"]) for line in self.lines]
            self.url = next((url[0] for url in urls if url), "")

    def stop(self, number: signal.Signals = signal.SIGTERM) -> int:
        self._process.send(number)
        return self.wait()

    def wait(self) -> int:
        """Its exit code, once it has ended."""
        if self._code is None:
            self._code = self._process.wait()
        return self._code

    def call(
        self, method: str, path: str, key: str | None = None, body: Any = None
    ) -> tuple[int, Any]:
        headers = {"Content-Type": "application/json"} | (
            {"Authorization": f"Bearer {key}"} if key else {}
        )
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data, headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as error:
            with error:
                return error.code, json.load(error)


@pytest.fixture
def serve(
    clean: Path, parcels: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[..., Served]]:
    started: list[Served] = []

    def start(*arguments: str, desk: Path = parcels, anew: bool = False) -> Served:
        errors = tmp_path_factory.mktemp("served") / "errors"
        served = Served(errors, desk, *arguments, anew=anew)
        started.append(served)
        served.until_it_serves()
        return served

    yield start
    for served in started:
        served.stop(signal.SIGKILL)


def a_key() -> str:
    scopes = [part for scope in ("messages:write", "runs:read") for part in ("--scope", scope)]
    made = deskhand("keys", "add", "test", *scopes, "--desk", "sample", "--json")
    secret: str = json.loads(made.stdout)["secret"]
    return secret


def eventually(look: Callable[[], bool]) -> None:
    until = time.monotonic() + PATIENCE
    while not look():
        assert time.monotonic() < until, "it did not happen in time"
        time.sleep(0.1)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_served_desk_works_messages_and_stops_gracefully(
    serve: Callable[..., Served], clean: Path, number: signal.Signals
) -> None:
    served, key = serve(anew=number == signal.SIGTERM), a_key()
    assert served.call("GET", "/readyz")[0] == 200
    assert (
        served.call("POST", "/api/messages", body={"from": "ann@example.com", "body": "P-1001?"})[0]
        == 401
    )
    message = {"from": "ann@example.com", "subject": "Parcel", "body": "Where is my parcel P-1001?"}
    status, accepted = served.call("POST", "/api/messages", key, message)
    assert status == 202
    eventually(
        lambda: served.call("GET", f"/api/runs/{accepted['run']}", key)[1]["status"] == "sent"
    )
    assert served.stop(number) == 0
    assert served.lines[-1]["message"] == "stopped"
    assert any(
        line.get("run_id") == accepted["run"] and line.get("agent") == "draft"
        for line in served.lines
    )
    assert key not in json.dumps(served.lines)
    assert len(list((clean / "outbox").glob("*.eml"))) == 1


@pytest.mark.parametrize(
    ("shipped", "line"),
    [
        (True, "sample: nothing leaves without a person"),
        (False, "sample: every reply may leave without a person, except to refund"),
    ],
)
def test_serving_says_what_may_leave_without_a_person(
    serve: Callable[..., Served], parcels: Path, shipped: bool, line: str
) -> None:
    served = serve(desk=Path("sample") if shipped else parcels)
    assert served.call("GET", "/readyz")[0] == 200
    assert served.stop() == 0
    assert line in [logged["message"] for logged in served.lines]


def test_a_second_process_is_told_who_serves(serve: Callable[..., Served]) -> None:
    served = serve()
    second = deskhand("serve", "sample", "--port", "0")
    assert second.returncode == 1
    assert f"is served by process {served.pid}" in second.stderr
    assert "Traceback" not in second.stderr
    assert served.call("GET", "/readyz")[0] == 200


@pytest.mark.slow
def test_a_decision_made_in_another_process_is_taken_up(
    serve: Callable[..., Served], clean: Path
) -> None:
    story = json.loads(
        deskhand("run", SAMPLES / "refund.eml", "--desk", "sample", "--live", "--json").stdout
    )
    serve()
    assert deskhand("reviews", "approve", story["review"]["id"], "--by", "ann").returncode == 0
    shown = ("runs", "show", story["run"], "--json")
    eventually(lambda: json.loads(deskhand(*shown).stdout)["status"] == "sent")


def test_a_process_whose_lease_is_gone_says_so_and_ends(
    serve: Callable[..., Served], clean: Path
) -> None:
    served = serve()
    with sqlite3.connect(clean / "deskhand.db", timeout=10) as raw:
        raw.execute("UPDATE leases SET owner='own_other', expires_at=expires_at+1000")
    raw.close()
    assert served.wait() == 1
    assert "error: another process serves" in served.errors
    assert "deskhand.db now" in served.errors
    assert "Traceback" not in served.errors


def test_a_port_in_use_is_a_usage_error(serve: Callable[..., Served]) -> None:
    port = serve().url.rpartition(":")[2]
    done = deskhand("serve", "sample", "--port", port, "--database", "other.db")
    assert done.returncode == 2
    assert f"cannot listen on 127.0.0.1:{port}: Address already in use" in done.stderr


def test_two_desks_of_one_name_cannot_be_served(clean: Path) -> None:
    done = deskhand("serve", "sample", "sample", "--port", "0")
    assert done.returncode == 2
    assert "two desks are called 'sample'" in done.stderr


def test_two_desks_share_a_process_and_a_database(
    serve: Callable[..., Served], clean: Path
) -> None:
    assert deskhand("init", "other").returncode == 0
    served = serve("other")
    assert "sample, other" in next(
        line["message"] for line in served.lines if "http://" in line["message"]
    )
    assert served.call("GET", "/readyz")[0] == 200
    assert served.stop() == 0
