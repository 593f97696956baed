"""Sentences and clauses of a text, by where they begin and end; and what is no text for people."""

import json
import re
from collections.abc import Iterator

from deskhand.language.slots.folded_text import fold
from deskhand.outgoing.claim_words import meanings_of, phrases_of

_SENTENCE = re.compile(r"(?<=[.!?…])[\"'”“»)]*\s+(?=\S)|\n+")
_ABBREVIATION = re.compile(
    r"\b(?:[a-z]|str|nr|no|ca|cca|tel|mr|mrs|ms|dr|st|inkl|incl|vc|tj|napr|resp|z\. ?b|d\. ?h|p\."
    r" ?ej|env|approx|art|"
    r"n|c)\.$"
)
_ORDINAL = re.compile(r"(?<![-–0-9:.,])[0-9]{1,2}\.$")
_CLAUSE = re.compile(  # a sign after a code is one that parts, though a digit stands before it
    r"(?<![0-9])[,;:](?=\s)|[,;:](?=\s+[^0-9\s])|\s[–—-]\s"
    r"|(?:(?<=[A-Za-z][0-9])|(?<=[A-Za-z][0-9]{2})|(?<=[A-Za-z][0-9]{3}))[,;:](?=\s)"
    r"|\s(?=(?:but|pero|mais|however|sondern|sino|while|mientras)\s)"
)
_AND = re.compile(r"\s(?:and|und|a|y|e|et|i|oraz|sowie|oproti|versus|vs)\s")
_AND_WITHOUT_A = re.compile(r"\s(?:and|und|y|e|et|i|oraz|sowie|oproti|versus|vs)\s")
"""Outside Czech and Slovak `a` is an article: `320 EUR a month`."""

_NUMBERED = re.compile(r"\s*[1-9][0-9]?\.")
_LIST_SIGN = re.compile(r"(?:[1-9][.)]|[-*•])\s+(?=[^\W\d_])")

_CALL = re.compile(r"\w+\((?:\s*\w+\s*=\s*.+|\s*[\"'{].*)?\)", re.DOTALL)
_OBJECT = re.compile(r"[\[{]\s*[{\"'][\w ]+[\"']\s*:")
_TAG = re.compile(r"<\|?/?(?:tool_call|function|think|tool|im_start|im_end|assistant)\b")


def sentences(text: str) -> Iterator[tuple[int, int]]:
    """Where each sentence begins and ends; an abbreviation or a date does not end one."""
    start = 0
    for gap in _SENTENCE.finditer(text):
        between_lines = gap.group().strip(" \"'”“»)") != ""
        if not between_lines and text[gap.end() : gap.end() + 1].islower():
            continue
        before, after = text[start : gap.start()], text[gap.end() : gap.end() + 20]
        if not between_lines and _NUMBERED.fullmatch(before):
            continue
        if not between_lines and (_ends_abbreviated(before) or _is_date(before, after)):
            continue
        if text[start : gap.start()].strip():
            yield _trimmed(text, start, gap.start())
        start = gap.end()
    if text[start:].strip():
        yield _trimmed(text, start, len(text))


def answers_joined(text: str) -> list[tuple[int, int]]:
    """The sentences of a text. A bare yes belongs to the one behind it: `Of course. A chair can be
    tried` says what `of course, a chair can be tried` says."""
    places: list[tuple[int, int]] = []
    for start, end in sentences(text):
        before = text[places[-1][0] : places[-1][1]] if places else ""
        if before and _is_bare_yes(before) and "\n" not in text[places[-1][1] : start]:
            places[-1] = (places[-1][0], end)
        else:
            places.append((start, end))
    return places


def sentence_at(text: str, place: int) -> str | None:
    """The sentence that stands here, with the answer before it that belongs to it."""
    for start, end in answers_joined(text):
        if start <= place < end:
            return text[start:end].strip()
    return None


def _is_bare_yes(sentence: str) -> bool:
    """`Of course.`, `Ja, das ist möglich.`"""
    folded = fold(sentence[greeting_length(sentence) :]).strip(" .!¡")
    yes = phrases_of("yes").match(folded)
    if yes is not None:
        folded = folded[yes.end() :].strip(" ,.!")
    if not folded:
        return yes is not None
    assent = phrases_of("assent").match(folded)
    return assent is not None and assent.end() == len(folded)


def greeting_length(sentence: str) -> int:
    """How long the sign of a list and the greeting are that a sentence begins with."""
    sign = _LIST_SIGN.match(sentence)
    first = (
        0
        if sign is None or _is_date(sentence[: sign.end()].strip(), sentence[sign.end() :])
        else sign.end()
    )
    match = phrases_of("greeting").match(fold(sentence[first:]))
    if match is None:
        return first
    behind = re.match(r"\s*[,!.]?\s*$|\s*[,!]\s+(?=\S)", sentence[first + match.end() :])
    return first if behind is None else first + match.end() + behind.end()


def clauses_of(sentence: str) -> list[tuple[int, int]]:
    """Where each clause of a sentence begins and ends."""
    places: list[tuple[int, int]] = []
    start = 0
    for gap in _CLAUSE.finditer(sentence):
        before = sentence[start : gap.start()]
        if before.count("(") > before.count(")") and ")" in sentence[gap.end() :]:
            continue  # within brackets
        if before.strip():
            places.append(_trimmed(sentence, start, gap.start()))
        start = gap.end()
    if sentence[start:].strip():
        places.append(_trimmed(sentence, start, len(sentence)))
    return places


def conjuncts_of(clause: str, language: str | None = None) -> list[tuple[int, int]]:
    """Where the parts of a clause around each `and` begin and end."""
    places: list[tuple[int, int]] = []
    start = 0
    joint = _AND if language in (None, "cs", "sk") else _AND_WITHOUT_A
    for gap in joint.finditer(clause):
        places.append(_trimmed(clause, start, gap.start()))
        start = gap.end()
    places.append(_trimmed(clause, start, len(clause)))
    return places


def _ends_abbreviated(sentence: str) -> bool:
    return _ABBREVIATION.search(fold(sentence)[-12:]) is not None


def _is_date(before: str, after: str) -> bool:
    """`am 5. November`: the number of a day, before its month."""
    word = re.match(r"[a-z]+", fold(after))
    is_month = word is not None and word.group() in meanings_of("months")
    return is_month and _ORDINAL.search(before) is not None


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    piece = text[start:end]
    return start + len(piece) - len(piece.lstrip()), start + len(piece.rstrip())


def is_program_text(text: str) -> bool:
    """Whether a text is data or a call of a tool that somebody took for a reply."""
    stripped = text.strip()
    if stripped.startswith("```"):
        stripped = re.sub(r"^```\w*\s*|\s*```$", "", stripped)
    if _TAG.search(stripped) or _CALL.fullmatch(stripped):
        return True
    if not stripped.startswith(("{", "[")):
        return False
    try:
        json.loads(stripped)
    except ValueError:
        return _OBJECT.match(stripped) is not None
    return True
