"""The servers that tests start themselves."""

import shutil

import pytest

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
