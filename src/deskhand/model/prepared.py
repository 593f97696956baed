"""What a preprocessor read in a message before an agent sees it."""

from deskhand.model.frozen import Frozen


class Prepared(Frozen):
    """The customer and his own words, taken out of what a helpdesk put around them: a help to read,
    and no proof.

    A preprocessor that cannot read a message gives none, and the message is taken as it is.
    """

    by: str = ""
    """The preprocessor's name."""
    name: str = ""
    address: str = ""
    text: str = ""
    """What the customer wrote."""
    prompt: str = ""
    """What an agent is told; made of the rest where it is empty."""
    failed: str | None = None
    """Why the message could not be read and is taken as it is; None when it was read."""


def inquiry(name: str, address: str, subject: str, text: str) -> str:
    """The message as an agent is told of it."""
    return f"New support inquiry from {name or address} ({address}):\nSubject: {subject}\n\n{text}"
