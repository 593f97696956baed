"""Amounts of money: a number beside a currency."""

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from functools import cache
from typing import Any, get_args

import re2

from deskhand.config.sections.slots import Currency, SlotSpec
from deskhand.language.slots.folded_text import Scan
from deskhand.language.slots.number_phrases import number_phrases
from deskhand.language.slots.numbers import (
    DIGITS,
    HUNDREDS,
    KNOWN_LANGUAGES,
    decimal_mark,
    languages_of,
    number_words,
    read_number,
    starts_inside_number,
    written_out,
)
from deskhand.language.slots.slot_context import SlotContext
from deskhand.language.slots.slot_value import SlotMatch

_DOLLARS = ("USD", "CAD", "AUD", "NZD", "MXN")
_KRONER = ("SEK", "NOK", "DKK")
_CROWNS = ("CZK", *_KRONER)
_CODES: tuple[str, ...] = get_args(Currency)

_SIGNS: dict[str, tuple[str, ...]] = {
    "us$": ("USD",),
    "ca$": ("CAD",),
    "c$": ("CAD",),
    "au$": ("AUD",),
    "a$": ("AUD",),
    "nz$": ("NZD",),
    "mx$": ("MXN",),
    "$": _DOLLARS,
    "€": ("EUR",),
    "£": ("GBP",),
    "¥": ("JPY", "CNY"),
    "₹": ("INR",),
    "₴": ("UAH",),
    "₺": ("TRY",),
    **{code.lower(): (code,) for code in _CODES},
}
"""What may stand before an amount, folded; the first of several is meant unless the desk says
which."""
_WORDS: dict[str, tuple[str, ...]] = {
    "euros?|eura|eurech|eury": ("EUR",),
    (
        "kc|kcs|korun|koruny|koruna|korunu|korunami|korunach"
        "|(?:czech |tschechische )(?:crowns?|kronen)"
    ): ("CZK",),
    "crowns?|kronen|coronas|couronnes": _CROWNS,
    "kr|kronor|kroner": _KRONER,
    "zl|zlotych|zlote|zloty|zlotego|zlotowk[a-z]{0,3}|zlotys": ("PLN",),
    "dollars?|dolar[a-z]{0,3}|dolares": _DOLLARS,
    (
        "pounds?(?: sterling)?|pfund|libr[auy]?|liber|libras?(?: esterlinas)?|livres sterling"
        "|funt(?:y|ow|a)?|quid"
    ): ("GBP",),
    "francs?|franken|sfr|fr\\.|frank[uy]?|frankow|francos": ("CHF",),
    "ft|forint[a-z]{0,3}": ("HUF",),
    "yen": ("JPY",),
    "lei": ("RON",),
}
_DOUBTFUL = {
    "crowns",
    "crown",
    "kronen",
    "pounds",
    "pound",
    "pfund",
    "libras",
    "funty",
    "funt",
    "quid",
}
_THOUSAND = "k|tis\\.?|tisice?|tisicu|tys\\.?|tysiac[ae]?|tysiecy|tsd\\.?|tausend|thousand|mille"
_MILLION = "mio\\.?|mil\\.|millions?|milion[a-z]{0,2}|millionen|millon(?:es)?"
_CENTS_AFTER = re2.compile(r"^ (?:con |und |and |a )?([0-9]{2})(?:[ !?;)]|[.,](?:[^0-9]|$)|$)")
_THINGS_AFTER = re2.compile(
    r"^ (?:con |und |and |a )?[0-9]{2} ?"
    r"(?:x|%|ks|kus\w*|stuck|pieces?|prozent|procent|percent|cm|kg|mal|times)\b"
)
_LONGEST_PHRASE = 60
"""Letters of a number in words."""
_RANGE = re2.compile(rf"(?:^|[^0-9.,'])({DIGITS}) ?(?:-|az|to|bis|do) ?$")


def _signs() -> str:
    return "|".join(map(_sign_pattern, sorted(_SIGNS, key=len, reverse=True)))


def _sign_pattern(sign: str) -> str:
    boundary = r"\b" if sign[0].isalpha() else ""
    return f"{boundary}{re2.escape(sign)}"


def _afterwards() -> str:
    words = "|".join([*_WORDS, *map(str.lower, _CODES), "us"])
    return rf"(?:{words})\b|[€$£¥₹₴₺]|fr\."


@cache
def _money(languages: tuple[str, ...]) -> Any:
    words = "|".join(sorted(number_words(languages), key=len, reverse=True))
    dash = r"(?:[,.] ?-{1,2})?"
    scale = rf"(?: ?({_THOUSAND}|{_MILLION})\b\.?)?"
    before = rf"({_signs()}) ?({DIGITS}){dash}{scale}(?: ?({_afterwards()}))?"
    after = (
        rf"\b({DIGITS}|(?:{words})(?: (?:{HUNDREDS}))?){dash}{scale}"
        rf" ?({_afterwards()})((?:[0-9]{{2}}\b)?)"
    )
    return re2.compile(f"{before}|{after}")


@cache
def _after_words() -> Any:
    return re2.compile(rf"[a-z]([ -]({_afterwards()}))")


class MoneyExtractor:
    def __init__(self, spec: SlotSpec) -> None:
        self._meant = spec.currency
        self._only = frozenset(spec.currencies)
        self._mark = {"comma": ",", "point": ".", None: None}[spec.decimal]

    def find(self, scan: Scan, context: SlotContext) -> Iterator[SlotMatch]:
        languages = languages_of(context.language)
        words = number_words(languages)
        spoken: list[tuple[int, int]] = []
        for span, amount, currency in _in_words(scan, languages):
            spoken.append(span)
            yield from self._matches(scan, span, [amount], currency, context)
        for match in _beside(scan.candidates(_money(languages)), spoken):
            sign, *before, number, scale, currency, cents = match.groups()
            start, end = match.span()
            if sign is not None:
                number, scale, also = before
                currency = also if also is not None and len(_codes(also)) == 1 else sign
            elif starts_inside_number(scan.folded, start):
                continue
            elif cents and number.isdecimal():  # 12€50
                number = f"{number}.{cents}"
            elif number.isdecimal() and not scale:
                after = _cents_after(scan.folded[end : end + 20])
                number += "".join(f".{digits}" for _, digits in after)
                end += sum(length for length, _ in after)
            numbers = [number]
            earlier = None if sign else _RANGE.search(scan.folded[max(0, start - 20) : start])
            if earlier is not None:
                numbers.append(earlier.group(1))
            amounts = [
                amount * _scale(scale)
                for written in numbers
                for amount in self._amounts(written, words, context)
            ]
            yield from self._matches(scan, (start, end), amounts, currency, context)

    def _matches(
        self,
        scan: Scan,
        span: tuple[int, int],
        amounts: list[Decimal],
        currency: str,
        context: SlotContext,
    ) -> Iterator[SlotMatch]:
        codes = self._currencies(currency, context)
        confidence = 0.7 if currency in _DOUBTFUL else 0.97
        if len(amounts) * len(codes) > 1:
            confidence = 0.5
        for amount in amounts:
            for code in codes:
                yield scan.match(
                    {"amount": written_out(amount, 2), "currency": code}, *span, confidence
                )

    def _amounts(
        self, written: str, words: Mapping[str, int], context: SlotContext
    ) -> list[Decimal]:
        if written[0].isdecimal():
            mark = self._mark or decimal_mark(context.language)
            return list(read_number(written, mark, strict=self._mark is not None))
        word, _, hundreds = written.partition(" ")
        return [Decimal(words[word] * (100 if hundreds else 1))]

    def _currencies(self, written: str, context: SlotContext) -> list[str]:
        """What a sign or word may mean; a dollar is the American one unless the desk says
        otherwise."""
        codes = _codes(written)
        if len(codes) > 1:
            if self._meant is not None and self._meant in codes:
                codes = (self._meant,)
            elif codes in (_KRONER, _CROWNS):
                home = {"sv": "SEK", "da": "DKK", "nb": "NOK", "no": "NOK", "cs": "CZK"}.get(
                    (context.language or "")[:2]
                )
                codes = (home,) if home is not None and home in codes else codes
            else:
                codes = codes[:1]
        return [code for code in codes if not self._only or code in self._only]


def _beside(matches: Iterator[Any], taken: Sequence[tuple[int, int]]) -> Iterator[Any]:
    """The matches at places that are not taken."""
    for match in matches:
        if not any(match.start() < last and first < match.end() for first, last in taken):
            yield match


def _in_words(
    scan: Scan, languages: tuple[str, ...]
) -> Iterator[tuple[tuple[int, int], Decimal, str]]:
    """Amounts of which the number is in words, `treinta y cinco euros`: place, number, currency."""
    for match in scan.candidates(_after_words()):
        written = match.start(1)
        begin = max(0, written - _LONGEST_PHRASE)
        before = scan.folded[begin:written]
        phrases = list(number_phrases(before, languages))
        if not phrases:  # a short text may have been taken for another language
            phrases = list(number_phrases(before, KNOWN_LANGUAGES))
        if phrases and begin + phrases[-1].end == written:
            yield (begin + phrases[-1].start, match.end()), phrases[-1].value, match.group(2)


def _cents_after(folded: str) -> list[tuple[int, str]]:
    """How far the cents reach that stand after the currency, and their digits: `7 Euro 50`."""
    cents = _CENTS_AFTER.search(folded)
    if cents is None or _THINGS_AFTER.search(folded):
        return []
    return [(cents.end(1), cents.group(1))]


def _scale(written: str | None) -> int:
    if written is None:
        return 1
    return 1_000_000 if re2.fullmatch(_MILLION, written) else 1000


@cache
def _codes(written: str) -> tuple[str, ...]:
    if written in _SIGNS:
        return _SIGNS[written]
    return next((codes for words, codes in _WORDS.items() if re2.fullmatch(words, written)), ())
