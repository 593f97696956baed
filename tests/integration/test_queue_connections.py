"""No connection stays open after the queue's connections are closed, whoever still uses one."""

import threading
from typing import Any

import pytest
import sqlalchemy as sa

from deskhand.adapters.dispatch.queue_connections import QueueConnections, address_of
from tests.servers import new_database, postgres_programs
from tests.waiting import PATIENCE

pytest.importorskip("psycopg", reason="psycopg is not installed (pip install deskhand[scale])")
pytestmark = pytest.mark.skipif(
    postgres_programs() is None, reason="PostgreSQL's server is not installed"
)


def test_a_connection_in_use_is_closed_when_its_thread_gives_it_back() -> None:
    connections = QueueConnections(new_database(), size=2)
    in_use, go_on = threading.Event(), threading.Event()
    held: list[Any] = []

    def call() -> None:
        with connections.engine.connect() as connection:
            held.append(connection.connection.dbapi_connection)
            in_use.set()
            go_on.wait(PATIENCE)
            assert connection.execute(sa.text("SELECT 1")).scalar() == 1

    thread = threading.Thread(target=call)
    thread.start()
    assert in_use.wait(PATIENCE)
    connections.close(patience=0)
    assert not held[0].closed
    go_on.set()
    thread.join(PATIENCE)
    assert held[0].closed


def test_closing_waits_for_a_call_that_is_about_to_end() -> None:
    connections = QueueConnections(new_database(), size=2)
    in_use = threading.Event()
    ended = []

    def call() -> None:
        with connections.engine.connect() as connection:
            in_use.set()
            connection.execute(sa.text("SELECT pg_sleep(0.3)"))
            ended.append(True)

    thread = threading.Thread(target=call)
    thread.start()
    assert in_use.wait(PATIENCE)
    connections.close(patience=PATIENCE)
    assert ended
    thread.join(PATIENCE)


def test_a_connection_that_is_made_too_late_is_closed_after_use() -> None:
    connections = QueueConnections(new_database(), size=2)
    connections.close()
    with connections.engine.connect() as connection:
        late = connection.connection.dbapi_connection
    assert late is not None
    assert late.closed


def test_the_address_brings_the_settings_that_its_owner_left_out() -> None:
    address = sa.make_url(address_of("postgresql://user:secret@host/desk"))
    assert address.query["connect_timeout"] == "10"
    assert "idle_in_transaction_session_timeout=5000" in address.query["options"]
    own = sa.make_url(address_of("postgresql://host/desk?connect_timeout=3&options=-cwork_mem=1"))
    assert own.query["connect_timeout"] == "3"
    assert own.query["options"] == "-cwork_mem=1"
