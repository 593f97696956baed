"""Requests made from the API's own description by schemathesis, against a desk on loopback: no
answer is a 5xx, or one that the description does not know. `make fuzz` installs it in an
environment of its own and runs this."""

import asyncio
import os
import socket
import subprocess
from pathlib import Path

import pytest
import uvicorn

from deskhand.web.header_timeout import HeaderTimeoutProtocol
from tests.api_kit import served

ROOT = Path(__file__).parents[2]
SCHEMATHESIS = ROOT / ".venv-fuzz" / "bin" / "schemathesis"
EXAMPLES = os.environ.get("DESKHAND_FUZZ_EXAMPLES", "10")
"""How many requests are made for each operation."""
CHECKS = ",".join(
    (
        "not_a_server_error",
        "status_code_conformance",
        "content_type_conformance",
        "response_schema_conformance",
    )
)

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not SCHEMATHESIS.exists(), reason="schemathesis is missing: `make fuzz`"),
]


def fuzz(url: str, authorization: str, folder: Path) -> subprocess.CompletedProcess[str]:
    command = [str(SCHEMATHESIS), "run", f"{url}/openapi.json"]
    command += ["--header", f"Authorization: {authorization}", "--checks", CHECKS]
    command += ["--max-examples", EXAMPLES, "--seed", "20261117", "--generation-database", "none"]
    command += ["--phases", "fuzzing", "--request-timeout", "60"]
    command += ["--exclude-path-regex", "events$"]  # their answers do not end
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)


async def test_no_request_that_the_description_allows_or_forbids_fails(tmp_path: Path) -> None:
    async with served(tmp_path, approvals=True) as shop:
        client = await shop.client()
        for body in ("Hello", "unsure"):
            await client.worked(body)
        with socket.create_server(("127.0.0.1", 0)) as listener:
            config = uvicorn.Config(shop.app, http=HeaderTimeoutProtocol, log_config=None)
            server = uvicorn.Server(config)
            serving = asyncio.create_task(server.serve(sockets=[listener]))
            host, port = listener.getsockname()
            url, key = f"http://{host}:{port}", client.headers["Authorization"]
            fuzzed = await asyncio.to_thread(fuzz, url, key, tmp_path)
            server.should_exit = True
            await serving
    assert fuzzed.returncode == 0, fuzzed.stdout[-8000:] + fuzzed.stderr[-2000:]
