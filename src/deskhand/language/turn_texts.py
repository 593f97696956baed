"""The customer's own words for a slot that takes words: a reason, an address, a summary.

What belongs to another slot, and what only leads to the words, is left out. Nothing is added.
"""

import re
from collections.abc import Iterator, Sequence

from deskhand.language.slots.folded_text import FoldedText
from deskhand.language.turn_cues import Cues, turn_cues

Span = tuple[int, int]

_EDGE = " \t\n\r,;:.!-–—…\"'“”„«»()"
_CLAUSE = re.compile(
    r"[.!?;…]+(?=\s|$)|\n+|\s+[-–—]\s+|,\s+|"
    r"\s(?=(?:because|since|weil|denn|protoze|jelikoz|nebot|porque|ya que|puesto que)\s)|"
    r"\s(?:and|und|a|y|plus)\s"
)
_SENTENCE = re.compile(r"(?<=[.!?;…])\s+|\n+|\s+[-–—]\s+")
_LEADS_TO_REASON = re.compile(
    r"^(?:(?:well|so|and|und|a|y|ok|okay|tak|also|pues|no|yes|ano|ja|si|sorry|please|bitte|"
    r"prosim)[ ,]+)*"
    r"(?:(?:because|cause|cuz|since|as|due to|on account of|reason(?: is)?|the reason(?: is|"
    r" was)?|"
    r"weil|denn|da|wegen|grund(?: ist)?|der grund(?: ist| war)?|naml?ich|"
    r"protoze|jelikoz|nebot|kvuli tomu ze|kvuli|duvod(?: je|em je)?|duvodem je(?: to)?|"
    r"porque|ya que|puesto que|debido a(?: que)?|el motivo(?: es)?|la razon(?: es)?|motivo|es que|"
    r"por)\b[ ,:]*(?:that|dass|das|ze|que)?\b[ ,:]*)"
)
_REASON_WORDS = re.compile(
    r"\b(?:because|since|due to|reason|weil|denn|wegen|grund|protoze|jelikoz|nebot|kvuli|"
    r"duvod\w*|porque|"
    r"ya que|puesto que|debido|motivo|razon|broken|broke|damaged|cracked|defect\w*|faulty|"
    r"wrong|late|"
    r"never (?:arrived|came)|missing|too (?:big|small|late|tight|large|short|long)|doesn't|"
    r"does not|"
    r"didn't|stopped|torn|scratched|leak\w*|kaputt|defekt|beschadigt|zerbrochen|falsch\w*|"
    r"zu (?:gros|"
    r"klein|spat|eng|lang|kurz)|nie angekommen|fehlt|gerissen|zerkratzt|rozbit\w*|poskozen\w*|"
    r"vadn\w*|"
    r"spatn\w*|jin\w+ (?:barv\w+|velikost\w*)|velk\w*|mal\w*|pozde|nedorazil\w*|neprisl\w*|"
    r"nefunguj\w*|"
    r"chybi|roztrhan\w*|praskl\w*|rot\w+|defectuos\w*|danad\w*|equivocad\w*|talla|tarde|"
    r"no (?:llego|"
    r"funciona|ha llegado|me gusta|me queda)|falta\w*|grande|pequen\w*|estropead\w*)\b"
)
_OF_VALUES = re.compile(
    r"\b(?:not|but|nicht|sondern|ne|ale|sino|rather|statt|instead|order|number|no|nr|the|my|is|it's|it|its|of|for|on|about|amount|back|refund|please|"
    r"euros?|eur|"
    r"i|want|need|would|like|d|was|objednavk\w*|cislo|je|to|pro|na|za|castk\w*|chci|prosim|mi|"
    r"vratte|"
    r"vratit|korun|kc|bestellung|bestellnummer|nummer|ist|es|die|der|das|fur|von|betrag|bitte|"
    r"zuruck|"
    r"ich|mochte|hatte|gern\w*|pedido|numero|es|el|la|de|del|para|importe|quiero|por favor|mi|"
    r"un|una|"
    r"reembolso|a|an|and|und|y|hi|hello|hallo|hola|dobry|den|yes|ano|ja|si|ok|okay|sure|that|"
    r"erstattung|"
    r"penize|zpet|czk|one|this|geht|um|jde|o|sobre|trata|se|von|bei|with|thanks|danke|diky|"
    r"gracias|"
    r"here|hier|tady|aqui|you|go|sir|so|also|tak|pues)\b"
)
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
_NO_WORDS = re.compile(r"^[\W\d_]*$")


def own_words(text: str, spans: Sequence[Span], *, drops_lead: bool = True) -> str | None:
    """The words of an answer without the clauses that only give other values; None where nothing
    is left."""
    kept = [clause for clause in _clauses(text) if not _only_values(text, clause, spans)]
    if not kept:
        return None
    words = _without(text, (kept[0][0], kept[-1][1]), spans)
    return _without_lead(words) if drops_lead else words.strip(_EDGE) or None


def reason_in(text: str, spans: Sequence[Span]) -> str | None:
    """The part of a text that gives a reason, where one does by its words."""
    kept = [
        clause
        for clause in _clauses(text)
        if not _only_values(text, clause, spans) and _may_be_reason(text[slice(*clause)])
    ]
    if not kept:
        return None
    return _without_lead(_without(text, (kept[0][0], kept[-1][1]), spans))


def unasked_reason_in(text: str, spans: Sequence[Span]) -> str | None:
    """The part of a first message that says what is the matter, beside the wish for money and
    the words of courtesy."""
    kept = [
        clause
        for clause in _clauses(text)
        if not _only_values(text, clause, spans)
        and _may_be_reason(text[slice(*clause)])
        and not _ASKS_OR_GREETS.search(FoldedText(text[slice(*clause)]).folded)
        and not _is_name(text[slice(*clause)])
    ]
    if not kept:
        return None
    return _without_lead(_without(text, (kept[0][0], kept[-1][1]), spans))


def unasked_address_in(text: str, spans: Sequence[Span]) -> str | None:
    """The postal address in a first message, without the order's number before it and what the
    customer says about the old one."""
    bare = text
    for start, end in sorted(spans, reverse=True):
        if text[start:end][:1].isalpha():
            bare = f"{bare[:start].rstrip()} {bare[end:].lstrip()}"
    address = address_in(bare, (), is_asked=False)
    if address is None:
        return None
    return _INSTEAD.sub("", address).strip(_EDGE) or None


_INSTEAD = re.compile(
    r",?\s+(?:instead|statt|anstatt|anstelle|m[ií]sto|nam[ií]sto|please|bitte|pros[ií]m|en vez|"
    r"rather than|not )\b.*|\?.*",
    re.I | re.S,
)


def _is_name(words: str) -> bool:
    """Whether all words begin with a capital, as those of a signature do."""
    parts = re.findall(r"[^\W\d_]{2,}", words)
    return bool(parts) and all(part[0].isupper() for part in parts)


def summary_in(text: str, spans: Sequence[Span]) -> str | None:
    """What a message wants noted: what stands after its colon, else its parts without those that
    only ask for a note."""
    lead, colon, rest = text.partition(":")
    if colon and _ASKS_FOR_NOTE.search(FoldedText(lead).folded) and _has_words(rest):
        return rest.strip(_EDGE)
    parts = re.finditer(r"[^.!?;,\n]+(?:[.,](?=\S)[^.!?;,\n]*)*", text)
    kept = [part for part in parts if _is_noted(part.group())]
    if not kept:
        return None
    return _without_lead(text[kept[0].start() : kept[-1].end()])


def _is_noted(part: str) -> bool:
    folded = FoldedText(part.strip()).folded
    is_frame = _ASKS_FOR_NOTE.search(folded) or _GREETS.search(folded)
    return not is_frame and _has_words(part)


def _has_words(words: str) -> bool:
    return len(re.findall(r"[^\W\d_]{2,}", words)) > 1


_GREETS = re.compile(
    r"^\W*(?:hi|hello|hey|dear|good (?:morning|day|evening|afternoon)|hallo|guten (?:tag|morgen|"
    r"abend)|sehr geehrte|dobry (?:den|vecer)|dobre rano|zdravim|ahoj|hola|buenos|buenas|thanks|"
    r"thank you|many thanks|danke|vielen dank|dekuji|diky|gracias|regards|kind regards|best|"
    r"mit freundlichen|viele gruse|grus|s pozdravem|pozdravem|un saludo|saludos)\b"
)
_ASKS_OR_GREETS = re.compile(
    _GREETS.pattern + r"|\b(?:refund\w*|money back|reimburs\w*|rucker\w*|erstatt\w*|"
    r"geld zuruck|mein geld|"
    r"vratit (?:mi )?(?:penize|castku)|vraceni|penize zpet|refundac\w*|reembols\w*|devol\w*|"
    r"ignore|anweisung\w*|instruction\w*)\b"
)
_ASKS_FOR_NOTE = re.compile(
    r"\b(?:tickets?|tikety?|tiket\w*|pozadavk\w*|vorgang|meldung|note|zaznam\w*|nahlas\w*|report|"
    r"log (?:this|it|an?)|case|anfrage erstellen)\b"
)


def _may_be_reason(clause: str) -> bool:
    """Whether a clause says what is the matter, and not what is wanted."""
    folded = FoldedText(clause).folded
    if _REASON_WORDS.search(folded):
        return True
    cues = turn_cues()
    wanted = cues.has("request", folded) or cues.has("agree", folded) or "?" in clause
    return not wanted and len(re.findall(r"[^\W\d_]{2,}", folded)) > 1


def address_in(text: str, spans: Sequence[Span], *, is_asked: bool) -> str | None:
    """The postal address in a text; None where there is none.

    It needs a house number or a word for a street, and where it was not asked for a number too.
    """
    for start, end in _sentences(text):
        begin = start
        folded = FoldedText(text[start:end]).folded
        lead = _LEADS_TO_ADDRESS.match(folded)
        if lead is not None:
            begin = start + lead.end()
        begin = _after_values(text, begin, end, spans)
        words = text[begin:end].strip(_EDGE)
        rest = FoldedText(words).folded
        if _HOUSE.search(rest) is None or _PLACE_NAME.search(words) is None:
            continue
        if is_asked or lead is not None or re.search(r"\d", rest):
            return words
    return None


_PLACE_NAME = re.compile(
    r"\b[A-ZÀ-Ž][a-zà-ž]{2,}|(?i:\b(?:street|road|lane|str|straße|strasse|ulice|calle)\b)"
)
_ABBREVIATED = re.compile(r"\b(?:str|ul|c|nr|no|av|avda|pl|st|rd|apt)\.\s*$", re.I)


def is_empty_answer(words: str, cues: Cues) -> bool:
    """Whether the words say nothing: a number alone, a shrug, a key held down."""
    folded = FoldedText(words).folded
    letters = re.sub(r"[\W\d_]", "", folded)
    if len(letters) < 3 or len(set(letters)) < 3:
        return True
    if not re.search(r"[aeiouy]", letters) or re.fullmatch(r"(?:[^aeiouy\s]{5,}\s*)+", folded):
        return True
    return cues.is_all("unknown", folded)


def _clauses(text: str) -> Iterator[Span]:
    """The clauses of a text with their places."""
    folded = FoldedText(text).folded
    start = 0
    for match in _CLAUSE.finditer(folded):
        if match.start() > start:
            yield start, match.start()
        start = match.end()
    if start < len(text):
        yield start, len(text)


def _sentences(text: str) -> Iterator[Span]:
    start = 0
    for match in _SENTENCE.finditer(text):
        if not re.search(
            r"\b(?:str|ul|c|nr|no|av|avda|pl|st|rd|apt)\.\s*$", text[: match.start()], re.I
        ):
            yield start, match.start()
            start = match.end()
    yield start, len(text)


def _only_values(text: str, clause: Span, spans: Sequence[Span]) -> bool:
    """Whether a clause says nothing beside values of other slots and the words around them."""
    rest = FoldedText(_blanked(text, clause, spans)).folded
    bare = _OF_VALUES.sub(" ", _blanked(rest, (0, len(rest)), turn_cues().spans("correct", rest)))
    return not re.findall(r"[^\W\d_]{2,}", bare)


def _blanked(text: str, clause: Span, spans: Sequence[Span]) -> str:
    start, end = clause
    letters = list(text[start:end])
    for first, last in spans:
        for place in range(max(first, start), min(last, end)):
            letters[place - start] = " "
    return "".join(letters)


def _without(text: str, place: Span, spans: Sequence[Span]) -> str:
    """The words at a place; values of other slots at its edges are left out."""
    start, end = place
    for first, last in sorted(spans):
        if first >= start and _says_nothing(text[start:first]):
            start = max(start, last)
    for first, last in sorted(spans, reverse=True):
        if start < last <= end and _says_nothing(text[last:end]):
            end = first
    return text[start:end]


def _says_nothing(words: str) -> bool:
    """Whether there are only words that stand around values."""
    return not re.sub(r"\W", "", _OF_VALUES.sub(" ", FoldedText(words).folded))


def _after_values(text: str, begin: int, end: int, spans: Sequence[Span]) -> int:
    """Where the text goes on after values that stand before the words."""
    for first, last in sorted(spans):
        between = FoldedText(text[begin:first]).folded if first >= begin else "x"
        if first < end and not re.sub(r"\W", "", _OF_VALUES.sub(" ", between)):
            begin = max(begin, last)
    folded = FoldedText(text[begin:end]).folded
    lead = re.match(
        r"[\s,;:.-]*(?:(?:and|und|a|y|to|an|nach|na|do|at|in|no|ne|nein|nope|sorry|"
        r"pardon|perdon|but|ale|aber|pero|sondern|sino|ok|yes|ano|ja|si|it|should|go)\b[\s,:]*)*",
        folded,
    )
    return begin + (lead.end() if lead is not None else 0)


def _without_lead(words: str) -> str | None:
    bare = words.strip(_EDGE)
    lead = _LEADS_TO_REASON.match(FoldedText(bare).folded)
    if lead is not None and lead.end() < len(bare):
        bare = bare[lead.end() :].strip(_EDGE)
    return None if _NO_WORDS.match(bare) else bare
