"""Words that are meant as the name of a medicine, though our catalogue has none of that name."""

import re
from collections.abc import Collection, Sequence

from .medicine_names import MedicineNames, other_medicine
from .numbers_in_words import number_at
from .word_forms import Word

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
    tubu lahvicku na rezervovat rezervujte rezervaci rezervaciu odlozit odlozte nechte beru bere
    have buy get stock medicine drug called reserve need of box boxes pack packs packet sell carry
    aside hold keep for packung packungen schachtel schachteln brauche suche haben reservieren
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
_SHORTEST_NAME = 4
_FEW_WORDS = 4
"""So few words may be nothing but a name; in more, the first word of a sentence is none."""


class UnknownNames:
    """Finds names that are no product's, in one text."""

    def __init__(
        self, names: MedicineNames, words: Sequence[Word], others: Collection[str], *, nouns: bool
    ) -> None:
        """`others` are folded words that name something else here: people and places. `nouns`
        says that all nouns are written with a capital, as in German."""
        self._names, self._words, self._others = names, words, others
        self._nouns = nouns

    def at(self, place: int, *, beside_a_name: bool) -> str | None:
        """The name that stands here, as it was written or as its label has it; None where there is
        none. `beside_a_name` says that a medicine was named right before, with `and` between."""
        word = self._words[place]
        if word.is_number or len(word.plain) < _SHORTEST_NAME or self._is_something_else(word):
            return None
        if (label := other_medicine(word)) is not None and (
            word.is_capitalised or len(word.plain) > 5
        ):
            return label
        if _SUBSTANCE.search(word.plain) and len(word.plain) >= 6:
            return word.written
        if self._has_strength(place):
            return word.written
        if not word.is_capitalised or (word.opens and len(self._words) > _FEW_WORDS):
            return None
        return word.written if self._is_asked_for(place, beside_a_name) else None

    def _is_something_else(self, word: Word) -> bool:
        return word.plain in _NO_NAMES or word.plain in self._others

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

    def _is_asked_for(self, place: int, beside_a_name: bool) -> bool:
        if beside_a_name:
            return True
        before = self._words[place - 1] if place else None
        if self._is_signature(place):
            return False
        asked = before is not None and before.plain in _BEFORE_A_NAME
        if self._nouns:
            return asked and self._names.resembles(self._words[place])
        return asked or (self._names.resembles(self._words[place]) and self._near_asking(place))

    def _near_asking(self, place: int) -> bool:
        return any(word.plain in _BEFORE_A_NAME for word in self._words[max(0, place - 4) : place])

    def _is_signature(self, place: int) -> bool:
        """Whether the word follows thanks or another name in its sentence, as a person's does."""
        if self._words[place - 1].is_capitalised and not self._words[place - 1].opens:
            return True
        at = place
        while at > 0 and not self._words[at].opens:
            at -= 1
            if self._words[at].plain in _CLOSING:
                return True
        return False


def joins(word: Word) -> bool:
    """Whether a word stands between two things of one kind."""
    return word.plain in _JOINING
