# ruff: noqa: E501 - a pattern broken over lines is harder to read than a long one
"""The question in a mail, without how it begins and ends: a greeting is near to no article, and takes a question along."""

import re

from deskhand.brain.task_inputs import question_of, sender_name
from deskhand.language.slots.folded_text import FoldedText, fold
from deskhand.model.tasks import Task

_GREETING = re.compile(
    r"(?:hello|hi|hey|dear|good (?:morning|afternoon|evening|day)|dobry den|dobre \w+|zdravim|ahoj|vazen\w+|"
    r"guten (?:tag|morgen|abend)|hallo|moin|grus gott|sehr geehrte\w*|liebe[rs]?|hola|buen[oa]s (?:dias|tardes|noches)|"
    r"estimad\w+)\b[^,:!.?\n]{0,60}[,:!.\n]+\s*"
)
_CLOSING = re.compile(
    r"\n\s*(?:(?:many |with )?(?:best|kind|warm) (?:regards|wishes)|regards|sincerely|yours|cheers|thanks|thank you|many thanks|"
    r"dekuj\w+|diky|predem dekuj\w+|s pozdravem|hezky den|mit (?:freundlichen|besten) grusen|(?:viele|beste|herzliche) gruse|"
    r"vielen dank|danke|mfg|(?:un )?saludos?|atentamente|(?:muchas )?gracias|un cordial saludo)\b[^\n]{0,60}(?:\n[^\n]{0,80}){0,6}\s*$"
)
_FEWEST = 12
"""Characters that must be left for it to be a question."""


def asked_in(task: Task) -> str:
    """What is asked, as articles are searched with it; the whole where too little would be left."""
    whole = question_of(task).strip()
    reading = FoldedText(whole)
    closing, greeting = _CLOSING.search(reading.folded), _GREETING.match(reading.folded)
    end = (
        len(whole)
        if closing is None or closing.start() < _FEWEST
        else reading.origin(closing.start())
    )
    begin = 0 if greeting is None else reading.origin(greeting.end())
    text = _without_name(whole[begin:end].rstrip(), sender_name(task))
    return text.strip() if len(text.strip()) >= _FEWEST else whole


def _without_name(text: str, name: str) -> str:
    """Without a last line that is nothing but the sender's name, or its first word."""
    above, _, last = text.rpartition("\n")
    said = fold(last).strip(" .,")
    names = {fold(name).strip(), *fold(name).split()[:1]}
    return above.rstrip() if above.strip() and said and said in names else text
