"""Articles as people read them: lines that were wrapped for a file become paragraphs again."""

import re

_OWN_LINE = re.compile(r"\s*([-*+•#>|]|\d+[.)]\s|```|\[…\])|\s{4}")
"""Lines that begin something of their own."""
_ENDS_LINE = re.compile(r"\s*(#|>|\||```)|.*(  |\\)$")
"""Lines that nothing is joined to."""


def unwrapped(text: str) -> str:
    """The same words in paragraphs; lists, quotes, tables and headings keep their lines."""
    lines: list[str] = []
    for line in text.splitlines():
        joins = bool(lines and lines[-1].strip() and line.strip()) and not _OWN_LINE.match(line)
        if joins and not _ENDS_LINE.match(lines[-1]):
            lines[-1] = f"{lines[-1].rstrip()} {line.strip()}"
        else:
            lines.append(line)
    return "\n".join(line.rstrip() for line in lines)
