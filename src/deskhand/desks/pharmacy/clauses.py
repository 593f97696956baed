"""Questions of several clauses, of which one may ask for more than the shelves tell: `Is it
habit-forming, and how much is it?`"""

import re
from functools import cache

from .forms import FORM_OF
from .marked_names import NAME, with_marked_names
from .places import place_words
from .word_forms import TypedWord, words_in

_SLAVIC = """
    je jsou neni nejsou su bude budou ma maji muze muzu mohu smi smim lze nevadi moze mozem
"""
_SPANISH = "es son esta estan puede puedo hace crea sirve tiene"
_GERMANIC = """
    is are isn't does do did can could may should will would
    ist sind kann darf muss soll wird hat macht
"""
_STARTS = frozenset(f"{_SLAVIC} {_SPANISH} {_GERMANIC}".split())
"""Verbs that a question about a medicine begins with."""
_BEHIND_A = f"{_SLAVIC} kolik kolko kde mate maji kdy do od za".split()
_BEHIND_Y = f"{_SPANISH} cuanto cuesta donde tienen hay por".split()
"""Words behind which `a` or `y` joins clauses, and is no English article."""
BREAK = re.compile(
    r"[,;:¿()+]|\s[-–]\s|\b(?:zda|jestli|whether|ob|ale|and|but|und|aber|pero|nebo|alebo|or|oder)\b(?!\s*$)"
    rf"|\b[ai]\s+(?=(?:{'|'.join(_BEHIND_A)})\b)|\b[yeo]\s+(?=(?:{'|'.join(_BEHIND_Y)})\b)"
)
_SMALL_WORDS = """
    the a an it they them this that these of in at on for from to and still also too there here now
    today tomorrow please mg g ml mcg iu tbl ks one same pharmacy pharmacies together altogether
    both all total dohromady celkem spolu obe oboje oboji zusammen insgesamt beide beides gleichen
    einer apotheke lekarna lekarne lekarni jedne jednej stejne farmacia farmacias misma juntos
    juntas junto ambos todo y e i o und and oder or nebo
    ho ji to je jej ten ta ty tento toho v ve u na z ze do pro po i taky take jeste dnes zitra teraz
    ted prosim nejaky nejake tam aj este tiez
    der die das den dem es sie er ihn in im bei von zu auf noch auch heute morgen jetzt bitte da
    dort el la los las lo en de del un una por favor hoy aun todavia ahora tambien ahi alli
"""
_HAVE = re.compile(
    r"\b(?:do you (?:have|sell|stock|carry|keep)|have you got|(?<!jak )(?<!ako )mate|prodavate"
    r"|predavate|vedete|(?:haben|fuhren|verkaufen) sie|(?:habt|fuhrt) ihr|tienen|teneis|venden"
    r"|vendeis)\b"
)
_ARTICLES = """
    the a an any some your also still u v ve na i taky take prosim nejaky nejake nejakou nahodou
    bitte auch noch eine ein einen keine etwas un una unos unas algun alguna el la los las tambien
    aj vlastne aspon nekde
"""
DETERMINERS = frozenset(_ARTICLES.split())
_SHOP_WORDS = """
    skladem sklade dispozici otevreno otevrene open offen geoffnet abierto abierta stock left
    available vorratig lager verfugbar disponible disponibles balenie baleni velke male vetsi mensi
    packung packungen schachtel cajas caja envases pack packs box boxes sizes strengths large small
    nejake nejaky dnes zitra vikend sobotu nedeli recept rezept receta price prices oteviraci
    opening hours time cenu preise beide beides both oboje oboji obe ambos dos lekarnu lekarny
    lekarne pobocku pobocky filiale branch shop pharmacy pharmacies more enough dost vice rezervaci
    reservation telling moznost namysli rada rad zajem pravdu ho ich ju ihn sie welche davon more
    posledni poslednich last letzte ultimas tentokrat momentalne aktualne ted nyni teraz now right
    ulozeno odlozeno reserved generikum generika dotaz prosbu question frage pregunta
"""
OF_A_SHOP = frozenset(_SHOP_WORDS.split())
_SHORTEST_THING = 4
_SMALL = frozenset(_SMALL_WORDS.split()) | _STARTS


def clauses_of(plain: str) -> list[str]:
    """The clauses of a question in plain text, which may have marked names."""
    pieces = BREAK.split(plain.rstrip("?!. "))
    return [piece.strip() for piece in pieces if piece.strip()]


def asks_about_a_medicine(clause: str) -> bool:
    """Whether a clause may ask what a medicine is or does: it begins with a verb or the name and
    says more than a place, a form or a number."""
    words = words_in(with_marked_names(clause))
    if not words or not _begins_so(words):
        return False
    return not all(map(says_nothing, words))


def asks_for_another_thing(plain: str) -> bool:
    """Whether a sentence with marked names asks for something that is no medicine of ours, beside
    which `have` says nothing: `Do you sell thermometers?`"""
    if NAME in plain:
        return False
    asked = _HAVE.search(plain)
    behind = words_in(plain[asked.end() :]) if asked else []
    meant = [word for word in behind if word.plain not in DETERMINERS]
    return bool(meant) and not _is_no_thing(meant[0])


def _is_no_thing(word: TypedWord) -> bool:
    return says_nothing(word) or word.plain in OF_A_SHOP or len(word.plain) < _SHORTEST_THING


def asks_where(clause: str) -> bool:
    """Whether a clause asks for a place alone: `Is it in Brno?`"""
    words = words_in(with_marked_names(clause))
    if not words or words[0].plain not in _STARTS or not all(map(says_nothing, words)):
        return False
    return any(word.plain in _places() for word in words[1:])


def _begins_so(words: list[TypedWord]) -> bool:
    """Whether a clause begins with a verb, or with a name and a word that says something of it:
    `Zyrtec makes sleepy`, but not `Zyrtec on the shelf`."""
    if words[0].written != NAME:
        return words[0].plain in _STARTS
    behind = [word for word in words if not is_of_a_name(word)]
    return bool(behind) and not says_nothing(behind[0])


def says_nothing(word: TypedWord) -> bool:
    return is_of_a_name(word) or word.plain in _SMALL or word.plain in _places()


def is_of_a_name(word: TypedWord) -> bool:
    return word.is_number or word.written == NAME or word.stem in FORM_OF


@cache
def _places() -> frozenset[str]:
    return place_words()
