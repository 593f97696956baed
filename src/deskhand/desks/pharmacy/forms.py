"""The forms of medicines: what customers call each, and what a pack of it is called."""

import re
from collections.abc import Collection

from .word_forms import fold, stem

_CALLED: dict[str, str] = {
    "tablet": """tablet tablets tabs tablety tabletu tabletach tabliet tbl tab tabletten tablette
        filmtablette filmtabletten chewable chewables zvykaci zuvacie kautabletten masticables
        comprimido comprimidos obalene""",
    "capsule": """capsule capsules caps tobolky tobolka tobolek tobolkach kapsle kapsli
        kapsul kapseln cápsula cápsulas""",
    "syrup": """syrup sirup sirupu sirupem siroup suspension suspenze jarabe jarabes saft hustensaft
        fiebersaft""",
    "drops": "drops kapky kapek kapkach kapkami kvapky kvapiek kvapkach tropfen gotas",
    "eye drops": "eye ocni augentropfen ocne colirio",
    "gel": "gel gelu gél geles",
    "cream": "cream creams krem kremu krém kremem creme cremes crema cremas",
    "ointment": "ointment mast masti mastou salbe salben pomada pomáda unguento",
    "suppository": """suppository suppositories cipky cipku cipek capiky capikov zapfchen
        supositorio supositorios""",
    "spray": "spray sprays sprej spreje sprejem nosni nasenspray sprayflasche aerosol",
    "sachet": "sachet sachets sacky sacku vrecka beutel sobres powder pulver polvo polvos",
    "effervescent": "effervescent sumive sumivy brausetabletten efervescentes",
    "lozenge": "lozenge lozenges pastilky pastilek pastillen lutschtabletten",
    "inhaler": "inhaler inhalator inhalátor inhalador",
    "pen": "pen pens pero pera pen-y pluma plumas",
    "gum": "gum zvykacky zvykacka zvykacek kaugummi chicle chicles",
    "solution": "solution roztok roztoku dezinfekce losung solución",
    "pill": """pill pills pilulka pilulky pilulek piluliek prasek prasky prasku praskov prasok
        tabletka tabletky tabletek tabletku tabletkach tabletiek tabletok pille pillen dragee
        dragees drage pastilla pastillas pildora pildoras gragea grageas""",
}
FORM_OF = {stem(fold(word)): form for form, words in _CALLED.items() for word in words.split()}
"""The form by the stem of a word for it."""

WEIGHED = frozenset(("gel", "cream", "ointment", "spray", "solution"))
"""Forms of which grams tell what a pack holds, and no strength."""

LOOSE = "pill"
"""What is swallowed whole or dissolved, whatever its box calls it."""

ONE_FOR_ANOTHER: dict[str, frozenset[str]] = {
    "tablet": frozenset(("tablet", "capsule", "effervescent", "lozenge")),
    "capsule": frozenset(("capsule", "tablet")),
    "drops": frozenset(("drops", "eye drops", "spray")),
    "spray": frozenset(("spray", "solution")),
    "cream": frozenset(("cream", "ointment", "gel")),
    "ointment": frozenset(("ointment", "cream", "gel")),
    "gel": frozenset(("gel", "cream")),
    LOOSE: frozenset(("tablet", "capsule", "effervescent", "lozenge", "sachet", "gum")),
}
"""Forms that people call by each other's names; any other form is its own."""


def fits_form(form: str, asked: frozenset[str]) -> bool:
    """Whether a product of this form is what somebody means who names these forms."""
    return any(form in ONE_FOR_ANOTHER.get(name, frozenset((name,))) for name in asked)


_GLUED = """
    nasenspray augenspray spray nasentropfen augentropfen tropfen augensalbe salbe creme gel
    hustensaft fiebersaft saft sirup brausetabletten lutschtabletten filmtabletten tabletten
    tablette kapseln kapsel zäpfchen pulver pastillen
"""
_WITH_FORM = re.compile(
    rf"\b([^\W\d_]{{4,}}?)(?:-([^\W\d_]+)|({'|'.join(_GLUED.split())}))\b", re.IGNORECASE
)


def with_forms_apart(text: str, names: Collection[str]) -> str:
    """A text with `Zodac Tropfen` for `Zodac-Tropfen` and `Zodactropfen`, where what stands before
    the form is one of the folded `names`."""

    def apart(match: re.Match[str]) -> str:
        name, joined, glued = match.groups()
        is_form = bool(glued) or stem(fold(joined)) in FORM_OF
        return f"{name} {glued or joined}" if is_form and fold(name) in names else match[0]

    return _WITH_FORM.sub(apart, text)
