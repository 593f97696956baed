"""Numbers as people write them: digits with separators that depend on the language, and words up
to a hundred."""

from collections.abc import Mapping
from decimal import Decimal
from functools import cache
from types import MappingProxyType

from deskhand.language.slots.folded_text import fold

DIGITS = r"[0-9]{1,3}(?:[ '.,][0-9]{3}){1,4}(?:[.,][0-9]{1,2})?|[0-9]{1,15}(?:[.,][0-9]{1,4})?"
"""An RE2 pattern over folded text."""
KNOWN_LANGUAGES = ("en", "cs", "de", "es", "fr", "pl")

_POINT = {"en", "zh", "ja", "ko", "th", "he", "de-ch", "es-mx", "es-us", "es-pr", "it-ch"}
_COMMA = {
    "cs",
    "sk",
    "de",
    "es",
    "fr",
    "pl",
    "it",
    "pt",
    "nl",
    "sv",
    "da",
    "nb",
    "nn",
    "no",
    "fi",
    "hu",
    "ro",
    "bg",
    "hr",
    "sl",
    "sr",
    "uk",
    "ru",
    "el",
    "tr",
    "lt",
    "lv",
    "et",
    "ca",
}

_WORDS = {
    "en": "one two three four five six seven eight nine ten eleven twelve",
    "cs": (
        "jeden/jedna/jedno/jednu/jednoho/jedne/jednim/jednou dva/dve/dvou/dvema tri/tri/tremi"
        " ctyri/ctyr/ctyrmi pet/peti sest/sesti sedm/sedmi osm/osmi devet/deviti deset/deseti"
        " jedenact/jedenacti dvanact/dvanacti"
    ),
    "de": (
        "ein/eins/eine/einen/einem/einer/eines zwei drei vier fünf/fuenf sechs sieben acht neun"
        " zehn elf zwölf/zwoelf"
    ),
    "es": "un/uno/una dos tres cuatro cinco seis siete ocho nueve diez once doce",
    "fr": "un/une deux trois quatre cinq six sept huit neuf dix onze douze",
    "pl": (
        "jeden/jedna/jedno/jedną/jednego/jednym dwa/dwie/dwóch/dwoma/dwu trzy/trzech/trzema"
        " cztery/czterech/czterema pięć/pięciu sześć/sześciu siedem/siedmiu osiem/ośmiu"
        " dziewięć/dziewięciu dziesięć/dziesięciu jedenaście/jedenastu dwanaście/dwunastu"
    ),
}
_LARGER: dict[str, dict[str, int]] = {
    "en": {
        "twenty": 20,
        "thirty": 30,
        "forty": 40,
        "fifty": 50,
        "sixty": 60,
        "hundred": 100,
        "fifteen": 15,
    },
    "cs": {
        "patnáct": 15,
        "dvacet": 20,
        "třicet": 30,
        "čtyřicet": 40,
        "padesát": 50,
        "šedesát": 60,
        "sto": 100,
    },
    "de": {
        "fünfzehn": 15,
        "zwanzig": 20,
        "dreißig": 30,
        "vierzig": 40,
        "fünfzig": 50,
        "sechzig": 60,
        "hundert": 100,
    },
    "es": {
        "quince": 15,
        "veinte": 20,
        "treinta": 30,
        "cuarenta": 40,
        "cincuenta": 50,
        "sesenta": 60,
        "cien": 100,
    },
    "fr": {
        "quinze": 15,
        "vingt": 20,
        "trente": 30,
        "quarante": 40,
        "cinquante": 50,
        "soixante": 60,
        "cent": 100,
    },
    "pl": {
        "piętnaście": 15,
        "dwadzieścia": 20,
        "trzydzieści": 30,
        "czterdzieści": 40,
        "pięćdziesiąt": 50,
        "sto": 100,
        "dwieście": 200,
        "pięćset": 500,
    },
}
_NOT_ALONE = {"once", "pet", "six", "sept", "cent", "un", "elf", "acht", "sest"}
"""Words that mean something else in another of these languages: read only where the language is
known."""
HUNDREDS = "hundred|hundert|set|sta|ste"
"""What turns the number word before it into hundreds."""


def languages_of(language: str | None) -> tuple[str, ...]:
    """The languages whose words count: the text's and English, or all if we do not know it."""
    primary = (language or "").lower().split("-")[0].split("_")[0]
    if primary not in KNOWN_LANGUAGES:
        return KNOWN_LANGUAGES
    return tuple(dict.fromkeys((primary, "en")))


@cache
def number_words(languages: tuple[str, ...]) -> Mapping[str, int]:
    """Folded word to number."""
    words: dict[str, int] = {}
    for language in reversed(languages):
        for number, spellings in enumerate(_WORDS[language].split(), start=1):
            words |= {fold(spelling): number for spelling in spellings.split("/")}
        words |= {fold(word): number for word, number in _LARGER[language].items()}
    if len(languages) > 2:
        words = {word: number for word, number in words.items() if word not in _NOT_ALONE}
    return MappingProxyType(words)


def decimal_mark(language: str | None) -> str | None:
    """`,` or `.`, as the language writes decimals; None when that is not known."""
    tag = (language or "").lower().replace("_", "-")
    for name in (tag, tag.split("-")[0]):
        if name in _POINT:
            return "."
        if name in _COMMA:
            return ","
    return None


def read_number(written: str, mark: str | None, *, strict: bool = False) -> tuple[Decimal, ...]:
    """What the digits may mean: one number, or two where a separator can be read both ways.

    Three digits after what the language uses for decimals are doubtful all the same, since people
    copy prices from everywhere; `strict` trusts the language.
    """
    bare = written.replace(" ", "").replace("'", "")
    kinds = {character for character in bare if character in ".,"}
    if not kinds:
        return (Decimal(bare),)
    if len(kinds) == 2:
        last = max(bare.rfind("."), bare.rfind(","))
        return (Decimal(_only_digits(bare[:last]) + "." + bare[last + 1 :]),)
    [separator] = kinds
    whole, *rest = bare.split(separator)
    if len(rest) > 1:
        return (Decimal(whole + "".join(rest)),)
    as_decimal, as_whole = Decimal(f"{whole}.{rest[0]}"), Decimal(whole + rest[0])
    if len(rest[0]) != 3 or whole == "0" or len(whole) > 3 or bare != written:
        return (as_decimal,)
    if mark is not None and separator != mark:
        return (as_whole,)
    return (as_decimal,) if mark is not None and strict else (as_whole, as_decimal)


def _only_digits(text: str) -> str:
    return text.replace(".", "").replace(",", "")


def starts_inside_number(text: str, start: int) -> bool:
    """Whether what stands before a place belongs to the same row of digits."""
    before = text[max(0, start - 2) : start]
    return before[-1:].isdecimal() or (
        before[-1:] in (".", ",", "'", "/") and before[:1].isdecimal()
    )


def written_out(number: Decimal, places: int = 0) -> str:
    """Plain digits: a whole number without decimals, else without needless zeros but with at
    least these places."""
    whole = number.to_integral_value()
    if number == whole:
        return f"{whole:f}"
    digits = f"{number.normalize():f}"
    return digits + "0" * (places - len(digits.split(".")[1]))
