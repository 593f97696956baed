"""What all connections to mail servers share: checked TLS, faults, and no secret in any error."""

import ssl
from pathlib import Path

from deskhand.config.sections.channels import ServerSpec
from deskhand.errors import ConfigError, RetryableError

ANSWER_WITHIN = 60.0
"""Seconds without an answer after which a server is given up."""


class ServerUnavailable(RetryableError):
    """The mail server cannot be reached, hung up or did not answer in time."""

    fix: str | None = None
    """What to change in desk.yaml, where that would help."""


class TlsFailed(ServerUnavailable):
    """The line could not be encrypted, or the server is not who it should be."""

    def __init__(self, server: ServerSpec, error: Exception) -> None:
        reason = getattr(error, "verify_message", "") or getattr(error, "reason", "") or error
        where = f"{server.host}:{server.port}"
        super().__init__(f"{where}: TLS failed: {str(reason) or 'no answer in time'}")
        self.fix = _tls_fix(server, error)


class MailLoginRefused(RetryableError):
    """The mail server refuses the login; the secret's file may hold another one next time."""


_UNKNOWN_ISSUER = (18, 19, 20, 21)
_EXPIRED, _OTHER_HOST = 10, 62
"""OpenSSL's numbers for what is wrong with a certificate."""


def _tls_fix(server: ServerSpec, error: Exception) -> str | None:
    """The key of desk.yaml that most likely mends it."""
    code = getattr(error, "verify_code", None)
    if code in _UNKNOWN_ISSUER:
        return (
            "its certificate is signed by nobody this machine knows: set `ca_file` beside `host`"
            " to the PEM file of your own authority"
        )
    if code == _OTHER_HOST:
        return f"its certificate is for another name: set `host` to that name, not {server.host}"
    if code == _EXPIRED:
        return "its certificate has expired: renew it on the server"
    if isinstance(error, ssl.SSLError) and code is None and server.security == "tls":
        return (
            f"port {server.port} does not begin with TLS: set `security: starttls`, or `port` to"
            " the one for TLS (993 for IMAP, 465 for SMTP)"
        )
    return None


def tls_context(server: ServerSpec) -> ssl.SSLContext:
    """Certificates are checked; ConfigError where those to trust cannot be read."""
    try:
        return ssl.create_default_context(
            cafile=None if server.ca_file is None else str(server.ca_file)
        )
    except (OSError, ssl.SSLError) as error:
        raise ConfigError(
            f"the certificates in {server.ca_file} cannot be read: {error}",
            fix="name a PEM file with `ca_file`",
        ) from None


def read_secret(path: Path) -> str:
    """The first line of a secret's file; what it holds never appears in an error."""
    try:
        secret = path.read_text(encoding="utf-8").partition("\n")[0].strip()
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "not UTF-8"
        raise ConfigError(
            f"the secret cannot be read: {why}", file=path, fix="write it into this file"
        ) from None
    if not secret:
        raise ConfigError(
            "the file is empty", file=path, fix="write the secret into its first line"
        )
    return secret
