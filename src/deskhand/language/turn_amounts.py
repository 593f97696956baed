"""Amounts as people say them: in words, by the name of a note, or as a share of what was paid.

    spoken_amounts("die Hälfte wäre fair", "de")   # a share of 1/2
    spoken_amounts("a tenner would do", "en")      # 10

A share is a value of its own, `{"share": "1/2"}`: only who knows the order can tell how much it is.
"""

import re
from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction
from typing import NamedTuple

from deskhand.language.slots.number_phrases import number_phrases
from deskhand.language.slots.numbers import KNOWN_LANGUAGES, languages_of

_NOTES = {
    r"fivers?|funfer": 5,
    r"tenners?|zehner|desetikorun\w*|desetieur\w*": 10,
    r"zwanni|zwanziger|dvack\w|dvacet?ieur\w*|dvacetikorun\w*": 20,
    r"fuffi|fuffziger|funfziger|padesatk\w|padesatikorun\w*": 50,
    r"hunni|hunderter|stovk\w|stovek|stokorun\w*": 100,
    r"dvoustovk\w|dvoukil\w": 200,
    r"tristovk\w": 300,
    r"petistovk\w|petikil\w": 500,
    r"tisicovk\w|tisicikorun\w*|tausender": 1000,
    r"dvoutisicovk\w": 2000,
}
"""What notes are called, and the sums that are named after them."""
_NOTE = re.compile("|".join(rf"(?P<n{worth}>\b(?:{name})\b)" for name, worth in _NOTES.items()))
_FEW_WORDS = 5
_COUNT_BEFORE = re.compile(r"([a-z]+|\d{1,2})[ ]$")

_PARTS = (
    (Fraction(2, 3), r"two[ -]thirds|dve tretiny|zwei[ -]?drittel|dos tercios"),
    (Fraction(3, 4), r"three[ -]quarters|tri ctvrtiny|drei[ -]?viertel|tres cuartos"),
    (Fraction(1, 2), r"half|polovin\w*|pulk\w|pulku|halfte|mitad"),
    (Fraction(1, 3), r"(?:a|one) third|tretin\w*|drittel|(?:un|el) tercio|tercera parte"),
    (Fraction(1, 4), r"(?:a|one) quarter|ctvrtin\w*|viertel|un cuarto|cuarta parte"),
    (Fraction(1, 5), r"(?:a|one) fifth|petin\w*|funftel|quinta parte|un quinto"),
    (Fraction(1, 10), r"(?:a|one) tenth|desetin\w*|zehntel|decima parte"),
    (
        Fraction(1),
        r"all of (?:it|them|that)|all my money|all the money|every (?:cent|penny)|everything|"
        r"the (?:lot|whole (?:thing|lot|amount|sum|price)|full (?:amount|sum|price|thing)|"
        r"entire (?:amount|sum|price)|total)|in full|(?:a )?full refund|full (?:amount|price)|"
        r"vse|vsechno|(?:celou|plnou) (?:castku|cenu|sumu)|cela (?:castka|cena)|celych|celou|"
        r"v plne vysi|komplet\w*|"
        r"alles|vollstandig\w*|(?:ganze[nrs]?|volle[nr]?|gesamte[nr]?) "
        r"(?:betrag|summe|preis|kaufpreis|geld)|das ganze|die volle|den vollen|voll|jeden cent|"
        r"todo|la totalidad|el total|(?:importe|precio) (?:total|completo|integro|entero)|"
        r"integro|al completo|enterito",
    ),
)
_PART = re.compile("|".join(rf"(?P<p{n}>\b(?:{words})\b)" for n, (_, words) in enumerate(_PARTS)))
_PERCENT = re.compile(
    r"(?<![\w.,])(\d{1,3}(?:[.,]\d{1,2})?) ?(?:%|percent|per cent|procent\w*|prozent|por ?ciento)"
)
_OF_NUMBER = re.compile(r" (?:of|von|z|ze|de|del) (\d{1,6}(?:[.,]\d{1,2})?)(?![\w.,]*\d)")
_WHOLE_ALONE = re.compile(r"\W*(?:all|whole|full|cele|cely|cela|ganz|completo|entero)\W*")
_WITH_CENTS = re.compile(r"(?<![\w.,])(\d{1,5}) con (\d{2})(?![\w.,]*\d)")
_NO_SHARE_AFTER = re.compile(
    r"\s+(?:an hour|hour|vor|nach|stunde|hodin\w*|(?:de )?hora|past|year|a year|jahr|roku|metru|"
    r"way|empty|broken|gone|leer|kaputt|rozbit\w*|rot\w+|ok|okay|good|fine|gut|dobre|bien)\b"
)
_OF_WHAT = re.compile(
    r" (?:of|der|des|von|de|del|z|ze) (?:(?:the|my|la|el|los|las|dem|der|den|that) )*([\w-]+)"
)
_OF_MONEY = re.compile(
    r"it|that|this|them|price|amount|money|total|sum|cost|order|what|refund|value|betrag\w*|"
    r"\w*preis\w*|summe|geld\w*|bestellung|rechnung\w*|gesamt\w*|ceny|castky|sumy|penez|toho|"
    r"objednavky|celku|hodnoty|precio|importe|dinero|pedido|lo|eso|costo|coste|total|valor|(?:[a-z]{1,3}-?)?\d+"
)
_HALF_BEFORE = re.compile(
    r"(?:\bother|\bsecond|\bdruh\w+|\bandere\w*|\bzweite\w*|\botra|\bsegunda) $"
)


class SpokenAmount(NamedTuple):
    """An amount in words and where it stands in the folded text: a number, or a share."""

    start: int
    end: int
    number: Decimal | None = None
    share: Fraction | None = None
    is_note: bool = False
    """Whether it is named after a note, and can be nothing but money."""


def spoken_amounts(folded: str, language: str | None) -> list[SpokenAmount]:
    """The amounts without a currency that a folded text says in words, in their order."""
    found = [*_notes(folded, language), *_numbers(folded, language)]
    found += [*numbers_with_cents(folded), *shares_in(folded)]
    kept: list[SpokenAmount] = []
    for amount in sorted(found, key=lambda amount: (amount.start, -amount.end)):
        if not kept or amount.start >= kept[-1].end:
            kept.append(amount)
    return kept


def shares_in(folded: str) -> Iterator[SpokenAmount]:
    """The shares of a whole that a folded text names."""
    for match in _PERCENT.finditer(folded):
        share = Fraction(match.group(1).replace(",", ".")) / 100
        whole = _OF_NUMBER.match(folded, match.end())
        if whole is not None and share <= 1:
            number = Decimal(whole.group(1).replace(",", ".")) * share.numerator
            yield SpokenAmount(match.start(), whole.end(), number / share.denominator)
        elif 0 < share <= 1:
            yield SpokenAmount(*match.span(), share=share)
    for match in _PART.finditer(folded):
        before, after = folded[: match.start()], folded[match.end() :]
        of_what = _OF_WHAT.match(after)
        if of_what is not None and not _OF_MONEY.fullmatch(of_what.group(1)):
            continue
        if not _NO_SHARE_AFTER.match(after) and not _HALF_BEFORE.search(before):
            place = int((match.lastgroup or "p0")[1:])
            yield SpokenAmount(*match.span(), share=_PARTS[place][0])
    if _WHOLE_ALONE.fullmatch(folded):
        yield SpokenAmount(0, len(folded), share=Fraction(1))


def _notes(folded: str, language: str | None) -> Iterator[SpokenAmount]:
    for match in _NOTE.finditer(folded):
        worth = Decimal((match.lastgroup or "n0")[1:])
        start = match.start()
        count = _COUNT_BEFORE.search(folded[:start])
        if count is not None:
            times = _count(count.group(1), language)
            start = count.start() if times > 1 else start
            worth *= times
        yield SpokenAmount(start, match.end(), worth, is_note=True)


def numbers_with_cents(folded: str) -> Iterator[SpokenAmount]:
    """`28 con 50`."""
    for match in _WITH_CENTS.finditer(folded):
        yield SpokenAmount(
            *match.span(), Decimal(f"{match.group(1)}.{match.group(2)}"), is_note=True
        )


def _count(word: str, language: str | None) -> int:
    if word.isdecimal():
        return int(word)
    phrases = list(number_phrases(word, languages_of(language)))
    return int(phrases[0].value) if phrases and phrases[0].end == len(word) else 1


def _numbers(folded: str, language: str | None) -> Iterator[SpokenAmount]:
    phrases = list(number_phrases(folded, languages_of(language)))
    is_short = len(folded.split()) <= _FEW_WORDS
    if not phrases and is_short:  # too short a text to tell its language
        phrases = list(number_phrases(folded, KNOWN_LANGUAGES))
    for phrase in phrases:
        if phrase.value > 1:
            yield SpokenAmount(phrase.start, phrase.end, phrase.value)
