"""Options of `deskhand serve` about how people log in: with a provider, with passwords, or both."""

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from deskhand.model.access import Role
    from deskhand.ports.login import SingleSignOn
    from deskhand.wiring import Database

SECRET_VARIABLE = "DESKHAND_OIDC_CLIENT_SECRET"  # noqa: S105 its name
_REFUSE = "refuse"

Issuer = Annotated[
    str | None,
    typer.Option(
        "--oidc-issuer",
        envvar="DESKHAND_OIDC_ISSUER",
        help="Let people log in with this OpenID provider; its secret is in"
        f" {SECRET_VARIABLE}. Needs --public-url.",
        metavar="URL",
    ),
]
Client = Annotated[
    str | None,
    typer.Option(
        "--oidc-client",
        envvar="DESKHAND_OIDC_CLIENT_ID",
        help="How the provider knows this server.",
        metavar="ID",
    ),
]
Name = Annotated[
    str,
    typer.Option(
        "--oidc-name", envvar="DESKHAND_OIDC_NAME", help="What the login page calls the provider."
    ),
]
Scopes = Annotated[
    str,
    typer.Option(
        "--oidc-scopes", envvar="DESKHAND_OIDC_SCOPES", help="What the provider is asked for."
    ),
]
GroupsClaim = Annotated[
    str,
    typer.Option(
        "--oidc-groups-claim",
        envvar="DESKHAND_OIDC_GROUPS_CLAIM",
        help="The claim that lists a person's groups.",
        metavar="CLAIM",
    ),
]
Roles = Annotated[
    list[str] | None,
    typer.Option(
        "--oidc-role",
        envvar="DESKHAND_OIDC_ROLES",
        help="The role of a group, as support-leads=admin; repeat for several.",
        metavar="GROUP=ROLE",
    ),
]
Unknown = Annotated[
    str,
    typer.Option(
        "--oidc-unknown",
        envvar="DESKHAND_OIDC_UNKNOWN",
        help="What becomes of people without an account or a group: refuse, or viewer.",
    ),
]
Desks = Annotated[
    list[str] | None,
    typer.Option(
        "--oidc-desk",
        envvar="DESKHAND_OIDC_DESKS",
        help="The desks of people who come for the first time, all unless you choose.",
        metavar="DESK",
    ),
]
TrustsAddresses = Annotated[
    bool,
    typer.Option(
        "--oidc-trust-email",
        envvar="DESKHAND_OIDC_TRUST_EMAIL",
        help="Believe addresses that the provider does not call verified or unverified.",
    ),
]
Passwords = Annotated[
    bool,
    typer.Option(
        "--password-login/--no-password-login",
        envvar="DESKHAND_PASSWORD_LOGIN",
        help="Whether people may log in with a password too.",
    ),
]


@dataclass(frozen=True, slots=True)
class LoginOptions:
    """How people log in, as it was written."""

    issuer: str | None = None
    client: str | None = None
    name: str = ""
    scopes: str = ""
    groups_claim: str = ""
    roles: tuple[str, ...] = ()
    unknown: str = _REFUSE
    desks: tuple[str, ...] = ()
    trusts_addresses: bool = False
    passwords: bool = True


def single_sign_on(
    options: LoginOptions, public_url: str | None, database: "Database"
) -> "SingleSignOn | None":
    """None where nobody logs in with a provider; ConfigError for what cannot work."""
    from deskhand.errors import ConfigError

    if not options.issuer:
        if not options.passwords:
            problem = "nobody could log in: there are no passwords, and no provider"
            raise ConfigError(problem, fix="name one with --oidc-issuer, or allow passwords")
        return None
    if not options.client:
        raise ConfigError(
            "--oidc-issuer needs --oidc-client", fix="write the id that the provider gave you"
        )
    if public_url is None:
        raise ConfigError(
            "--oidc-issuer needs --public-url: the provider sends people back there",
            fix="write --public-url https://desk.example.com",
        )
    return _built(options, options.issuer, options.client, public_url, database)


def _built(
    options: LoginOptions, issuer: str, client: str, public_url: str, database: "Database"
) -> "SingleSignOn":
    from urllib.parse import urlsplit

    from deskhand.model.access import Admission
    from deskhand.ports.login import SingleSignOn
    from deskhand.wiring import openid_logins, openid_provider

    provider = openid_provider(
        issuer=issuer,
        client=client,
        secret=os.environ.get(SECRET_VARIABLE) or None,
        name=options.name or urlsplit(issuer).hostname or "OpenID",
        public_url=public_url,
        scopes=options.scopes,
        groups_claim=options.groups_claim,
        trusts_addresses=options.trusts_addresses,
    )
    unknown = None if options.unknown == _REFUSE else _role(options.unknown)
    admission = Admission(_roles(options.roles), unknown, options.desks or ("*",))
    return SingleSignOn(provider, openid_logins(database), admission, options.passwords)


def _roles(written: tuple[str, ...]) -> "dict[str, Role]":
    from deskhand.errors import ConfigError

    roles = {}
    for pair in written:
        group, mark, role = pair.strip().rpartition("=")
        if not group or not mark:
            raise ConfigError(f"{pair!r} gives no group a role", fix="write support-leads=admin")
        roles[group.strip()] = _role(role.strip())
    return roles


def _role(written: str) -> "Role":
    from deskhand.errors import ConfigError
    from deskhand.model.access import Role

    if written not in list(Role):
        raise ConfigError(f"there is no role {written!r}", fix=f"choose from {', '.join(Role)}")
    return Role(written)
