"""A process that lives for weeks gives back what it no longer needs."""

import ctypes
from contextlib import suppress

_M_MMAP_THRESHOLD = -3
_FROM_HERE_ON = 128 * 1024


def keep_memory_compact() -> None:
    """Have large blocks mapped apart from the heap, so that freeing them gives them back; where
    malloc is glibc's.

    Every read from a socket asks for 256 KB and keeps a few bytes of it. glibc maps blocks of that
    size only until the first of them is freed, and takes them from the heap ever after: what stays
    behind in between tears it into holes, some 3.5 KB a message. Saying where the limit lies also
    says that it stays there.
    """
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).mallopt(_M_MMAP_THRESHOLD, _FROM_HERE_ON)
