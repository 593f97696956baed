"""The text of an attached PDF, within a share of the computing that its mail is given: whoever
sends a mail chooses how long its PDF takes."""

import gc
import io
import logging
import signal
import threading
import time
from types import FrameType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pypdf import PdfReader

LARGEST = 10_000_000
LONGEST_TEXT = 200_000
MOST_PAGES = 100
PDF_SECONDS = 0.5
"""Computing that all PDFs of one mail may take together; it counts against the whole mail's."""
_AGAIN = 0.02
"""Seconds after which a reader that goes on is interrupted once more."""


class _OverTime(BaseException):
    """The share is used up. No Exception: a reader forgives those and goes on. It is raised inside
    a reader alone: a tick that comes as he has just ended would hit whoever goes on after him."""


def read_pdf(raw: bytes, seconds: float = PDF_SECONDS) -> tuple[str | None, float]:
    """The text of a PDF within so much computing, and how much of it was used.

    The text is None for a scan, a protected, damaged, too large or hostile file: such an
    attachment is listed without text. It reads in the main thread alone, which it can interrupt.
    """
    if seconds <= 0 or len(raw) > LARGEST or b"%PDF" not in raw[:1024]:
        return None, 0.0
    if threading.current_thread() is not threading.main_thread():
        return None, 0.0
    _import_unhurried()
    before = time.process_time()
    try:
        text = _interrupted_after(raw, seconds)
    except (_OverTime, Exception):  # whatever a damaged file makes pypdf stumble over
        text = None
    return text, time.process_time() - before


def _import_unhurried() -> None:
    """The first PDF of a process does not pay for what all of them need."""
    left, _ = signal.setitimer(signal.ITIMER_PROF, 0)
    try:
        import pypdf  # noqa: F401
    finally:
        signal.setitimer(signal.ITIMER_PROF, left)


_OF_REFERENCES = ("weakref", "_weakrefset")
"""Modules of Python whose functions are called when an object goes."""


def _interrupted_after(raw: bytes, seconds: float) -> str | None:
    def stop(number: int, frame: FrameType | None) -> None:
        while frame is not None and not _swallows(frame):
            if frame.f_code is _text_of.__code__:
                raise _OverTime
            frame = frame.f_back

    before = signal.signal(signal.SIGVTALRM, stop)
    try:
        signal.setitimer(signal.ITIMER_VIRTUAL, seconds, _AGAIN)
        return _text_of(raw)
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def _swallows(frame: FrameType) -> bool:
    """Whether Python only reports what is raised here: the next tick comes somewhere else."""
    if frame.f_code.co_name == "__del__" or frame.f_globals.get("__name__") in _OF_REFERENCES:
        return True
    return any(frame.f_code is getattr(each, "__code__", None) for each in gc.callbacks)


def _text_of(raw: bytes) -> str | None:
    from pypdf import PdfReader

    logging.getLogger("pypdf").setLevel(
        logging.CRITICAL
    )  # it comments on every oddity it can live with
    reader = PdfReader(io.BytesIO(raw), strict=False)
    if reader.is_encrypted and not reader.decrypt(""):
        return None
    text = "\n".join(_pages(reader))
    return text if text.strip() else None


def _pages(reader: "PdfReader") -> list[str]:
    texts: list[str] = []
    left = LONGEST_TEXT
    for number in range(MOST_PAGES):
        if left <= 0 or number >= len(reader.pages):
            break
        texts.append(reader.pages[number].extract_text()[:left])
        left -= len(texts[-1])
    return texts
