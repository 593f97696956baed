"""Where somebody asks for a person who is in charge, or for a person at all instead of a machine.

    wish_for_person("Put a supervisor on this, please.", "en")

A wish to be called back is none: anybody may call.
"""

import re

from deskhand.language.asks import read_parts
from deskhand.language.slots.folded_text import fold

_GAP = r"(?:[\w'-]+[ ,]+){0,5}?"
_IN_CHARGE = {
    "en": r"(?:manager|supervisor|team lead(?:er)?|director|superior|somebody senior|someone senior"
    r"|(?:somebody|someone|anyone|person|the one) (?:who|that) (?:can|may|is able to|has the)"
    r" (?:actually )?(?:decide\w*|power|authority|sign)|(?:somebody|someone) in charge"
    r"|(?:somebody|someone) higher|decision[- ]maker"
    r"|(?:real|actual|live|human) (?:person|human|being|agent)|a human(?![- ][a-z]*able))",
    "cs": r"(?:vedouci\w*|nadrizen\w*|manazer\w*|reditel\w*|sef(?:em|a|ovi)?|supervizor\w*"
    r"|kompetentni\w*|(?:nekym|nekoho|nekomu|clovek\w*),? kdo (?:o tom )?(?:muze|smi)"
    r" (?:\w+ )?rozhod\w+|zivy\w* clovek\w*|skutecny\w* clovek\w*|zivym clovekem)",
    "de": r"(?:vorgesetzte\w*|teamleit\w+|abteilungsleit\w+|geschaftsfuhr\w+|leiter(?:in)?"
    r"|verantwortliche\w*|chef(?:in)?|manager(?:in)?|entscheider\w*"
    r"|(?:jemand\w*|person|einen|jenen)(?: \w+)?,? d(?:er|ie|em) (?:\w+ )?"
    r"(?:entscheid\w+|befugt\w*)"
    r"|(?:echte\w*|richtige\w*|leibhaftige\w*) (?:mensch\w*|person)|menschen aus fleisch)",
    "es": r"(?:encargad[oa]|responsable|supervisor[a]?|superior|jef[ea]|gerente|director[a]?"
    r"|(?:alguien|una persona) (?:que|con) (?:pueda |poder |capacidad )?(?:de |para )?decidir\w*"
    r"|(?:persona|humano) (?:real|de verdad|de carne y hueso)|un humano)",
    "fr": r"(?:responsable|superieur\w*|chef\w*|directeur|directrice|superviseur\w*|manager"
    r"|quelqu'un qui (?:peut|puisse|a le pouvoir de) (?:\w+ )?(?:decider|trancher)"
    r"|(?:vraie|veritable) (?:personne|etre humain)|un humain|etre humain)",
    "pl": r"(?:kierowni\w+|przelozon\w+|menedzer\w*|manager\w*|dyrektor\w*|szef(?:em|a|owi)?"
    r"|(?:kims|kogos|kto) (?:kto )?(?:\w+ )?(?:decyduje|moze (?:\w+ )?(?:zdecydowac|decydowac))"
    r"|(?:zyw\w+|prawdziw\w+) (?:czlowiek\w*|osob\w+))",
}
"""Who is asked for."""
_ASKS = {
    "en": r"(?:want|need|like|insist on|demand|ask|asking) (?:to )?(?:speak|talk|be put|hear|meet)?"
    r"|(?:speak|talk|connect me|put me through|pass (?:me|this|it)|escalate (?:this|it)"
    r"|hand (?:this|it)|forward (?:this|it)) (?:on )?(?:to|with)|get me|give me|put"
    r"|let me (?:talk|speak)|can i (?:speak|talk)|could i (?:speak|talk)",
    "cs": r"(?:chci|chtel\w*|potrebuj\w+|zadam|vyzaduj\w+|trvam na) (?:\w+ ){0,2}?"
    r"(?:mluvit|hovorit|jednat|spojit|mluvil\w*)?"
    r"|(?:mluvit|hovorit|jednat|promluvit|spojte|prepojte|predejte|dejte mi"
    r"|zavolejte|predat|postoupit)",
    "de": r"(?:mochte|will|wunsche|verlange|bestehe auf|bitte um|brauche|sprechen|verbinden"
    r"|verbinde|leiten|leite|geben|ubergeben)",
    "es": r"(?:quiero|quisiera|exijo|necesito|pido|hablar|paseme|pasenme|pasadme|ponganme"
    r"|comuniqueme|comuniquenme|poneme|escale\w*)",
    "fr": r"(?:veux|voudrais|souhaite|exige|demande|parler|passez|transmettez|mettez-moi"
    r"|escaladez|m'adresser)",
    "pl": r"(?:chce|chcial\w*|zadam|potrzebuj\w*|prosze o|rozmawiac|porozmawiac|polacz\w*"
    r"|przekaz\w*|rozmow\w+)",
}
"""The words with which somebody asks for them, in front of them."""
_OTHERS = re.compile(
    r"\b(?:my|our|his|her|their|muj|moje\w*|nas\w*|mein\w*|unser\w*|mi|nuestr[oa]|mon|ma|notre"
    r"|moj\w*) (?:[\w-]+ )?$"
)
"""My manager is nobody whom a desk can fetch."""
_HOW_TO = re.compile(r"^(?:how|wie|jak|como|comment|wo|where|kde|gdzie|donde|ou)\b")
_PATTERNS = {
    language: re.compile(rf"\b(?:{_ASKS[language]})\b[ ,]*{_GAP}(?P<who>\b{who}\b)")
    for language, who in _IN_CHARGE.items()
}


def wish_for_person(text: str, language: str | None = None) -> str | None:
    """The first sentence that asks for somebody in charge; None where none does."""
    pattern = _PATTERNS.get(language or "")
    if pattern is None:
        return None
    for part in read_parts(text, "", language):
        folded = " ".join(fold(part.text).split())
        if _HOW_TO.search(folded):
            continue
        for match in pattern.finditer(folded):
            if _OTHERS.search(folded[: match.start("who")]) is None:
                return part.text
    return None
