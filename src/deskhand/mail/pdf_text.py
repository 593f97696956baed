"""The text of an attached PDF, read in a process of its own: whoever sends a mail chooses how
long its PDF takes."""

import subprocess
import sys

LARGEST = 10_000_000
LONGEST_TEXT = 200_000
MOST_PAGES = 100
CPU_SECONDS = 10
MEMORY = 1_000_000_000
PATIENCE = 120.0
"""Seconds of waiting, for machines that are busy; the CPU limit is what ends a hostile file."""


def pdf_text(raw: bytes) -> str | None:
    """None for a scan, a protected, damaged, too large or hostile file: such an attachment is
    listed without text."""
    if len(raw) > LARGEST or b"%PDF" not in raw[:1024]:
        return None
    command = [sys.executable, "-I", "-c", f"from {__name__} import main; main()"]
    try:
        done = subprocess.run(
            command, input=raw, capture_output=True, timeout=PATIENCE, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    text = done.stdout.decode("utf-8", "replace")
    return text if done.returncode == 0 and text.strip() else None


def main() -> None:
    """Standard input to standard output, within limits that the kernel keeps."""
    import io
    import logging
    import resource

    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
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
