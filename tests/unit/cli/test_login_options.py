"""How people log in, as the options of `deskhand serve` say it."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from deskhand.cli.login_options import LoginOptions, single_sign_on
from deskhand.errors import ConfigError
from deskhand.model.access import Role
from deskhand.wiring import Database, open_database

PUBLIC = "https://desk.acme.example"
ISSUER = "https://login.acme.example/realms/acme"


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    async with open_database(str(tmp_path / "deskhand.db")) as opened:
        yield opened


async def test_without_an_issuer_people_have_passwords(database: Database) -> None:
    assert single_sign_on(LoginOptions(), None, database) is None


async def test_what_is_written_is_what_counts(database: Database) -> None:
    options = LoginOptions(
        issuer=ISSUER,
        client="deskhand",
        roles=("leads=admin", "cn=support,ou=acme=agent"),
        unknown="viewer",
        desks=("shop",),
        passwords=False,
    )
    single = single_sign_on(options, PUBLIC, database)
    assert single is not None
    assert single.provider.name == "login.acme.example"
    assert single.admission.roles == {"leads": Role.ADMIN, "cn=support,ou=acme": Role.AGENT}
    assert (single.admission.unknown, single.admission.desks) == (Role.VIEWER, ("shop",))
    assert not single.passwords


@pytest.mark.parametrize(
    ("options", "public_url", "words"),
    [
        (LoginOptions(passwords=False), PUBLIC, "nobody could log in"),
        (LoginOptions(issuer=ISSUER), PUBLIC, "--oidc-client"),
        (LoginOptions(issuer=ISSUER, client="x"), None, "--public-url"),
        (LoginOptions(issuer="http://login.example.com", client="x"), PUBLIC, "--oidc-issuer"),
        (LoginOptions(issuer=ISSUER, client="x", scopes="email"), PUBLIC, "openid"),
        (LoginOptions(issuer=ISSUER, client="x", unknown="boss"), PUBLIC, "no role 'boss'"),
        (LoginOptions(issuer=ISSUER, client="x", roles=("leads",)), PUBLIC, "gives no group"),
        (LoginOptions(issuer=ISSUER, client="x", roles=("a=b",)), PUBLIC, "no role 'b'"),
    ],
)
async def test_what_cannot_work_is_said_before_anybody_logs_in(
    database: Database, options: LoginOptions, public_url: str | None, words: str
) -> None:
    with pytest.raises(ConfigError, match=words):
        single_sign_on(options, public_url, database)
