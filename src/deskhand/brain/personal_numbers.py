"""Numbers of people and their orders, dates of birth and postal addresses in texts.

Every pattern looks at a bounded stretch of text, so that no text makes the search slow.
"""

import re

from deskhand.brain.personal_names import CAPITALIZED_WORD as _WORD
from deskhand.brain.word_lists import any_of

_ORDER_WORDS = (
    "order|orders|invoice|receipt|booking|ticket|case|claim|reference|ref|policy|contract"
    "|customer|account|member|membership|passport|licence|license|id|number|no|nr|nummer|ending"
    "|last four|bestellung|bestellnummer|rechnung|rechnungsnummer|kundennummer|auftrag|vertrag"
    "|konto|ausweis|endet auf|objednávka|objednávky|objednávku|objednávce|objednávkou|č|číslo"
    "|faktura|faktury|smlouva|zákaznické|účet|účtu|končí|končící|pedido|factura|número|núm"
    "|vs|ss|variabilní symbol|kundennr|versicherungsnr|nif|cif|nhs|ičo|dič"
    "|cliente|contrato|cuenta|póliza|dni|nie|terminada en|zamówienie|numer|ordine|bestelling"
    "|commande|code|pin|kód|türcode|código|digicode|symbol|employee|staff|empleado|empleada"
    "|personalnummer|mitarbeiter|pracownika|osobní číslo|afiliación|matricule|matricola|socio"
    "|socia"
)
_MONTHS = (
    "january|february|march|april|may|june|july|august|september|october|november|december|jan"
    "|feb|mar|apr|jun|jul|aug|sep|sept|oct|nov|dec|januar|jänner|februar|märz|mai|juni|juli"
    "|oktober|dezember|ledna|února|března|dubna|května|června|července|srpna|září|října|listopadu"
    "|prosince|enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|octubre|noviembre"
    "|diciembre|janvier|février|mars|avril|juin|juillet|août|septembre|octobre|novembre|décembre"
    "|stycznia|lutego|marca|kwietnia|maja|czerwca|lipca|sierpnia|września|października|listopada"
    "|grudnia"
)
_BORN_YEAR = r"(?:19\d\d|200\d|201[0-4])"
_STREET_AFTER = (
    "street|st|road|rd|lane|ln|avenue|ave|drive|dr|close|court|ct|way|place|pl|square|sq|crescent"
    "|terrace|gardens|grove|hill|row|rise|mews|park|walk|view|green|boulevard|blvd|parade|wharf"
    "|cottages|cottage|approach|trail|circle|highway|hwy|quay|yard|estate|est"
)
_STREET_END = (
    "straße|strasse|str\\.?|gasse|weg|platz|allee|ring|ufer|damm|steig|stieg|chaussee|wall|graben"
    "|promenade|pfad|kamp|deich|straat|laan|kade|plein"
)
_STREET_BEFORE = (
    "calle|c/|avenida|avda\\.?|av\\.|plaza|pza\\.?|paseo|camino|carrer|ronda|via|viale|piazza|corso"
    "|rue|ulica|ul\\.|ulice|náměstí|nám\\.|třída|tř\\.|nábřeží|sídliště|am|an der|auf der|im"
    "|unter den|zum|alte|flat|apt\\.?|unit|house|box|p\\.? ?o\\.? box"
)
_MONTH = rf"(?:{any_of(_MONTHS)}|(?i:[ivx]{{1,4}}))"

_BORN = (
    "born|birth|birthday|dob|d\\.o\\.b\\.|geb|geboren|geburtsdatum|geburtstag|nar|narozen|narozena|narozeni"
    "|narození|nacido|nacida|nací|nació|nacimiento|née?|naissance|urodzony|urodzona|ur"
)
_DATES = (
    rf"(?<!\w){any_of(_BORN)}[.:]? ?(?:on |am |le |el |dne |dnia )?"
    r"(\d{1,2}[./-] ?\d{1,2}[./-] ?\d{2,4})(?!\w)",
    rf"(?<![\w.])\d{{1,2}}[./-] ?\d{{1,2}}[./-] ?{_BORN_YEAR}(?!\w)",
    rf"(?<![\w.]){_BORN_YEAR}[./-]\d{{1,2}}[./-]\d{{1,2}}(?!\w)",
    r"(?<![\w.,])\d{1,2}[./]\d{1,2}[./](?:1[5-9]|[3-9]\d|0\d)(?![\w.]\d)",
    r"(?<!\w)\d{1,2}(?:st|nd|rd|th|\.)? ?(?:of |de )?"
    rf"{_MONTH}\.?(?: de|,)? ?{_BORN_YEAR}(?!\w)",
    rf"(?<!\w){_MONTH}\.? \d{{1,2}}(?:st|nd|rd|th)?,? {_BORN_YEAR}(?!\w)",
)
"""Dates of birth, known by the year."""
_ADDRESSES = (
    rf"(?<!\w)\d{{1,5}}[a-zA-Z]?(?:/\d{{1,5}})?,? (?:{_WORD} ){{1,4}}"
    rf"{any_of(_STREET_AFTER)}(?!\w)\.?",
    rf"(?<!\w)(?:{_WORD} ){{0,3}}\w{{1,30}}(?i:{_STREET_END}) ?\d{{1,4}} ?[a-zA-Z]?(?!\w)",
    rf"(?<!\w)(?i:{_STREET_BEFORE}),? (?:[\w.'’-]{{1,30}} ){{0,4}}[\w.'’-]{{0,30}},? ?"
    r"(?:n[ºo°.]{1,2} ?)?\d{1,5}(?:[/-]?\w{1,4})?(?!\w)",
    rf"(?<!\w){_WORD}(?: \w{{1,30}}){{0,2}} \d{{1,5}}/\d{{1,4}}[a-zA-Z]?(?!\w)",
    r"(?<!\w)[A-Z]{1,2}\d[A-Z\d]? ?\d[A-Z]{2}(?!\w)",
    r"(?<!\w)[A-Z]\d\d ?[A-Z\d]{4}(?!\w)",
    rf"(?<!\w)(?:[A-Z]{{1,3}}-)?\d{{3}} ?\d{{2}},? {_WORD}",
    rf"(?<!\w)\d{{4}} ?[A-Z]{{2}},? {_WORD}",
    rf"(?<!\w)\d{{2}}-\d{{3}} {_WORD}",
    rf"(?<!\w){_WORD}(?: {_WORD}){{0,2}},? [A-Z]{{2}} \d{{5}}(?:-\d{{4}})?(?!\w)",
    rf"(?<!\w)(?:{_WORD} ){{1,4}}\d{{1,4}} ?[a-zA-Z]?"
    r"(?=[,\n] ?(?:[A-Z]{1,3}-)?\d{3} ?\d\d? )",
)
_NUMBERS = (
    r"(?<![\w#])#[ ]?\w{0,12}\d[\w-]{0,30}(?: \d{2,12}){0,6}",
    r"(?<![\w/.-])[A-Za-z]{1,6}[-/_.]?(?:\d[-/_.]?){3,24}[A-Za-z\d]{0,12}(?!\w)",
    r"(?<![\w/.-])[A-Za-z]{1,6}(?:[-/_][^\W_]{1,12}){0,4}[-/_]\d{2,24}[\w/-]{0,30}",
    r"(?<!\w)[A-Z]{1,4}(?: \d{2,12}){2,8}(?: [A-Z])?(?!\w)",
    r"(?<!\w)\d{5,40}[A-Za-z]{0,3}(?!\w)",
    r"(?<![\w.,])\d{2,12}(?:(?: ?[-/] ?| )\d{2,12}){2,8}(?!\w)",
    r"(?<!\w)[A-Z](?=[A-Z\d]{7,11}(?!\w))(?:[A-Z]{0,11}\d){3}[A-Z\d]{0,11}(?!\w)",
    r"(?<![\w.,])(?:\d{3,24}[-/]\d{3,24}|\d{6,24}[-/]\d{2,4})(?!\w)",
    r"(?<!\w)\d(?: \d){4,30}(?!\w)",
    r"(?<![\w.,])\d{1,2}(?:\.\d{3}){2}-?[A-Za-z](?!\w)",
    r"(?<![\w.,])\d{2,24}-\d{4,24}(?!\w)",
    r"(?<![\w.,])[2-9]\d{2} \d{4}(?![\w.,]\d)(?! ?(?:EUR|CZK|Kč|€|USD|GBP|mm|cm|kg|m)\b)(?!\w)",
    r"(?<!\w)[A-Z]{1,3}[- ][A-Z]{1,2} ?\d{1,4}[EH]?(?!\w)",
    r"(?<!\w)(?:\d[A-Z]{1,2} ?\d{4}|[A-Z]{2,3} ?\d{4,5}[A-Z]?|\d{4} ?[A-Z]{3})(?!\w)",
    r"(?<![\w@])[a-z][a-z._]{2,30}\d{2,12}(?![\w.@])",
    r"(?<!\w)[nN]\.?[º°] ?(\d[\w/-]{0,30}(?:\.\d{3}(?!\d)){0,3})",
    rf"(?<!\w){any_of(_ORDER_WORDS)}[.:#º°]{{0,3}} ?(?:is |ist |je |es |in )?"
    r"((?:\w{1,12}[-/]){0,4}\d[\w/-]{0,30}(?:\.\d{3}(?!\d)){0,3}(?: \d{1,12}){0,6})",
)
"""Numbers of orders, customers and papers."""

NUMBERS: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (kind, re.compile(pattern))
    for kind, patterns in (("DATE", _DATES), ("ADDRESS", _ADDRESSES), ("NUMBER", _NUMBERS))
    for pattern in patterns
)
"""Kinds with their patterns; a group is what is hidden, where there is one."""
