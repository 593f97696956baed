"""The text of an attached PDF, read in a process of its own: whoever sends a mail chooses how
long its PDF takes."""

import resource
import subprocess
import sys

LARGEST = 10_000_000
LONGEST_TEXT = 200_000
MOST_PAGES = 100
PDF_SECONDS = 10
"""Computing that all PDFs of one mail may take together."""
MEMORY = 1_000_000_000
PATIENCE = 90.0
"""Seconds of waiting, for machines that are busy; the CPU limit is what ends a hostile file."""


def read_pdf(raw: bytes, seconds: float = PDF_SECONDS) -> tuple[str | None, float]:
    """The text of a PDF within so much computing, and how much of it was used.

    The text is None for a scan, a protected, damaged, too large or hostile file: such an
    attachment is listed without text.
    """
    if seconds < 1 or len(raw) > LARGEST or b"%PDF" not in raw[:1024]:
        return None, 0.0
    before = _used()
    text = _text_of(raw, int(seconds))
    return text, _used() - before


def _text_of(raw: bytes, seconds: int) -> str | None:
    command = [sys.executable, "-I", "-c", f"from {__name__} import main; main({seconds})"]
    try:
        done = subprocess.run(
            command, input=raw, capture_output=True, timeout=PATIENCE, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    text = done.stdout.decode("utf-8", "replace")
    return text if done.returncode == 0 and text.strip() else None


def _used() -> float:
    """Seconds of computing that processes of ours took until they ended."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return children.ru_utime + children.ru_stime


def main(seconds: int) -> None:
    """Standard input to standard output, within limits that the kernel keeps."""
    import io
    import logging

    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    raw = sys.stdin.buffer.read()
    from pypdf import PdfReader

    logging.getLogger("pypdf").setLevel(
        logging.CRITICAL
    )  # it comments on every oddity it can live with
    reader = PdfReader(io.BytesIO(raw), strict=False)
    if reader.is_encrypted and not reader.decrypt(""):
        sys.exit(1)
    left = LONGEST_TEXT
    for page in reader.pages[:MOST_PAGES]:
        text = page.extract_text()[:left].encode("utf-8", "replace") + b"\n"
        sys.stdout.buffer.write(text)
        left -= len(text)
        if left <= 0:
            break
