"""Hosts and addresses in a reply, however they are written."""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

import re2

from deskhand.mail.public_suffixes import is_registered_ending
from deskhand.outgoing.visible_text import VisibleText

_DOT = r"(?:\.| ?[\[({] ?(?:\.|dot|punkt|tecka|punto|point) ?[\])}] ?| dot )"
_AT = r"(?:@| ?[\[({] ?(?:@|at|zavinac|arroba) ?[\])}] ?| at )"
_LABEL = r"[a-z0-9](?:[a-z0-9_-]{0,61}[a-z0-9])?"
_BARE = re2.compile(rf"(?:{_LABEL}{_DOT})+[a-z][a-z0-9-]{{1,62}}\.?")
_SCHEME = re2.compile(
    r"\b(?:h ?[tx] ?[tx] ?p ?s?|ftps?|wss?|sftp|ssh|smb|file|[a-z][a-z0-9+-]{1,20}) ?: ?[/\\]"
    r" ?[/\\]+ ?"
)
_RELATIVE = re2.compile(r"""(?:\]\(|=\s*["']?|url\(\s*["']?|\]:\s*)(?:[/\\]{2,})""")
_AFTER_SCHEME = re2.compile(rf"[^\s<>\"'`)\]|]*(?: ?(?:{_DOT}) ?{_LABEL})*")
_SCRIPT = re2.compile(
    r"\b(?:javascript|vbscript|livescript|data|blob|about|intent|jar) ?: ?[a-z0-9/(+;,%'\"]"
)
_DATA_WORD = re2.compile(r"^(?:data|about|intent|jar|blob) ?: ?(?:[a-z]+/|text|blank|//)")
_EMAIL = re2.compile(
    rf"[a-z0-9!#$%&'*+/=?^_{{|}}~.-]{{1,64}}{_AT}(?:{_LABEL}{_DOT})+[a-z][a-z0-9-]{{1,62}}"
)
_PLAIN_EMAIL = re2.compile(r"[a-z0-9!#$%&'*+/=?^_{|}~.-]{1,64}@\[?[a-z0-9][a-z0-9.:-]*[a-z0-9]\]?")
_IPV4 = re2.compile(r"\b(?:[0-9]{1,3}\.){3}[0-9]{1,3}\b")
_PATH = re2.compile(r"^(?::[0-9]{1,5})?/[^\s]")
_SPELT_OUT = re.compile(
    r"\s?[\[({]\s?\.\s?[\])}]\s?|\s?[\[({]?\s?(?:dot|punkt|tecka|punto|point)\s?[\])}]?\s?"
)
_NOT_HOST = " \t[](){}"
_UNLISTED_ENDINGS = "bit crypto eth example i2p internal invalid lan local server test za"
_UNLISTED = frozenset(_UNLISTED_ENDINGS.split())
"""Endings that nobody registers names below, and that lead somewhere nevertheless: in a company's
own network, with another resolver, or one label further down."""
_FILE_ENDINGS = "zip mov md py test"
_FILES = frozenset(_FILE_ENDINGS.split())
"""Endings of files and plain words: after one name, a host only with a path or a scheme."""
_SENTENCE_WORDS = """
ai al am as at be bo by co de do es et eu im in is it la le li ma me mo mu my na ne ni no nu or po
ps se si so st su to tu us za call here like man men now one open play read save see show try
you one off next best life
"""
_WORDS_TOO = frozenset(_SENTENCE_WORDS.split())
"""Endings that are also words of a sentence: `connect the dot in the list`."""
_ABBREVIATIONS = frozenset(
    f"{word}.no" for word in ("ref", "art", "inv", "item", "order", "part", "reg", "serial", "tel")
)
"""What people write without a space."""


class Link(NamedTuple):
    """A host or an address with its place in the reading."""

    kind: str
    """host, address, script or userinfo"""
    value: str
    start: int
    end: int


def links_in(reading: VisibleText) -> Iterator[Link]:
    """Every one once; what stands inside another link (a redirect's target) counts on its own."""
    taken = _Covered(len(reading.plain))
    for link in (
        *_with_scheme(reading),
        *_addresses(reading),
        *_scripts(reading),
        *_numeric(reading),
        *_bare(reading),
    ):
        if link.kind in ("host", "address") and taken.holds(link.start, link.end):
            continue
        taken.add(link.start, link.end)
        yield link


class _Covered:
    """Stretches of a text; tells in a few steps, however many there are, whether one holds
    another.

    A Fenwick tree: for each place, how far the stretches reach that begin there or before.
    """

    def __init__(self, length: int) -> None:
        self._reach = [0] * (length + 2)

    def add(self, start: int, end: int) -> None:
        place = start + 1
        while place < len(self._reach):
            self._reach[place] = max(self._reach[place], end)
            place += place & -place

    def holds(self, start: int, end: int) -> bool:
        place = start + 1
        while place:
            if self._reach[place] >= end:
                return True
            place -= place & -place
        return False


def is_allowed_host(host: str, allowed: frozenset[str]) -> bool:
    name = ascii_host(host)
    if name is None:
        return False
    if name in allowed:
        return True
    labels = name.split(".")
    return any(f"*.{'.'.join(labels[index:])}" in allowed for index in range(1, len(labels)))


def ascii_host(host: str) -> str | None:
    """As the network sees it: small letters, punycode; None for what is no host name."""
    name = host.casefold().rstrip(".")
    if name.isascii():
        return name or None
    try:
        return name.encode("idna").decode()
    except UnicodeError:
        return None


def _with_scheme(reading: VisibleText) -> Iterator[Link]:
    skeleton = reading.skeleton
    if "/" not in skeleton and "\\" not in skeleton:
        return
    for pattern in (_SCHEME, _RELATIVE):
        for match in pattern.finditer(skeleton):
            after = _AFTER_SCHEME.match(skeleton[match.end() : match.end() + 2100])
            rest = skeleton[match.end() : match.end() + (after.end() if after else 0)]
            length = len(re.split(r"[/\\?#*~]", rest, maxsplit=1)[0])
            authority = reading.plain[match.end() : match.end() + length]
            user, at, host = authority.rpartition("@")
            end = match.end() + len(authority)
            if at:
                yield Link("userinfo", f"{user}@{host}", match.start(), end)
            yield Link("host", _host(host), match.start(), end)


def _host(written: str) -> str:
    if written.startswith("["):
        return written
    written = written.rstrip(".,;:!?")
    name, _, port = written.rpartition(":")
    bare = name if name and port.isdecimal() else written
    return _SPELT_OUT.sub(".", bare).replace(" ", "").rstrip(".,;:!?")


def _addresses(reading: VisibleText) -> Iterator[Link]:
    patterns = (_PLAIN_EMAIL, _EMAIL) if "@" in reading.skeleton else (_EMAIL,)
    for pattern in patterns:
        for match in pattern.finditer(reading.skeleton):
            start, end = match.span()
            written = reading.plain[start:end]
            local, at, host = re.split(rf"({_AT})", written, maxsplit=1, flags=re.IGNORECASE)[:3]
            if at.strip().lower() == "at" and not _is_ending(_host(host), ""):
                continue
            yield Link("address", f"{local.lstrip(_NOT_HOST + chr(39))}@{_host(host)}", start, end)


def _scripts(reading: VisibleText) -> Iterator[Link]:
    if ":" not in reading.skeleton:
        return
    for match in _SCRIPT.finditer(reading.skeleton):
        word = match.group()
        is_word = word.startswith(("data", "about", "intent", "jar", "blob"))
        if is_word and not _DATA_WORD.match(reading.skeleton[match.start() : match.start() + 40]):
            continue
        yield Link("script", reading.plain[match.start() : match.end()], match.start(), match.end())


def _numeric(reading: VisibleText) -> Iterator[Link]:
    if "." not in reading.skeleton:
        return
    for match in _IPV4.finditer(reading.skeleton):
        if all(int(part) <= 255 for part in match.group().split(".")):
            yield Link("host", match.group(), *match.span())


def _bare(reading: VisibleText) -> Iterator[Link]:
    skeleton = reading.skeleton
    for match in _BARE.finditer(skeleton):
        start, end = match.span()
        written = reading.plain[start:end].rstrip(".")
        host = _host(written)
        if " dot " in skeleton[start:end] and not _is_spelt_ending(host):
            continue
        if _is_ending(host, skeleton[end : end + 40]):
            yield Link("host", host, start, start + len(written))


def _is_spelt_ending(host: str) -> bool:
    """Whether `evil dot com` ends with what is no word of a sentence, as `the dot in` does."""
    ending = VisibleText(host.rpartition(".")[2]).skeleton
    return _is_known(ending) and ending not in _WORDS_TOO


def _is_ending(host: str, after: str) -> bool:
    """Whether a bare name with dots may be meant as a host rather than as a file or an
    abbreviation."""
    *labels, ending = host.split(".")
    if not labels:
        return False
    has_path = _PATH.match(after) is not None
    if host.lower() in _ABBREVIATIONS and not has_path:
        return False
    small = VisibleText(ending).skeleton
    if labels[0].lower() == "www" or small.startswith("xn--"):
        return True
    if small in _FILES and len(labels) == 1:
        return has_path
    if _is_known(small) or _is_known(ascii_host(ending) or ""):
        return True  # also `Danke.Es geht`: nobody can tell it from `Evil.De`, so a person looks
    return has_path and len(labels) >= 1 and ending.isalpha() and len(ending) >= 2


@lru_cache(maxsize=4096)
def _is_known(ending: str) -> bool:
    """Whether a host may end with this, in small letters or in punycode."""
    return ending in _UNLISTED or is_registered_ending(ending)
