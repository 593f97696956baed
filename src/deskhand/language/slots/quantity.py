"""Quantities: a number beside a unit or beside a noun the desk counts."""

from collections.abc import Iterator
from decimal import Decimal
from functools import cached_property, lru_cache
from typing import Any

import re2

from deskhand.config.sections.slots import SlotSpec
from deskhand.language.slots.folded_text import Scan, fold
from deskhand.language.slots.numbers import (
    DIGITS,
    decimal_mark,
    languages_of,
    number_words,
    read_number,
    starts_inside_number,
    written_out,
)
from deskhand.language.slots.slot_context import SlotContext
from deskhand.language.slots.slot_value import SlotMatch

UNITS: dict[str, str] = {
    "piece": (
        "pieces piece pcs pc items item units unit ks kus kusy kusu kusů kusech stück stueck stk"
        " piezas pieza unidades unidad uds pièces pièce unités unité articles sztuk sztuki sztuka"
        " sztukę szt"
    ),
    "pack": (
        "packs pack packages package packets packet balení balíků balíky balík balíček balíčky"
        " balíčků packung packungen pakete paket päckchen paquetes paquete paquets paquet opakowań"
        " opakowania opakowanie paczek paczki paczka paczkę"
    ),
    "box": (
        "boxes box krabic krabice krabici krabička krabičky kartons karton kartonů kartony kisten"
        " kiste cajas caja boîtes boîte cartons carton pudełek pudełka pudełko kartonów kartony"
    ),
    "pair": "pairs pair páry párů pár paar paare pares par paires paire par para pary",
    "kg": (
        "kg kgs kilo kilos kilogram kilograms kilogramm kilogramů kilogramy kilogramo kilogramos"
        " kilogramme kilogrammes kilogramów kila kil"
    ),
    "g": "g gr gram grams gramm gramů gramy gramo gramos gramme grammes gramów",
    "l": "l ltr litre litres liter liters litr litry litrů litro litros litrów",
    "ml": "ml mililitr mililitrů milliliter millilitres mililitros mililitrów",
    "m": "m meter meters metre metres metr metry metrů metro metros mètre mètres metrów",
    "cm": "cm centimetrů zentimeter centímetros centimètres centymetrów centimeters centimetres",
    "mm": "mm milimetrů millimeter milímetros millimètres milimetrów",
    "km": "km kilometrů kilometer kilómetros kilomètres kilometrów kilometers kilometres",
}
"""Unit to its spellings in all languages."""
_NOT_PLAIN = {"par"}
"""Spellings that are too common as other words."""


@lru_cache(maxsize=256)
def _compiled(pattern: str) -> Any:
    return re2.compile(pattern)


class QuantityExtractor:
    def __init__(self, spec: SlotSpec) -> None:
        self._mark = {"comma": ",", "point": ".", None: None}[spec.decimal]
        self._units = _spellings(spec)

    def find(self, scan: Scan, context: SlotContext) -> Iterator[SlotMatch]:
        if not self._units:
            return
        words = number_words(languages_of(context.language))
        counted = "|".join(sorted(words, key=len, reverse=True))
        pattern = _compiled(
            rf"\b({DIGITS}|(?:{counted})\b)(?: ?x)? ?-? ?([a-z]{{2,14}} )?({self._counted})"
        )
        for match in scan.candidates(pattern):
            written, between, noun = match.groups()
            goes_on = scan.folded[match.end() : match.end() + 1].isalnum()
            if goes_on or starts_inside_number(scan.folded, match.start()):
                continue
            if between and between.strip() in words:
                continue
            unit, confidence = self._unit(noun)
            confidence *= 0.85 if between else 1.0
            mark = self._mark or decimal_mark(context.language)
            numbers = (
                read_number(written, mark, strict=True)
                if written[0].isdecimal()
                else (Decimal(words[written]),)
            )
            for number in numbers:
                value = {"amount": written_out(number), "unit": unit}
                yield scan.match(
                    value, match.start(), match.end(), confidence if len(numbers) == 1 else 0.5
                )

    @cached_property
    def _counted(self) -> str:
        """All spellings, the long ones with any ending: `bottle` counts bottles too."""
        return "|".join(map(_with_ending, sorted(self._units, key=len, reverse=True)))

    def _unit(self, noun: str) -> tuple[str, float]:
        if noun in self._units:
            return self._units[noun], 0.95
        beginnings = [unit for unit in self._units if len(unit) >= 4 and noun.startswith(unit)]
        return self._units[max(beginnings, key=len)], 0.85


def _with_ending(spelling: str) -> str:
    ending = "[a-z]{0,3}" if len(spelling) >= 4 else ""
    ends_in_letter = spelling[-1].isascii() and spelling[-1].isalnum()
    boundary = r"\b" if ends_in_letter else ""
    return f"{re2.escape(spelling)}{ending}{boundary}"


def _spellings(spec: SlotSpec) -> dict[str, str]:
    """Folded spelling to unit."""
    chosen = {unit: (*others, unit) for unit, others in spec.units.items()} or dict.fromkeys(
        UNITS, ()
    )
    spellings: dict[str, str] = {}
    for unit, own in chosen.items():
        built_in = () if spec.units.get(unit) else tuple(UNITS.get(unit, "").split())
        for spelling in (*own, *built_in):
            folded = " ".join(fold(spelling).split())
            if folded and folded not in _NOT_PLAIN:
                spellings.setdefault(folded, unit)
    return spellings
