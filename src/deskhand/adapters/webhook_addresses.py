"""Which machines webhooks may be posted to."""

import os
from collections.abc import Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from urllib.parse import urlsplit

from deskhand.errors import ConfigError

NETWORKS_VARIABLE = "DESKHAND_WEBHOOK_NETWORKS"
"""Networks inside which admins may name addresses, as `10.1.0.0/16, 127.0.0.1`."""

_LONGEST_URL = 2000
_ELSEWHERE = (
    ip_network("64:ff9b::/96"),  # leads to an IPv4 address that nobody looked at
    ip_network("64:ff9b:1::/48"),
    ip_network("2002::/16"),
)

Network = IPv4Network | IPv6Network


class AllowedAddresses:
    """Which machines may be posted to: everybody's, and those of networks the operator named."""

    def __init__(self, networks: Sequence[Network] = ()) -> None:
        self.networks = tuple(networks)

    @classmethod
    def from_environment(cls) -> "AllowedAddresses":
        """ConfigError for what is no network."""
        written = os.environ.get(NETWORKS_VARIABLE, "").replace(",", " ").split()
        try:
            return cls([ip_network(network, strict=False) for network in written])
        except ValueError as error:
            raise ConfigError(
                f"{NETWORKS_VARIABLE}: {error}", fix="write networks as in 10.1.0.0/16, 127.0.0.1"
            ) from None

    def allows(self, address: str, *, encrypted: bool = True) -> bool:
        """Whether a machine may be posted to; in plain text only one that the operator named."""
        return self.names(address) or (encrypted and _is_public(_plain(address)))

    def names(self, address: str) -> bool:
        """Whether the operator allowed this one by hand."""
        ip = _plain(address)
        return any(ip in network for network in self.networks)

    def check_url(self, url: str) -> str:
        """The URL of a new webhook; ConfigError says what to write instead."""
        fix = "write https://hooks.example.com/deskhand"
        try:
            parts = urlsplit(url)
            port = parts.port
        except ValueError:
            raise ConfigError(f"{url[:200]!r} is no address", fix=fix) from None
        host = parts.hostname or ""
        wrong = not host or parts.username is not None or bool(parts.fragment) or port == 0
        if wrong or not url.isprintable() or " " in url or len(url) > _LONGEST_URL:
            raise ConfigError("this is no address that can be posted to", fix=fix)
        inside = parts.scheme == "http" and bool(self.networks)
        if is_address(host):
            inside = inside and self.names(host)
        if parts.scheme != "https" and not inside:
            raise ConfigError("a webhook is posted to https only", fix=fix)
        if is_address(host) and not self.allows(host):
            raise ConfigError(private_address(host), fix=_allow(host))
        return url


def _plain(address: str) -> IPv4Address | IPv6Address:
    """An IPv4 address also where it is written as one of IPv6."""
    ip = ip_address(address.partition("%")[0])
    if isinstance(ip, IPv6Address) and ip.ipv4_mapped is not None:
        return ip.ipv4_mapped
    return ip


def _is_public(address: IPv4Address | IPv6Address) -> bool:
    elsewhere = any(address in network for network in _ELSEWHERE)
    return address.is_global and not address.is_multicast and not elsewhere


def is_address(host: str) -> bool:
    """Whether a host is written as an address, not as a name."""
    try:
        ip_address(host.partition("%")[0])
    except ValueError:
        return False
    return True


def private_address(host: str) -> str:
    """What is said of a machine that may not be reached."""
    return f"{host} is an address of this network, which webhooks may not reach"


def _allow(host: str) -> str:
    return f"name another address, or let the operator set {NETWORKS_VARIABLE} to {host}"
