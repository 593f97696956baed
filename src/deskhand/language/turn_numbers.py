"""Orders and amounts that stand without the letters or the currency that belong to them."""

import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from deskhand.config.sections.slots import SlotSpec
from deskhand.language.address_parts import address_places
from deskhand.language.identify import identify
from deskhand.language.slots.numbers import written_out
from deskhand.language.turn_amounts import SpokenAmount, numbers_with_cents, spoken_amounts
from deskhand.language.turn_cues import Cues, turn_cues
from deskhand.language.turn_kinds import OpenQuestion

Span = tuple[int, int]

DENIED = re.compile(
    r"(?:\bnot|n't|\bnicht|\bne|\bnikoli|\bneni|\bno|\bkeine?|\binstead of|\bmisto|\bnamisto|"
    r"\bstatt|"
    r"\banstatt|\ben vez de|\ben lugar de|\bno es|\brather than|\bwrong one was)"
    r"(?: (?:the|die|der|das|den|ta|tu|ten|to|el|la|o|order|objednavk\w*|bestellung|pedido|is|"
    r"it's|es|"
    r"number|amount))*[ :]*$"
)
_BARE_NUMBER = re.compile(
    r"(?<![\w.,/-])(?<!minus )(\d{1,3}(?:[ .']\d{3})+(?:,\d{1,2})?|\d{1,8}(?:[.,]\d{1,2})?)"
    r"(?![\w%]|[.,/]\d|-\d|\s*"
    r"(?:percent|procent|prozent|por ciento|items?|pieces?|days?|weeks?|months?|years?|times|"
    r"kusu?|ks|dny|dni|tydn\w+|mesic\w*|roky|let|stuck|tagen?|wochen?|monaten?|jahren?|mal|"
    r"dias|semanas|meses|anos|veces|cm|mm|kg|kilos?|zoll|uhr|x)\b|\s*%)"
)
_LEADS_TO_AMOUNT = re.compile(
    r"(?:\bmake (?:that|it)|\bwant|\bonly|\bjust|\brather|\bamount|\brefund(?: me)?|\bback|"
    r"\bit's|\bis|"
    r"\bbut|\bmeant|\bshould be|\bcastk\w+|\bchci|\bvratte(?: mi)?|\bjen|\bale|\bje to|"
    r"\bma byt|\bbetrag|"
    r"\bsondern|\bnur|\bmeinte|\bes (?:sind|waren)|\bwere|\bbylo to|\beran|"
    r"\bmochte|\bimporte|\bsino|\bson|\bquiero|\bsolo|\bde|"
    r"\bmejor|\baspon|\bat least|\bmindestens|\bal menos|\bvsech|\blike)"
    r"(?: (?:a|the|some|say|about|etwa|die|den|ungefahr|zpet|zpatky|mi|los|unos?|'?n))*"
    r"[ ,:]*$"
)
"""What stands before an amount without its currency, where none was asked for."""
_ENDS_CLAUSE = re.compile(
    r"\s*(?:$|[,;.!\n]|(?:on|of|for|from|za|z|ze|von|fur|bei|and|und|a|y|"
    r"because|weil|protoze|jelikoz|porque|per|por)\b|back\b|zuruck|zpet|zpatky|please|bitte|prosim|not\b|nicht\b|ne\b|no\b|-)"
)
_WANTS_MONEY = re.compile(
    r"\b(?:back|refund\w*|money|reimburs\w*|price|want|settle|zuruck\w*|erstatt\w*|geld|will|mochte|"
    r"hatte|preis\w*|nachlass|rabatt|vrat\w*|vrac\w*|zpet|zpatky|peniz\w*|penez|chci|chceme|"
    r"chtel\w*|cen[auy]|castk\w*|slev\w*|devol\w*|devuelv\w*|reembols\w*|quiero|queremos|dinero|"
    r"importe|precio|descuento|discount|abon\w*)\b"
)
"""Words of a clause that speaks of money to be paid back."""
_TOO_LITTLE = re.compile(
    r"\s*(?:is|are|isn't|je|jsou|ist|sind|es|son)? ?"
    r"(?:too little|too low|not enough|not|malo|nestaci|"
    r"zu wenig|reicht nicht|poco|no basta)\b"
)
"""What is said of a share that is not what the customer wants."""
_PHONE = re.compile(
    r"\b(?:phone|telephone|mobile|cell|call me|tel|telefon\w*|mobil\w*|handy\w*|movil)\b"
    r"[^.!?]{0,30}$|"
    r"\b(?:plz|psc|postcode|post code|zip(?: code)?|postleitzahl|codigo postal|cp|hausnummer|"
    r"house number|born in|geboren|rocnik|nacid[oa] en)\b[^.!?,]{0,12}$"
)
"""What stands before the number of a telephone, a town or a house."""
_NO_BEFORE = re.compile(
    r"(?:^|[^\w])(?:no|nope|nah|nein|nee?|ach ne|ale ne)[\s,.!:]+"
    r"(?:(?:un|una|el|la|a|the|ein|eine|die|das|"
    r"den|lieber|better|radsi|mejor|make it|say|let's say|lets say|rekneme|treba|spis|sagen wir|"
    r"digamos|just|only|jen|nur|solo)\s)*$"
)
"""A no that takes back what was said before it."""
_ORDINAL = re.compile(r"\.\s+[^\W\d_]")
_BEFORE_ORDINAL = re.compile(
    r"\b(?:die|der|das|dem|den|des|am|im|vom|zum|beim|ta|tu|ten|to|te|v|ve|na) $"
)
_SHARE_BEFORE = re.compile(
    r"(?:%|percent|per cent|procent\w*|prozent|por ?ciento) (?:of|von|z|ze|de|del) (?:the )?$"
)
_OTHER_THING_BEFORE = re.compile(
    r"\b(?:size|talla|grosse|gr\.|velikost\w*|vel\.|room|page|model|modell|type|typ|version|seat|"
    r"seite|stran[au]|zimmer|pokoj|pagina|modelo|tipo|habitacion|age|aged|alter|"
    r"ends? (?:in|with)|ending in|endet (?:auf|mit)|konci(?: na)?|(?:acaba|termina) en)[ :]*$"
)
"""What stands before a number that counts no money: `size 42`."""
_DAY_BEFORE = re.compile(r"\b(?:am|vom|bis(?: zum)?|ab(?: dem)?|seit(?: dem)?|dne|el dia) $")
_DAY_AND_MONTH = re.compile(r"(?:[012]?\d|3[01])\.(?:0?\d|1[012])")
_MONTH_AFTER = re.compile(
    r"\.?(?: de| of)? (?:january|february|march|april|may|june|july|august|september|october|"
    r"november|december|januar|februar|marz|mai|juni|juli|oktober|dezember|ledna|unora|brezna|dubna|"
    r"kvetna|cervna|cervence|srpna|zari|rijna|listopadu|prosince|enero|febrero|marzo|abril|mayo|"
    r"junio|julio|agosto|septiembre|octubre|noviembre|diciembre)\b"
)
_HAS_CENTS = re.compile(r"[.,]\d{2}$")
_GROUPED = re.compile(r"(?<![\w.,/-])\d{1,4}(?: \d{2,4}){1,3}(?![\w%]|[.,/-]\d)")
"""An order's number in groups: `5 002 117`."""
_WITH_LETTERS = re.compile(r"(?<![\w.,/@-])([A-Za-z]{1,3})(\d{4,12})(?![\w@]|[.,/-]\d)")
"""An order's number whose letters stand close: `kn6001`."""
_IN_ADDRESS = re.compile(r"\s+[A-ZÁČĎÉĚÍŇÓŘŠŤÚŮÝŽÄÖÜÑ][a-zá-ž]{2,}")


class BareNumbers:
    """Numbers that stand without the letters or the currency that belong to them."""

    def __init__(
        self,
        text: str,
        folded: str,
        spans: list[Span],
        question: OpenQuestion,
        marks: Mapping[str, Span],
    ) -> None:
        self._text = text
        self._folded = folded
        self._spans = spans
        self._cues = turn_cues()
        self._question = question
        self._known = question.known
        self._marks = marks
        self._addresses = address_places(text, spans, is_asked="address" in question.asked)
        self.chosen: list[str] = []
        self.retracted: list[str] = []

    def add(self, spec: SlotSpec, values: dict[str, Any]) -> None:
        """The value of an order or of an amount that stands without the rest."""
        is_asked = spec.name in self._question.asked
        if spec.type == "order_number":
            self._order(spec, values, is_asked=is_asked)
        elif spec.type == "money" and (is_asked or values or re.search(r"[a-z]{3}", self._folded)):
            self._amount(spec, values, is_asked=is_asked)

    # --- orders

    def _order(self, spec: SlotSpec, values: dict[str, Any], *, is_asked: bool) -> None:
        """A number of the right length without its prefix, where there is only one prefix; of a
        shop without prefixes only where it was asked for or marked."""
        if len(spec.prefix) > 1 or spec.pattern or spec.min_digits < _FEWEST_DIGITS:
            return
        fits = [match for match in self._bare() if _may_be_order(match.group(), spec)]
        elsewhere = [match for match in fits if not _IN_ADDRESS.match(self._text[match.end() :])]
        if elsewhere or not is_asked:
            fits = elsewhere
        marked = self._marked(fits, mark_of(spec))
        if not spec.prefix and not is_asked:
            fits = [match for match in fits if len(match.group()) >= _PLAIN_DIGITS] or marked
        meant = self._meant(spec, fits, marked)
        if meant is not None:
            values[spec.name] = f"{spec.prefix[0].upper()}-{meant}" if spec.prefix else meant
            self._spans += [match.span() for match in fits]
        elif is_asked and not fits and not spec.prefix:
            self._order_in_another_form(spec, values)

    def _order_in_another_form(self, spec: SlotSpec, values: dict[str, Any]) -> None:
        """A number in groups, or with its letters close to it."""
        forms: dict[str, Span] = {}
        for match in self._free(_GROUPED):
            digits = match.group().replace(" ", "")
            if _PLAIN_DIGITS <= len(digits) <= spec.max_digits and not self._is_phone(match):
                forms[digits] = match.span()
        for match in self._free(_WITH_LETTERS):
            if spec.min_digits <= len(match.group(2)) <= spec.max_digits:
                forms[f"{match.group(1).upper()}-{match.group(2)}"] = match.span()
        if len(forms) == 1:
            ((values[spec.name], place),) = forms.items()
            self._spans.append(place)

    # --- amounts

    def _amount(self, spec: SlotSpec, values: dict[str, Any], *, is_asked: bool) -> None:
        """A number where an amount was asked for, or where its clause can mean nothing else; else
        an amount in words."""
        currency = spec.currency or next(iter(spec.currencies), None)
        if currency is None:
            return
        in_words = [(place.start, place.end) for place in numbers_with_cents(self._folded)]
        bare = [match for match in self._bare() if self._may_be_amount(match, in_words)]
        marked = self._marked(bare, mark_of(spec))
        if not is_asked:
            marked = [match for match in marked if self._wants_money(*match.span())]
        is_known = spec.name in self._known
        fits = [match for match in bare if is_asked or self._is_amount(match, is_known=is_known)]
        meant = self._meant(spec, fits, marked)
        if meant is not None:
            amount = written_out(_number(meant), 2)
            values[spec.name] = {"amount": amount, "currency": currency}
            self._spans += [match.span() for match in marked or fits]
        elif not fits:
            self._spoken(spec, currency, values, is_asked=is_asked)

    def put_in_place(self, name: str, after: int, values: dict[str, Any]) -> None:
        """A number without its currency that takes back the amount before it: "20 euros, or no,
        say 15"."""
        later = [
            match
            for match in self._bare()
            if match.start() >= after and _ENDS_CLAUSE.match(self._folded[match.end() :])
        ]
        if not later:
            return
        last = later[-1]
        if takes_back(self._folded, after, last.start(), last.end(), self._cues):
            values[name] = {**values[name], "amount": written_out(_number(last.group()), 2)}
            self.retracted.append(name)
            self.chosen.append(name)
            self._spans.append((after, last.end()))

    def _may_be_amount(self, match: "re.Match[str]", in_words: list[Span]) -> bool:
        """Whether a number is not nothing, an ordinal, a day, a size or part of an amount in
        words."""
        if any(overlap(match.span(), place) for place in in_words):
            return False
        before, after = self._folded[: match.start()], self._folded[match.end() :]
        written = match.group()
        if _number(written) == 0 or (written.isdecimal() and written.startswith("0")):
            return False
        is_ordinal = len(written) <= _MOST_ORDINAL and _ORDINAL.match(after) is not None
        if is_ordinal and _BEFORE_ORDINAL.search(before):
            return False
        if _DAY_BEFORE.search(before) and _DAY_AND_MONTH.fullmatch(written):
            return False
        if _MONTH_AFTER.match(after):
            return False
        return not _SHARE_BEFORE.search(before) and not _OTHER_THING_BEFORE.search(before)

    def _spoken(
        self, spec: SlotSpec, currency: str, values: dict[str, Any], *, is_asked: bool
    ) -> None:
        """An amount in words, or a share: the customer is asked whether it was understood."""
        language = identify(self._text).code
        known = self._known.get(spec.name)
        found = [
            amount
            for amount in spoken_amounts(self._folded, language)
            if self._is_meant(amount, is_asked=is_asked, is_known=known is not None)
        ]
        typed = [(amount, _typed(amount, currency)) for amount in found]
        new = [(amount, value) for amount, value in typed if value != known] or typed
        meant = self._last_said(new)
        if meant is not None:
            values[spec.name] = meant
            self.chosen.append(spec.name)
            self._spans += [(amount.start, amount.end) for amount in found]

    def _last_said(self, typed: list[tuple[SpokenAmount, dict[str, str]]]) -> dict[str, str] | None:
        """The only amount, or the last where the text takes the others back."""
        if not typed:
            return None
        first, last = typed[0], typed[-1]
        if all(value == last[1] for _, value in typed):
            return last[1]
        places = first[0].end, last[0].start, last[0].end
        return last[1] if takes_back(self._folded, *places, self._cues) else None

    def _is_meant(self, amount: SpokenAmount, *, is_asked: bool, is_known: bool) -> bool:
        before, after = self._folded[: amount.start], self._folded[amount.end :]
        if self._is_place_taken((amount.start, amount.end)):
            return False
        if DENIED.search(before) or _TOO_LITTLE.match(after):
            return False
        wants = self._wants_money(amount.start, amount.end)
        leads = _LEADS_TO_AMOUNT.search(before) is not None
        if amount.share is not None or amount.is_note:
            is_led = amount.is_note and leads
            return is_asked or wants or is_led or (is_known and self._corrects())
        leads = wants and leads
        return (is_asked or leads) and _ENDS_CLAUSE.match(after) is not None

    def _corrects(self) -> bool:
        is_denied = re.search(r"\b(?:not|nicht|ne|no)\b", self._folded) is not None
        return is_denied or self._cues.has("correct", self._folded)

    def _wants_money(self, start: int, end: int) -> bool:
        """Whether the sentence around a place speaks of money to be paid back."""
        begin = max(self._folded.rfind(mark, 0, start) for mark in ("?", "!", ";", "\n", ". ")) + 1
        stop = re.search(r"[?!;\n]|\.\s|$", self._folded[end:])
        sentence = self._folded[begin : end + (stop.start() if stop is not None else 0)]
        return _WANTS_MONEY.search(sentence) is not None

    # --- which number is meant

    def _meant(
        self, spec: SlotSpec, fits: list["re.Match[str]"], marked: list["re.Match[str]"]
    ) -> str | None:
        """The number that the text says for certain, else the one that the model marks."""
        meant = self._one_of(fits) or self._only_new(spec, fits)
        if meant is not None and len({match.group() for match in fits}) > 1:
            self.retracted.append(spec.name)
        if meant is not None and (not marked or meant in [match.group() for match in marked]):
            return meant
        meant = self._one_of(marked)
        if meant is not None and fits:
            self.chosen.append(spec.name)
        return meant

    def _only_new(self, spec: SlotSpec, fits: list["re.Match[str]"]) -> str | None:
        """Of two numbers the one that is not known yet."""
        known = re.sub(r"\D", "", str(self._known.get(spec.name) or ""))
        numbers = {match.group() for match in fits}
        new = numbers - {known}
        return new.pop() if len(new) == 1 and known in numbers else None

    def _marked(self, matches: list["re.Match[str]"], name: str) -> list["re.Match[str]"]:
        place = self._marks.get(name)
        return [match for match in matches if overlap(match.span(), place)]

    def _bare(self) -> list["re.Match[str]"]:
        return [match for match in self._free(_BARE_NUMBER) if not self._is_phone(match)]

    def _free(self, pattern: "re.Pattern[str]") -> list["re.Match[str]"]:
        """What has this form, and belongs neither to another value nor to an address."""
        found = pattern.finditer(self._text)
        return [match for match in found if not self._is_place_taken(match.span())]

    def _is_place_taken(self, place: Span) -> bool:
        return any(overlap(place, taken) for taken in (*self._spans, *self._addresses))

    def _is_phone(self, match: "re.Match[str]") -> bool:
        return _PHONE.search(self._folded[: match.start()]) is not None

    def _one_of(self, matches: list["re.Match[str]"]) -> str | None:
        """The number that is meant; None where several could be."""
        kept = [match for match in matches if not DENIED.search(self._folded[: match.start()])]
        if len({match.group() for match in kept}) == 1:
            return kept[0].group()
        if not kept:
            return None
        is_taken_back = takes_back(
            self._folded, kept[0].end(), kept[-1].start(), kept[-1].end(), self._cues
        )
        return kept[-1].group() if is_taken_back else None

    def _is_amount(self, match: "re.Match[str]", *, is_known: bool) -> bool:
        before, after = self._folded[: match.start()], self._folded[match.end() :]
        if len(match.group()) > _MOST_DIGITS or not _ENDS_CLAUSE.match(after):
            return False
        if is_known and self._cues.has("correct", re.split(r"[.!?;\n]\s", before)[-1]):
            return True
        has_cents = _HAS_CENTS.search(match.group()) is not None
        if is_known and has_cents and not re.split(r"[.!?;,:\n]\s", before)[-1].strip():
            return True
        if not before.strip() or _LEADS_TO_AMOUNT.search(before) is not None:
            return True
        return has_cents and self._wants_money(*match.span())


def _may_be_order(written: str, spec: SlotSpec) -> bool:
    is_long_enough = spec.min_digits <= len(written) <= spec.max_digits
    return written.isdecimal() and is_long_enough and int(written) > 0


def _number(written: str) -> Decimal:
    """`1 290,50` and `1.290` as numbers."""
    bare = re.sub(r"[ .'](?=\d{3}(?:\D|$))", "", written)
    return Decimal(bare.replace(",", "."))


def _typed(amount: SpokenAmount, currency: str) -> dict[str, str]:
    if amount.share is not None:
        return {"share": str(amount.share)}
    assert amount.number is not None
    return {"amount": written_out(amount.number, 2), "currency": currency}


_FEWEST_DIGITS = 4
"""Digits that a number must have to be an order without its letters."""
_PLAIN_DIGITS = 5
"""Digits of a number that nobody asked for and that still is an order's."""
_MOST_ORDINAL = 2
"""Digits of an ordinal."""
_MOST_DIGITS = 7


def takes_back(folded: str, first_end: int, last_start: int, last_end: int, cues: Cues) -> bool:
    """Whether a text that names two values takes the first one back."""
    between = folded[first_end:last_start]
    after = folded[last_end:]
    if _NO_BEFORE.search(between):
        return True
    return cues.has("correct", between) or cues.has("correct", after)


def mark_of(spec: SlotSpec) -> str:
    """What a slot's values are called by the model."""
    names = {"order_number": "order", "money": "amount", "date": "date", "email": "email"}
    return names.get(spec.type, spec.name)


def overlap(place: Span, marked: Span | None) -> bool:
    return marked is not None and place[0] < marked[1] and marked[0] < place[1]
