"""Domains by the Public Suffix List: which endings there are, and who owns what lies below
them."""

from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from publicsuffixlist import PublicSuffixList


def organisational_domain(domain: str) -> str | None:
    """`example.co.uk` for `mail.example.co.uk` (RFC 7489, 3.2); None for an ending like `co.uk`.

    What hangs below a provider's domain belongs to his customers: `ann.github.io` is one domain
    and `bob.github.io` another.
    """
    try:
        return _public_suffix_list().privatesuffix(domain.lower().rstrip("."))
    except UnicodeError:  # half a character, from bytes that are no text
        return None


def is_registered_ending(ending: str) -> bool:
    """Whether names are registered below it: `cz`, `berlin`, `xn--p1ai`."""
    suffixes = _public_suffix_list()
    try:
        return (
            bool(ending) and suffixes.publicsuffix(f"x.{ending}", accept_unknown=False) is not None
        )
    except UnicodeError:
        return False


@cache
def _public_suffix_list() -> "PublicSuffixList":
    from publicsuffixlist import PublicSuffixList

    return PublicSuffixList()  # the copy inside the package; nothing is fetched
