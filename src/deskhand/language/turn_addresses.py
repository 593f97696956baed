"""Postal addresses in what customers write, asked for or not, and other words that nobody asked
for."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from deskhand.language.address_parts import address_places
from deskhand.language.slots.folded_text import FoldedText
from deskhand.language.turn_texts import (
    EDGES,
    VALUE_WORDS,
    Span,
    only_wishes,
    summary_in,
    unasked_reason_in,
)

_SENTENCE = re.compile(r"(?<=[.!?;…])\s+|\n+|\s+[-–—]\s+")
_LEADS_TO_ADDRESS = re.compile(
    r".*?(?:\b(?:(?:new )?(?:delivery |shipping |postal )?address(?: is| should be| would be)?|"
    r"send (?:it|them|the parcel|everything)?(?: instead)? ?to|deliver(?:ed)?(?: it)? to|"
    r"ship(?: it)? to|"
    r"(?:should )?go to|new one is|to be|make it|it's|it is|"
    r"(?:nova )?(?:dorucovaci )?adresa(?: je| ma byt| bude)?|(?:poslete|zaslete|doructe|"
    r"poslat)(?: to| ho| ji)?"
    r"(?: prosim)?(?: radeji| radsi)? (?:na(?: adresu)?|do)|na adresu|nova je|je to|"
    r"(?:die )?(?:neue )?(?:liefer)?(?:adresse|anschrift)(?: ist| lautet| ware)?|(?:schicken|"
    r"senden|liefern)"
    r"(?: sie)?(?: es| das paket| sie| alles)?(?: bitte)?(?: an(?: die)?| nach)|neue ist|"
    r"es ist|das ist|"
    r"(?:la )?(?:nueva )?direccion(?: de entrega| de envio)?(?: es| seria| nueva es)?|"
    r"(?:enviad?lo|enviarlo|envielo|envienlo|mandad?lo|mandelo|mandenlo|enviar|"
    r"mandar)(?: por favor)? a(?: la)?|"
    r"la nueva es|seria)\b[ :,]+)"
)
_HOUSE = re.compile(
    r"\d{1,5}[a-z]?(?:/\d{1,5}[a-z]?)?[ ,]+(?:[a-z]{2,}\.?)|"
    r"[a-z]{3,}\.?[ ,]+\d{1,5}[a-z]?(?:/\d{1,5})?\b|"
    r"\b(?:flat|apt|apartment|unit|suite|p\.? ?o\.? ?box|postfach|piso|calle|avenida|avda|"
    r"plaza|street|"
    r"road|lane|close|avenue|strase|strasse|str\.|weg|platz|gasse|ulice|ul\.|namesti|trida)\b"
)


def address_in(text: str, spans: Sequence[Span], *, is_asked: bool) -> str | None:
    """The postal address in a text; None where there is none.

    It needs a house number or a word for a street, and where it was not asked for a number too.
    """
    for start, end in _sentences(text, lines_apart=not is_asked):
        begin = start
        folded = FoldedText(text[start:end]).folded
        lead = _LEADS_TO_ADDRESS.match(folded)
        if lead is not None:
            begin = start + lead.end()
        begin = _after_values(text, begin, end, spans)
        words = text[begin:end].strip(EDGES)
        if lead is None and not is_asked:
            words = _from_the_street(words)
        rest = FoldedText(words).folded
        if _HOUSE.search(rest) is None or _PLACE_NAME.search(words) is None:
            continue
        if is_asked or lead is not None or re.search(r"\d", rest):
            return words
    return None


def _from_the_street(words: str) -> str:
    """The words from the first part on that names a street with a number."""
    parts = re.split(r"(,\s+)", words)
    for place in range(0, len(parts), 2):
        if _HOUSE.search(FoldedText(parts[place]).folded):
            street = "".join(parts[place:])
            return _AFTER_STREET.sub("", _BEFORE_STREET.sub("", street, count=1))
    return words


_BEFORE_STREET = re.compile(r"^[^,]*\b(?:an|nach|zu|zur|to|at|na|do)\s+(?:die\s+)?(?=[A-ZÀ-Ž\d])")
_AFTER_STREET = re.compile(
    r"\s+(?:liefern|senden|schicken|zustellen|poslat|doručit|dodat|geliefert|gesendet)\b[^,]*$"
)


def with_name_before(text: str, words: str) -> str:
    """An address with the names that stand before it: `Reception, St Anne's Clinic, ...`."""
    before = text[: text.find(words)].rstrip()
    name = re.search(r"(?:^|[,;:\n]\s*)((?:[A-ZÀ-Ž][\w'’.-]*\s?){1,3}[,\s]*)$", before)
    return text[name.start(1) : text.find(words) + len(words)] if name is not None else words


_PLACE_NAME = re.compile(
    r"\b[A-ZÁČĎÉĚÍŇÓŘŠŤÚŮÝŽÄÖÜÑ][a-zà-ž]{2,}|(?i:\b(?:street|road|lane|str|straße|strasse|ulice|calle)\b)"
)
ABBREVIATED = re.compile(
    r"(?:str|\b(?:ul|c|nr|no|av|avda|pl|st|rd|apt|dr|mr|mrs|ms|tř|nám|č|p|ing|mgr|sta|sto|pza|bl))\.$",
    re.I,
)


_PUTS_RIGHT = re.compile(
    r"^(?:i (?:meant|mean)|it(?:'s| is| should be)|make (?:it|that)|myslela? jsem|m[aá] to b[yý]t|"
    r"ich meinte|es ist|es muss)\b[ ,:]*",
    re.IGNORECASE,
)
"""Words before an address that put another one right."""
_ORDER_DIGITS = 5
"""Digits that no house number has: a value of so many is an order's."""


def unasked_address_in(text: str, spans: Sequence[Span]) -> str | None:
    """The postal address in a first message, without the order's number before it and what the
    customer says about the old one."""
    plain = [place for place in address_places(text, spans) if not _is_old(text, place)]
    if plain:
        return text[slice(*plain[-1])].strip(EDGES) or None
    bare = text
    for start, end in sorted(spans, reverse=True):
        if text[start:end][:1].isalpha() or end - start >= _ORDER_DIGITS:
            bare = f"{bare[:start].rstrip()} {bare[end:].lstrip()}"
    address = address_in(bare, (), is_asked=False)
    if address is None:
        return None
    words = _INSTEAD.sub("", address).strip(EDGES)
    folded = FoldedText(words).folded
    return words if _HOUSE.search(folded) and not _NUMBER_ALONE.match(folded) else None


def _is_old(text: str, place: Span) -> bool:
    """Whether an address is named as the one where it shall not go."""
    return _NOT_THERE.search(FoldedText(text[: place[0]]).folded) is not None


_NUMBER_ALONE = re.compile(
    r"(?:hausnummer|house number|number|nummer|nr\.?|no\.?|cislo|c\. ?p\.)\s*\d+\s*[a-z]?$"
)
"""A house without its street."""
_NOT_THERE = re.compile(
    r"\b(?:instead of|rather than|not(?: to| at)?|from|statt|anstatt|anstelle von|"
    r"nicht(?: an| in)?|von|misto|namisto|ne(?: na| do)?|z|ze|en vez de|en lugar de|no a)"
    r"(?: (?:the|my|die|der|den|meine\w*|na|do|adresy|old|alte\w*|stare\w*|la|el))*[ :]*$"
)


_INSTEAD = re.compile(
    r",?\s+(?:instead|statt|anstatt|anstelle|m[ií]sto|nam[ií]sto|please|bitte|pros[ií]m|en vez|"
    r"rather than|not )\b.*|\?.*",
    re.I | re.S,
)


def _sentences(text: str, *, lines_apart: bool = True) -> Iterator[Span]:
    start = 0
    for match in _SENTENCE.finditer(text):
        is_line = "\n" in match.group()
        if is_line and not lines_apart:
            continue
        if is_line or not ABBREVIATED.search(text[: match.start()]):
            yield start, match.start()
            start = match.end()
    yield start, len(text)


def _after_values(text: str, begin: int, end: int, spans: Sequence[Span]) -> int:
    """Where the text goes on after values that stand before the words."""
    for first, last in sorted(spans):
        between = FoldedText(text[begin:first]).folded if first >= begin else "x"
        if first < end and not re.sub(r"\W", "", VALUE_WORDS.sub(" ", between)):
            begin = max(begin, last)
    folded = FoldedText(text[begin:end]).folded
    lead = re.match(
        r"[\s,;:.-]*(?:(?:and|und|a|y|to|an|nach|na|do|at|in|no|ne|nein|nope|sorry|"
        r"pardon|perdon|but|ale|aber|pero|sondern|sino|ok|yes|ano|ja|si|it|should|go)\b[\s,:]*)*",
        folded,
    )
    return begin + (lead.end() if lead is not None else 0)


_READ_UNASKED: Mapping[str, Callable[[str, Sequence[Span]], str | None]] = {
    "address": unasked_address_in,
    "reason": unasked_reason_in,
    "summary": summary_in,
}
"""How words are found that were not asked for, by what they are about."""


def unasked_words(about: str | None, text: str, spans: Sequence[Span]) -> str | None:
    """The words of a text about this; None where it says nothing of it. `spans` are the places of
    other values."""
    read = _READ_UNASKED.get(about or "")
    words = None if read is None else read(text, spans)
    if words and about == "reason" and only_wishes(words):
        return None
    return words if words is None or about != "address" else _PUTS_RIGHT.sub("", words)
