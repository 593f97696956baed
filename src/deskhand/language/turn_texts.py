"""The customer's own words for a slot that takes words: a reason, an address, a summary.

What belongs to another slot, and what only leads to the words, is left out. Nothing is added.
"""

import re
from collections.abc import Iterator, Sequence

from deskhand.language.function_words import is_small
from deskhand.language.slots.folded_text import WORD, FoldedText
from deskhand.language.told_parts import COMES, PUTS_OFF, RETURNS, SLIP
from deskhand.language.turn_cues import Cues, turn_cues

Span = tuple[int, int]

EDGES = " \t\n\r,;:.!-–—…\"'“”„«»()"
_CLAUSE = re.compile(
    r"(?<![ (]\d)(?<! \d\d)[.!?;…]+(?=\s|$)|[!?;…]+(?=\s|$)|\n+|\s+[-–—/]\s+|,\s+|"
    r"\s(?=(?:because|since|weil|denn|protoze|jelikoz|nebot|porque|ya que|puesto que)\s)|"
    r"\s(?=(?:so (?:i|what|please|can|could)|takze|deshalb|daher|asi que|por eso|por lo que)\s)|"
    r"\s(?:and|und|y|plus)\s"
)
_LEADS_TO_REASON = re.compile(
    r"^(?:(?:well|so|and|und|a|y|ok|okay|tak|also|pues|no|yes|ano|ja|si|sorry|please|bitte|"
    r"prosim)[ ,]+)*"
    r"(?:(?:because|cause|cuz|since|as|due to|on account of|reason(?: is)?|the reason(?: is|"
    r" was)?|"
    r"weil|denn|da|wegen|grund(?: ist)?|der grund(?: ist| war)?|naml?ich|"
    r"protoze|jelikoz|nebot|kvuli tomu ze|kvuli|duvod(?: je|em je)?|duvodem je(?: to)?|"
    r"porque|ya que|puesto que|debido a(?: que)?|el motivo(?: es)?|la razon(?: es)?|motivo|es que|"
    r"por|que|q)\b[ ,:]*(?:that|dass|das|ze|que)?\b[ ,:]*)"
)
_WISH = re.compile(
    r"want\w*|like|need|send|sending|return\w*|back|get|getting|give|money|cash|refund\w*|smth|"
    r"something|stuff|order\w*|part|full|fair|reasonable|enough|please|would|could|purchase|price|"
    r"zuruck\w*|geld\w*|erstatt\w*|ruckerstatt\w*|kaufpreis\w*|preis\w*|teil\w*|hatte\w*|gern\w*|"
    r"mochte\w*|will|wollen|bestellung\w*|bitte|finde\w*|fande\w*|angemessen|betrag\w*|retour\w*|"
    r"vrat\w*|vrac\w*|peni\w*|penez|zpet|zpatky|chci|chtel\w*|chceme|objednav\w*|prosi\w*|cast\w*|"
    r"zbozi|primeren\w*|devol\w*|devuelv\w*|dinero|reembols\w*|quier\w*|quisier\w*|pedido\w*|"
    r"parte|importe|precio|favor|justo|razonable|euros?|eur|korun\w*|pounds?|quid|dollars?"
)
"""Words of somebody who wants money back."""
_FEW_WORDS = 7
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
    r"funciona|ha llegado|me gusta|me queda)|falta\w*|grande|pequen\w*|estropead\w*|"
    r"peel\w*|crack\w*|dent\w*|stain\w*|loose|wobbl\w*|bent|chipped|shatter\w*|smash\w*|ripped|"
    r"rip|hole|rust\w*|mou?ld\w*|smells?|stinks?|rattl\w*|flicker\w*|shrunk|shrank|faded|leaks?|"
    r"won't|can't|snapped|fell (?:off|apart)|came (?:off|apart)|kratzer\w*|riss\w*|sprung|fleck\w*|"
    r"beule\w*|loch|locher|wackel\w*|klappert|stinkt|riecht|lauft aus|undicht|verbogen|abgebrochen|"
    r"abgefallen|verfarbt|eingelaufen|geht nicht|geht nimmer|passt nicht|prasklin\w*|skrab\w*|"
    r"poskraban\w*|skvrn\w*|dira|diru|smrdi|tece|protek\w*|rozlepi\w*|odlepi\w*|ulomen\w*|"
    r"upadl\w*|ohnut\w*|zlomen\w*|nesedi|nejde|nehraje|nesviti|srazil\w*|zplesniv\w*|rozpadl\w*|"
    r"promackl\w*|odrel\w*|natrzen\w*|different|unlike|not as (?:described|pictured|shown)|"
    r"anders als|jin\w+ nez)\b"
)
VALUE_WORDS = re.compile(
    r"\b(?:not|but|nicht|sondern|ne|ale|sino|rather|statt|instead|order|auftrag|ticket|compra|mail|email|number|no|nr|the|my|is|it's|it|its|of|for|on|about|amount|back|refund|please|"
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
_NO_WORDS = re.compile(r"^[\W\d_]*$")


def own_words(text: str, spans: Sequence[Span], *, drops_lead: bool = True) -> str | None:
    """The words of an answer without the clauses that give other values; None where nothing is
    left."""
    kept = [clause for clause in _clauses(text) if not _only_values(text, clause, spans)]
    if not kept:
        return None
    free = _longest_run(text, spans)
    place = (kept[0][0], kept[-1][1]) if free is None or not spans else free
    words = _without(text, place, spans)
    return _without_lead(words) if drops_lead else words.strip(EDGES) or None


def words_beside(text: str, spans: Sequence[Span]) -> str | None:
    """The words beside other values that say what is the matter, where any do."""
    free = _longest_run(text, spans)
    if free is None or not spans or not _may_be_reason(text[slice(*free)]):
        return None
    words = _without_lead(text[slice(*free)])
    return words if words and _has_words(words) else None


def _longest_run(text: str, spans: Sequence[Span]) -> Span | None:
    """The longest stretch of clauses without any value in them."""
    runs: list[Span] = []
    is_open = False
    for clause in _clauses(text):
        start, end = clause
        holds_value = any(first < end and last > start for first, last in spans)
        if holds_value or _only_values(text, clause, spans) or _GREETS.search(_fold(text, clause)):
            is_open = False
        elif is_open:
            runs[-1] = (runs[-1][0], end)
        else:
            runs.append(clause)
            is_open = True
    return max(runs, key=lambda run: run[1] - run[0], default=None)


def _fold(text: str, place: Span) -> str:
    return FoldedText(text[slice(*place)]).folded


def marked_words(text: str, place: Span, spans: Sequence[Span]) -> str | None:
    """The clauses at a place, without values of other slots; None where no words are left."""
    start, end = place
    for first, last in _clauses(text):
        if first < place[1] and last > place[0]:
            start = min(start, first)
            end = max(end, last)
    pieces = list(_between(text, start, end, spans))
    if not pieces:
        return None
    best = max(pieces, key=lambda piece: min(piece[1], place[1]) - max(piece[0], place[0]))
    words = _without_loose_ends(text[slice(*best)].strip(EDGES), cut=best != (start, end))
    return words if words and re.search(r"\w", words) else None


def _between(text: str, start: int, end: int, spans: Sequence[Span]) -> Iterator[Span]:
    """What is left of a place without the values in it."""
    for first, last in sorted(spans):
        is_inside = first < end and last > start
        if is_inside and not _stands_within(text, start, (first, last), end):
            if first > start:
                yield start, first
            start = max(start, last)
    if start < end:
        yield start, end


def _stands_within(text: str, start: int, span: Span, end: int) -> bool:
    """Whether a value stands between words of one clause that make no sense without it."""
    before = _BREAK.split(text[start : span[0]])[-1]
    after = _BREAK.split(text[span[1] : end])[0]
    return _content(before) >= _WORDS_BESIDE and _content(after) >= _WORDS_BESIDE


def _content(words: str) -> int:
    """How many words there are that do not only stand around values."""
    bare = VALUE_WORDS.sub(" ", FoldedText(words).folded)
    return len(re.findall(r"[^\W\d_]{2,}", bare))


_BREAK = re.compile(r"[.!?;,:](?:\s|$)")
_WORDS_BESIDE = 2
"""Words on either side of a value that belongs to a sentence."""


def _without_loose_ends(words: str, *, cut: bool) -> str:
    """The words without those that led to a value which was cut off."""
    if not cut:
        return words
    return _LOOSE_ENDS.sub("", words).strip(EDGES)


_LOOSE_ENDS = re.compile(
    r"(?:[\s,;:(–-]*\b(?:and|und|a|y|for|für|pro|para|on|of|the|my|order|objednávk\w*|číslo|"
    r"bestellung|auftrag|nummer|nr|no|number|pedido|número|el|la|es|it|it's|is|je|to|ist|die|"
    r"mail|email|e-mail|amount|about|von|bei|zu|k|z|za|na|de|del)\b[\s.:#]*)+$",
    re.I,
)


def unasked_reason_in(text: str, spans: Sequence[Span]) -> str | None:
    """The part of a message that says what is the matter, beside the wish for money and the words
    of courtesy: of several the one that says so by its words, else the longest."""
    runs: list[Span] = []
    is_open = False
    for clause in _clauses(text):
        says = _says_what_is_wrong(text, clause, spans)
        stands_alone = any(first < clause[1] and last > clause[0] for first, last in spans)
        if says and is_open and not stands_alone:
            runs[-1] = (runs[-1][0], clause[1])
        elif says:
            runs.append(clause)
        is_open = says and not stands_alone
    if not runs:
        return None
    puts_off = PUTS_OFF.search(FoldedText(text).folded) is not None

    def weight(run: Span) -> tuple[bool, bool, int]:
        """What is said last counts where the customer drops what he said first, and that something
        came counts least."""
        folded = _fold(text, run)
        place = run[0] if puts_off else run[1] - run[0]
        return gives_reason(folded), COMES.search(folded) is None, place

    return _without_lead(_without(text, max(runs, key=weight), spans))


def gives_reason(folded: str) -> bool:
    """Whether words lead to a reason, as `because`, or say what is wrong with something."""
    return bool(_LEADS_TO_REASON.match(folded.lstrip(EDGES)) or _REASON_WORDS.search(folded))


def _says_what_is_wrong(text: str, clause: Span, spans: Sequence[Span]) -> bool:
    words = text[slice(*clause)]
    if _only_values(text, clause, spans) or not _may_be_reason(words) or _is_name(words):
        return False
    folded = FoldedText(words).folded
    wishes = _ASKS_OR_GREETS.search(folded) or PUTS_OFF.search(folded)
    return not wishes and not wishes_return(words)


def _is_name(words: str) -> bool:
    """Whether all words begin with a capital, as those of a signature do."""
    parts = re.findall(r"[^\W\d_]{2,}", words)
    return bool(parts) and all(part[0].isupper() for part in parts)


def summary_in(text: str, spans: Sequence[Span]) -> str | None:
    """What a message wants noted: what stands after its colon, else its parts without those that
    only ask for a note."""
    lead, colon, rest = text.partition(":")
    if colon and _is_frame(FoldedText(lead).folded) and _has_words(rest):
        return rest.strip(EDGES)
    parts = re.finditer(r"[^.!?;,\n]+(?:[.,](?=\S)[^.!?;,\n]*)*", text)
    kept = [part for part in parts if _is_noted(part.group())]
    if not kept:
        return None
    return _without_lead(text[kept[0].start() : kept[-1].end()])


def with_what_follows(text: str, words: str, spans: Sequence[Span]) -> str:
    """Words to be noted with what stands behind them, up to a value of another slot or a word of
    courtesy: "the manual is missing, please send one"."""
    start = text.find(words)
    end = start + len(words)
    for first, last in _clauses(text):
        if first < end:
            end = max(end, last) if last > start else end
            continue
        holds_value = any(place[0] < last and place[1] > first for place in spans)
        if holds_value or _GREETS.search(_fold(text, (first, last))):
            break
        end = last
    return text[start:end].strip(EDGES) if start >= 0 else words


def _is_noted(part: str) -> bool:
    folded = FoldedText(part.strip()).folded
    return not _is_frame(folded) and not _GREETS.search(folded) and _has_words(part)


def _is_frame(folded: str) -> bool:
    """Whether it asks for a note, or says in a few words that there is something to report, and
    not what."""
    if _ASKS_FOR_NOTE.search(folded):
        return True
    return len(folded.split()) <= _FEW_WORDS and _ANNOUNCES.search(folded) is not None


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
    r"complain\w*|stiznost\w*|stezovat|beschwer\w*|log (?:this|it|an?)|case|anfrage erstellen)\b"
)
_ANNOUNCES = re.compile(
    r"\b(?:pozadav\w*|reklamac\w*|reklamation\w*|"
    r"(?:problem|storung|fehler|schaden|mangel)\w* melden|"
    r"(?:problem|issue|fault|bug|something) to (?:report|raise)|"
    r"(?:something|sth|was|etwas|neco)\b.{0,25}\b(?:notier\w*|aufschreib\w*|vermerk\w*|melden|"
    r"aufnehm\w*|zapsat|poznamenat|nahlasit|report|note|record|down|file)|"
    r"(?:zapsat|zapiste|poznamen\w+|note) (?:\w+ )?(?:neco|poznamku|something)|take a note|"
    r"(?:zavad|chyb|problem)\w* (?:nahlasit|oznamit)|"
    r"(?:oznamit|hlasit) (?:zavad|chyb|problem)\w*)\b"
)


def _may_be_reason(clause: str) -> bool:
    """Whether a clause says what is the matter, and not what is wanted."""
    folded = FoldedText(clause).folded
    if _REASON_WORDS.search(folded):
        return True
    cues = turn_cues()
    wanted = cues.has("request", folded) or cues.is_all("agree", folded) or "?" in clause
    return not wanted and len(re.findall(r"[^\W\d_]{2,}", folded)) > 1


def only_wishes(words: str) -> bool:
    """Whether words only say that somebody wants money back, how much is fair, or that he named
    the wrong number, and not why he wants it."""
    folded = FoldedText(words).folded
    said = WORD.findall(folded)
    if len(said) <= _FEW_WORDS and SLIP.search(folded):
        return True
    return all(is_small(word) or len(word) < 3 or _WISH.fullmatch(word) for word in said)


def wishes_return(words: str) -> bool:
    """Whether words say that somebody wants to give a thing back, and not what is wrong with it."""
    folded = FoldedText(words).folded
    return RETURNS.search(folded) is not None and not gives_reason(folded)


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


def _only_values(text: str, clause: Span, spans: Sequence[Span]) -> bool:
    """Whether a clause says nothing beside values of other slots and the words around them."""
    rest = FoldedText(_blanked(text, clause, spans)).folded
    bare = VALUE_WORDS.sub(" ", _blanked(rest, (0, len(rest)), turn_cues().spans("correct", rest)))
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
    return not re.sub(r"\W", "", VALUE_WORDS.sub(" ", FoldedText(words).folded))


def _without_lead(words: str) -> str | None:
    """The words without those that only lead to a reason, as `because`."""
    bare = words.strip(EDGES)
    lead = _LEADS_TO_REASON.match(FoldedText(bare).folded)
    if lead is not None and lead.end() < len(bare):
        bare = bare[lead.end() :].strip(EDGES)
    return None if _NO_WORDS.match(bare) else bare
