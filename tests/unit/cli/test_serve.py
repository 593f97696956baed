"""The listening socket of `deskhand serve`."""

import socket

import pytest

from deskhand.cli.serve import listening
from deskhand.errors import ConfigError


@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
def test_an_accepted_connection_sends_small_answers_at_once(host: str) -> None:
    """Otherwise each request on a kept-alive connection waits 40 ms."""
    if host == "::1" and not socket.has_ipv6:
        pytest.skip("this machine has no IPv6")
    with listening(host, 0) as listener, socket.create_connection(listener.getsockname()[:2]):
        accepted, _ = listener.accept()
        with accepted:
            assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) == 1


def test_a_port_in_use_is_told_with_what_to_do() -> None:
    with (
        listening("127.0.0.1", 0) as listener,
        pytest.raises(ConfigError, match="cannot listen on") as refused,
        listening("127.0.0.1", listener.getsockname()[1]),
    ):
        pass
    assert refused.value.fix == "choose another --port or --host"
