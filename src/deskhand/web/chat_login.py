"""Login tokens of a company's own site: signed with HS256, they make a visitor a known customer."""

import base64
import binascii
import hmac
import json
import os
import time
from hashlib import sha256
from typing import Any

from deskhand.config.sections.chat import ChatSection

LONGEST_TOKEN = 4096
_LONGEST_CUSTOMER = 200


class TokenRefused(Exception):
    """Why a login token does not count. The words say nothing that helps to forge one."""


def login_secret(chat: ChatSection) -> bytes | None:
    """The secret that tokens are signed with; None where the desk names none.

    Raises LoginRefused where it cannot be read, or is too short to be one.
    """
    if chat.login_secret_file is not None:
        try:
            secret = chat.login_secret_file.read_bytes().strip()
        except OSError:
            raise TokenRefused("the login secret cannot be read") from None
    elif chat.login_secret_env is not None:
        secret = os.environ.get(chat.login_secret_env, "").encode()
    else:
        return None
    if len(secret) < 32:
        raise TokenRefused("the login secret is missing or shorter than 32 bytes")
    return secret


def customer_in(token: str, secret: bytes, audience: str, now: float | None = None) -> str:
    """The customer that a token names (`sub`); raises LoginRefused for any other token.

    It must be signed by us, be meant for this desk (`aud`) and say when it ends (`exp`).
    """
    header, claims = _verified(token, secret)
    if header.get("alg") != "HS256" or header.get("crit") is not None:
        raise TokenRefused("the login token is not signed as it must be")
    if not _is_for(claims.get("aud"), audience):
        raise TokenRefused("the login token is for somebody else")
    moment = time.time() if now is None else now
    if not _is_time(claims.get("exp")) or claims["exp"] <= moment:
        raise TokenRefused("the login token has ended")
    begins = claims.get("nbf", 0)
    if not _is_time(begins) or begins > moment:
        raise TokenRefused("the login token does not count yet")
    customer = claims.get("sub")
    if not isinstance(customer, str) or not 0 < len(customer.strip()) <= _LONGEST_CUSTOMER:
        raise TokenRefused("the login token names no customer")
    return customer.strip()


def _verified(token: str, secret: bytes) -> tuple[dict[str, Any], dict[str, Any]]:
    parts = token.split(".")
    if len(token) > LONGEST_TOKEN or len(parts) != 3 or not token.isascii():
        raise TokenRefused("the login token is not readable")
    expected = hmac.new(secret, f"{parts[0]}.{parts[1]}".encode(), sha256).digest()
    if not hmac.compare_digest(expected, _decoded(parts[2])):
        raise TokenRefused("the login token is not signed as it must be")
    return _object(parts[0]), _object(parts[1])


def _decoded(part: str) -> bytes:
    try:
        padded = part + "=" * (-len(part) % 4)
        return base64.b64decode(padded, altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        raise TokenRefused("the login token is not readable") from None


def _object(part: str) -> dict[str, Any]:
    try:
        read = json.loads(_decoded(part))
    except (ValueError, RecursionError):
        raise TokenRefused("the login token is not readable") from None
    if not isinstance(read, dict):
        raise TokenRefused("the login token is not readable")
    return read


def _is_for(written: Any, audience: str) -> bool:
    named = written if isinstance(written, list) else [written]
    return audience in named


def _is_time(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
