"""Keeps credentials out of everything that is shown, logged or stored."""

import re

_CREDENTIALS = re.compile(
    r"(?i:(bearer|basic)\s+[\w.~+/=-]{6,})"  # an Authorization header, quoted back
    r"|(?<=//)[^/\s:@]+:[^/\s@]+(?=@)"  # user:password in an address
    r"|(?i:(?<![\w-])(api[_-]?key|key|token|access_token|secret)([\"']?\s*[=:]\s*[\"']?))[\w.~+/=-]{8,}"
    r"|\b(?:sk|pk|rk|gsk|xai|hf|key)[-_][\w-]{8,}"  # the usual prefixes of keys
    r"|\bAIza[\w-]{20,}"
    r"|\beyJ[\w-]+\.[\w-]+\.[\w-]+"  # JSON web tokens
)


def redacted(text: str, *secrets: str | None, limit: int = 300) -> str:
    """One line of at most `limit` characters, without secrets or what looks like one."""
    for secret in secrets:
        if secret:
            text = text.replace(secret, "***")
    text = _CREDENTIALS.sub(_mask, " ".join(text[: limit * 8].split()))
    return text if len(text) <= limit else text[: limit - 1] + "…"


def _mask(match: re.Match[str]) -> str:
    if scheme := match.group(1):
        return f"{scheme} ***"
    if name := match.group(2):
        return f"{name}{match.group(3)}***"
    return "***"
