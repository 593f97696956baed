"""Products found by what customers call them; the recall is measured over the whole set."""

import pytest

from deskhand.desks.pharmacy.catalogue import sample_pharmacies, sample_products
from deskhand.desks.pharmacy.customer_request import place_in, read
from deskhand.desks.pharmacy.product_search import index_of

QUERIES = """
ibuprofen 400 = ibuprofen 400 mg
400mg ibuprofen = ibuprofen 400 mg
Ibuprofenu 600 = ibuprofen 600 mg
ibuporfen = ibuprofen
ibuprophen 200 tbl = ibuprofen 200 mg
ibalginu 400 = Ibalgin 400 mg
Ibalgyn = Ibalgin
ibalgin krem = Ibalgin krém
nurophen = Nurofen
nurofen pro deti = Nurofen pro děti
nurofenem 400 = Nurofen 400 mg
paralen = Paralen
paralenu = Paralen
Paralen 500 mg = Paralen 500 mg
paralen cipky = Paralen čípky
paracetamol 500 = paracetamol 500 mg
acetaminophen = paracetamol
paracetmol = paracetamol
aspirin = Aspirin
aspirine = Aspirin
kyselina acetylsalicylova = acetylsalicylic acid
voltaren gel = Voltaren Emulgel
diklofenak = diclofenac
diclofenac gel = diclofenac
algifen kapky = Algifen
amoxicilin 500 = amoxicillin 500 mg
amoxycillin 1000 mg = amoxicillin 1000 mg
Augmentin 1g = Augmentin 1000 mg
augmentinu 625 = Augmentin 625 mg
sumamedu 500 = Sumamed 500 mg
azitromycin = azithromycin
klarithromicin 500 = clarithromycin 500 mg
claritin = Claritine
Zyrtek = Zyrtec
zodac kapky = Zodac kapky
cetirizin 10 mg = cetirizine 10 mg
nasivin sprej = Nasivin
olinth = Olynth
mucosolvan sirup = Mucosolvan sirup
mukosolvan = Mucosolvan
ACC long 600 = ACC Long 600 mg
acc = ACC Long
tantum verde = Tantum Verde
strepsils = Strepsils
ventolinu = Ventolin
salbutamol = salbutamol
albuterol = salbutamol
helicid 20 = Helicid 20 mg
omeprazol = omeprazole
smectu = Smecta
imodyum = Imodium
černé uhlí = activated charcoal
espumisan kapsle = Espumisan
letrox 100 = Letrox 100 mcg
levothyroxinu 100 = levothyroxine 100 mcg
eutyrox 75 = Euthyrox 75 mcg
ozempik 1mg = Ozempic 1 mg
semaglutid = semaglutide
inzulin = insulin glargine
metformin 850 = metformin 850 mg
warfarinu 5 mg = warfarin 5 mg
eliquis 2,5 = Eliquis 2.5 mg
prestarium 5 mg = Prestarium 5 mg
vitamin D = vitamin D3
vitamin C 500 = vitamin C 500 mg
magnesium = magnesium
Magne B6 = Magne B6
kyselina listova = folic acid
zelezo = iron sulfate
detralexu 1000 = Detralex 1000 mg
bepanten mast = Bepanthen
panthenol sprej = Panthenol sprej
betadyne = Betadine
acyclovir = aciclovir
visine ocni kapky = Visine
nospa = No-Spa
no-spa 40 = No-Spa 40 mg
""".strip().splitlines()


def found(query: str, wanted: str) -> bool:
    """Whether the wanted name, in the wanted strength if there is one, is first."""
    hits = index_of(sample_products()).search(query, 3)
    if not hits:
        return False
    first = hits[0].product
    names = (first.brand, first.substance, first.substance_cs)
    return wanted in names or any(wanted == f"{name} {first.strength}" for name in names)


def test_what_customers_call_a_medicine_is_found() -> None:
    missed = [line for line in QUERIES if not found(*line.split(" = "))]
    recall = 1 - len(missed) / len(QUERIES)
    assert len(QUERIES) >= 75
    assert recall >= 0.95, f"recall {recall:.1%}, missed: {missed}"


@pytest.mark.parametrize(
    "text",
    [
        "Dobrý den, kdy máte otevřeno?",
        "I would like to complain about the lady at the counter.",
        "Moc děkuji, hezký den přeje Černá",
        "We can bring your website to the first page of search results.",
        "Chtěl bych se zeptat na stav své objednávky, nikdo mi neodpovídá.",
    ],
)
def test_ordinary_words_are_no_medicines(text: str) -> None:
    assert index_of(sample_products()).mentions(text) == []


def test_a_strength_nobody_makes_still_finds_the_medicine() -> None:
    assert {hit.product.brand for hit in index_of(sample_products()).search("Paralen 700")} >= {
        "Paralen"
    }


def test_several_medicines_take_turns() -> None:
    brands = [
        hit.product.brand
        for hit in index_of(sample_products()).search("Zyrtec, Nasonex and Ibalgin 400", 6)
    ]
    assert brands[:3] == ["Zyrtec", "Nasonex", "Ibalgin"]


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("v Lékárně U Anděla", "PH01"),
        ("na Letné", "PH03"),
        ("in Prague", "Praha"),
        ("v Brně", "Brno"),
        ("pod Špilberkem v Brně", "PH05"),
        ("v ceskych budejovicich", "PH10"),
        ("v Plzni", "PH07"),
        ("nowhere in particular", ""),
        ("Praha nebo Brno", ""),
    ],
)
def test_places_are_recognised_in_every_case_of_grammar(text: str, place: str) -> None:
    assert place_in(text) == place


def test_a_request_is_read_whole() -> None:
    read_ = read(
        "Rezervace", "Dobrý den, odložte mi prosím 2 balení Zodacu v Liberci. Děkuji, Jan Novák"
    )
    assert (read_.query, read_.place, read_.packs, read_.language) == (
        "Zodac 10 mg",
        "PH09",
        2,
        "cs",
    )
    assert read("", "cancel r-abcdefgh please").reservation == "R-ABCDEFGH"
    assert (
        read("", "Do you have Xarelto 20 mg?").query == "Xarelto 20 mg"
    )  # nothing we sell, and yet a name
    assert read("", "Do you have it in stock?").query == ""


def test_the_sample_data_is_large_enough_to_mean_something() -> None:
    products = sample_products()
    assert len(products) >= 150
    assert len({product.id for product in products}) == len(products)
    assert len(sample_pharmacies()) >= 8
