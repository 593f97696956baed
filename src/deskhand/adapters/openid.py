"""Logging in with an OpenID provider: Authorization Code with PKCE, as OpenID Connect Core says.

What proves that an answer belongs to a login is made from one secret, which the browser that began
it keeps: the state, the nonce and the code verifier. Nothing of it is stored here.
"""

import base64
import hmac
import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from ipaddress import ip_address
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

import aiohttp

from deskhand.adapters.id_tokens import Claims, UnknownKey, read_id_token
from deskhand.errors import ConfigError, LoginRefused, ProviderAway
from deskhand.model.access import Identity

CALLBACK = "/login/oidc/callback"
FRESH = 3600.0
"""Seconds for which what a provider publishes is not asked for again."""
KEYS_AGAIN = 5.0
"""Seconds between two looks for newer keys, so that forged tokens do not make us ask and ask."""
_LARGEST = 1_000_000
_TIMEOUT = aiohttp.ClientTimeout(total=10)
_ENDPOINTS = ("authorization_endpoint", "token_endpoint", "jwks_uri")
_MOST_GROUPS = 1000


@dataclass(frozen=True, slots=True)
class OpenIdSettings:
    """What an operator says of a provider."""

    issuer: str
    client: str
    secret: str | None
    name: str
    """As the login page names it."""
    public_url: str
    """Where browsers find us: the provider sends them back there."""
    scopes: str = "openid email profile"
    groups_claim: str = "groups"
    trusts_addresses: bool = False
    """Whether addresses count that the provider does not call verified."""

    def check(self) -> None:
        """Raise ConfigError for what cannot work."""
        _check_url(self.issuer, "the issuer of --oidc-issuer")
        if "openid" not in self.scopes.split():
            raise ConfigError("the scopes lack `openid`", fix="write `openid email profile`")


class OpenIdProvider:
    def __init__(self, settings: OpenIdSettings) -> None:
        settings.check()
        self._settings = settings
        self._found: dict[str, Any] = {}
        self._found_at = float("-inf")
        self._keys: list[Mapping[str, Any]] = []
        self._keys_at = float("-inf")

    @property
    def name(self) -> str:
        return self._settings.name

    async def begin(self, secret: str) -> str:
        """Where the browser goes to log in; ProviderAway where nobody answers."""
        provider = await self._discovered()
        verifier = _made_from(secret, "verifier")
        challenge = base64.urlsafe_b64encode(sha256(verifier.encode()).digest()).rstrip(b"=")
        asked = {
            "response_type": "code",
            "client_id": self._settings.client,
            "redirect_uri": self._redirect,
            "scope": self._settings.scopes,
            "state": _made_from(secret, "state"),
            "nonce": _made_from(secret, "nonce"),
            "code_challenge": challenge.decode(),
            "code_challenge_method": "S256",
        }
        return _with_query(provider["authorization_endpoint"], asked)

    def is_answer_to(self, secret: str, state: str) -> bool:
        """Whether an answer belongs to the login that this browser began."""
        return hmac.compare_digest(_made_from(secret, "state").encode(), state.encode())

    async def finish(self, secret: str, code: str, issuer: str | None) -> Identity:
        """Who logged in. `issuer` is what came beside the code."""
        provider = await self._discovered()
        says_issuer = provider.get("authorization_response_iss_parameter_supported") is True
        wrong = issuer is not None and issuer != self._settings.issuer
        if wrong or (issuer is None and says_issuer):
            raise LoginRefused("the answer is from another provider than the one you were sent to")
        tokens = await self._exchange(provider, secret, code)
        token = tokens.get("id_token")
        if not isinstance(token, str):
            raise LoginRefused("the provider did not say who you are")
        return self._identity(await self._read(provider, token, _made_from(secret, "nonce")))

    async def logout_url(self) -> str | None:
        """Where somebody logs out of the provider too; None where it has no such page."""
        try:
            provider = await self._discovered()
        except ProviderAway:
            return None
        page = provider.get("end_session_endpoint")
        if not isinstance(page, str) or not _is_safe(page):
            return None
        back = {
            "client_id": self._settings.client,
            "post_logout_redirect_uri": f"{self._settings.public_url}/login",
        }
        return _with_query(page, back)

    # --- what the provider says of itself

    @property
    def _redirect(self) -> str:
        return f"{self._settings.public_url}{CALLBACK}"

    async def _discovered(self) -> dict[str, Any]:
        if time.monotonic() - self._found_at < FRESH:
            return self._found
        place = f"{self._settings.issuer.rstrip('/')}/.well-known/openid-configuration"
        provider = await self._get(place)
        if provider.get("issuer") != self._settings.issuer:
            raise ProviderAway("the provider calls itself by another name than --oidc-issuer")
        for endpoint in _ENDPOINTS:
            if not isinstance(provider.get(endpoint), str) or not _is_safe(provider[endpoint]):
                raise ProviderAway(f"the provider publishes no {endpoint} that can be used")
        self._found, self._found_at = provider, time.monotonic()
        return provider

    async def _read(self, provider: Mapping[str, Any], token: str, nonce: str) -> Claims:
        """Read a token; with a key that is not known yet, after a look for newer ones."""
        expected = {"issuer": self._settings.issuer, "client": self._settings.client}
        if not self._keys or time.monotonic() - self._keys_at > FRESH:
            await self._fetch_keys(provider)
        try:
            return read_id_token(token, self._keys, **expected, nonce=nonce)
        except UnknownKey:
            if time.monotonic() - self._keys_at < KEYS_AGAIN:
                raise
            await self._fetch_keys(provider)
            return read_id_token(token, self._keys, **expected, nonce=nonce)

    async def _fetch_keys(self, provider: Mapping[str, Any]) -> None:
        published = (await self._get(provider["jwks_uri"])).get("keys")
        if not isinstance(published, list):
            raise ProviderAway("the provider publishes no keys")
        self._keys = [key for key in published if isinstance(key, dict)]
        self._keys_at = time.monotonic()

    async def _exchange(
        self, provider: Mapping[str, Any], secret: str, code: str
    ) -> dict[str, Any]:
        """The tokens that a code stands for; LoginRefused where it was used or is too old."""
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": self._redirect,
            "code_verifier": _made_from(secret, "verifier"),
            "client_id": self._settings.client,
        }
        headers = {}
        methods = provider.get("token_endpoint_auth_methods_supported") or ["client_secret_basic"]
        if self._settings.secret is not None:
            if "client_secret_basic" in methods:
                headers["Authorization"] = self._basic(self._settings.secret)
            else:
                form["client_secret"] = self._settings.secret
        status, answer = await self._ask("POST", provider["token_endpoint"], form, headers)
        if 400 <= status < 500:
            raise LoginRefused("the provider does not take the answer back; begin again")
        if status != 200:
            raise ProviderAway(f"the provider answered {status}")
        return answer

    def _basic(self, secret: str) -> str:
        """The header that names us to the provider; OAuth 2.0 wants both parts encoded as in a
        form."""
        pair = f"{quote(self._settings.client, safe='')}:{quote(secret, safe='')}"
        return f"Basic {base64.b64encode(pair.encode()).decode()}"

    async def _get(self, url: str) -> dict[str, Any]:
        status, answer = await self._ask("GET", url, None, {})
        if status != 200:
            raise ProviderAway(f"the provider answered {status}")
        return answer

    async def _ask(
        self, method: str, url: str, form: Mapping[str, str] | None, headers: Mapping[str, str]
    ) -> tuple[int, dict[str, Any]]:
        try:
            async with (
                aiohttp.ClientSession(timeout=_TIMEOUT) as session,
                session.request(
                    method,
                    url,
                    data=form,
                    headers={"Accept": "application/json", **headers},
                    allow_redirects=False,
                ) as answer,
            ):
                body = await _body(answer)
                status = answer.status
        except (aiohttp.ClientError, OSError, TimeoutError) as error:
            raise ProviderAway(f"the provider cannot be reached: {type(error).__name__}") from None
        try:
            document = json.loads(body)
        except ValueError:
            document = {}
        return status, document if isinstance(document, dict) else {}

    # --- who it is

    def _identity(self, claims: Claims) -> Identity:
        groups = _groups(claims.get(self._settings.groups_claim))
        return Identity(self._settings.issuer, str(claims["sub"]), self._address(claims), groups)

    def _address(self, claims: Claims) -> str | None:
        address = claims.get("email")
        verified = claims.get("email_verified") in (True, "true")
        believed = verified or (
            self._settings.trusts_addresses and claims.get("email_verified") is None
        )
        if not isinstance(address, str) or not address.isprintable() or not believed:
            return None
        return address.strip().lower()


def _groups(written: object) -> tuple[str, ...]:
    """One group or a list of them; nothing else says a group."""
    if isinstance(written, str):
        return (written,)
    if not isinstance(written, list):
        return ()
    return tuple(str(group) for group in written[:_MOST_GROUPS])


async def _body(answer: aiohttp.ClientResponse) -> bytes:
    body = b""
    async for piece in answer.content.iter_chunked(65_536):
        body += piece
        if len(body) > _LARGEST:
            raise ProviderAway("the provider's answer is too long")
    return body


def _made_from(secret: str, what: str) -> str:
    digest = hmac.digest(secret.encode(), f"openid\0{what}".encode(), sha256)
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode()


def _with_query(url: str, values: Mapping[str, str]) -> str:
    return f"{url}{'&' if '?' in url else '?'}{urlencode(values)}"


def _is_safe(url: str) -> bool:
    """Whether nobody on the way can read or change what is said there."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    host = parts.hostname or ""
    return bool(host) and (parts.scheme == "https" or (parts.scheme == "http" and _is_here(host)))


def _is_here(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _check_url(url: str, what: str) -> None:
    if not _is_safe(url) or urlsplit(url).query or urlsplit(url).fragment:
        raise ConfigError(
            f"{what} is no address of a provider: {url!r}",
            fix="write it as the provider does, as https://login.example.com/realms/acme",
        )
