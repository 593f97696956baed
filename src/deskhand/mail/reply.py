"""What a person wrote, apart from what was quoted, signed and disclaimed below it."""

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache

from deskhand.mail.forward import plain_lines
from deskhand.mail.mail_phrases import mail_phrases
from deskhand.mail.quoted_headers import bare, inline_block, label_of, read_block

LONGEST = 200_000
_LINES_OF_AN_ATTRIBUTION = 4
_LONGEST_ATTRIBUTION = 400
_MOST_ATTRIBUTIONS = 300
"""Lines that end like one and are looked at closely: no conversation is that long."""
_COLONS = (":", "：")
_DASHES = re.compile(r"\s*[-–—]{2,}\s*")
_HEADING = re.compile(r"\s*[-_=*]{2,}\s*[^\s\-_=*][^:]{0,60}?\s*[-_=*]{2,}\s*$")
"""`-------- Oprindelig besked --------`, in whatever language."""
_BETWEEN_BRACKETS = re.compile(r"\s*>>>.*\d.*>>>\s*$")
"""`>>> Ann <ann@example.com> 02.03.2026 09:12 >>>`, as GroupWise writes."""
_WORDS_OF_A_NAME = 5
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
_MOST_LINES = 4_000
"""Nobody writes more lines of his own in one mail."""
_KEPT = 32


@lru_cache(maxsize=_KEPT)
def visible_reply(text: str) -> str:
    """The sender's own words: no quoted mail, no `On ... wrote:`, no signature, no disclaimer.

    Many stages ask for those of one message, so the last ones are kept.
    """
    lines = plain_lines(text[:LONGEST])[:_MOST_LINES]
    own = _without_quotes(lines)
    own = _without_signature(own)
    return "\n".join(line.rstrip() for line in own).strip()


@lru_cache(maxsize=_KEPT)
def without_quotes(text: str) -> str:
    """The sender's own words with the signature below them."""
    return "\n".join(_without_quotes(plain_lines(text[:LONGEST])[:_MOST_LINES]))


# --- quotes


def _without_quotes(lines: list[str]) -> list[str]:
    """Lines before the quoted mail, and answers below or between quoted lines."""
    kept: list[str] = []
    number = tries = 0
    while number < len(lines):
        if _BETWEEN_BRACKETS.match(lines[number]):
            break
        if lines[number].lstrip().startswith(">"):
            number = _after_quote(lines, number)
            continue
        length = 0
        if tries < _MOST_ATTRIBUTIONS:
            length = _attribution_length(lines, number)
            tries += _ends_like_one(lines[number])
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
        if line.startswith(">"):
            return 0
        joined = f"{joined} {line}".strip()
        if len(joined) > _LONGEST_ATTRIBUTION:
            return 0
        following = number + length
        if line.endswith(_COLONS) or _stands_alone(joined, lines, following):
            quoted = _quote_follows(lines, following)
            return length if _is_attribution(joined, length, quoted=quoted) else 0
    return 0


def _ends_like_one(line: str) -> bool:
    """Whether an attribution may end here: in a colon, in Zoho's dashes, in a verb or a bracket."""
    text = line.strip()
    if len(text) > _LONGEST_ATTRIBUTION:
        return False
    if text.endswith((*_COLONS, "--", "——", ">")):
        return True
    return bool(mail_phrases().wrote.search(text))


def _stands_alone(text: str, lines: list[str], following: int) -> bool:
    """Whether a line without its colon is more than the beginning of somebody's sentence.

    Programs put dashes around it, quote below it, or name an address after which nothing goes on.
    """
    if _DASHES.match(text) and text.endswith(("--", "——")):
        return True
    if _quote_follows(lines, following):
        return True
    if _ADDRESS.search(text) is None or not _ends_like_one(text):
        return False
    below = lines[following].strip() if following < len(lines) else ""
    return not below[:1].islower()


def _is_attribution(text: str, lines: int, *, quoted: bool) -> bool:
    said = text.strip("-–—").strip().rstrip(":： ")
    address = _ADDRESS.search(said)
    around = said if address is None else said[: address.start()] + said[address.end() :]
    moment = _MOMENT.search(around)
    phrases = mail_phrases()
    if not moment:
        # `Ann Lee wrote:` alone, as Gnus and SeaMonkey write it
        named = len(around.split()) <= _WORDS_OF_A_NAME
        return quoted and named and bool(phrases.wrote.search(said))
    if lines > 1 and moment.start() > 60:
        return False  # a sentence that happens to be followed by one
    if phrases.wrote.search(said) or phrases.wrote_amid.search(around):
        return True
    return text.endswith(_COLONS) and address is not None and _names_writer_last(said, address)


def _names_writer_last(said: str, address: re.Match[str]) -> bool:
    """Whether a line of date and address alone ends as programs write it: `..., Ann <a@b.cz>:`."""
    if said.endswith((">", ")", "]")):
        return True
    moments = _MOMENT.findall(said[: address.start()])
    return said.endswith(address[0]) and said[:1].isdigit() and len(moments) > 1


def _quoted_mail_begins(lines: list[str], number: int) -> bool:
    """Whether headers of an earlier mail begin here, perhaps under a rule or a separator."""
    line = lines[number]
    if not line.strip():
        return False
    phrases = mail_phrases()
    marks = (phrases.original, phrases.separator, phrases.reply_above)
    if any(mark.match(line) for mark in marks):
        return True
    if bare(line).endswith(":") and bare(line)[:-1].strip().casefold() in phrases.openings:
        return True
    start = number
    ruled = _RULE.match(line) or _HEADING.match(line)
    if ruled:
        start = next(
            (n for n in range(number + 1, min(number + 4, len(lines))) if lines[n].strip()), number
        )
    label = label_of(lines[start])
    if label is None:
        return False
    if label[0] == "from" and _speak_of_a_mail(inline_block(lines[start].replace("*", ""))):
        return True
    headers = read_block(lines, start).headers
    return _speak_of_a_mail(headers, ruled=bool(ruled))


def _speak_of_a_mail(headers: Mapping[str, str], *, ruled: bool = False) -> bool:
    """Whether these are a mail's headers and not a traveller's `From: Prague, To: Brno`."""
    if "from" not in headers:
        return False
    others = len({"to", "date", "subject", "cc"} & headers.keys())
    by_mail = ruled or any("@" in value for value in headers.values())
    if by_mail and "date" in headers:
        return True
    return others >= 2 and (by_mail or "subject" in headers)


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
