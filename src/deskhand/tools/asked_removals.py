"""Whether the principal's own words ask to remove a thing: naming it for reading is not enough."""

import re
from collections.abc import Collection, Mapping
from typing import Any

from deskhand.mail.reply import visible_reply
from deskhand.model.message import Message

ARCHIVE, REMOVE = "archive", "remove"
_VERBS_OF_TOOLS = {
    "archive": ARCHIVE,
    **dict.fromkeys(
        ("delete", "remove", "trash", "erase", "purge", "wipe", "destroy", "discard"), REMOVE
    ),
    **dict.fromkeys(("cancel", "revoke", "unsubscribe", "deactivate", "kick", "ban"), REMOVE),
}
_VERB_ARGUMENTS = ("action", "operation", "method", "verb")
_WORDS_IN_NAME = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_REMOVING = (
    r"delete|remove|cancel|erase|trash|discard|purge|wipe|destroy|revoke|unsubscribe|kick|ban|"
    r"call off|get rid of|"
    r"smaž\w*|smaz\w*|vymaž\w*|vymaz\w*|odstra[nň]\w*|zruš\w*|zrus\w*|"
    r"lösch\w*|entfern\w*|stornier\w*|"
    r"(?:borr|elimin|cancel|anul)(?:a|ar|e|en|ad|o)|"
    r"supprime\w*|annule\w*|efface\w*"
)
_ARCHIVING = r"archive|archivuj\w*|archivier\w*|archiva\w*|archivez"
_ASKS = {
    REMOVE: re.compile(rf"\b(?:{_REMOVING})\b"),
    ARCHIVE: re.compile(rf"\b(?:{_REMOVING}|{_ARCHIVING})\b"),
}
_NOT = re.compile(
    r"\b(?:not|don't|dont|never|without|no|neither|nicht|kein\w*|nie|niemals|nunca|pas|jamais|sin|"
    r"bez|ne\w{3,})\b"
)
_SENTENCE = re.compile(r"(?<=[.!?;:])\s+|\n+")
_CLAUSE = re.compile(
    r",\s+|\s+(?:and|then|but|after|before|once|when|while|mentioned|described|listed|because|"
    r"based on|according to|und|dann|nachdem|bevor|aber|a|pak|potom|ale|y|luego|pero|et|puis|mais)"
    r"\s+"
)
_PRONOUN = re.compile(
    r"\b(?:it|them|this|that|these|those|ho|ji|je|es|sie|ihn|lo|la|los|las|le|les)\b"
)
_QUOTED = re.compile(r"(?<!\w)'[^'\n]{1,300}'(?!\w)|\"[^\"\n]{1,300}\"|[“„«][^”“»\n]{1,300}[”“»]")
_THING, _OTHER = "\x00", "\x01"
_BESIDE_THINGS = re.compile(
    r"(?:the|an?|my|also|both|files?|e?mails?|message|event|meeting|order|item|"
    r"soubor|zprávu|objednávku|die|der|das|den|datei|bestellung|"
    r"el|la|los|las|archivo|correo|pedido|le|les|fichier|commande)"
)
"""Words that may stand beside a thing in a clause that only continues a list of things."""
NAMING = ("id", "name", "title", "subject", "called", "label", "number", "path", "filename")
"""The fields of a thing that people call it by."""


def removal_of(tool: str, arguments: Mapping[str, Any]) -> str | None:
    """What a call would take away, by the words in the tool's name or in an argument such as
    `action`: `remove` or `archive`; None for every other call."""
    words = [word.casefold() for word in _WORDS_IN_NAME.findall(tool)]
    words += [str(arguments[name]).casefold() for name in _VERB_ARGUMENTS if name in arguments]
    kinds = {_VERBS_OF_TOOLS[word] for word in words if word in _VERBS_OF_TOOLS}
    if not kinds:
        return None
    return REMOVE if REMOVE in kinds else ARCHIVE


def own_words(message: Message) -> str:
    """The principal's own: nothing that is quoted or passed on, and no attachment."""
    return f"{message.subject}\n{visible_reply(message.words)}"


def asks_to_remove(text: str, names: Collection[str], removal: str) -> bool:
    """Whether a text asks for this about the thing that has these names.

    The verb stands in the clause that names the thing, or in one that goes on with `it`. A request
    with a `not` asks for nothing.
    """
    marked = _marked(text, names)
    if _THING not in marked:
        return False
    named_last = ""
    for sentence in _SENTENCE.split(marked):
        in_list = False
        for clause in _CLAUSE.split(sentence):
            verb = _ASKS[removal].search(clause)
            asks = verb is not None and not _NOT.search(clause)
            if verb is not None and asks and _is_about(clause, verb.end(), named_last):
                return True
            is_bare = verb is None and _is_bare(clause)
            if in_list and is_bare and _THING in clause:
                return True
            in_list = asks or (in_list and is_bare)
            named_last = _last_named(clause) or named_last
    return False


def _marked(text: str, names: Collection[str]) -> str:
    """The text with a mark where the thing is named, and another where something else is quoted."""
    marked = text.casefold().replace("’", "'")
    for name in sorted(names, key=len, reverse=True):
        wanted = re.escape(" ".join(name.split()).casefold().replace("’", "'"))
        if wanted:
            marked = re.sub(rf"(?<![\w@.-]){wanted}(?![\w@-]|\.\w)", _THING, marked)
    return _QUOTED.sub(_mark_quoted, marked)


def _mark_quoted(match: re.Match[str]) -> str:
    return _THING if match.group()[1:-1].strip() == _THING else _OTHER


def _is_about(clause: str, after: int, named_last: str) -> bool:
    """Whether a clause with the verb speaks of the thing: by name and before anything else, or
    with a pronoun for what was named last."""
    first = _last_named(clause[after:][::-1])
    if first:
        return first == _THING
    if _THING in clause:
        return _OTHER not in clause
    return named_last == _THING and _PRONOUN.search(clause, after) is not None


def _last_named(clause: str) -> str:
    place = max(clause.rfind(_THING), clause.rfind(_OTHER))
    return clause[place] if place >= 0 else ""


def _is_bare(clause: str) -> bool:
    """Whether there is hardly more than things in it: it continues a list."""
    rest = clause.replace(_THING, " ").replace(_OTHER, " ")
    return all(_BESIDE_THINGS.fullmatch(word) for word in re.findall(r"\w+", rest))
