"""Words that are meant as the name of a medicine, though our catalogue has none of that name."""

import re
from collections.abc import Collection, Sequence

from .forms import FORM_OF
from .medicine_names import MedicineNames, other_medicine
from .numbers_in_words import number_at
from .word_forms import TypedWord

UNITS = frozenset(("mg", "mcg", "ug", "mikrogram", "mikrogramu", "iu", "mj"))
_SUBSTANCE = re.compile(
    r"(?:prazol|sartan|statin|azepam|zolam|floxacin|mycin|micin|cilin|cillin|gliptin|gliflozin"
    r"|glutid|dipin|triptan|setron|lukast|xaban|coxib|oxetin|azapin|tidin|cyklin|cyclin"
    r"|mazol|nazol|olol|pril|profen|fenak|fenac|terol|tropium|tadin|rizin|semid|thiazid|vastat"
    r"|barbital|kortison|cortison|metason|prednisolon)(?:[aeiouy]|em|om|ovi|ou|um|s)?$"
)
"""Endings that international names of substances have."""
_ASKING = """
    mate maji ma mame mat vedete prodavate sehnat sezenu koupit lek leku lekem pripravek pripravku
    leciva lieku liek lekove dostupny dostupna dostupne skladem shanim hledam potrebuji potrebuju
    potrebujem chci chtel chtela balen baleni balenie krabicku krabice krabicka krabicky krabicek
    tubu lahvicku rezervovat rezervujte rezervaci rezervaciu odlozit odlozte nechte beru bere
    have buy get stock medicine drug called reserve need box boxes pack packs packet sell carry
    aside hold keep packung packungen schachtel schachteln brauche suche haben reservieren
    medikament caja cajas tienen tiene hay necesito busco comprar medicamento reservar envases
"""
_BEFORE_A_NAME = frozenset(_ASKING.split())
_JOINING = frozenset(
    ("a", "i", "and", "und", "y", "e", "nebo", "or", "oder", "o", "ani", "plus", "alebo")
)
_FILLING = """
    any the this that some it my a an prosim nejaky ten tento u v na muj jsem bych byste jste mam
    mate vam vas nam nas mi me dobry dobra den deka dekuji diky hello hi dear thank thanks please
    could would should have has can may will sie ich wir ihr ihre guten tag hallo danke bitte hola
    buenos buenas gracias por favor recept receptu erecept recepty prescription rezept receta
    lekarna lekarne lekarnu lekaren lekarny pharmacy pharmacies apotheke apotheken farmacia
    farmacias lekari lekar doktor doktorka pani pan mr mrs ms dr mudr ing herr frau senor senora
    pondeli utery streda stredu ctvrtek patek sobota sobotu nedele nedeli pondelok utorok stvrtok
    piatok nedelu monday tuesday wednesday thursday friday saturday sunday montag dienstag mittwoch
    donnerstag freitag samstag sonntag lunes martes miercoles jueves viernes sabado domingo
    leden unor brezen duben kveten cerven cervenec srpen zari rijen listopad prosinec january
    february march april may june july august september october november december januar februar
    marz mai juni juli oktober dezember czech ceska ceske cesko slovensko germany england email
    mail mobil sms pdf telefon whatsapp crisp street ulice namesti namestie platz plaza mhd
    clubcard covid internet google facebook online dostupnost leku vanoce christmas easter
"""
_NO_NAMES = frozenset(_FILLING.split())
_CLOSING_WORDS = """
    dekuji dekuju dekujeme diky dik predem pozdravem pozdravom zdravi dakujem dakujeme vdaka thanks
    thank regards cheers best sincerely danke dank gruss grusse grussen gracias saludos atentamente
"""
_CLOSING = frozenset(_CLOSING_WORDS.split())
_LINKS = frozenset(("na", "for", "of", "de", "fur", "von", "para"))
"""They lead to a name only behind a word that asks for something: `a prescription for`."""
_ABOUT_A_NAME = """
    recept recepty receptu rezervaci rezervaciu rezervace dotaz poptavka dostupnost cena cenu
    looking searching asking prescription reservation availability price rezept reservierung suche
    receta reserva disponibilidad precio baleni balenie krabicku krabice krabicky krabicek lahvicku
    box boxes pack packs packet packets bottle packung packungen schachtel schachteln caja cajas
    envases stock
"""
_LINKED = frozenset(_ABOUT_A_NAME.split())
_OTHERS_BEFORE = """
    v ve do z ze u pod pri od in at near from to en bei nach aus im am zum by with s so
    ulice ulici namesti jmeno jmenem pan pana panu pani slecna doktor doktora doktorka doktorku
    lekar lekarka magistr magistra magistru mudr dr mr mrs ms name named called namen herr frau
    senor senora nombre syn dcera manzel manzelka kolega kolegyne
"""
_BEFORE_OTHER_NAMES = frozenset(_OTHERS_BEFORE.split())
"""What stands before a place or a person, not before a medicine."""
_MAKERS = """
    zentiva teva sanofi bayer merck gsk krka sandoz pfizer novartis stada orion reckitt mylan
    viatris actavis ratiopharm herbacos walmark servier richter egis johnson haleon opella hexal
    aventis medochemie accord aurovitas dermapharm abbott roche
"""
ORDINARY_WORDS = (
    _NO_NAMES
    | _BEFORE_A_NAME
    | _CLOSING
    | _LINKED
    | _JOINING
    | _BEFORE_OTHER_NAMES
    | {"prosim", "cena", "price", "preis", "precio"}
)
"""Words that are no part of a name, though they may have a capital."""
MAKERS = frozenset(_MAKERS.split())
_REACH = 6
"""Words back within which a sentence may have asked for what it names."""
_SHORTEST_NAME = 4
_LONGEST_ORDINARY = 5
"""Letters of a name that may be an ordinary word as well."""
_FEW_WORDS = 4
"""So few words may be nothing but a name; in more, the first word of a sentence is none."""


def _is_amount(word: TypedWord) -> bool:
    return word.is_number or word.plain in UNITS or len(word.plain) <= len("ml")


class UnknownNames:
    """Finds names that are no product's, in one text."""

    def __init__(
        self,
        names: MedicineNames,
        text: str,
        words: Sequence[TypedWord],
        others: Collection[str],
        *,
        nouns: bool,
    ) -> None:
        """`words` are those of `text`; `others` are folded words that name something else here:
        people and places. `nouns` says that all nouns are written with a capital, as in German."""
        self._names, self._text, self._words = names, text, words
        self._others, self._nouns = others, nouns

    def at(self, place: int, *, beside_a_name: bool, after_a_name: bool = False) -> str | None:
        """The name that stands here, as it was written or as its label has it; None where there is
        none. `beside_a_name` says that a medicine was named right before, with `and` or a comma
        between, `after_a_name` that this sentence has named one at all."""
        word = self._words[place]
        if word.is_number or len(word.plain) < _SHORTEST_NAME or self._is_something_else(word):
            return None
        label = other_medicine(word)
        if label is not None and self._is_meant(place):
            return label
        if _SUBSTANCE.search(word.plain) and len(word.plain) >= 6:
            return word.written
        if self._has_strength(place) or self._has_form_in_brackets(place):
            return word.written
        if not word.is_capitalised or (word.opens and len(self._words) > _FEW_WORDS):
            return None
        if beside_a_name:
            return word.written
        return word.written if self._is_asked_for(place, after_a_name) else None

    def stands_beside(self, end: int, place: int) -> bool:
        """Whether only numbers, units and one joining word or comma lie between a name that ends
        there and this place."""
        between = self._words[end:place]
        joined = [word for word in between if word.plain in _JOINING]
        is_bare = all(word in joined or _is_amount(word) for word in between)
        behind = self._words[place - 1].end
        commas = self._text[behind : self._words[place].start].strip() == ","
        return is_bare and len(joined) + commas == 1

    def _is_meant(self, place: int) -> bool:
        """Whether the name of another medicine is meant as such: a short one in small letters may
        be an ordinary word."""
        word = self._words[place]
        if word.is_capitalised or len(word.plain) > _LONGEST_ORDINARY:
            return True
        return self._is_asked_right_before(place) or self._stands_before_a_number(place)

    def _stands_before_a_number(self, place: int) -> bool:
        return place + 1 < len(self._words) and self._words[place + 1].is_number

    def _is_something_else(self, word: TypedWord) -> bool:
        is_ordinary = word.plain in _NO_NAMES or word.plain in MAKERS
        return is_ordinary or word.stem in FORM_OF or word.plain in self._others

    def _has_form_in_brackets(self, place: int) -> bool:
        """Whether a form follows a capitalised word in brackets: `Iberogast (drops)`."""
        word, following = self._words[place], self._words[place + 1 : place + 2]
        if not (word.is_capitalised and following and following[0].stem in FORM_OF):
            return False
        return self._text[word.end : following[0].start].strip() == "("

    def _has_strength(self, place: int) -> bool:
        """Whether a number with a unit follows, with one short word between at most."""
        for skipped in (1, 2):
            at = place + skipped
            if at + 1 >= len(self._words):
                return False
            number = number_at(self._words, at)
            if number is not None and number.in_digits:
                return self._words[at + 1].plain in UNITS
            if len(self._words[at].plain) > 3:
                return False
        return False

    def _is_asked_for(self, place: int, after_a_name: bool) -> bool:
        if self._is_signature(place):
            return False
        asked = self._is_asked_right_before(place)
        if self._nouns:
            return asked and self._names.resembles(self._words[place])
        if asked or after_a_name:
            return asked
        return self._near_asking(place) and not self._is_place_or_person(place)

    def _is_place_or_person(self, place: int) -> bool:
        before = self._words[place - 1]
        if before.plain in _BEFORE_OTHER_NAMES or before.plain in _LINKS:
            return True
        is_apposition = "," in self._text[before.end : self._words[place].start]
        return is_apposition and before.plain in self._others

    def _is_asked_right_before(self, place: int) -> bool:
        before = self._words[place - 1].plain if place else ""
        if before in _LINKS:
            return place > 1 and self._words[place - 2].plain in _LINKED
        return before in _BEFORE_A_NAME

    def _near_asking(self, place: int) -> bool:
        """Whether the sentence has asked for something a few words before."""
        at = place
        while at > max(0, place - _REACH) and not self._words[at].opens:
            at -= 1
            if self._words[at].plain in _BEFORE_A_NAME:
                return True
        return False

    def _is_signature(self, place: int) -> bool:
        """Whether the word follows thanks or another name in its sentence, as a person's does."""
        before = self._words[place - 1]
        is_name = before.is_capitalised and not before.opens and before.plain not in self._others
        if is_name:
            return True
        at = place
        while at > 0 and not self._words[at].opens:
            at -= 1
            if self._words[at].plain in _CLOSING:
                return True
        return False
