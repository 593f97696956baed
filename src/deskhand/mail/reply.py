"""What a person wrote, apart from what was quoted, signed and disclaimed below it."""

import re
from collections.abc import Iterator

from deskhand.mail.forward import plain_lines
from deskhand.mail.mail_phrases import mail_phrases
from deskhand.mail.quoted_headers import bare, label_of, read_block

LONGEST = 200_000
_LINES_OF_AN_ATTRIBUTION = 4
_LONGEST_ATTRIBUTION = 400
_MOST_ATTRIBUTIONS = 300
"""Lines that end like one and are looked at closely: no conversation is that long."""
_RULE = re.compile(r"\s*(?:_{2,}|={3,}|-{3,}|\*{3,}|—{2,}|―{2,})\s*$")
_UNDERSCORES = re.compile(r"\s*_{8,}\s*$")
_SIGNATURE_RULE = re.compile(r"\s*(?:--|__|—)\s*$")
_MOMENT = re.compile(
    r"(?<!\d)(?:\d{1,2}[.:h]\d{2}|(?:19|20)\d\d|\d{1,2}[./-]\d{1,2}[./-]\d{2,4})(?!\d)"
)
_ADDRESS = re.compile(r"[^\s<>()\[\]@]{1,100}@[^\s<>()\[\]@]{1,200}")
_LONGEST_GREETING = 8
"""Lines after `Kind regards`, at most, that still are a name, a position and a telephone number."""
_WIDE = 90
_LINK = re.compile(r"<?https?://\S*")
_WORDS_OF_A_PROGRAM = 9


def visible_reply(text: str) -> str:
    """The sender's own words: no quoted mail, no `On ... wrote:`, no signature, no disclaimer."""
    lines = plain_lines(text[:LONGEST])
    own = _without_quotes(lines)
    own = _without_signature(own)
    return "\n".join(line.rstrip() for line in own).strip()


# --- quotes


def _without_quotes(lines: list[str]) -> list[str]:
    """Lines before the quoted mail, and answers below or between quoted lines."""
    kept: list[str] = []
    number = tries = 0
    while number < len(lines):
        if lines[number].lstrip().startswith(">"):
            number = _after_quote(lines, number)
            continue
        length = 0
        if tries < _MOST_ATTRIBUTIONS:
            length = _attribution_length(lines, number)
            tries += lines[number].rstrip().endswith((":", "："))
        if length:
            number += length
            if not _quote_follows(lines, number):
                break
            continue
        if _quoted_mail_begins(lines, number):
            break
        kept.append(lines[number])
        number += 1
    return kept


def _after_quote(lines: list[str], number: int) -> int:
    """The number of the line after a quoted one.

    A program that broke a long quoted line left its rest without a mark: that is skipped as well.
    """
    following = number + 1
    while (
        following + 1 < len(lines)
        and lines[following].strip()
        and not lines[following].lstrip().startswith(">")
    ):
        if len(lines[number]) < 60 or not lines[following + 1].lstrip().startswith(">"):
            break
        following += 1
    return following


def _quote_follows(lines: list[str], number: int) -> bool:
    following = next((line for line in lines[number : number + 4] if line.strip()), "")
    return following.lstrip().startswith(">")


def _attribution_length(lines: list[str], number: int) -> int:
    """How many lines an `On ..., Ann wrote:` takes that begins here; 0 for none."""
    if not lines[number].strip():
        return 0
    joined = ""
    for length in range(1, _LINES_OF_AN_ATTRIBUTION + 1):
        if number + length > len(lines) or not (line := lines[number + length - 1].strip()):
            return 0
        joined = f"{joined} {line}".strip()
        if len(joined) > _LONGEST_ATTRIBUTION:
            return 0
        if line.endswith((":", "：")):
            return length if _is_attribution(joined, length) else 0
    return 0


def _is_attribution(text: str, lines: int) -> bool:
    said = text.rstrip(":： ")
    address = _ADDRESS.search(said)
    around = said if address is None else said[: address.start()] + said[address.end() :]
    moment = _MOMENT.search(around)
    if not moment:
        return False
    if lines > 1 and moment.start() > 60:
        return False  # a sentence that happens to be followed by one
    phrases = mail_phrases()
    if phrases.wrote.search(said) or phrases.wrote_amid.search(around):
        return True
    return address is not None and said.endswith((">", ")", "]"))


def _quoted_mail_begins(lines: list[str], number: int) -> bool:
    """Whether headers of an earlier mail begin here, perhaps under a rule or a separator."""
    line = lines[number]
    if not line.strip():
        return False
    phrases = mail_phrases()
    if phrases.original.match(line) or phrases.separator.match(line):
        return True
    if bare(line).endswith(":") and bare(line)[:-1].strip().casefold() in phrases.openings:
        return True
    start = number
    if _RULE.match(line):
        start = next(
            (n for n in range(number + 1, min(number + 4, len(lines))) if lines[n].strip()), number
        )
    if label_of(lines[start]) is None:
        return False
    headers = read_block(lines, start).headers
    return "from" in headers and len({"to", "date", "subject", "cc"} & headers.keys()) >= 2


# --- signatures


def _without_signature(lines: list[str]) -> list[str]:
    cut = next(_signature_starts(lines), len(lines))
    has_words = any(line.strip() for line in lines[:cut])
    return lines[:cut] if has_words else lines


def _signature_starts(lines: list[str]) -> Iterator[int]:
    phrases = mail_phrases()
    for number, line in enumerate(lines):
        text = line.strip()
        if not text:
            continue
        by_program = phrases.signature.match(text) and _is_a_programs(text)
        ruled = _SIGNATURE_RULE.match(line) or by_program
        legal = phrases.disclaimer.match(text) and (number == 0 or not lines[number - 1].strip())
        greets = phrases.greeting.match(text) or _UNDERSCORES.match(line)
        if ruled or legal or (greets and _only_a_name_follows(lines[number + 1 : number + 100])):
            yield number


def _is_a_programs(text: str) -> bool:
    """`Sent from my phone` rather than `Sent from my desk, where I can type`."""
    words_alone = _LINK.sub("", text)
    return len(words_alone.split()) <= _WORDS_OF_A_PROGRAM and ", " not in words_alone


def _only_a_name_follows(lines: list[str]) -> bool:
    """A name, a position, a telephone number; not a question, and no afterthought."""
    following = 0
    for line in lines:
        text = line.strip()
        following += bool(text)
        if following > _LONGEST_GREETING or len(text) > _WIDE or text.endswith("?"):
            return False
        if text.casefold().startswith(("ps:", "p.s", "p. s", "ps ")):
            return False
    return True
