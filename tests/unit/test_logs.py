"""Logging: bound fields, two formats, no secrets."""

import io
import json
import logging
import sys
from collections.abc import Iterator

import pytest

from deskhand.errors import ConfigError
from deskhand.logs import bound, set_up_logging


@pytest.fixture
def stream() -> Iterator[io.StringIO]:
    handlers, level = logging.root.handlers[:], logging.root.level
    yield io.StringIO()
    logging.root.handlers[:], logging.root.level = handlers, level


def test_a_json_line_carries_the_bound_fields_and_the_calls_own(stream: io.StringIO) -> None:
    set_up_logging(logging.INFO, as_json=True, stream=stream)
    bound("deskhand.test", agent="draft").info(
        "took %d s", 3, extra={"run_id": "run_1", "duration_ms": 1.23456}
    )
    line = json.loads(stream.getvalue())
    assert line["message"] == "took 3 s"
    assert (line["agent"], line["run_id"], line["duration_ms"]) == ("draft", "run_1", 1.235)
    assert (line["level"], line["logger"]) == ("info", "deskhand.test")


def test_a_line_for_people_is_one_line(stream: io.StringIO) -> None:
    set_up_logging(logging.INFO, as_json=False, stream=stream)
    bound("deskhand.test", agent="draft").warning("it failed", extra={"run_id": "run_1"})
    assert stream.getvalue().endswith(" warning it failed  agent=draft run_id=run_1\n")


def test_an_exception_is_told_in_both_formats(stream: io.StringIO) -> None:
    log = logging.getLogger("deskhand.test")
    for as_json in (True, False):
        set_up_logging(as_json=as_json, stream=stream)
        try:
            raise ValueError("no such thing")
        except ValueError:
            log.error("oh", exc_info=sys.exc_info())
    first, _, rest = stream.getvalue().partition("\n")
    assert "ValueError: no such thing" in json.loads(first)["exception"]
    assert "ValueError: no such thing" in rest


@pytest.mark.parametrize("as_json", [True, False])
def test_secrets_never_reach_a_line(stream: io.StringIO, as_json: bool) -> None:
    set_up_logging(logging.INFO, as_json=as_json, stream=stream)
    log = bound("deskhand.test", api_key="hunter2hunter2", password="hunter2")
    secrets = (
        "sk-abcdefghijklmnopqrst",
        "dh_06gxtk7wfbamsa6d6ccy_fd6e5d8e08faeb80",
        "Bearer abcdefgh12345678",
        "bAsIc abcdefgh12345678",
        "xai-abcdefghijklmnopqrst",
        "gsk_abcdefghijklmnopqrst",
        "hf_abcdefghijklmnopqrst",
        "pk-abcdefghijklmnopqrst",
        "rk_abcdefghijklmnopqrst",
        "AIzaabcdefghijklmnopqrstuvw",
        "eyJabc.def.ghi",
    )
    for secret in secrets:
        log.info("asked with %s", secret, extra={"header": f"Authorization: {secret}"})
    log.info("at https://ann:hunter2@example.com/")
    said = stream.getvalue()
    assert "hunter2" not in said
    assert all(secret.split()[-1] not in said for secret in secrets)
    assert "asked with ***" in said


def test_the_environment_chooses_json(stream: io.StringIO, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DESKHAND_LOG", "json")
    set_up_logging(stream=stream)
    logging.getLogger("deskhand.test").warning("hello")
    assert json.loads(stream.getvalue())["message"] == "hello"


def test_libraries_that_talk_much_are_quiet(stream: io.StringIO) -> None:
    set_up_logging(logging.INFO, stream=stream)
    logging.getLogger("alembic.runtime.migration").info("Context impl SQLiteImpl.")
    assert stream.getvalue() == ""


def test_a_log_that_there_is_not_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DESKHAND_LOG", "yaml")
    with pytest.raises(ConfigError, match="DESKHAND_LOG is `yaml`") as caught:
        set_up_logging()
    assert caught.value.fix == "set it to `json` or `text`, or unset it"
