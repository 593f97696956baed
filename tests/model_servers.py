"""Model servers for tests: llama.cpp's own, and LiteLLM's proxy before it.

Each runs in an environment of its own, which `make model-servers` makes: neither is a dependency.
"""

import os
import secrets
import shutil
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
from functools import cache, partial
from pathlib import Path

import pytest

from tests.at_end import at_end
from tests.servers import free_port
from tests.waiting import PATIENCE

ROOT = Path(__file__).parents[1]
LLAMA = ROOT / ".venv-llama" / "bin" / "python"
LITELLM_KEY = f"sk-{secrets.token_hex(24)}"
LITELLM = ROOT / ".venv-litellm" / "bin" / "litellm"


@cache
def llama_server() -> str:
    """The address of llama.cpp with a tiny model of random weights; skips where it is missing."""
    if not LLAMA.exists():
        pytest.skip("llama.cpp is not installed: `make model-servers` installs it for the tests")
    folder = tempfile.mkdtemp(prefix="deskhand-llama-")
    at_end(partial(shutil.rmtree, folder, ignore_errors=True))
    program = subprocess.Popen(
        [LLAMA, ROOT / "tests" / "llama_program.py", folder],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    at_end(program.kill)
    assert program.stdout is not None
    address = program.stdout.readline().strip()
    assert address.startswith("http"), "llama.cpp's server did not start"
    return f"{address}/v1"


@cache
def litellm_proxy() -> str:
    """The address of LiteLLM's proxy, which asks the llama.cpp server; skips where it is
    missing."""
    if not LITELLM.exists():
        pytest.skip("LiteLLM is not installed: `make model-servers` installs it for the tests")
    llama = llama_server()
    folder = Path(tempfile.mkdtemp(prefix="deskhand-litellm-"))
    at_end(partial(shutil.rmtree, folder, ignore_errors=True))
    config = folder / "config.yaml"
    config.write_text(
        "model_list:\n"
        "  - model_name: tiny\n"
        f"    litellm_params: {{model: openai/tiny, api_base: '{llama}', api_key: none}}\n"
        "litellm_settings: {telemetry: false, num_retries: 0}\n"
    )
    port = free_port()
    environ = {
        **os.environ,
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",
        "LITELLM_MASTER_KEY": LITELLM_KEY,
        "HOME": str(folder),
    }
    environ.pop("PYTHONPATH", None)
    program = subprocess.Popen(
        [LITELLM, "--config", config, "--port", str(port), "--host", "127.0.0.1"],
        cwd=folder,
        env=environ,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    at_end(program.kill)
    _await_answer(f"http://127.0.0.1:{port}/health/liveliness", program)
    return f"http://127.0.0.1:{port}/v1"


def _await_answer(url: str, program: "subprocess.Popen[bytes]") -> None:
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        assert program.poll() is None, "the server ended before it answered"
        try:
            with urllib.request.urlopen(url, timeout=5):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.2)
    raise AssertionError(f"no answer at {url}")
