"""Postal addresses by their form: a street with its number, a postcode with its town, and what
stands around them.

    places = address_places("send it to 27 Cobbler's Walk, Ludlow, thanks")
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from deskhand.language.slots.folded_text import fold

Span = tuple[int, int]


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_TOKEN = re.compile(
    r"[Cc]/(?:o\b)?|\b(?:[Zz]\.\s?Hd|[Ss]tr|[Uu]l|[Aa]v(?:da)?|[Kk]pt|[Cc]tra|[Pp]l|[Ss]t|[Rr]d|[Nn]ám|[Tt]ř|[Dd]r|[Mm]rs?|"
    r"[Ss]t[ao]|izq|dcha|[Pp]za|[Aa]pt|s\.r\.o|z\.\s?s)\.|"
    r"[^\W\d_]+(?:['’-][^\W\d_]+)*(?:(?<=str)\.)?|"
    r"\d+(?:[/-]\d+)?[a-zA-Z]?(?![\w@])(?:[.º°ª](?=\s*[A-Za-z]))?|\d[\w/-]*|[,;:\n]|\S"
)
_HOUSE = re.compile(r"\d{1,4}[a-z]?(?:[/-]\d{1,4}[a-z]?)?")
_POSTCODE = re.compile(r"\d{4,5}|\d{3}")
_UK_POSTCODE = re.compile(r"[a-z]{1,2}\d[a-z\d]?|\d[a-z]{2}")
_STREETS = _set(
    "street st road rd lane ln close walk court ct avenue ave drive dr way place terrace"
    " crescent gardens hill square grove mews row park green yard quay view rise bank end"
    " parade wharf boulevard blvd"
)
_STREET_ENDS = ("str.", "str", "strase", "strasse", "weg", "gasse", "platz", "allee", "ufer")
_STREET_STARTS = _set(
    "calle c avenida avda av plaza pza paseo ronda camino carretera travesia pasaje rua ulice"
    " ul namesti nam trida tr nabrezi sidliste straße strasse am an im unter parzelle"
)
_INSIDE = _set(
    "de del la las los el y nad pod u na v ve za k am an der dem den im in of the von van zum"
    " zur da do e i und"
)
_FLOOR = _set(
    "patro stock og eg floor flat apt apartment unit piso planta izq dcha puerta bajo byt"
    " etage hinterhaus top c/o"
)
_NOT_STREETS = re.compile(
    r"(?:order|orders|bestell\w*|auftrag\w*|paket\w*|parcel|package|nummer|number|nr|no|numero|"
    r"pedido|objednavk\w*|zasilk\w*|cislo|rechnung\w*|invoice|faktur\w*|ticket|artikel\w*|"
    r"grose|size|talla|velikost\w*|euro?s?|seite|page|vat|iva|mwst|dph|version|model\w*|typ\w*|"
    r"januar\w*|februar\w*|marz|april|mai|juni|juli|august|september|oktober|november|dezember|"
    r"january|february|march|may|june|july|october|december|lieferung|sendung|envio|compra|"
    r"receipt|beleg|since|seit|only|nur|jen|just|about|ca|etwa|je|is|ist|es|it|i|the|die|der|das|"
    r"el|la|los|las|um|am|plz|psc|cp|postcode|hausnummer|number|noch|mal|hab\w*|want|chci|quiero|"
    r"za|fur|for|por|from|von|od|ab|bis|to|und|and|a|y|mit|with|s|con|at|ab|so|tak|also|not|nicht|ne|nikoli|kein|sino|instead)"
)
_UNIT_AFTER = re.compile(
    r"(?:%|€|\$|£|kc|czk|eur\w*|usd|gbp|korun\w*|dollars?|pounds?|quid|kg|g|cm|mm|m|l|ks|kus\w*|"
    r"stuck|pieces?|items?|uhr|hours?|stunden?|tage\w*|days?|weeks?|wochen|dni|dias|veces|"
    r"times|mal|x|jahre?\w*|years?|let|anos|prozent|percent|procent|zoll|inch\w*)"
)
_LEADS = _set("to at an nach na do a zu zur in into auf adresu adresse address direccion")
_ARTICLES = _set("die der den dem das the la el los las meine meinen my")
_MOST_BEFORE = 4
_DAYS = re.compile(
    r"(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day|(?:montag|dienstag|mittwoch|donnerstag|freitag|"
    r"samstag|sonntag)s?|pondeli|utery|streda|ctvrtek|patek|sobota|nedele|lunes|martes|miercoles|"
    r"jueves|viernes|sabado|domingo|jan\w*|feb\w*|mar[cz]\w*|apr\w*|may|mai|june?|juni|july?|juli|"
    r"aug\w*|sep\w*|o[ck]t\w*|nov\w*|de[cz]\w*)"
)


class _Token(NamedTuple):
    text: str
    start: int
    end: int

    @property
    def folded(self) -> str:
        return fold(self.text).rstrip(".")

    @property
    def is_name(self) -> bool:
        return self.text[0].isupper()

    @property
    def is_house(self) -> bool:
        return _HOUSE.fullmatch(fold(self.text)) is not None

    @property
    def is_number(self) -> bool:
        return self.text[0].isdecimal()

    @property
    def is_break(self) -> bool:
        return self.text in ",;:\n.!?()…" or not re.match(r"\w", self.text)


def address_places(text: str, taken: Sequence[Span] = (), *, is_asked: bool = False) -> list[Span]:
    """The places of all addresses that are plain by their form.

    `taken` are the places of other values. Where an address was asked for, a street with its number
    is enough.
    """
    tokens = [_Token(match.group(), *match.span()) for match in _TOKEN.finditer(text)]
    places: list[Span] = []
    place = 0
    while place < len(tokens):
        parts = _Parts(tokens, taken, is_asked=is_asked)
        reached = parts.read(place)
        if reached is None:
            place += 1
            continue
        first, last = reached
        places.append((tokens[first].start, tokens[last - 1].end))
        place = last
    return places


class _Parts:
    """Reads the parts of an address from a token on."""

    def __init__(self, tokens: Sequence[_Token], taken: Sequence[Span], *, is_asked: bool) -> None:
        self._tokens = tokens
        self._taken = taken
        self._is_asked = is_asked

    def read(self, place: int) -> tuple[int, int] | None:
        """The first token of an address that has its street here, and the one after its last."""
        end = self._street(place)
        if end is None:
            return None
        last = self._extended(end)
        if not self._is_certain(place, end, last):
            return None
        return self._begun(place), last

    def _street(self, place: int) -> int | None:
        """The token after a street and its number."""
        if self._is_taken(place):
            return None
        return self._name_and_number(place) or self._number_and_name(place)

    def _name_and_number(self, place: int) -> int | None:
        end = self._names(place)
        if end is None or end >= len(self._tokens):
            return None
        number = self._tokens[end]
        if not number.is_house or self._is_taken(end) or self._counts_things(end):
            return None
        name = self._tokens[end - 1]
        is_code = name.text.isupper() and len(name.text) <= 3
        if is_code or _NOT_STREETS.fullmatch(name.folded) or self._is_day(end):
            return None
        return end + 1

    def _is_day(self, number: int) -> bool:
        """Whether the number beside these names is that of a day."""
        beside = self._tokens[number - 1 : number + 2]
        return any(_DAYS.fullmatch(token.folded) for token in beside)

    def _number_and_name(self, place: int) -> int | None:
        number = self._tokens[place]
        if not number.is_house or self._counts_things(place):
            return None
        end = self._names(place + 1)
        if end is None or _DAYS.fullmatch(self._tokens[place + 1].folded):
            return None
        names = self._tokens[place + 1 : end]
        if any(name.folded in _STREETS for name in names):
            return end
        for token in self._tokens[end : self._extended(end)]:
            if _UK_POSTCODE.fullmatch(fold(token.text)):
                return end
        return None

    def _names(self, place: int) -> int | None:
        """The token after a row of names, with the small words between them."""
        if not self._begins_name(place):
            return None
        end = place
        while end < len(self._tokens) and not self._is_taken(end):
            token = self._tokens[end]
            is_inside = token.folded in _INSIDE and self._goes_on(end + 1)
            if not (is_inside or token.is_name or end == place or token.folded in _STREETS):
                break
            end += 1
        return end

    def _goes_on(self, place: int) -> bool:
        """Whether a name follows a small word, or another small word and a name."""
        if place < len(self._tokens) and self._tokens[place].folded in _INSIDE:
            place += 1
        return place < len(self._tokens) and self._tokens[place].is_name

    def _begins_name(self, place: int) -> bool:
        if place >= len(self._tokens):
            return False
        token = self._tokens[place]
        if _SAYS.fullmatch(token.folded):
            return False
        if _NOT_STREETS.fullmatch(token.folded) and token.folded not in _STREET_STARTS:
            return token.folded == "the" and token.is_name
        if not re.match(r"[^\W\d_]", token.text):
            return False
        return token.is_name or (token.folded in _STREET_STARTS - _INSIDE and len(token.text) > 1)

    def _extended(self, end: int) -> int:
        """The token after the last part: floor, postcode, town."""
        while True:
            begin = end
            if begin < len(self._tokens) and self._tokens[begin].text in (",", "\n"):
                begin += 1
            reached = self._part(begin, is_apart=begin > end)
            if reached is None:
                return end
            end = reached

    def _part(self, begin: int, *, is_apart: bool) -> int | None:
        if begin >= len(self._tokens) or self._is_taken(begin):
            return None
        end = self._postcode_and_town(begin)
        if end is not None:
            return end
        end = begin
        while end < len(self._tokens) and self._is_part(end):
            end += 1
        if is_apart and self._is_door(begin):
            return self._part_end(begin)
        if end == begin or self._is_number_alone(begin, end):
            return None
        belongs = self._is_over(end) if is_apart else self._follows_closely(begin)
        return end if belongs else None

    def _is_number_alone(self, begin: int, end: int) -> bool:
        return end == begin + 1 and self._tokens[begin].text.isdecimal()

    def _follows_closely(self, begin: int) -> bool:
        """Whether what follows without a comma belongs to it: after a number, no name does."""
        return self._tokens[begin].is_number or not self._tokens[begin - 1].is_number

    def _part_end(self, begin: int) -> int:
        end = begin
        while end < len(self._tokens) and not self._tokens[end].is_break:
            end += 1
        return end

    def _is_door(self, begin: int) -> bool:
        """Whether a part says which door: `hala C`, `depto 302`, `2. OG rechts`."""
        tokens = self._tokens[begin : self._part_end(begin)]
        if tokens and _NOT_STREETS.fullmatch(tokens[0].folded):
            return False
        if not 1 < len(tokens) <= 4 or any(self._is_taken(begin + n) for n in range(len(tokens))):
            return False
        if any(token.folded in _FLOOR for token in tokens):
            return True
        last = tokens[-1]
        is_letter = len(last.text) == 1 and last.is_name
        return len(tokens) == 2 and (is_letter or (last.is_house and not last.text.startswith("0")))

    def _is_part(self, place: int) -> bool:
        token = self._tokens[place]
        if token.is_break or self._is_taken(place) or self._counts_things(place):
            return False
        if token.is_name or token.folded in _FLOOR or token.is_number:
            return len(token.text) < 12 or token.is_name
        return token.folded in _INSIDE and self._begins_name(place + 1)

    def _postcode_and_town(self, begin: int) -> int | None:
        """`04315 Leipzig`, `388 01 Blatná`, `Totnes TQ9 4AB`."""
        token = self._tokens[begin]
        if token.folded in ("cp", "psc", "plz", "d", "a", "ch", "cz") and begin + 1 < len(
            self._tokens
        ):
            begin += 1
            token = self._tokens[begin]
            if token.text == "-" and begin + 1 < len(self._tokens):
                begin += 1
                token = self._tokens[begin]
        if not _POSTCODE.fullmatch(token.text) or self._is_taken(begin):
            return None
        after = begin + 1
        if len(token.text) == 3:
            if after >= len(self._tokens) or not re.fullmatch(r"\d{2}", self._tokens[after].text):
                return None
            after += 1
        end = self._names(after)
        if end is not None and end < len(self._tokens):
            is_district = re.fullmatch(r"\d{1,2}", self._tokens[end].text) is not None
            end += is_district and not self._counts_things(end)
        return end

    def _is_over(self, end: int) -> bool:
        """Whether a part ends where a sentence goes on with something else."""
        if end >= len(self._tokens):
            return True
        token = self._tokens[end]
        return token.is_break or token.folded in _GOES_ON

    def _is_certain(self, place: int, street: int, end: int) -> bool:
        if self._is_asked or end > street:
            return True
        names = [token.folded for token in self._tokens[place:street] if not token.is_number]
        if any(name in _STREETS or name.endswith(_STREET_ENDS) for name in names):
            return True
        before = self._tokens[place - 1].folded if place else ""
        return names[0] in _STREET_STARTS or before in _LEADS

    def _begun(self, place: int) -> int:
        """The token that an address begins with: names may stand before the street."""
        first = place
        while first >= 2 and self._tokens[first - 1].text in (",", "\n"):
            begin = first - 2
            while begin > 0 and self._is_part(begin - 1) and not self._is_lead(begin - 1):
                begin -= 1
            is_short = first - 1 - begin <= _MOST_BEFORE
            if not (is_short and self._leads_to(begin) and self._is_name_part(begin, first - 1)):
                break
            first = begin
        return first

    def _is_lead(self, place: int) -> bool:
        token = self._tokens[place]
        return token.folded in _LEADS and not token.is_name

    def _leads_to(self, begin: int) -> bool:
        """Whether what stands before these names leads to an address, or is over."""
        if begin and self._tokens[begin - 1].text in _ARTICLES:
            begin -= 1
        if begin == 0 or self._tokens[begin - 1].is_break:
            return True
        return self._tokens[begin - 1].folded in _LEADS | {
            "zum",
            "bei",
            "c/o",
            "u",
            "bitte",
            "read",
        }

    def _is_name_part(self, begin: int, end: int) -> bool:
        if not all(self._is_part(place) for place in range(begin, end)):
            return False
        token = self._tokens[begin]
        return (
            token.is_name
            and not _NOT_STREETS.fullmatch(token.folded)
            and not _SAYS.fullmatch(token.folded)
        )

    def _counts_things(self, place: int) -> bool:
        """Whether a number counts something, or is money."""
        if not self._tokens[place].is_number or place + 1 >= len(self._tokens):
            return False
        return _UNIT_AFTER.fullmatch(fold(self._tokens[place + 1].text)) is not None

    def _is_taken(self, place: int) -> bool:
        if place >= len(self._tokens):
            return False
        token = self._tokens[place]
        return any(start < token.end and token.start < end for start, end in self._taken)


_GOES_ON = _set(
    "and und y a e but aber ale pero please bitte prosim instead statt from ab od desde until"
    " bis do hasta at since before seit vor antes para heute jetzt dnes hoy now that tam da"
    " dort alli there thanks danke diky gracias if wenn kdyz si because weil on am in with mit"
    " s con can kann jinak sonst is je ist es umbuchst liefern senden schicken geliefert"
    " dorucit poslat que"
)
_SAYS = re.compile(
    r"(?:yes|no|ok|okay|ja|nein|ano|ne|si|hi|hello|hallo|ahoj|hola|sorry|thanks|danke|diky|gracias|"
    r"well|so|oh|ah|please|bitte|prosim|moment|wait|right|cheers|dobry|guten|buenas|mire|stop|sie|ihr|du|wir|it's|its|that's|"
    r"neue|new|nueva|has|would|is|are|can|privat|nearly|casi|then|dann|pak|nein|schreiben)"
)
