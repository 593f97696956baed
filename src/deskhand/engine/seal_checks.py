"""What seals say: which of them must be there, and how far the log of the console went."""

from collections.abc import Sequence
from typing import NamedTuple

from deskhand.engine.journal import JournalProblem
from deskhand.model.audited import Seal
from deskhand.ports import Archive

CONSOLE_LINE = "@console"
"""In a seal: the line about what people did in the console, on whichever desk."""
ACCOUNTS = "@accounts"
"""In a seal: the line about users and API keys. In statements it stands for the desk, which no
desk is called."""


class SealedHead(NamedTuple):
    """How far a run had come when it was sealed."""

    rows: int
    chain: str
    seal: int
    stated: int | None = None
    """How many statements there were; None in seals that are older than statements."""
    stated_chain: str = ""


async def check_console(store: Archive, heads: Sequence[SealedHead]) -> list[JournalProblem]:
    """Whether the console's log is whole, and goes as far as seals say."""
    log = await store.console_log([head.rows for head in heads])
    problems: list[JournalProblem] = []
    if log.first_changed is not None:
        what = f"action {log.first_changed} of the console was changed, or the one before is gone"
        problems.append(JournalProblem("", None, what))
    for head in heads:
        chain = log.chains.get(head.rows)
        if head.rows and (chain is None or chain.hex() != head.chain):
            what = f"the console's log is not the one that seal {head.seal} covers"
            problems.append(JournalProblem("", None, what))
    return problems


def missing_seals(inside: Sequence[Seal], outside: Sequence[Seal]) -> list[JournalProblem]:
    """Seals kept elsewhere that the database does not have any more, or has otherwise."""
    by_id = {seal.id: seal for seal in inside}
    problems: list[JournalProblem] = []
    for seal in outside:
        own = by_id.get(seal.id)
        if own is None:
            problems.append(
                JournalProblem("", None, f"seal {seal.id} is gone; it was kept elsewhere")
            )
        elif (own.at, own.heads, own.mac, own.kind) != (seal.at, seal.heads, seal.mac, seal.kind):
            what = f"seal {seal.id} is not the one that was kept elsewhere"
            problems.append(JournalProblem("", None, what))
    return problems
