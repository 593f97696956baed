import logging
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from deskhand.cli import main
from deskhand.cli.terminal import console
from tests.automatic import automatic_copy
from tests.cli_kit import Begin, Cli, Said, done_once


@pytest.fixture
def parcels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample desk as it sends by itself."""
    return automatic_copy("sample", tmp_path_factory.mktemp("desks") / "sample")


@pytest.fixture
def cli(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Iterator[Cli]:
    """Runs a command in an empty folder, with nothing of ours in the environment."""
    monkeypatch.chdir(tmp_path)
    for name in [name for name in os.environ if name.startswith(("DESKHAND_", "SAMPLE_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("COLUMNS", "110")
    console.cache_clear()
    handlers, level = logging.root.handlers[:], logging.root.level

    def run(*arguments: str | Path) -> Said:
        capsys.readouterr()
        code = main([str(argument) for argument in arguments])
        out, err = capsys.readouterr()
        assert "Traceback" not in err
        return Said(code, out, err)

    yield run
    logging.root.handlers[:], logging.root.level = handlers, level
    console.cache_clear()


@pytest.fixture
def begin(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Begin:
    """Does work in the empty folder, or copies there what the same work left in another test."""

    def begun(work: Callable[[], Any]) -> Any:
        name = f"{work.__module__}.{work.__qualname__}"
        return done_once(name, work, tmp_path, tmp_path_factory)

    return begun
