"""Seals kept outside the database: JSON lines in a file, or posted to an address."""

import base64
import binascii
import json
from collections.abc import Iterable
from http.client import HTTPException
from pathlib import Path
from typing import IO, Any
from urllib.error import URLError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from deskhand.errors import ConfigError, StoreUnavailable
from deskhand.model.audited import Seal
from deskhand.private_files import make_private_file

_SECONDS = 15


def line_of(desk: str, seal: Seal) -> str:
    """A seal as one line of JSON, whole: it can stand in for the one in the database."""
    heads = base64.b64encode(seal.heads).decode()
    fields = {"desk": desk, "id": seal.id, "at": seal.at, "kind": seal.kind, "mac": seal.mac}
    return json.dumps({**fields, "heads": heads})


def read_copies(file: Path, desk: str) -> list[Seal]:
    """The seals of a desk in a file, in their order; ConfigError names a line that is none."""
    seals: list[Seal] = []
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
        if not line.strip():
            continue
        try:
            fields = json.loads(line)
            heads = base64.b64decode(fields["heads"], validate=True)
            seal = Seal(
                int(fields["id"]), float(fields["at"]), heads, str(fields["mac"]), fields["kind"]
            )
            of = fields["desk"]
        except (ValueError, KeyError, TypeError, binascii.Error):
            raise ConfigError(
                f"{file}:{number} is no seal", fix="give a file of `deskhand audit seal --to FILE`"
            ) from None
        if of == desk:
            seals.append(seal)
    return seals


def add_copies(file: Path, desk: str, seals: Iterable[Seal]) -> int:
    """Append the seals that the file does not have yet; returns how many."""
    if not file.exists():
        make_private_file(file)
    present = {seal.id for seal in read_copies(file, desk)}
    missing = [seal for seal in seals if seal.id not in present]
    with file.open("a", encoding="utf-8") as opened:
        for seal in missing:
            opened.write(line_of(desk, seal) + "\n")
    return len(missing)


def post_copy(url: str, desk: str, seal: Seal) -> None:
    """Post a seal; StoreUnavailable unless the other side says that it has it."""
    request = Request(  # noqa: S310 checked by check_address
        url,
        data=line_of(desk, seal).encode(),
        headers={"Content-Type": "application/json", "User-Agent": "deskhand"},
    )
    try:
        with build_opener(_NoRedirection).open(request, timeout=_SECONDS):
            return
    except (URLError, HTTPException, OSError) as error:
        raise StoreUnavailable(
            f"seal {seal.id} is in the database, but {url} did not take it: {error}; seal again"
        ) from None


def check_address(url: str) -> None:
    """ConfigError unless it is an address that something can be posted to."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ConfigError(f"{url!r} is no address", fix="write https://host/path")


class _NoRedirection(HTTPRedirectHandler):
    """Only the operator's own address gets the seal."""

    def redirect_request(
        self, req: Request, fp: IO[bytes], code: int, msg: str, headers: Any, newurl: str
    ) -> None:
        return None
