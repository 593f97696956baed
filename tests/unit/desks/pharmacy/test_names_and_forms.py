"""What stands beside a name: articles, suffixes, forms and prices are read as what they are."""

import pytest

from deskhand.desks.pharmacy.catalogue import Product, sample_products
from deskhand.desks.pharmacy.customer_request import AskedMedicine, as_output, read
from deskhand.desks.pharmacy.questions import not_kept


def only(text: str) -> AskedMedicine:
    items = read("", text).items
    assert len(items) == 1, [item.asked for item in items]
    return items[0]


def meant(text: str) -> list[Product]:
    """The products that a text asks for; none where something lacks."""
    item = only(text)
    assert not item.lacks, item
    return [product for product in sample_products() if product.id in item.products]


@pytest.mark.parametrize(
    ("text", "brand", "strength", "packs"),
    [
        ("¿Tienen Famosan, la de 40 mg?", "Famosan", "40 mg", {20}),
        ("¿Cuánto cuesta el Ibalgin ese de 600?", "Ibalgin", "600 mg", {24, 100}),
        ("Busco Micardis, el de 80, por favor.", "Micardis", "80 mg", {28}),
        ("¿Tienen Betaloc 100, la caja de 30?", "Betaloc", "100 mg", {30}),
        ("Haben Sie Sortis, das mit 20, die Packung zu 100?", "Sortis", "20 mg", {100}),
        ("Haben Sie Crestor, den mit 10?", "Crestor", "10 mg", {28}),
        ("Máte Letrox, ten 50?", "Letrox", "50 mcg", {50}),
        ("Do you have Nexium, the 40 one?", "Nexium", "40 mg", {28}),
        ("Máte Tebokan, ten po 40 mg?", "Tebokan", "40 mg", {30}),
    ],
)
def test_an_article_behind_a_name_leads_to_its_strength_or_pack(
    text: str, brand: str, strength: str, packs: set[int]
) -> None:
    products = meant(text)
    assert {(product.brand, product.strength) for product in products} == {(brand, strength)}
    assert {product.pack for product in products} == packs


@pytest.mark.parametrize(
    "text",
    [
        "¿Tienen el Rennie ese?",
        "Haben Sie Smecta, Pulver?",
        "Haben Sie Dolmina, Tabletten, in Prag?",
        "Máte Tardyferon Sanofi?",
        "Do You Have Dolmina Available in Prague?",
        "MATE DOLMINA V BRNE?",
        "Máte Helicid - je skladem?",
        "Dolmina max. 2 krabičky, máte?",
        "Prosím Sinecod Jana Nováková",
    ],
)
def test_an_apposition_makes_no_other_medicine(text: str) -> None:
    assert only(text).lacks == ""


@pytest.mark.parametrize("text", ["Máte Dolmina plus Helicid 20?", "Dolmina 100 mg + Helicid"])
def test_a_plus_between_two_names_joins_them(text: str) -> None:
    items = read("", text).items
    assert [(item.name, item.lacks) for item in items] == [("Dolmina", ""), ("Helicid", "")]


def test_a_pharmacy_is_known_by_the_adjective_of_its_town() -> None:
    assert read("", "Vede ho plzeňská lékárna?").place == "PH07"
    assert read("", "Máte v brněnských lékárnách Crestor?").place == "Brno"
    assert read("", "Dám si plzeňské pivo.").place == ""


def test_a_district_in_small_letters_is_known_beside_its_town() -> None:
    assert read("", "mate v praze na letne zodac?").place == "PH03"
    assert read("", "mate neco na slunce?").place == ""


def test_where_somebody_comes_from_is_not_asked_about() -> None:
    assert read("", "Prídem do Brna, som z Bratislavy.").places.not_served == ()
    assert read("", "Jsem ze Zlína, přijedu do Brna.").places.not_served == ()
    assert read("", "Máte pobočku v Bratislavě?").places.not_served == ("Bratislava",)


def test_the_pack_of_thirty_is_one() -> None:
    assert (only("Do you have Xyzal, the 90 pack?").pack_size) == 90


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Do you have Buscopan Extra Strength?", "Buscopan Extra Strength"),
        ("Máte Imodium Rapid v Brně?", "Imodium Rapid"),
        ("mate olynth junior", "olynth junior"),
        ("Haben Sie Dulcolax Forte?", "Dulcolax Forte"),
        ("¿Tienen Brufen, el rapid?", "Brufen rapid"),
        ("Sháním Brufen, ten forte.", "Brufen forte"),
        ("¿Tienen Fastum gel forte?", "Fastum forte"),
        ("Do you have Otrivin Breeze in Prague?", "Otrivin Breeze"),
        ("Máte Acylpyrin C?", "Acylpyrin C"),
        ("Do you have Lantus-Solo?", "Lantus Solo"),
    ],
)
def test_a_suffix_that_the_catalogue_lacks_is_said_to_be_unknown(text: str, said: str) -> None:
    item = only(text)
    assert (item.asked, item.lacks, item.products) == (said, "name", ())


@pytest.mark.parametrize(
    ("text", "brand"),
    [
        ("Máte Celaskon long?", "Celaskon Long"),
        ("Do you have Panadol Baby?", "Panadol Baby"),
        ("Do you have Nurofen for children?", "Nurofen pro děti"),
        ("Haben Sie Nurofen für Kinder?", "Nurofen pro děti"),
        ("¿Tienen Nurofen para niños?", "Nurofen pro děti"),
        ("Máte Nurofen pre deti?", "Nurofen pro děti"),
    ],
)
def test_a_suffix_that_the_catalogue_has_is_that_medicine(text: str, brand: str) -> None:
    assert {product.brand for product in meant(text)} == {brand}


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("¿Tienen pastillas de Helicid 20?", "capsule"),
        ("Do you have Tralgit 50 pills?", "capsule"),
        ("Máte tabletky Ambrobene?", "capsule"),
        ("Haben Sie die Pillen Cilkanol?", "capsule"),
        ("Máte prášky Magnosolv?", "sachet"),
        ("Máte pilulky Dolmina?", "tablet"),
        ("¿Tienen las pastillas Rennie?", "lozenge"),
        ("Haben Sie Crestor 10 Filmtabletten?", "tablet"),
    ],
)
def test_a_loose_noun_names_no_form(text: str, form: str) -> None:
    assert {product.form for product in meant(text)} == {form}


def test_pills_of_what_is_no_pill_are_not_kept() -> None:
    (item,) = as_output(read("", "Do you have Fastum pills?"))["items"]
    products = [product for product in sample_products() if product.id in item["products"]]
    assert item["lacks"] == "form"
    assert "as tablets" in not_kept(item, products, "en")


@pytest.mark.parametrize(
    "text",
    [
        "Was kostet Crestor in Kronen?",
        "Was kostet Crestor in Euro oder in Tablettenform?",
        "Ist Crestor in Ihrer Apotheke da?",
        "How much is Crestor in Czech Crowns?",
        "¿Cuánto vale Crestor en Coronas?",
        "Kolik stojí Crestor v Korunách?",
    ],
)
def test_a_currency_or_another_noun_is_no_town(text: str) -> None:
    assert read("", text).places.not_served == ()


def test_a_town_that_nobody_knows_stays_one() -> None:
    assert read("", "Haben Sie Crestor in Görlitz?").places.not_served == ("Görlitz",)
    assert read("", "Máte Crestor v Hulíně?").places.not_served == ("Hulíně",)


@pytest.mark.parametrize(
    ("text", "brand", "strength", "packs"),
    [
        ("Máte Euthyrox 100 sto tablet?", "Euthyrox", "100 mcg", {100}),
        ("je u vas ibalgin 600? sto tablet", "Ibalgin", "600 mg", {100}),
        ("Haben Sie Ibalgin 200 hundert Tabletten?", "Ibalgin", "200 mg", {100}),
        ("¿Tienen Ibalgin 600 cien comprimidos?", "Ibalgin", "600 mg", {100}),
        ("Do you have the large 100 g tube of Fastum?", "Fastum", "25 mg/g", {100}),
        ("Haben Sie die kleine 50 Gramm Tube Fastum?", "Fastum", "25 mg/g", {50}),
        ("Máte Fastum? Stačí tuba 50 g.", "Fastum", "25 mg/g", {50}),
        ("Is the 500 ml bottle of Duphalac in stock?", "Duphalac", "667 mg/ml", {500}),
        ("Do you have the 3 g sachets of Smecta?", "Smecta", "3 g", {10, 30}),
        ("Máte 1 g Augmentin?", "Augmentin", "1000 mg", {14, 21}),
    ],
)
def test_a_strength_and_what_a_pack_holds_are_two_numbers(
    text: str, brand: str, strength: str, packs: set[int]
) -> None:
    products = meant(text)
    assert {(product.brand, product.strength) for product in products} == {(brand, strength)}
    assert {product.pack for product in products} == packs


def test_a_tube_that_nobody_makes_is_no_strength() -> None:
    item = only("Do you have the 70 g tube of Fastum?")
    products = [product for product in sample_products() if product.id in item.products]
    assert "in packs of 70" in not_kept(item._asdict(), products, "en")


@pytest.mark.parametrize(
    ("text", "brand"),
    [
        ("Haben Sie Panthenol-Spray?", "Panthenol sprej"),
        ("Do you have Panthenol spray?", "Panthenol sprej"),
        ("Haben Sie Zodac-Tropfen?", "Zodac kapky"),
        ("Haben Sie Zodactropfen?", "Zodac kapky"),
        ("¿Tienen Fenistil gotas?", "Fenistil kapky"),
        ("Máte Fenistil kvapky?", "Fenistil kapky"),
        ("Haben Sie Fenistil-Gel?", "Fenistil"),
        ("¿Tienen Tantum Verde en spray?", "Tantum Verde sprej"),
        ("¿Tienen Mucosolvan en jarabe?", "Mucosolvan sirup"),
        ("Haben Sie Mucosolvansaft?", "Mucosolvan sirup"),
        ("Do you have Hydrocortison ointment?", "Hydrocortison mast"),
        ("Haben Sie Framykoin-Salbe?", "Framykoin mast"),
        ("¿Tienen Framykoin pomada?", "Framykoin mast"),
    ],
)
def test_a_form_is_known_in_every_language(text: str, brand: str) -> None:
    assert {product.brand for product in meant(text)} == {brand}


@pytest.mark.parametrize("text", ["Haben Sie Panthenol-Gel?", "Máte Zodac mast?"])
def test_another_form_than_the_kept_one_is_never_taken_for_it(text: str) -> None:
    assert only(text).lacks == "form"
