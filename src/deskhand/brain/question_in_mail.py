"""The question in a mail, without greeting and closing.

A greeting is near to no article, and would draw the whole question away from the one that answers
it.
"""

import re

from deskhand.brain.task_inputs import question_of, sender_name
from deskhand.language.slots.folded_text import FoldedText, fold
from deskhand.model.tasks import Task

_GREETING = re.compile(
    r"(?:"
    # English
    r"hello|hi|hey|dear|good (?:morning|afternoon|evening|day)|"
    # Czech
    r"dobry den|dobre \w+|zdravim|ahoj|vazen\w+|"
    # German
    r"guten (?:tag|morgen|abend)|hallo|moin|grus gott|sehr geehrte\w*|liebe[rs]?|"
    # Spanish
    r"hola|buen[oa]s (?:dias|tardes|noches)|estimad\w+"
    r")\b[^,:!.?\n]{0,60}[,:!.\n]+\s*"
)
_CLOSING = re.compile(
    r"\n\s*(?:"
    # English
    r"(?:many |with )?(?:best|kind|warm) (?:regards|wishes)|regards|sincerely|yours|cheers|"
    r"thanks|thank you|many thanks|"
    # Czech
    r"dekuj\w+|diky|predem dekuj\w+|s pozdravem|hezky den|"
    # German
    r"mit (?:freundlichen|besten) grusen|(?:viele|beste|herzliche) gruse|vielen dank|danke|mfg|"
    # Spanish
    r"(?:un )?saludos?|atentamente|(?:muchas )?gracias|un cordial saludo"
    r")\b[^\n]{0,60}(?:\n[^\n]{0,80}){0,6}\s*$"
)
_FEWEST = 12
"""Characters that must be left for it to be a question."""


def asked_in(task: Task) -> str:
    """What is asked, as articles are searched with it; the whole where too little would be left."""
    whole = question_of(task).strip()
    reading = FoldedText(whole)
    closing = _CLOSING.search(reading.folded)
    greeting = _GREETING.match(reading.folded)
    begin = 0 if greeting is None else reading.origin(greeting.end())
    end = len(whole)
    if closing is not None and closing.start() >= _FEWEST:
        end = reading.origin(closing.start())
    name = task.sender_name or sender_name(task)
    text = _without_name(whole[begin:end].rstrip(), name).strip()
    return text if len(text) >= _FEWEST else whole


def _without_name(text: str, name: str) -> str:
    """The text without a last line that is nothing but the sender's name, or its first word."""
    above, _, last = text.rpartition("\n")
    said = fold(last).strip(" .,")
    names = {fold(name).strip(), *fold(name).split()[:1]}
    return above.rstrip() if above.strip() and said and said in names else text
