"""The message that a reply answers, quoted below it as mail programs do."""

import re

from deskhand.mail.mail_phrases import mail_phrases
from deskhand.model.message import Address, Message

LONGEST = 20_000
"""Characters of the original; what comes after them is left out."""
LEFT_OUT = "[…]"
_LINK = re.compile(
    r"[a-z][a-z0-9+.-]{1,20}:/+\S{1,2000}|(?:[\w-]{1,63}\.){1,10}[a-z]{2,24}\b\S{0,2000}", re.I
)
_NUMBER = re.compile(r"\+?\(?\d(?:[\s()./\u2010-\u2015-]{0,3}\d){6,19}")
"""What may be a telephone number."""
_UNFIT = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def quoted_original(message: Message, language: str | None, *, whole: bool) -> str:
    """`On ..., Ann wrote:` and her words behind `>`; empty where there are none.

    Not `whole`, for a reply that leaves by itself to somebody nobody has proven: without name,
    links and long numbers. Who forges a sender could otherwise have us send him words, a link or a
    telephone number of his own choice.
    """
    text = message.words.strip()
    if not text:
        return ""
    shown = _UNFIT.sub("", text[:LONGEST])
    if not whole:
        shown = _NUMBER.sub(LEFT_OUT, _LINK.sub(LEFT_OUT, shown))
    lines = shown.splitlines()
    if len(text) > LONGEST:
        lines.append(LEFT_OUT)
    quoted = [f"> {line}".rstrip() for line in lines]
    writer = message.writer if whole else message.writer.changed(name="")
    return "\n".join([_attribution(message, writer, language), *quoted])


def _attribution(message: Message, writer: Address, language: str | None) -> str:
    """In the reply's language where mail programs have words for it, else in English."""
    written = mail_phrases().attribution_in
    template = written.get((language or "en")[:2].lower(), written["en"])
    name = " ".join(_UNFIT.sub(" ", str(writer)).split())
    date = f"{message.received_at:%Y-%m-%d %H:%M}"
    return template.replace("{name} <{address}>", name).replace("{date}", date)
