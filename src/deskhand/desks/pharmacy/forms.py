"""The forms of medicines: what customers call each, and what a pack of it is called."""

from .word_forms import fold, stem

_CALLED: dict[str, str] = {
    "tablet": """tablet tablets tablety tabletu tabletach tabliet tbl tab tabletten tablette
        filmtablette filmtabletten comprimido comprimidos obalene""",
    "capsule": """capsule capsules tobolky tobolka tobolek kapsle kapsli kapsul kapseln cápsula
        cápsulas""",
    "syrup": "syrup sirup sirupu siroup suspension suspenze jarabe saft hustensaft",
    "drops": "drops kapky kapek kapkach kvapky tropfen gotas",
    "eye drops": "eye ocni augentropfen ocne",
    "gel": "gel gelu gél",
    "cream": "cream krem kremu krém creme crema",
    "ointment": "ointment mast masti salbe pomada pomáda",
    "suppository": "suppository suppositories cipky cipku cipek zapfchen supositorios",
    "spray": "spray sprej spreje nosni nasenspray aerosol",
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
