"""Names of people in texts, known by what stands around them: a title, a greeting, a relative, the
end of a letter, or a capital letter where only a name has one.

Every pattern looks at a bounded stretch of text, so that no text makes the search slow.
"""

import re
from collections.abc import Iterator

from deskhand.brain.first_names import is_first_name
from deskhand.brain.word_lists import any_of

_TITLES = (
    "mr|mrs|ms|miss|mx|sir|madam|dr|prof|herr|herrn|frau|fräulein|pan|pana|panu|panem|pane|paní"
    "|pani|slečna|slečny|slečno|mudr|ing|mgr|judr|bc|sr|sra|srta|señor|señora|don|doña|monsieur"
    "|madame|mme|mlle|signor|signora|dhr|mevr|panią"
)

_GREETINGS = (
    "dear|hi|hello|hey|hallo|liebe|lieber|liebes|guten tag|sehr geehrte|sehr geehrter|moin|servus"
    "|milá|milý|vážená|vážený|ahoj|čau|hola|estimada|estimado|querida|querido|buenos días"
    "|buenas tardes|buenas|bonjour|ciao|beste|geachte|thanks|thank you|danke|děkuji|díky|gracias"
    "|cześć|szanowny|szanowna|drogi|droga"
)

_RELATIVES = (
    "wife|husband|son|daughter|mother|mum|mom|father|dad|brother|sister|aunt|uncle|cousin|nephew"
    "|niece|grandmother|grandfather|grandma|grandpa|gran|grandson|granddaughter|colleague"
    "|neighbour|neighbor|friend|boss|partner|flatmate|roommate|assistant|secretary|manager|driver"
    "|courier|technician|agent|adviser|advisor|landlord|tenant|girlfriend|boyfriend|fiancée"
    "|fiancé|ex-wife|ex-husband|mother-in-law|father-in-law|carer|ehefrau|frau|mann|ehemann|sohn"
    "|tochter|mutter|vater|bruder|schwester|tante|onkel|oma|opa|kollege|kollegen|kollegin|nachbar"
    "|nachbarn|nachbarin|freund|freundin|chef|chefin|mitarbeiter|mitarbeiterin|fahrer|techniker"
    "|schwager|schwägerin|schwiegermutter|vermieter|manžel|manžela|manželovi|manželem|manželka"
    "|manželky|manželce|manželku|manželkou|syn|syna|synovi|synem|dcera|dcery|dceři|dceru|dcerou"
    "|matka|matky|matce|matku|maminka|maminky|otec|otce|otci|táta|bratr|bratra|sestra|sestry"
    "|sestře|sestru|babička|babičky|dědeček|kolega|kolegy|kolegovi|kolegu|kolegou|kolegyně"
    "|kolegyni|soused|souseda|sousedka|sousedky|sousedce|sousedku|přítel|přítele|přítelkyně"
    "|kamarád|kamarádka|šéf|řidič|řidiče|technik|technika|švagr|tchyně|mujer|esposa|esposo|marido"
    "|hijo|hija|madre|padre|hermano|hermana|tía|tío|abuela|abuelo|primo|prima|compañero|compañera"
    "|vecino|vecina|amigo|amiga|jefe|jefa|pareja|novio|novia|cuñado|cuñada|suegra|suegro"
    "|repartidor|técnico|sobrina|sobrino|żona|żony|mąż|męża|córka|córki|brat|siostra|sąsiad"
    "|sąsiadka|moglie|marito|figlio|figlia|vrouw|man|zoon|dochter|buurman|buurvrouw|femme|mari"
    "|fils|fille|voisin|voisine|mama|mami|papa|papi|omi|opi|mutti|vati|babi|děda|mamie|papy|frère"
    "|sœur|oncle|collègue|patron|patronne|ami|amie|cousine|gardien|gardienne|concierge|portero"
    "|portera|conserje|doorman|porter|receptionist|treasurer|caretaker|designer|engineer"
    "|hausmeister|empfang|vrátný|vrátnému|ředitel|ředitelka|technicien|technicienne"
)

_ANNOUNCED = (
    "name is|names|named|called|i am|i'm|im|it's|this is|signed|c/o|attn|attention|on behalf of"
    "|in the name of|under the name|account holder|holder|contact|ask for|spoke to|spoke with"
    "|talked to|talking to|speak to|written by|sent by|from|by|with|and|to|for|cc|name|patient"
    "|customer|recipient|insured|beneficiary|heiße|heisse|mein name ist|name ist|namens|heißt|von"
    "|an|mit|und|für|z. hd.|z.hd.|i. a.|i.a.|i. v.|empfänger|empfängerin|kontoinhaber"
    "|kontoinhaberin|inhaber|auf den namen|gezeichnet|gez.|bei|ansprechpartner|ansprechpartnerin"
    "|jmenuji se|jmenuju se|jmenuje se|jméno|jménem|na jméno|já jsem|jsem|u|od|pro|s|se|příjemce"
    "|majitel|majitelka|k rukám|me llamo|se llama|soy|mi nombre es|a nombre de|nombre|titular|con"
    "|de|para|por|firmado|atención|destinatario|destinataria|nazywam się|imię|dla|mi chiamo"
    "|ik ben|naam|je m'appelle|nom|contacto|kontakt|kontaktperson|ansprechpartner sind|responsable"
    "|interlocuteur|interlocutrice|chez|avec|pour|usa|lo usa|firma"
)

_ENDINGS = (
    "regards|wishes|sincerely|faithfully|truly|cheers|thanks|thank you|best|yours|love"
    "|respectfully|grüße|grüßen|grüsse|grüssen|gruß|gruss|mfg|lg|vg|danke|hochachtungsvoll|dank"
    "|pozdravem|pozdravy|pozdrav|děkuji|díky|dík|předem|hezký den|úctou|saludos|saludo"
    "|atentamente|gracias|cordialmente|abrazo|besos|pozdrawiam|dziękuję|cordialement|saluti|groet"
    "|groeten|ta"
)
_LOGIN_WORDS = (
    "login|username|user name|user|handle|nick|nickname|benutzer|benutzername|přezdívka|usuario"
    "|identifiant|pseudo"
)
_CALLED = (
    "my name is|name is|name's|i am called|named|mein name ist|ich heiße|heißt|namens|jmenuji se"
    "|jmenuju se|jmenuje se|me llamo|se llama|a nombre de|mi nombre es|nazywam się|na nazwisko"
    "|je m'appelle|auf den namen|na jméno|surname|last name|nachname|příjmení|apellido|nazwisko"
    "|au nom de|odbiorca|odbiorcy|intestato a|intestata a|beneficiary|account holder|titular"
    "|kontoinhaber|kontoinhaberin|titulaire|majitel účtu|mi chiamo"
)
_SAID = (
    "said|says|told|called|wrote|promised|asked|thinks|meant|signed|broke|paid|brought|picked"
    "|agreed|insisted|phoned|meinte|meint|sagte|sagt|schrieb|rief|versprach|bestellte|zahlte"
    "|kommt vorbei|holt|nimmt an|řekl|řekla|říkal|říkala|slíbil|slíbila|volal|volala|psal|psala"
    "|dijo|dice|llamó|prometió|firmó|pagó|a dit|dit que|a promis|a appelé|a signé"
    "|ze servisu|ze skladu|z účtárny|from accounts|from sales|from our|aus dem lager"
)
_CAPITAL = r"[^\W\d_a-zß-öø-ÿāăąćčďđēęěğīıłńňőœřśşšťůűźżž]"
CAPITALIZED_WORD = rf"{_CAPITAL}[\w'’.-]{{0,30}}"
_GAP = r"(?<!\w\w\w\.)[ ]"
"""Between two words of a name; a full stop after a whole word ends the sentence."""
_PARTICLE = r"(?:del?|la|van|von|der|den|da|dos|zu|y|e|bin|al|el)[ ]"
_NAME = rf"{CAPITALIZED_WORD}(?:{_GAP}(?:{_PARTICLE}){{0,3}}{CAPITALIZED_WORD}){{0,3}}"
_ANY_WORD = r"[^\W\d_][\w'’-]{2,40}"
_WROTE = r"(?: wrote| schrieb| napsal\w{0,3}| escribió)?:"
_TITLE = any_of(_TITLES) + r"\.? "

NAMES: tuple[re.Pattern[str], ...] = tuple(
    re.compile(pattern)
    for pattern in (
        rf"(?<!\w){any_of(_LOGIN_WORDS)}(?: is| ist| je| es|:)? ([\w.-]{{3,40}})",
        rf"(?<!\w){any_of(_CALLED)}[ :]{{1,3}}({_ANY_WORD}(?: {_ANY_WORD})?)",
        rf"(?<!\w){_TITLE}((?:{_TITLE}){{0,3}}{_NAME})",
        rf"(?<!\w){any_of(_GREETINGS)},? ({_NAME})",
        rf"(?<!\w){any_of(_RELATIVES)}(?: is|, |:| \()? ?({_NAME})",
        rf"(?<!\w){any_of(_ANNOUNCED)}:? ({_NAME})",
        rf"(?:^|\n)(?:\w{{1,30}} )?({_NAME})(?={_WROTE})",
        rf"(?<!\w){any_of(_ENDINGS)}(?: [^\n]{{0,25}})?[,.!]{{0,3}}[ \t\r]{{0,3}}\n\s{{0,8}}"
        r"([^\s\d@][^\n\d@]{1,40})(?=\n|$|\")",
        rf"(?<![.!?:\w\n] )(?<=[\w,;(] )({CAPITALIZED_WORD}(?:{_GAP}{CAPITALIZED_WORD}){{1,6}})",
        r"(?<!\w)((?:[A-Z]\.[ -]?){2,6}|[A-Z]\. [A-Z]\w{1,30})",
        rf"(?<!\w)({CAPITALIZED_WORD} [A-Z]\.)",
    )
)
"""The group is the name."""
_CAPITALIZED = re.compile(
    rf"(?<=[\w,;(\"„“] )({CAPITALIZED_WORD}(?:{_GAP}{CAPITALIZED_WORD}){{0,6}})"
    rf"|(?:^|\n|[.!?:] )({CAPITALIZED_WORD}(?:{_GAP}{CAPITALIZED_WORD}){{1,6}})"
    rf"|(?:^|\n)({CAPITALIZED_WORD})(?=,|\n|$)"
)
"""Words that only a name is written like, in languages that write nouns small."""
_TWO_CAPITALIZED = re.compile(rf"(?<!\w)({CAPITALIZED_WORD}) ({CAPITALIZED_WORD})(?!\w)")
"""Two such words side by side, which are seldom two nouns in German."""
_ONE_CAPITALIZED = re.compile(rf"(?<![\w@.-]){_CAPITAL}[^\W\d_]{{1,20}}(?![\w@])")
_WHO_SAID = re.compile(rf"(?<![\w@.-])({_CAPITAL}[^\W\d_]{{2,20}}) (?={any_of(_SAID)}(?!\w))")
"""Whoever says or pays something is somebody."""
_MONTH_AS_NAME = re.compile(r"\b(April|May|June|August) (?=from (?:our|the|my)|said|called|told)")
"""`April from our office` is no month."""
_SCRIPTS = (r"\u0400-\u04ff", r"\u0370-\u03ff", r"\u0600-\u06ff")
_OTHER_SCRIPT = re.compile(
    r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]{2,8}|"
    + "|".join(rf"[{script}]{{2,30}}(?: [{script}]{{2,30}}){{0,2}}" for script in _SCRIPTS)
)
"""A few words of another script between Latin ones are a name or an address."""
_NOUNS_FOLLOW = (
    "ich du er sie es wir ihr der die das den dem des ein eine einen einem einer mein meine"
    " meinen meinem meiner ihre ihren ihrem ihrer unser unsere unseren kein keine keinen"
    " bitte leider am im in an auf zum zur mit von bei nach für und oder wenn als wie was"
    " wann wo warum können könnten haben hat ist sind war seit diese dieser dieses diesen"
    " alle beide gestern heute morgen sehr geehrte geehrter liebe lieber hallo guten danke"
    " vielen beste freundliche viele aber auch laut ohne unter über vor durch gegen um aus"
    " jetzt nun dann damit trotz wegen lg mfg re fwd"
)
_BEFORE_NOUNS = frozenset(_NOUNS_FOLLOW.split())
"""German words that a noun follows."""
_NOBODY = (
    "I I'm I'd I've I'll Monday Tuesday Wednesday Thursday Friday Saturday Sunday January"
    " February March April May June July August September October November December English"
    " German Czech Spanish French Polish OK PDF SMS VAT IBAN GPS USB TV UK EU USA EUR CZK GBP"
    " USD PIN ID WhatsApp PayPal DHL UPS DPD GLS PPL Visa Mastercard Google Apple Christmas"
    " Easter Hello Hi Dear Thanks Thank Please Regards Best Yours Dobrý Děkuji Hola Gracias"
    " Saludos Bonjour Merci Cordialement Dzień Dziękuję Pozdrawiam Customer Agent Order"
    " Subject From Re"
)
_SMALL_WORDS = (
    "a an the i my me we our you your he she it its his her this that these those there here if"
    " when what who where why how can could would will shall should do does did is are was were"
    " have has had no not yes and or but so as at by for from in into of on to with after before"
    " since until nobody somebody also name address account number primary mail email e-mail"
    " phone date delivery der die das den dem des ein eine ich sie er es wir ihr ihnen ihre mein"
    " meine im am auf bei mit von zu zum zur und oder aber bitte leider wenn wann wie wo nicht"
    " kein adresse anschrift anhang lieferung nummer el la los las un una él ella mi su lo le se"
    " si sí y o de del en con por para que qué cuando como buenas buenos na v ve s z ze za od po"
    " u k ale že já vy ona ten ta tím jak kdy kde co prosím peníze vážení dobrý les une je vous"
    " nous mon ma mes et ou pour pas w nie tak proszę państwa pan pani pesel cif abo pedido"
    " bestellung zamówienie auftrag objednávka rechnung konto factura faktura order invoice"
)
"""Words that begin a sentence or a heading with a capital."""
_ANNOUNCING = "|".join((_TITLES, _GREETINGS, _LOGIN_WORDS, _ENDINGS))
_NOT_NAMES = frozenset(
    (*_NOBODY.casefold().split(), *_SMALL_WORDS.split(), *_ANNOUNCING.split("|"))
)
"""Words with a capital that name nobody."""
_WORDS_OF_A_NAME = 4
_LONGEST_SIGNATURE = 40


def is_nobody(word: str) -> bool:
    """Whether a word names nobody, however it is written."""
    return word.casefold().strip(".,") in _NOT_NAMES


def without_titles(name: str) -> str:
    """The name without what stands before it, as `Herr` does; empty where nothing else is there."""
    words = name.split()
    while words and is_nobody(words[0]):
        del words[0]
    return " ".join(words)


def capitalized_names(text: str, *, is_german: bool) -> Iterator[str]:
    """Words whose capital letter says that they are names; nouns have one in German too."""
    yield from _first_names(text)
    yield from (match[1] for match in _MONTH_AS_NAME.finditer(text))
    yield from (match[1] for match in _WHO_SAID.finditer(text))
    if len(re.findall(r"[a-zA-Z]", text)) > len(text) // 3:
        yield from (match[0] for match in _OTHER_SCRIPT.finditer(text))
    if not is_german:
        for match in _CAPITALIZED.finditer(text):
            yield from match[match.lastindex or 0].split()
        return
    for match in _TWO_CAPITALIZED.finditer(text):
        if match[1].casefold() not in _BEFORE_NOUNS:
            yield from match.groups()


def _first_names(text: str) -> Iterator[str]:
    """First names with a capital, wherever they stand."""
    for match in _ONE_CAPITALIZED.finditer(text):
        if is_first_name(match[0]):
            yield match[0]


def signature_in(text: str) -> str | None:
    """The last line of a letter where it may be a name."""
    before, _, last = text.rstrip().rpartition("\n")
    last = last.strip()
    if not before or not 1 < len(last) <= _LONGEST_SIGNATURE or re.search(r"[\d@:?]", last):
        return None
    return last if len(last.split()) <= _WORDS_OF_A_NAME else None
