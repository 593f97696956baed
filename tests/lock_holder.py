"""Holds the write lock of a SQLite file until it is killed."""

import sqlite3
import sys
import time
from collections.abc import Sequence


def main(arguments: Sequence[str]) -> int:
    [file] = arguments
    connection = sqlite3.connect(file, isolation_level=None)
    connection.execute("BEGIN EXCLUSIVE")
    sys.stdout.write("locked\n")
    sys.stdout.flush()
    time.sleep(3600)
    return 0
