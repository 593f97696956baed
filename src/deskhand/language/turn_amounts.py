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

from deskhand.language.slots.number_phrases import NumberPhrase, number_phrases
from deskhand.language.slots.numbers import KNOWN_LANGUAGES, languages_of

_NOTES = {
    r"fivers?|funfer|petk[auoy]": 5,
    r"tenners?|zehner|desitk[auoy]|desetikorun\w*|desetieur\w*": 10,
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
_NOTE = re.compile(
    "|".join(rf"(?P<n{worth}>(?<!minus )\b(?:{name})\b)" for name, worth in _NOTES.items())
)
_FEW_WORDS = 5
_IS_DONE = re.compile(
    r"\b(?:cancel\w*|zrus\w*|rusit|storn\w*|anul\w*|abbestell\w*|vracim|posilam|sende|"
    r"schicke zuruck|"
    r"sending (?:it |them )?back|returning|devuelvo|siempre|vzdycky|immer|always)\b"
)
"""What is done with a whole order, which says nothing of how much is paid back."""
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
        r"vse|vsechno|(?:celou|plnou) (?:castku|cenu|sumu)|cela (?:castka|cena)|cel(?:ych|"
        r"ou)(?=\W*$)|"
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
_WITH_CENTS = re.compile(
    r"(?<![\w.,])(\d{1,5}) (?:con|komma|comma|point|punkt|coma|punto|carka|celych|"
    r"cela) (\d{2})(?![\w.,]*\d)"
)
_CENTS = 100
_CENTS_FOLLOW = re.compile(r" (?:con|komma|comma|point|punkt|coma|punto|carka|celych|cela) ")
"""What stands between a number in words and its cents."""
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
    r"objednavky|celku|hodnoty|precio|importe|dinero|pedido|lo|eso|costo|coste|total|valor|"
    r"(?:[a-z]{1,3}-?)?\d+"
)
_HALF_BEFORE = re.compile(
    r"(?:\bother|\bsecond|\bdruh\w+|\bandere\w*|\bzweite\w*|\botra|\bsegunda) $"
)


_SOME_OF = re.compile(
    r"\bpartial(?:ly)? (?:\w+ )?(?:refund\w*|reimburse\w*|credit\w*|money)|"
    r"\b(?:refund\w*|reimburse\w*|pay|give|get|want|credit\w*) "
    r"(?:me |us |back |just |only |at least )*(?:a |some |in )?part(?:ly|ially)?\b"
    r"(?! (?:of (?:it|them|which) )?(?:was|were|is|are|arrived|came))|"
    r"\b(?:part|some|a bit|a portion|a fraction) of (?:the |my |our |what )*"
    r"(?:money|price|amount|cost|sum|payment|purchase|total|i paid|we paid)|"
    r"\bsome (?:money|cash) back|"
    r"\bpart (?:of it )?back\b|"
    r"\bteil(?:weise)? (?:\w+ ){0,2}(?:geld\w*|\w*preis\w*|betrag\w*|summe|erstatt\w*|zuruck\w*)|"
    r"\bteil(?:erstattung|betrag|ruckzahlung|ruckerstattung|gutschrift)\w*|\b(?:preis)?nachlass\w*|"
    r"\betwas (?:\w+ ){0,2}(?:geld|preis\w*) (?:\w+ )?zuruck\w*|"
    r"\bcast(?:i|ku|ka)? (?:\w+ )?(?:penez|castky|ceny|z ceny|sumy|platby)|"
    r"\bcastecn\w+ (?:vrac\w*|vrat\w*|refund\w*|nahrad\w*|kompenz\w*|odskodn\w*)|"
    r"\b(?:vrat\w*|vrac\w*) (?:mi |nam |prosim |aspon |jen |jenom )*(?:cast|castecn\w*)\b|"
    r"\b(?:neco|kousek) z (?:ceny|penez|castky)|\bslev\w+ z (?:ceny|objednavky)|"
    r"\bparte (?:del?|de la|de mi|de lo) (?:\w+ )?(?:dinero|importe|precio|pague|pagado)|"
    r"\b(?:reembolso|devolucion) parcial"
)
"""Words of somebody who wants some of his money back."""


def wants_some(folded: str) -> bool:
    """Whether a folded text asks for some of the money, whatever it says of how much."""
    return _SOME_OF.search(folded) is not None


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
    amounts = [*_notes(folded, language), *_numbers(folded, language)]
    amounts += [*numbers_with_cents(folded), *shares_in(folded)]
    kept: list[SpokenAmount] = []
    for amount in sorted(amounts, key=lambda amount: (amount.start, -amount.end)):
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
        share = _PARTS[int((match.lastgroup or "p0")[1:])][0]
        if _is_of_money(folded, *match.span(), share):
            yield SpokenAmount(*match.span(), share=share)
    if _WHOLE_ALONE.fullmatch(folded):
        yield SpokenAmount(0, len(folded), share=Fraction(1))


def _is_of_money(folded: str, start: int, end: int, share: Fraction) -> bool:
    """Whether a part is one of what was paid, and not of a thing or of a time."""
    before, after = folded[:start], folded[end:]
    if share == 1 and _IS_DONE.search(_sentence_around(folded, start, end)):
        return False
    of_what = _OF_WHAT.match(after)
    if of_what is not None and not _OF_MONEY.fullmatch(of_what.group(1)):
        return False
    return not _NO_SHARE_AFTER.match(after) and not _HALF_BEFORE.search(before)


def _sentence_around(folded: str, start: int, end: int) -> str:
    begin = max(folded.rfind(mark, 0, start) for mark in ".!?;\n") + 1
    stop = re.search(r"[.!?;\n]|$", folded[end:])
    return folded[begin : end + (stop.start() if stop is not None else 0)]


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
    """Amounts like `28 con 50`."""
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
    before: NumberPhrase | None = None
    for phrase in phrases:
        if before is not None and _are_cents(folded, before, phrase):
            yield SpokenAmount(before.start, phrase.end, before.value + phrase.value / _CENTS)
        if phrase.value > 1:
            yield SpokenAmount(phrase.start, phrase.end, phrase.value)
        before = phrase


def _are_cents(folded: str, before: NumberPhrase, phrase: NumberPhrase) -> bool:
    """Whether a number in words gives the cents of the one before it: "sesenta con quince"."""
    if _CENTS_FOLLOW.fullmatch(folded[before.end : phrase.start]) is None:
        return False
    return before.value == before.value.to_integral_value() and phrase.value < _CENTS
