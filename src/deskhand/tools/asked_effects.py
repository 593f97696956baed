"""Whether the principal's own words ask for an effect: naming a thing for reading is not enough."""

import re
from collections.abc import Collection, Iterator
from typing import NamedTuple

from deskhand.mail.reply import visible_reply
from deskhand.model.message import Message
from deskhand.tools.asked_verbs import ANY_VERB, ARCHIVE, REMOVE, words_asking_for

_NOT = re.compile(
    r"\b(?:not|don't|dont|never|without|no|neither|nicht|kein\w*|nie|niemals|nunca|pas|jamais|sin|"
    r"bez|ne\w{3,})\b"
)
_SENTENCE = re.compile(r"(?<=[.!?;])\s+|\n+")
_CLAUSE = re.compile(
    r"(,\s+|:\s+|\s+(?:and|then|but|after|before|once|when|while|mentioned|described|listed|because|"
    r"based on|according to|und|dann|nachdem|bevor|aber|a|pak|potom|ale|y|luego|pero|et|puis|mais)"
    r"\s+)"
)
_PRONOUN = re.compile(
    r"\b(?:it|them|this|that|these|those|him|her|ho|ji|je|es|sie|ihn|lo|la|los|las|le|les)\b"
)
_SEVERAL = re.compile(
    r"\b(?:them|these|those|all|each|every\w*|both|alle|všechn\w*|tod[oa]s|tous)\b"
)
_QUOTED = re.compile(r"(?<!\w)'[^'\n]{1,300}'(?!\w)|\"[^\"\n]{1,300}\"|[“„«][^”“»\n]{1,300}[”“»]")
_TOKEN = re.compile(
    r"[^\s\x00-\x02,;]{1,80}@[^\s\x00-\x02,;]{1,200}\w|(?<![\w.-])[\w-]+\.[a-z]{2,5}(?![\w.-])|"
    r"(?<![\w.-])[a-z]{1,4}-?\d+(?![\w.-]*\w)"
)
"""Addresses, files and numbers as `O-12`: things, also where nobody put them in quotes."""
_THING, _OTHER, _BESIDE = "\x00", "\x01", "\x02"
_BESIDE_THINGS = re.compile(
    r"(?:the|an?|my|also|both|files?|e?mails?|message|event|meeting|order|item|invoice|folder|"
    r"soubor|zprávu|objednávku|die|der|das|den|datei|bestellung|"
    r"el|la|los|las|archivo|correo|pedido|le|les|fichier|commande)"
)
"""Words that may stand beside a thing in a clause that only continues a list of things."""
_GOES_ON = re.compile(r"(?:with|to|for|cc|bcc|copy|as|into|in|at|on|from|s|mit|an|con|avec)\b")
"""How a clause begins that belongs to the request before it."""
_JOINS = ("", "and", "und", "a", "y", "et")
"""What may stand between a request and what continues it, besides a comma or a colon."""
_ASKS_ANEW = re.compile(r"(?:please|prosím|bitte|por favor|s'il vous|instead|just|you)\b")
_POLITE = re.compile(r"\b(?:please|prosím|bitte|por favor|s'il vous|can you|could you|will you)\b")
_QUESTION = re.compile(
    r"(?:(?:and|but|so|also|or|hi|hello|hey)\b[\s,]*)*(?:(?:did|do|does|have|has|had|should|shall|may|must|"
    r"might|can|could|would|will|was|were|is|are|am)\s+(?:i|we|you|he|she|it|they|the|this|that|my|"
    r"anybody|anyone|somebody|someone)\b|soll\w* (?:ich|wir)|hab\w* (?:ich|wir)|darf ich|kann ich|"
    r"mám|máme|mohu|můžu|měl\w* by|dois-je|ai-je|puis-je|est-ce|¿?(?:debo|puedo|debemos|podemos)\b)"
)
_WH_QUESTION = re.compile(
    r"(?:(?:and|but|so|also)\b[\s,]*)*(?:who|what|when|where|why|which|how|whose|kdo|co|kdy|kde|"
    r"proč|jak|wer|was|wann|wo|warum|wie|quién|qué|cuándo|qui|que|quand|pourquoi)\b.*\?\W*$"
)
_INTENDS = re.compile(
    r"\b(?:(?:i|we)(?:'ll| will| shall| might| may)|(?:i'm|i am|we're|we are) going to|"
    r"(?:i|we) (?:plan|intend) to|ich werde|wir werden|smažu|vymažu|zruším|odstraním|je vais|"
    r"nous allons|voy a|vamos a)\b"
)
_HANDS_OVER = re.compile(r"\bdo (?:all )?(?:the |my |these )?(?:tasks|to-?dos?|steps)\b")
"""Who hands over a list asks for what stands in it, but for nothing that takes something away."""
_FILLS_IN = re.compile(
    rf"\b(?:recipient|account|iban|address|e-?mail|number|payee|folder|name) is {_THING}|"
    rf"{_THING} is (?:now )?\d"
)
"""A statement that says who or what a request is about."""
_DROPS = re.compile(
    r"^\W*(?:no|ne|nein|non)\b|\b(?:never mind|nevermind|forget (?:it|that|about)|leave it|"
    r"stop|wait|changed my mind|rather not|nechte (?:to|být)|zapomeňte|rozmysle\w+|lassen sie|"
    r"vergessen sie|doch nicht|déjelo|olvídelo|mejor no|laissez|oubliez)\b"
)
"""How somebody takes back what he asked for."""
MOST_TEXT = 20_000
"""Characters in which a request is looked for."""
NAMING = ("id", "name", "title", "subject", "called", "label", "number", "path", "filename")
"""The fields of a thing that people call it by."""


class _Clause(NamedTuple):
    text: str
    asks: bool
    """Whether it has the verb, and is a request."""
    goes_on: bool
    """Whether it continues the request before it."""
    verb_ends: int


def own_words(message: Message) -> str:
    """The principal's own: nothing that is quoted or passed on, and no attachment."""
    return f"{message.subject}\n{visible_reply(message.words)}"[:MOST_TEXT]


def names(text: str, thing: Collection[str], verb: str) -> bool:
    """Whether a text calls a thing by one of its names, also where it quotes somebody."""
    return _THING in _with_things(text, thing, (), verb)


def asks_for(text: str, thing: Collection[str], verb: str, beside: Collection[str] = ()) -> bool:
    """Whether a text asks for this about the thing that has these names; `beside` are the names of
    the other things of the same call.

    The verb stands in the clause that names the thing, or in one that goes on with `it`. A request
    with a `not`, a question and what somebody says that he will do himself ask for nothing.
    """
    marked = _marked(text, thing, beside, verb)
    if _THING not in marked:
        return False
    hands_over = verb not in (REMOVE, ARCHIVE) and _HANDS_OVER.search(marked) is not None
    asked = False
    named_last = ""
    for clause in _clauses(marked, verb):
        if clause.asks and _is_about(clause, named_last, verb):
            return True
        if clause.goes_on and _THING in clause.text:
            return True
        asked = asked or clause.asks
        if asked and verb not in (REMOVE, ARCHIVE) and _FILLS_IN.search(clause.text):
            return True
        named_last = _last_named(clause.text) or named_last
    return hands_over


def asks_for_something(text: str, verb: str) -> bool:
    """Whether a text asks for this without saying about what: "post it there"."""
    marked = _marked(text, (), (), verb)
    if _HANDS_OVER.search(marked) is not None:
        return verb not in (REMOVE, ARCHIVE)
    return any(clause.asks and _OTHER not in clause.text for clause in _clauses(marked, verb))


def times_asked(text: str, things: Collection[str], verb: str) -> int | None:
    """How many calls a text asks for: one for each request and each further thing of its list;
    None where it speaks of several at once (`all`, `them`)."""
    marked = _marked(text, things, (), verb)
    if verb not in (REMOVE, ARCHIVE) and _HANDS_OVER.search(marked):
        return None
    requests = [clause for clause in _clauses(marked, verb) if clause.asks or clause.goes_on]
    if any(clause.asks and _SEVERAL.search(clause.text) for clause in requests):
        return None
    return len(requests)


def refuses(text: str, verb: str) -> bool:
    """Whether a text says that this is not to be done, or drops whatever was asked."""
    marked = _marked(text, (), (), verb)
    asking = words_asking_for(verb)
    clauses = [clause for sentence in _SENTENCE.split(marked) for clause in _CLAUSE.split(sentence)]
    denied = any(_NOT.search(clause) and asking.search(clause) for clause in clauses)
    return denied or _DROPS.search(marked) is not None


def _clauses(marked: str, verb: str) -> Iterator[_Clause]:
    asking = words_asking_for(verb)
    for sentence in _SENTENCE.split(marked):
        silent = _is_question(sentence)
        in_list = False
        opener = ""
        for number, text in enumerate(_CLAUSE.split(sentence)):
            if number % 2:
                opener = text.strip(" ,:")
                continue
            if opener in ("but", "aber", "ale", "pero", "mais") or _ASKS_ANEW.match(text):
                silent = False
            denied = _NOT.search(text) is not None
            request = asking.search(text)
            asks = request is not None and not (silent or denied or _INTENDS.search(text))
            goes_on = in_list and request is None and opener in _JOINS and _continues(text, verb)
            yield _Clause(text, asks, goes_on, request.end() if request else 0)
            in_list = asks or goes_on
            if _INTENDS.search(text) or (denied and ANY_VERB.search(text)):
                silent = True


def _is_question(sentence: str) -> bool:
    """Whether a sentence asks to be told something, and not to have something done."""
    start = sentence.strip()
    if _WH_QUESTION.match(start):
        return True
    return _QUESTION.match(start) is not None and not _POLITE.search(start)


def _continues(clause: str, verb: str) -> bool:
    if _is_bare(clause):
        return True
    if verb in (REMOVE, ARCHIVE):
        return False
    return _GOES_ON.match(clause) is not None and not ANY_VERB.search(clause)


def _marked(text: str, thing: Collection[str], beside: Collection[str], verb: str) -> str:
    """The text with a mark where the thing is named, another where something of the same call is,
    and a third where something else is quoted."""
    marked = _with_things(text, thing, beside, verb)
    return _TOKEN.sub(_OTHER, _QUOTED.sub(_mark_quoted, marked))


def _with_things(text: str, thing: Collection[str], beside: Collection[str], verb: str) -> str:
    """A name that is the verb itself names nothing."""
    marked = text.casefold().replace("’", "'")
    marks = [(name, _THING) for name in thing]
    marks += [(name, _BESIDE) for name in beside]
    for name, mark in sorted(marks, key=lambda each: (-len(each[0]), each[1])):
        plain = " ".join(name.split()).casefold().replace("’", "'")
        if plain and not words_asking_for(verb).fullmatch(plain):
            name_pattern = rf"(?<![\w@.-]){re.escape(plain)}(?![\w@-]|\.\w)"
            marked = re.sub(name_pattern, mark, marked)
    return marked


def _mark_quoted(match: re.Match[str]) -> str:
    inside = match.group()[1:-1].strip()
    return inside if inside in (_THING, _BESIDE) else _OTHER


def _is_about(clause: _Clause, named_last: str, verb: str) -> bool:
    """Whether a clause with the verb speaks of the thing: by name, or with a pronoun for what was
    named last. What is removed is named before anything else."""
    text, after = clause.text, clause.verb_ends
    first = _last_named(text[after:][::-1])
    if verb in (REMOVE, ARCHIVE) and first:
        return first == _THING
    if _THING in text:
        return verb not in (REMOVE, ARCHIVE) or _OTHER not in text
    return named_last == _THING and not first and _PRONOUN.search(text, after) is not None


def _last_named(clause: str) -> str:
    place = max(clause.rfind(_THING), clause.rfind(_OTHER))
    return clause[place] if place >= 0 else ""


def _is_bare(clause: str) -> bool:
    """Whether there is hardly more than things in it: it continues a list."""
    rest = re.sub(f"[{_THING}{_OTHER}{_BESIDE}]", " ", clause)
    return all(_BESIDE_THINGS.fullmatch(word) for word in re.findall(r"\w+", rest))
