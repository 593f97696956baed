"""Mail that the Crisp helpdesk passes on: who the customer is and what he wrote, from its Czech and
English templates.

The helpdesk's own lines stand above the customer's: a headline (`New message from Ann Lee
(ann@example.com):`), fields (`Name: Ann Lee`, `Email: ann@example.com`), or both. What comes after
the first line that is neither is the customer's text, and whatever header he writes there is text.
"""

import re
from dataclasses import dataclass, field

from deskhand.mail.crisp_phrases import CALLED, FIELDS, FOOTERS, HEADLINES, TITLES
from deskhand.mail.forward import plain_lines
from deskhand.mail.mailboxes import mailboxes
from deskhand.model.message import Message

HEAD = 25
"""Lines in which a helpdesk names the customer."""
LONGEST, LONGEST_LINE, LONGEST_NAME = 200_000, 500, 100

_ADDRESS = r"[^\s<>()\[\]@,;:\"']{1,100}@[^\s<>()\[\]@,;:\"']{1,200}"
_ALONE = re.compile(rf"^[<(\[]?(?:mailto:)?({_ADDRESS})[>)\]]?$", re.I)
_NAMED = re.compile(
    rf"^(?P<name>[^<(\[]{{0,100}}?)\s*[<(\[](?:mailto:)?(?P<address>{_ADDRESS})[>)\]]$", re.I
)
_HEADLINE = re.compile(
    rf"^(?:{'|'.join(HEADLINES)})(?: {CALLED})?\s*:?\s+(?P<who>.{{1,300}}?)\s*:?$", re.I
)
_TITLE = re.compile(rf"^(?:{'|'.join(TITLES)})[:!.]?$", re.I)
_KIND_OF = {label: kind for kind, labels in FIELDS.items() for label in labels}
_FIELD = re.compile(r"^(?P<label>[^:\t]{1,40}?)(?:\s*:\s*|\t+| {2,})(?P<value>.{0,400})$")
_RULE = re.compile(r"^[-_=*—–·\s]{3,}$|^--$")
_FOOTER = re.compile(rf"^(?:{'|'.join(FOOTERS)})", re.I)
_OWN_HOST = re.compile(r"(?:^|\.)crisp\.[a-z]{2,10}$")
_UNFIT = re.compile(r"[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]+")


@dataclass(frozen=True, slots=True)
class CrispMail:
    patient_name: str
    patient_email: str
    original_message: str


class CrispUnreadable(ValueError):
    """Why a mail is not taken for one that Crisp passed on; the message says it in words."""


class NoCrispHeader(CrispUnreadable):
    """There is no line of Crisp's in it; its Reply-To names somebody all the same."""


def read_crisp(message: Message) -> CrispMail:
    """Raises CrispUnreadable for what does not say plainly who wrote; never anything else."""
    lines = [line.rstrip() for line in plain_lines(message.body[:LONGEST])]
    head = _read_head(lines)
    reply_to = _reply_to(message)
    if reply_to is None and not head.address:
        raise CrispUnreadable("no customer's address stands above the text or in Reply-To")
    if not head.begins and not (is_crisp(message) or _footer_start(lines) < len(lines)):
        raise NoCrispHeader("there is no header of Crisp above the text")
    same = reply_to is None or reply_to[1].casefold() == head.address.casefold()
    if head.address and not same:
        raise CrispUnreadable("the address above the text is not the one in Reply-To")
    beside_label = [head.text] if head.text else []
    text = _words([*beside_label, *lines[head.end :]])
    if not text:
        raise CrispUnreadable("there is no text of a customer in it")
    if reply_to is None:
        return CrispMail(_clean(head.name), head.address, text)
    name, address = reply_to
    return CrispMail(_clean(head.name or name), head.address or address, text)


# --- above the customer's text


@dataclass(slots=True)
class _Head:
    """What the helpdesk's lines at the top say, read line by line."""

    name: str = ""
    address: str = ""
    text: str = ""
    """What stands in the same line as `Message:`."""
    end: int = 0
    """The number of the line after the head."""
    begins: bool = False
    """Whether there was a line of the helpdesk's at all."""
    seen: set[str] = field(default_factory=set)
    """Kinds of fields that were read."""

    def take(self, text: str, following: int) -> bool:
        """Reads one line; False when the head is over. `following` is the number of the next."""
        if len(text) > LONGEST_LINE:
            return False
        if _RULE.match(text):
            return self._take_rule(following)
        if not self.begins and _TITLE.match(text):
            self.end = following
            return True
        if not self.begins and self._take_headline(text, following):
            return not self.address
        return self._take_field(text, following)

    def _take_rule(self, following: int) -> bool:
        if not self.begins:
            return True
        self.end = following
        return not self.address and "name" not in self.seen

    def _take_headline(self, text: str, following: int) -> bool:
        headline = _HEADLINE.match(text)
        if headline is None or not _read_headline(self, headline["who"]):
            return False
        self.begins = True
        self.end = following
        return True

    def _take_field(self, text: str, following: int) -> bool:
        kind, value = _field(text)
        if kind == "message":
            if self.begins:
                self.text = value
                self.end = following
            return False

        repeated = kind != "other" and kind in self.seen
        misplaced = kind == "other" and not self.begins
        if not kind or repeated or misplaced or not _read_field(self, kind, value):
            return False
        self.seen.add(kind)
        self.begins = True
        self.end = following
        return True


def _read_head(lines: list[str]) -> _Head:
    """The helpdesk's lines at the top, up to the first line that is none of them.

    The first name and the first address count.
    """
    head = _Head()
    for number, line in enumerate(lines[:HEAD]):
        text = line[: LONGEST_LINE + 1].lstrip("*_> \t").rstrip("*_ \t")
        if text and not head.take(text, number + 1):
            break
    return head


def _read_headline(head: _Head, who: str) -> bool:
    """Reads `Ann Lee (ann@example.com)`, an address or a name.

    False for a line with more than one address, and for a whole sentence.
    """
    if alone := _ALONE.match(who):
        head.address = alone[1]
    elif named := _NAMED.match(who):
        head.name, head.address = named["name"], named["address"]
    elif "@" in who or len(who) > LONGEST_NAME or who.endswith((".", "?", "!")):
        return False
    else:
        head.name = who
    return True


def _field(text: str) -> tuple[str, str]:
    """The kind of a labelled line and its value; two empty strings for any other line."""
    match = _FIELD.match(text)
    if match is None:
        return "", ""
    kind = _KIND_OF.get(match["label"].strip("* ").casefold(), "")
    return kind, match["value"].strip("* ").strip()


def _read_field(head: _Head, kind: str, value: str) -> bool:
    """Puts a field into the head; False where it does not hold what its label says."""
    if kind == "name":
        named = _NAMED.match(value)
        if named is None and "@" in value and not _ALONE.match(value):
            return False
        head.name = head.name or (named["name"] if named else value)
        if named and not head.address:
            head.address = named["address"]
    elif kind == "address":
        alone = _ALONE.match(value) or _ALONE.match(value.partition(" ")[0])
        if alone is None:
            return False
        # an address that stands in the name is what the customer called himself
        head.address = alone[1]
    return True


# --- below it, and beside it


def _footer_start(lines: list[str]) -> int:
    """The number of the first of the helpdesk's lines at the end.

    No other line may stand among them, so that no words are lost.
    """
    start = len(lines)
    for number in range(len(lines) - 1, -1, -1):
        text = lines[number].strip().strip("*_<>[]() ")
        if not text or _RULE.match(text):
            continue
        if len(text) > LONGEST_LINE or not _FOOTER.match(text):
            break
        start = number
    return start


def _words(lines: list[str]) -> str:
    kept = lines[: _footer_start(lines)]
    while kept and (not kept[-1].strip() or _RULE.match(kept[-1].strip())):
        kept.pop()
    while kept and (not kept[0].strip() or _RULE.match(kept[0].strip())):
        del kept[0]
    return "\n".join(kept).strip()


def _reply_to(message: Message) -> tuple[str, str] | None:
    """The one address that answers are asked for at, unless it is the helpdesk's own."""
    several = mailboxes(_header(message, "reply-to").partition("\n")[0][:LONGEST_LINE])
    if len(several) != 1 or several[0].address is None:
        return None
    name, address = several[0].name or "", several[0].address
    if address.casefold() == message.sender.address.strip().casefold():
        return None
    return None if _OWN_HOST.search(address.rpartition("@")[2].lower()) else (name, address)


def is_crisp(message: Message) -> bool:
    """Whether a mail says of itself that Crisp sent it, by its X-Mailer or its sender."""
    if "crisp" in _header(message, "x-mailer")[:LONGEST_LINE].casefold():
        return True
    return bool(_OWN_HOST.search(message.sender.address.rpartition("@")[2].strip().lower()))


def _header(message: Message, name: str) -> str:
    return message.headers.get(name) or next(
        (value for key, value in message.headers.items() if key.casefold() == name), ""
    )


def _clean(name: str) -> str:
    return " ".join(_UNFIT.sub(" ", name).strip(" \"'*,;:").split())[:LONGEST_NAME]
