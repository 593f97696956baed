"""Preprocessors: what a message is turned into before an agent reads it, by the name a desk
gives."""

import asyncio
import logging
from collections.abc import Callable, Mapping

from deskhand.mail.crisp import CrispUnreadable, read_crisp
from deskhand.model.message import PREPROCESSORS, Message, Prepared, inquiry

log = logging.getLogger("deskhand.mail")

Preprocess = Callable[[Message], Prepared | None]
"""What it read; None where it cannot read the message. Pure and quick: it is asked once, when a
message is accepted."""

PATIENCE = 20.0
"""Seconds a desk's own preprocessor may take."""
LONGEST = 1_000_000


def default(message: Message) -> Prepared:
    """Pass-through: sender, subject and body as they came."""
    return Prepared(
        name=message.sender.name,
        address=message.sender.address,
        text=message.body,
        prompt=message.body,
    )


def crisp(message: Message) -> Prepared:
    mail = read_crisp(message)
    return Prepared(name=mail.patient_name, address=mail.patient_email, text=mail.original_message)


BUILT_IN: Mapping[str, Preprocess] = dict(zip(PREPROCESSORS, (default, crisp), strict=True))


def prepare(message: Message, name: str, read: Preprocess) -> Prepared:
    """What a preprocessor made of a message; whatever goes wrong, the message passes unchanged."""
    try:
        made: object = read(message)
    except CrispUnreadable as error:
        return Prepared(by=name, failed=str(error))
    except Exception as error:
        log.exception("preprocessor %s failed on message %s", name, message.id)
        return Prepared(by=name, failed=f"it failed with {type(error).__name__}")
    if made is None:
        return Prepared(by=name, failed="it found nothing that it knows")
    if not isinstance(made, Prepared):
        return Prepared(
            by=name, failed=f"it gave a {type(made).__name__}; return Prepared(...) or None"
        )
    prompt = made.prompt or inquiry(
        made.name, made.address, " ".join(message.subject.split()), made.text
    )
    return made.changed(by=name, prompt=prompt[:LONGEST], text=made.text[:LONGEST], failed=None)


async def prepared_by(message: Message, name: str, own: Mapping[str, Preprocess]) -> Message:
    """The message with what its preprocessor read.

    `own` are the desk's preprocessors: each is given a thread and a limited time.
    """
    read = own.get(name) or BUILT_IN.get(name)
    if read is None:
        return message.changed(
            prepared=Prepared(by=name, failed="there is no preprocessor of this name any more")
        )
    if name in BUILT_IN and name not in own:
        return message.changed(prepared=prepare(message, name, read))
    try:
        made = await asyncio.wait_for(asyncio.to_thread(prepare, message, name, read), PATIENCE)
    except TimeoutError:
        made = Prepared(by=name, failed=f"it gave no answer within {PATIENCE:g} s")
    return message.changed(prepared=made)
