"""Logging in with an OpenID provider: the provider, and the accounts of whom it vouches for."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from deskhand.adapters.openid import OpenIdProvider
    from deskhand.adapters.stores.openid_logins import SqlOpenIdLogins
    from deskhand.wiring.databases import Database


def openid_provider(
    *,
    issuer: str,
    client: str,
    secret: str | None,
    name: str,
    public_url: str,
    scopes: str = "",
    groups_claim: str = "",
    trusts_addresses: bool = False,
) -> "OpenIdProvider":
    """ConfigError where it cannot be one."""
    from deskhand.adapters.openid import OpenIdProvider, OpenIdSettings

    settings = OpenIdSettings(
        issuer=issuer,
        client=client,
        secret=secret,
        name=name,
        public_url=public_url,
        scopes=scopes or "openid email profile",
        groups_claim=groups_claim or "groups",
        trusts_addresses=trusts_addresses,
    )
    return OpenIdProvider(settings)


def openid_logins(database: "Database") -> "SqlOpenIdLogins":
    """The accounts of people that a provider vouches for."""
    from deskhand.adapters.stores.openid_logins import SqlOpenIdLogins

    return SqlOpenIdLogins(database)
