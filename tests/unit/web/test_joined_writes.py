"""Writes of one response leave together, in order, and before the connection is closed."""

import asyncio

import pytest

from deskhand.web.joined_writes import MOST_HELD, JoinedWrites


class Transport:
    """Keeps what it is given, as a socket would send it."""

    def __init__(self) -> None:
        self.sent: list[bytes] = []
        self.is_closed = False

    def write(self, data: bytes) -> None:
        self.sent.append(data)

    def close(self) -> None:
        self.is_closed = True

    def is_closing(self) -> bool:
        return self.is_closed

    def get_extra_info(self, name: str) -> str:
        return f"the {name}"


async def next_round() -> None:
    await asyncio.sleep(0)


async def test_headers_and_body_leave_together() -> None:
    transport = Transport()
    joined = JoinedWrites(transport)
    joined.write(b"headers ")
    joined.write(b"body")
    joined.write(b"")
    assert transport.sent == []
    await next_round()
    joined.write(b"more")
    await next_round()
    assert transport.sent == [b"headers body", b"more"]


async def test_what_is_held_back_leaves_before_the_connection_is_closed() -> None:
    transport = Transport()
    joined = JoinedWrites(transport)
    joined.write(b"last words")
    joined.close()
    await next_round()
    assert transport.sent == [b"last words"]
    assert joined.is_closing()


async def test_much_leaves_at_once_so_that_the_writer_can_be_told_to_wait() -> None:
    transport = Transport()
    joined = JoinedWrites(transport)
    joined.write(b"a")
    joined.write(b"b" * MOST_HELD)
    assert transport.sent == [b"a" + b"b" * MOST_HELD]
    joined.write(b"c")
    await next_round()
    assert transport.sent[1:] == [b"c"]


@pytest.mark.parametrize("is_closed", [True, False])
async def test_a_connection_that_is_gone_is_sent_nothing(is_closed: bool) -> None:
    transport = Transport()
    joined = JoinedWrites(transport)
    joined.write(b"answer")
    transport.is_closed = is_closed
    await next_round()
    assert transport.sent == ([] if is_closed else [b"answer"])


def test_everything_else_is_asked_of_the_transport_itself() -> None:
    assert JoinedWrites(Transport()).get_extra_info("peername") == "the peername"
