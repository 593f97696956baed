"""A chat as a mail, for a visitor who asks for it."""

from collections.abc import Iterable
from datetime import datetime
from zoneinfo import ZoneInfo

from deskhand.model.chats import VISITOR, Chat, ChatLine

_YOU = {"en": "You", "cs": "Vy", "de": "Sie"}
_DESK = {"en": "Assistant", "cs": "Asistent", "de": "Assistent"}
_LEFT_OUT = {
    "en": "(what you wrote is left out: nobody has proven whose address this is)",
    "cs": "(co jste napsali, vynecháváme: nikdo neprokázal, komu adresa patří)",
    "de": "(was Sie geschrieben haben, fehlt hier: niemand hat belegt, wem die Adresse gehört)",
}
SUBJECTS = {"en": "Your chat with {title}", "cs": "Váš chat: {title}", "de": "Ihr Chat: {title}"}


def transcript_of(chat: Chat, lines: Iterable[ChatLine], zone: str, language: str) -> str:
    """The lines with who said them and when.

    A visitor who has not proven who he is could have anything mailed to anybody: his own words are
    left out then.
    """
    spoken = language if language in _YOU else "en"
    parts: list[str] = []
    for line in lines:
        at = datetime.fromtimestamp(line.at, ZoneInfo(zone)).strftime("%Y-%m-%d %H:%M")
        if line.author != VISITOR:
            parts.append(f"{line.name or _DESK[spoken]}, {at}\n{line.text}")
        elif chat.customer is not None:
            parts.append(f"{_YOU[spoken]}, {at}\n{line.text}")
        else:
            parts.append(f"{_YOU[spoken]}, {at}\n{_LEFT_OUT[spoken]}")
    return "\n\n".join(parts)
