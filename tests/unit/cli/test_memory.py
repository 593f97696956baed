"""Large blocks that are freed go back to the system, however many were freed before."""

import subprocess
import sys

import pytest

SCRIPT = """
import ctypes
from deskhand.cli.service_process import keep_memory_compact
{first}
libc = ctypes.CDLL(None)
libc.malloc.restype, libc.malloc.argtypes, libc.free.argtypes = ctypes.c_void_p, [ctypes.c_size_t], [ctypes.c_void_p]
class Info(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in "arena o s h hblkhd u f uordblks fordblks k".split()]
libc.mallinfo2.restype = Info
libc.free(libc.malloc(256 * 1024))
before = libc.mallinfo2().hblkhd
kept = libc.malloc(256 * 1024)
print(libc.mallinfo2().hblkhd - before)
"""  # noqa: E501


def mapped_apart(first: str) -> int:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT.format(first=first)],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        pytest.skip("this system's malloc is not glibc's")
    return int(done.stdout)


def test_large_blocks_stay_apart_from_the_heap() -> None:
    assert mapped_apart("keep_memory_compact()") >= 256 * 1024


def test_without_it_they_would_not() -> None:
    assert mapped_apart("") == 0
