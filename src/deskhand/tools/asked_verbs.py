"""Which verb a call is, by the tool's name, and the words with which people ask for it."""

import re
from collections.abc import Mapping
from functools import cache, lru_cache
from typing import Any

ARCHIVE, REMOVE, READ, PAY = "archive", "remove", "read", "pay"
_VERBS_OF_TOOLS = {
    ARCHIVE: "archive",
    REMOVE: "delete remove trash erase purge wipe destroy discard cancel revoke unsubscribe"
    " deactivate kick ban",
    READ: "read get list search find show fetch look check view query download",
    PAY: "pay money payment wire refund",
    "share": "share grant allow permit",
    "publish": "publish",
    "forward": "forward",
    "send": "send write post reply message email notify tell",
    "schedule": "schedule",
    "reschedule": "reschedule postpone",
    "add": "add invite include",
    "change": "change update set edit modify",
    "rename": "rename",
    "move": "move",
    "mark": "mark flag report",
    "create": "create make book order open register",
}
_VERB_OF_WORD = {
    word: verb for verb, written in _VERBS_OF_TOOLS.items() for word in written.split()
}
_VERB_ARGUMENTS = ("action", "operation", "method", "verb")
_WORDS_IN_NAME = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_FIRST = (REMOVE, ARCHIVE, PAY)
"""What a tool does, where its name has several verbs."""

_REMOVING = (
    r"delete|remove|cancel|erase|trash|discard|purge|wipe|destroy|revoke|unsubscribe|kick|ban|"
    r"call off|get rid of|"
    r"smaž\w*|smaz\w*|vymaž\w*|vymaz\w*|odstra[nň]\w*|zruš\w*|zrus\w*|"
    r"lösch\w*|entfern\w*|stornier\w*|"
    r"(?:borr|elimin|cancel|anul)(?:a|ar|e|en|ad|o)|"
    r"supprime\w*|annule\w*|efface\w*"
)
_PAYING = (
    r"pay|transfer|send|wire|refund|settle|reimburse|zapla[tť]\w*|převe[dď]\w*|pošl\w*|"
    r"bezahl\w*|überweis\w*|erstatte\w*|pag(?:a|ar|ue|uen|ad)|reembols\w*|pay(?:e|er|ez)|rembours\w*"
)
_ASKING = {
    REMOVE: _REMOVING,
    ARCHIVE: rf"{_REMOVING}|archive|archivuj\w*|archivier\w*|archiva\w*|archivez",
    PAY: _PAYING,
    "share": r"share|give|grant|let|allow|sdíl\w*|nasdíl\w*|teil\w*|freigeb\w*|"
    r"compart\w*|partag\w*",
    "publish": r"publish|make\b.{0,80}\bpublic|zveřejn\w*|veröffentlich\w*|"
    r"publi(?:ca|que|ez|er)\w*",
    "forward": r"forward|pass\b.{0,80}\bon|send on|přepoš\w*|přešl\w*|weiterleit\w*|"
    r"reenv\w*|transf[eé]re\w*",
    "send": r"send|write|post|reply|message|e-?mail|notify|inform|answer|dm|tell(?! (?:me|us)\b)|"
    r"napiš\w*|pošl\w*|odpov\w*|schreib\w*|schick\w*|send\w*|antwort\w*|"
    r"escrib\w*|env[ií]\w*|respond\w*|écri\w*|envoy\w*|répond\w*",
    "schedule": rf"schedule|set up|arrange|plan|{_PAYING}",
    "reschedule": r"reschedule|move|postpone|shift|přesu[nň]\w*|verschieb\w*|"
    r"aplaz\w*|repouss\w*|déplac\w*",
    "add": r"add|invite|include|put|přid\w*|pozv\w*|hinzufüg\w*|füg\w*|lad\w*|einlad\w*|"
    r"añad\w*|invit\w*|ajout\w*",
    "change": r"change|update|set|edit|modify|make|correct|adjust|změ[nň]\w*|uprav\w*|"
    r"änder\w*|aktualisier\w*|cambi\w*|actualiz\w*|modifi\w*|chang\w*",
    "rename": r"rename|call|přejmen\w*|umbenenn\w*|benenn\w*|renombr\w*|renomm\w*",
    "move": r"move|put|přesu[nň]\w*|verschieb\w*|mueve|mover|muev\w*|déplac\w*",
    "mark": r"mark|flag|report|označ\w*|markier\w*|marca\w*|marqu\w*",
    "create": r"create|make|book|order|open|register|reserve|set up|arrange|vytvoř\w*|objedn\w*|"
    r"rezerv\w*|erstell\w*|buch\w*|bestell\w*|cre[ae]\w*|reserv\w*|cré\w*|réserv\w*",
}
_NO_NOUN = r"(?<!\bmy )(?<!\bthe )(?<!\byour )(?<!\bour )(?<!\bthis )"
"""`my order` asks for nothing."""
ANY_VERB = re.compile(rf"\b(?:{'|'.join(_ASKING.values())})\b")
_RIGHTS = re.compile(r"(?:.*_)?(?:permissions?|roles?|access|rights?|privileges?|visibility)")
_WEAKEST = frozenset(("r", "read", "reader", "readonly", "read_only", "view", "viewer", "private"))
_WIDER = {
    **dict.fromkeys(("rw", "w", "write", "writer"), r"edit|write|change|editor|writer"),
    **dict.fromkeys(("edit", "editor"), r"edit|write|change|editor|writer"),
}


def verb_of(tool: str, arguments: Mapping[str, Any]) -> str:
    """The verb of a call, by the words in the tool's name or in an argument such as `action`: one
    of those above, or else the first word of the name, without the name of a server."""
    words, first = _words_of(tool)
    actions = [str(arguments[name]).casefold() for name in _VERB_ARGUMENTS if name in arguments]
    verbs = {_VERB_OF_WORD[word] for word in (*words, *actions) if word in _VERB_OF_WORD}
    for verb in _FIRST:
        if verb in verbs:
            return verb
    return _VERB_OF_WORD.get(first, first)


@lru_cache(maxsize=1024)
def _words_of(tool: str) -> tuple[tuple[str, ...], str]:
    """The words in a tool's name, and the first one of its name on its server."""
    words = tuple(word.casefold() for word in _WORDS_IN_NAME.findall(tool))
    own_words = _WORDS_IN_NAME.findall(tool.rpartition("__")[2])
    return words, own_words[0].casefold() if own_words else tool


def removal_of(tool: str, arguments: Mapping[str, Any]) -> str | None:
    """What a call would take away: `remove` or `archive`; None for every other call."""
    verb = verb_of(tool, arguments)
    return verb if verb in (REMOVE, ARCHIVE) else None


@cache
def words_asking_for(verb: str) -> re.Pattern[str]:
    """What people write who ask for this; a verb that is not known is asked for by its name."""
    return re.compile(rf"{_NO_NOUN}\b(?:{_ASKING.get(verb, re.escape(verb))})\b")


def kept_right(argument: str, value: Any) -> bool:
    """Whether an argument gives a right that somebody must have asked for: the least may be given
    to whoever was named."""
    return bool(_RIGHTS.fullmatch(argument.casefold())) and str(value).casefold() not in _WEAKEST


def asks_for_right(text: str, value: Any) -> bool:
    """Whether the text has words for this right."""
    right = str(value).casefold()
    words = _WIDER.get(right, re.escape(right))
    return re.search(rf"\b(?:{words})\b", text.casefold()) is not None
