"""A small OpenID provider on loopback, with real keys; it can be told to lie."""

import base64
import hmac
import json
import secrets
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any
from urllib.parse import quote, urlencode

import jwt
from aiohttp import web
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from jwt.algorithms import ECAlgorithm, RSAAlgorithm

CLIENT, SECRET = "deskhand", "a client's secret: with / and :"
PUBLIC = "http://desk.test"

Forge = Callable[["OpenIdServer", dict[str, Any]], str]
"""Makes a token of claims in a way of its own."""


@dataclass
class Key:
    """A key that signs, by its id."""

    id: str
    private: Any
    algorithm: str

    @classmethod
    def rsa(cls) -> "Key":
        return cls(secrets.token_hex(4), rsa.generate_private_key(65537, 2048), "RS256")

    @classmethod
    def curve(cls) -> "Key":
        return cls(secrets.token_hex(4), ec.generate_private_key(ec.SECP256R1()), "ES256")

    def published(self) -> dict[str, Any]:
        kind = RSAAlgorithm if self.algorithm == "RS256" else ECAlgorithm
        document = json.loads(kind.to_jwk(self.private.public_key()))
        return {**document, "kid": self.id, "use": "sig", "alg": self.algorithm}

    def pem(self) -> bytes:
        public = self.private.public_key()
        return bytes(public.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo))


@dataclass
class OpenIdServer:
    person: dict[str, Any] = field(default_factory=dict)
    """What it says of whoever logs in."""
    key: Key = field(default_factory=Key.rsa)
    published: list[Key] | None = None
    """The keys that it tells of; only its own unless somebody says others."""
    claims: dict[str, Any] = field(default_factory=dict)
    """What it says otherwise than it should; None leaves a claim out."""
    forge: Forge | None = None
    metadata: dict[str, Any] = field(default_factory=dict)
    answer: dict[str, str] = field(default_factory=dict)
    """What it sends the browser back with, otherwise than it should."""
    away: bool = False
    url: str = ""
    public: str = PUBLIC
    """Where it sends browsers back to."""
    host: str = "127.0.0.1"
    asked: list[str] = field(default_factory=list)
    _codes: dict[str, dict[str, str]] = field(default_factory=dict)

    def routes(self) -> list[web.RouteDef]:
        return [
            web.get("/.well-known/openid-configuration", self._discover),
            web.get("/jwks", self._jwks),
            web.get("/authorize", self._authorize),
            web.post("/token", self._token),
        ]

    async def _discover(self, request: web.Request) -> web.Response:
        self.asked.append("discovery")
        if self.away:
            return web.Response(status=503)
        usual = {
            "issuer": self.url,
            "authorization_endpoint": f"{self.url}/authorize",
            "token_endpoint": f"{self.url}/token",
            "jwks_uri": f"{self.url}/jwks",
            "end_session_endpoint": f"{self.url}/logout",
            "authorization_response_iss_parameter_supported": True,
        }
        return web.json_response({**usual, **self.metadata})

    async def _jwks(self, request: web.Request) -> web.Response:
        self.asked.append("keys")
        keys = [self.key] if self.published is None else self.published
        return web.json_response({"keys": [key.published() for key in keys]})

    async def _authorize(self, request: web.Request) -> web.Response:
        """Everybody who comes is the person; asks nothing."""
        asked = dict(request.query)
        assert asked["response_type"] == "code"
        assert asked["client_id"] == CLIENT
        assert asked["redirect_uri"] == f"{self.public}/login/oidc/callback"
        assert asked["code_challenge_method"] == "S256"
        code = secrets.token_urlsafe(16)
        self._codes[code] = asked
        back = {"code": code, "state": asked["state"], "iss": self.url, **self.answer}
        kept = {name: value for name, value in back.items() if value}
        return web.Response(
            status=302, headers={"Location": f"{asked['redirect_uri']}?{urlencode(kept)}"}
        )

    async def _token(self, request: web.Request) -> web.Response:
        self.asked.append("token")
        if self.away:
            return web.Response(status=502)
        form = await request.post()
        asked = self._codes.pop(str(form.get("code")), None)
        if asked is None or not self._is_client(request):
            return web.json_response({"error": "invalid_grant"}, status=400)
        digest = sha256(str(form["code_verifier"]).encode()).digest()
        challenge = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
        same = form["redirect_uri"] == asked["redirect_uri"]
        if challenge != asked["code_challenge"] or not same:
            return web.json_response({"error": "invalid_grant"}, status=400)
        token = self._id_token(asked["nonce"])
        return web.json_response({"access_token": "x", "token_type": "Bearer", "id_token": token})

    def _is_client(self, request: web.Request) -> bool:
        pair = f"{quote(CLIENT, safe='')}:{quote(SECRET, safe='')}"
        expected = f"Basic {base64.b64encode(pair.encode()).decode()}"
        return hmac.compare_digest(request.headers.get("Authorization", ""), expected)

    def _id_token(self, nonce: str) -> str:
        now = int(time.time())
        usual = {"iss": self.url, "aud": CLIENT, "sub": "248289", "iat": now, "exp": now + 300}
        said = {**usual, "nonce": nonce, **self.person, **self.claims}
        claims = {name: value for name, value in said.items() if value is not None}
        if self.forge is not None:
            return self.forge(self, claims)
        headers = {"kid": self.key.id}
        return jwt.encode(claims, self.key.private, self.key.algorithm, headers=headers)


@asynccontextmanager
async def openid_server(**options: Any) -> AsyncIterator[OpenIdServer]:
    server = OpenIdServer(**options)
    app = web.Application()
    app.add_routes(server.routes())
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    assert site._server is not None
    port = site._server.sockets[0].getsockname()[1]  # type: ignore[attr-defined]
    server.url = f"http://{server.host}:{port}"
    try:
        yield server
    finally:
        await runner.cleanup()


def unsigned(server: OpenIdServer, claims: dict[str, Any]) -> str:
    return jwt.encode(claims, "", "none", headers={"kid": server.key.id})


def signed_with_the_public_key(server: OpenIdServer, claims: dict[str, Any]) -> str:
    """What fools those who take the algorithm from the token: the published key as a password."""

    def part(document: dict[str, Any]) -> bytes:
        return base64.urlsafe_b64encode(json.dumps(document).encode()).rstrip(b"=")

    said = part({"alg": "HS256", "typ": "JWT", "kid": server.key.id}) + b"." + part(claims)
    digest = hmac.digest(server.key.pem(), said, "sha256")
    return (said + b"." + base64.urlsafe_b64encode(digest).rstrip(b"=")).decode()


def signed_by_a_stranger(server: OpenIdServer, claims: dict[str, Any]) -> str:
    stranger = Key.rsa()
    return jwt.encode(claims, stranger.private, "RS256", headers={"kid": server.key.id})


def signed_by_a_key_it_brings(server: OpenIdServer, claims: dict[str, Any]) -> str:
    stranger = Key.rsa()
    brought = {"kid": stranger.id, "jwk": stranger.published(), "jku": "http://127.0.0.1:9/keys"}
    return jwt.encode(claims, stranger.private, "RS256", headers=brought)


def tampered(server: OpenIdServer, claims: dict[str, Any]) -> str:
    token = jwt.encode(claims, server.key.private, "RS256", headers={"kid": server.key.id})
    header, _, signature = token.split(".")
    more = json.dumps({**claims, "sub": "somebody else"}).encode()
    return f"{header}.{base64.urlsafe_b64encode(more).rstrip(b'=').decode()}.{signature}"
