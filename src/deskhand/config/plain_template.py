"""Knows everyday prompt templates without Jinja2: most prompts fill in values and leave out a
part where there is nothing to say.

Every command that reads a desk checks its prompts, and importing Jinja2 is a tenth of the time in
which a command starts. Whatever is not known here, mistakes first of all, is left to Jinja2.
"""

import re

_MOST_NESTED = 20

_NAME = r"(?!(?:and|or|not|in|is|if|else|elif)\b)[A-Za-z_][A-Za-z0-9_]*"
_DOTTED = rf"{_NAME}(?:\.{_NAME})*"
_VALUE = rf"(?:{_DOTTED}|\"[^\"\\{{}}\r\n]*\"|'[^'\\{{}}\r\n]*')"
_FILTER = rf"\ *\|\ *{_NAME}(?:\({_VALUE}(?:,\ *{_VALUE})*\))?"
_MARK = re.compile(r"\{[{%#]")
_TAG = re.compile(
    rf"""\{{\{{\ *{_VALUE}(?:{_FILTER})*\ *\}}\}}
    | \{{%\ *(?:(?P<if>if)\ +{_DOTTED}(?:\ +is\ +(?:not\ +)?defined)?
    | (?P<else>else) | (?P<endif>endif))\ *%\}}""",
    re.VERBOSE,
)


def is_plain_template(text: str) -> bool:
    """Whether `text` is certainly a right template, and includes no other."""
    has_else: list[bool] = []  # of every `if` that is still open
    at = 0
    while (mark := _MARK.search(text, at)) is not None:
        tag = _TAG.match(text, mark.start())
        if tag is None or not _fits(tag.lastgroup, has_else):
            return False
        at = tag.end()
    return not has_else


def _fits(block: str | None, has_else: list[bool]) -> bool:
    """Whether a block may stand inside those that are open, which it opens or closes."""
    if block == "if":
        has_else.append(False)
        return len(has_else) <= _MOST_NESTED
    if block is None:
        return True
    if not has_else or (block == "else" and has_else[-1]):
        return False
    if block == "else":
        has_else[-1] = True
    else:
        has_else.pop()
    return True
