"""Passwords and access tokens, read when needed: a new one in the file is used at once."""

import asyncio
import os
import time
from typing import Any

from deskhand.adapters.channels.mail_connection import (
    MailLoginRefused,
    ServerUnavailable,
    read_secret,
)
from deskhand.config.sections.channels import Login, OAuthSpec
from deskhand.errors import ConfigError

_RENEW_BEFORE = 60.0
_TIMEOUT = 30.0


def password_of(login: Login) -> str:
    """Says which file or variable is missing, never what is in it."""
    if login.password_env is not None:
        value = os.environ.get(login.password_env, "")
        if not value:
            raise ConfigError(
                f"the environment variable {login.password_env} is not set",
                fix="set it, or use `password_file`",
            )
        return value
    if login.password_file is None:
        raise ConfigError(
            f"there is no password for {login.user}", fix="add `password_file` or `password_env`"
        )
    return read_secret(login.password_file)


def xoauth2(user: str, token: str) -> str:
    """The words that log in with a token (SASL XOAUTH2)."""
    return f"user={user}\x01auth=Bearer {token}\x01\x01"


class Tokens:
    """Access tokens from a refresh token; one is used until shortly before it ends."""

    def __init__(self, oauth: OAuthSpec) -> None:
        self._oauth = oauth
        self._token, self._until = "", 0.0
        self._asking = asyncio.Lock()

    async def token(self) -> str:
        async with self._asking:
            if time.time() >= self._until:
                await self._ask()
            return self._token

    def forget(self) -> None:
        """The other side refused it."""
        self._until = 0.0

    async def _ask(self) -> None:
        import aiohttp  # here: most mailboxes have a password, and it takes long to import

        oauth = self._oauth
        limit = aiohttp.ClientTimeout(total=_TIMEOUT)
        form = {
            "grant_type": "refresh_token",
            "client_id": oauth.client_id,
            "refresh_token": read_secret(oauth.refresh_token_file),
        }
        if oauth.client_secret_file is not None:
            form["client_secret"] = read_secret(oauth.client_secret_file)
        if oauth.scope is not None:
            form["scope"] = oauth.scope
        try:
            async with (
                aiohttp.ClientSession(timeout=limit) as session,
                session.post(oauth.token_url, data=form, allow_redirects=False) as response,
            ):
                answer: Any = await response.json(content_type=None)
                status = response.status
        except (aiohttp.ClientError, TimeoutError, ValueError) as error:
            raise ServerUnavailable(
                f"{oauth.token_url} gave no token: {type(error).__name__}"
            ) from error
        if status != 200 or not isinstance(answer, dict) or not answer.get("access_token"):
            why = answer.get("error") if isinstance(answer, dict) else None
            raise MailLoginRefused(f"{oauth.token_url} gave no token: {why or status}")
        self._token = str(answer["access_token"])
        self._until = time.time() + float(answer.get("expires_in") or 3600) - _RENEW_BEFORE
