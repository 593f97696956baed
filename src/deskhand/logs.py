"""Logging with bound fields: one line for people, one JSON object a line for machines, and no
secrets in either."""

import json
import logging
import os
import re
import sys
import time
from collections.abc import Mapping, MutableMapping
from datetime import UTC, datetime
from functools import lru_cache
from io import TextIOWrapper
from typing import Any, TextIO

from deskhand.errors import ConfigError

_STANDARD = {*vars(logging.makeLogRecord({})), "message", "asctime", "taskName", "color_message"}
_NOTHING_MORE: dict[str, Any] = {
    **vars(logging.makeLogRecord({})),
    **dict.fromkeys(("thread", "threadName", "processName", "process", "exc_text")),
}
_NO_FIELDS: dict[str, Any] = {}
_COLOURS = {logging.WARNING: "33", logging.ERROR: "31", logging.CRITICAL: "31;1"}
_SECRET_NAME = re.compile(r"(?i)(^|[_-])(key|secret|token|password|authorization|cookie)$")
_SECRET_TEXT = re.compile(
    r"(?i:\b(?:bearer|basic)\s+)[\w.~+/=-]{6,}"
    r"|(?<=//)[^/\s:@]+:[^/\s@]+(?=@)"  # user:password in an address
    r"|\b(?:sk|pk|rk|gsk|xai|hf|dh)[-_][\w-]{16,}"  # the usual prefixes of keys, ours among them
    r"|\bAIza[\w-]{20,}|\beyJ[\w-]+\.[\w-]+\.[\w-]+"
)
_SECRET_SIGNS = (
    *("bearer", "basic", "//", "aiza", "eyj"),
    *("sk-", "sk_", "pk-", "pk_", "rk-", "rk_", "xai-", "xai_", "hf-", "hf_", "dh-", "dh_"),
)
"""In lower case: what any such text holds. Looking for these takes a tenth of the time."""


class BoundLogger(logging.LoggerAdapter[logging.Logger]):
    """A logger whose lines all carry the same fields; a call's own `extra` is added to them."""

    def log(self, level: int, msg: object, *args: object, **kwargs: Any) -> None:
        """As every LoggerAdapter does it, in half the calls where a line has nothing but words
        and fields."""
        logger = self.logger
        if not logger.isEnabledFor(level):
            return
        msg, given = self.process(msg, kwargs)
        fields = given["extra"]
        is_plain = len(given) == 1 and logging.getLogRecordFactory() is LineRecord
        if is_plain and _STANDARD.isdisjoint(fields):
            logger.handle(LineRecord(logger.name, level, "", 0, msg, args, None, fields=fields))
        else:
            logger._log(level, msg, args, **given)

    def process(
        self, msg: Any, kwargs: MutableMapping[str, Any]
    ) -> tuple[Any, MutableMapping[str, Any]]:
        return msg, {**kwargs, "extra": {**(self.extra or {}), **(kwargs.get("extra") or {})}}


def bound(name: str, **fields: object) -> BoundLogger:
    return BoundLogger(logging.getLogger(name), fields)


def set_up_logging(
    level: int = logging.WARNING, *, as_json: bool | None = None, stream: TextIO | None = None
) -> None:
    """Send everything to stderr; `DESKHAND_LOG=json` asks for JSON lines where the caller does
    not say. ConfigError where it asks for anything else than `json` or `text`."""
    if as_json is None:
        as_json = _wanted_format() == "json"
    handler = LineHandler(stream or sys.stderr)
    handler.setFormatter(JsonLines() if as_json else HumanLines(colour=handler.stream.isatty()))
    logging.basicConfig(level=level, handlers=[handler], force=True)
    # no line shows these, and finding them out is a tenth of what a line costs
    logging.logThreads = logging.logProcesses = logging.logMultiprocessing = False
    # nor where in the code a line was written: looking for that is another fifth
    logging._srcfile = None
    logging.setLogRecordFactory(LineRecord)
    for talkative in ("alembic", "asyncio", "uvicorn"):
        logging.getLogger(talkative).setLevel(max(level, logging.WARNING))


def _wanted_format() -> str:
    """What DESKHAND_LOG asks for; ConfigError where it asks for what there is not."""
    wanted = os.environ.get("DESKHAND_LOG", "").strip().lower()
    if wanted not in ("", "text", "json"):
        raise ConfigError(
            f"the environment variable DESKHAND_LOG is `{wanted[:50]}`, and there is no such log",
            fix="set it to `json` or `text`, or unset it",
        )
    return wanted or "text"


class LineRecord(logging.LogRecord):
    """A record that looks for nothing but what a line shows: neither for the thread, nor for the
    process, nor for the file that it was written in."""

    def __init__(
        self,
        name: str,
        level: int,
        pathname: str,
        lineno: int,
        msg: object,
        args: Any,
        exc_info: Any,
        func: str | None = None,
        sinfo: str | None = None,
        fields: Mapping[str, Any] = _NO_FIELDS,
        **kwargs: Any,
    ) -> None:
        now = time.time()
        if len(args) == 1 and args[0] and isinstance(args[0], Mapping):
            args = args[0]
        self.__dict__.update(
            _NOTHING_MORE,
            name=name,
            msg=msg,
            args=args,
            levelname=logging.getLevelName(level),
            levelno=level,
            pathname=pathname,
            lineno=lineno,
            exc_info=exc_info,
            funcName=func,
            stack_info=sinfo,
            created=now,
            msecs=int(now % 1 * 1000) + 0.0,
            **fields,
        )


class LineHandler(logging.StreamHandler[TextIO]):
    """Writes a line at once. A stream that does so by itself needs not be told."""

    def emit(self, record: logging.LogRecord) -> None:
        try:
            self.stream.write(f"{self.format(record)}\n")
            if not self._writes_at_once():
                self.flush()
        except RecursionError:
            raise
        except Exception:
            self.handleError(record)

    def _writes_at_once(self) -> bool:
        stream = self.stream
        return isinstance(stream, TextIOWrapper) and (stream.line_buffering or stream.write_through)


class JsonLines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, Any] = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": _without_secrets(record.getMessage()),
        }
        for name, value in _fields(record):
            line[name] = _without_secrets(value) if isinstance(value, str) else value
        if record.exc_info:
            line["exception"] = _without_secrets(self.formatException(record.exc_info))
        return json.dumps(line, ensure_ascii=False, default=str)


class HumanLines(logging.Formatter):
    """Time, level, words, then the bound fields; a traceback only for what nobody expected."""

    def __init__(self, *, colour: bool = False) -> None:
        super().__init__()
        self._colour = colour
        self._levels: dict[tuple[int, str], str] = {}

    def format(self, record: logging.LogRecord) -> str:
        at = _clock(int(record.created))
        level = self._level(record.levelno, record.levelname)
        words = record.getMessage()
        fields = " ".join([f"{name}={value}" for name, value in _fields(record)])
        if _may_hold_secret(f"{words} {fields}"):
            words = _SECRET_TEXT.sub("***", words)
            fields = _SECRET_TEXT.sub("***", fields)
        line = f"{at} {level} {words}"
        if fields:
            line += f"  {self._painted(fields, '2')}" if self._colour else f"  {fields}"
        if record.exc_info and record.levelno >= logging.ERROR:
            line += "\n" + _without_secrets(self.formatException(record.exc_info))
        return line

    def _level(self, number: int, name: str) -> str:
        """The level as a line shows it; there are few."""
        written = self._levels.get((number, name))
        if written is None:
            written = self._painted(f"{name.lower():<7}", _COLOURS.get(number, "2"))
            self._levels[number, name] = written
        return written

    def _painted(self, text: str, code: str) -> str:
        return f"\033[{code}m{text}\033[0m" if self._colour else text


@lru_cache(maxsize=4)
def _clock(second: int) -> str:
    """The time of day on this machine; hundreds of lines share a second on a busy desk."""
    return datetime.fromtimestamp(second).astimezone().strftime("%H:%M:%S")


def _fields(record: logging.LogRecord) -> list[tuple[str, Any]]:
    """The bound fields, without those that are secret by their name."""
    fields: list[tuple[str, Any]] = []
    for name, value in record.__dict__.items():
        if name in _STANDARD or name[:1] == "_":
            continue
        if _names_secret(name):
            value = "***"
        elif isinstance(value, float):
            value = round(value, 3)
        fields.append((name, value))
    return fields


@lru_cache(maxsize=1024)
def _names_secret(field: str) -> bool:
    return _SECRET_NAME.search(field) is not None


def _without_secrets(text: str) -> str:
    return _SECRET_TEXT.sub("***", text) if _may_hold_secret(text) else text


def _may_hold_secret(text: str) -> bool:
    if not text.isascii():
        return True
    lowered = text.lower()
    for sign in _SECRET_SIGNS:  # noqa: SIM110, `any` takes four times as long
        if sign in lowered:
            return True
    return False
