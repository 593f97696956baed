"""The servers that tests start themselves."""

import os
import shutil

import pytest

from tests.cyrus_server import Cyrus, has_cyrus
from tests.servers import PostgresServer, RedisServer, postgres_programs


@pytest.mark.skipif(shutil.which("redis-server") is None, reason="redis-server is not installed")
def test_redis_starts_answers_and_goes() -> None:
    server = RedisServer()
    assert server.answers()
    server.remove()
    assert not server.answers()


@pytest.mark.skipif(postgres_programs() is None, reason="PostgreSQL's server is not installed")
def test_postgresql_can_be_stopped_and_started_again() -> None:
    server = PostgresServer()
    server.stop()
    server.start()
    server.remove()


@pytest.mark.skipif(not has_cyrus(), reason="Cyrus is not installed")
def test_cyrus_takes_no_other_server_with_it() -> None:
    """It ends its whole process group with itself."""
    cyrus = Cyrus()
    try:
        assert os.getpgid(cyrus.pid) != os.getpgid(0)
    finally:
        cyrus.remove()
