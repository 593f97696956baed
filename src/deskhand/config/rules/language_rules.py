"""What makes the language of a desk or a rule wrong: a code that no language has."""

from deskhand.config.rules.finding import ConfigFinding, ConfigFindings, DeskDraft

_CODES = """
aa ab ae af ak am an ar as av ay az ba be bg bh bi bm bn bo br bs ca ce ch co cr cs cu cv cy
da de dv dz ee el en eo es et eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi ho hr ht hu
hy hz ia id ie ig ii ik io is it iu ja jv ka kg ki kj kk kl km kn ko kr ks ku kv kw ky la lb
lg li ln lo lt lu lv mg mh mi mk ml mn mr ms mt my na nb nd ne ng nl nn no nr nv ny oc oj om
or os pa pi pl ps pt qu rm rn ro ru rw sa sc sd se sg si sk sl sm sn so sq sr ss st su sv sw
ta te tg th ti tk tl tn to tr ts tt tw ty ug uk ur uz ve vi vo wa wo xh yi yo za zh zu
"""
TWO_LETTERS = frozenset(_CODES.split())
"""ISO 639-1; codes of three letters are taken as they are."""
_COUNTRIES = {
    "at": "de",
    "cn": "zh",
    "cz": "cs",
    "dk": "da",
    "gb": "en",
    "gr": "el",
    "jp": "ja",
    "ua": "uk",
    "us": "en",
}
"""Codes of countries that are no codes of languages."""


def language_problem(code: str) -> tuple[str, str] | None:
    """What is wrong with the code of a language and what to write instead; None if it is one."""
    base = code.partition("-")[0].lower()
    if len(base) != 2 or base in TWO_LETTERS:
        return None
    meant = _COUNTRIES.get(base)
    fix = "write its code of two letters (ISO 639-1), as `en`"
    if meant is not None:
        fix = f"did you mean `{meant}`?"
    return f"`{code}` is no language", fix


def language_findings(draft: DeskDraft) -> ConfigFindings:
    """Languages that the desk says it answers in, and that there are not."""
    for index, code in enumerate(draft.desk.languages):
        wrong = language_problem(code)
        if wrong is not None:
            yield ConfigFinding(("languages", index), *wrong)
