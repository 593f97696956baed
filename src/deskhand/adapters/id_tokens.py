"""ID tokens: who signed them, for whom, when, and for which login."""

import hmac
import time
from collections.abc import Mapping, Sequence
from typing import Any

import jwt

from deskhand.errors import LoginRefused

ALGORITHMS = {"RS256": "RSA", "ES256": "EC"}
"""What may sign, with the kind of key that it needs. None of them takes a shared secret."""
LEEWAY = 60.0
"""Seconds by which clocks may differ."""
OLDEST = 600.0
"""Seconds ago that a token may have been made: it is asked for during the login."""
_REQUIRED = ["iss", "aud", "exp", "iat", "sub"]

Claims = Mapping[str, Any]


class UnknownKey(LoginRefused):
    """The provider's keys, as far as they are known, have not signed it."""


def read_id_token(
    token: str, keys: Sequence[Mapping[str, Any]], *, issuer: str, client: str, nonce: str
) -> Claims:
    """What a token says, once everything about it is right; LoginRefused otherwise, and UnknownKey
    where newer keys may help."""
    key, algorithm = _signing_key(token, keys)
    try:
        claims: Claims = jwt.decode(
            token,
            key,
            algorithms=[algorithm],
            audience=client,
            issuer=issuer,
            leeway=LEEWAY,
            options={"require": _REQUIRED},
        )
    except jwt.PyJWTError as error:
        raise LoginRefused(f"the provider's answer is not valid: {_words(error)}") from None
    _check_parties(claims, client)
    _check_login(claims, nonce)
    return claims


def _signing_key(token: str, keys: Sequence[Mapping[str, Any]]) -> tuple[Any, str]:
    """The one key that may have signed it. What the token says of itself chooses among our
    algorithms and the provider's keys, and brings none."""
    try:
        header = jwt.get_unverified_header(token)
    except jwt.PyJWTError:
        raise LoginRefused("the provider's answer holds no token that can be read") from None
    algorithm = str(header.get("alg"))
    if algorithm not in ALGORITHMS:
        raise LoginRefused(f"the provider signs with {algorithm[:20]!r}, which is not accepted")
    fitting = [key for key in keys if _fits(key, algorithm)]
    named = header.get("kid")
    if named is not None:
        fitting = [key for key in fitting if key.get("kid") == named]
    if len(fitting) != 1:
        raise UnknownKey("the provider's answer is signed with a key that it does not publish")
    try:
        return jwt.PyJWK.from_dict(dict(fitting[0]), algorithm).key, algorithm
    except (jwt.PyJWTError, ValueError, TypeError):
        raise LoginRefused("the provider publishes a key that cannot be used") from None


def _fits(key: Mapping[str, Any], algorithm: str) -> bool:
    for_this = key.get("alg") in (None, algorithm)
    to_sign = key.get("use") in (None, "sig")
    curve = algorithm != "ES256" or key.get("crv") == "P-256"
    return key.get("kty") == ALGORITHMS[algorithm] and for_this and to_sign and curve


def _check_parties(claims: Claims, client: str) -> None:
    """It is for us: alone, or with us named as the one it was issued to."""
    party = claims.get("azp")
    several = isinstance(claims["aud"], list) and len(claims["aud"]) > 1
    if party != client and (party is not None or several):
        raise LoginRefused("the provider's answer was issued to another program")


def _check_login(claims: Claims, nonce: str) -> None:
    """It was made now, for the login that this browser began."""
    if not hmac.compare_digest(str(claims.get("nonce", "")).encode(), nonce.encode()):
        raise LoginRefused("the provider's answer belongs to another login; begin again")
    if time.time() - float(claims["iat"]) > OLDEST + LEEWAY:
        raise LoginRefused("the provider's answer is too old; begin again")
    subject = str(claims["sub"])
    if not subject or len(subject) > 255 or not subject.isprintable():
        raise LoginRefused("the provider does not say who you are")


def _words(error: Exception) -> str:
    reasons: dict[type[Exception], str] = {
        jwt.ExpiredSignatureError: "it has expired",
        jwt.InvalidAudienceError: "it is for another program",
        jwt.InvalidIssuerError: "it is from another provider",
        jwt.ImmatureSignatureError: "it is from the future",
        jwt.InvalidSignatureError: "its signature is wrong",
    }
    return reasons.get(type(error), "it cannot be read")
