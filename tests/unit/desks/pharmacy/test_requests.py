"""What is read from messages: never another medicine, strength or number than the customer's."""

import random
import string
from typing import Any

import pytest

from deskhand.desks.pharmacy.catalogue import sample_products
from deskhand.desks.pharmacy.customer_request import Item, answered, as_output, read
from deskhand.desks.pharmacy.request_check import checked

BRANDS = sorted({product.brand for product in sample_products()})
SINGLE = [brand for brand in BRANDS if " " not in brand and "-" not in brand]


def only(text: str) -> Item:
    items = read("", text).items
    assert len(items) == 1, [item.asked for item in items]
    return items[0]


def request(text: str, category: str = "reservation") -> dict[str, Any]:
    return checked(as_output(read("", text)), category, text, {})


def wanted(text: str) -> list[tuple[Any, ...]]:
    """What would be put aside: medicine, number of packs, size of a pack."""
    slots = request(text).get("slots") or {}
    numbers = range(1, 4)
    return [
        (slots[f"drug_{n}"], slots.get(f"packs_{n}"), slots.get(f"size_{n}"))
        for n in numbers
        if f"drug_{n}" in slots
    ]


# --- names


@pytest.mark.parametrize("brand", SINGLE)
def test_every_name_is_read_exactly_in_the_cases_of_czech(brand: str) -> None:
    stem = brand[:-1] if brand[-1] in "ae" and len(brand) > 4 else brand
    for form in (brand, brand.upper(), brand.lower(), f"{stem}u", f"{stem}em"):
        item = only(f"Prosím o rezervaci jednoho balení {form} v Brně.")
        products = [one for one in sample_products() if one.id in item.products]
        assert (item.read, item.lacks) == ("exact", "")
        assert {product.brand for product in products} == {brand}


OTHER_NAMES = """
Concerta Lanzul Trittico Elicea Sinupret Ciprinol Duphaston Letrozol Celebrex Zofran Zyprexa Xanax
Neurol Medrol Lamictal Lexaurin Xarelto Novorapid Betaserc Prestance Furorese Tobradex Neurontin
Duspatalin Fosamax Imigran Stilamin Zocor Herplex Depakine Strattera Escitil Aurorix Candesartan
Prednisolon Metronidazol Rosuvastat Losartan Klimonorm Advil Lipitor Tylenol
"""
OTHERS = OTHER_NAMES.split()


@pytest.mark.parametrize("name", OTHERS)
@pytest.mark.parametrize(
    "text",
    [
        "Dobrý den, máte prosím {} 20 mg?",
        "Rezervujte mi prosím dvě balení {} v Brně.",
        "Could you put aside two boxes of {} for me in Prague?",
    ],
)
def test_a_medicine_that_is_not_kept_is_never_replaced(name: str, text: str) -> None:
    item = only(text.format(name))
    assert (item.name, item.lacks, item.products) == ("", "name", ())
    assert wanted(text.format(name)) == []


@pytest.mark.parametrize(
    "text",
    [
        "Máte Paralen Grip?",
        "Sháním Prestarium Neo 5 mg.",
        "Do you have Tardyferon-Fol?",
        "Máte Micardis Plus 80?",
    ],
)
def test_a_variant_of_a_name_is_another_medicine(text: str) -> None:
    assert only(text).lacks == "name"


def test_a_misspelt_name_is_never_acted_on() -> None:
    generator = random.Random(7)
    for brand in SINGLE:
        place = generator.randrange(1, len(brand))
        letter = generator.choice(string.ascii_lowercase)
        for typed in (
            brand[:place] + brand[place + 1 :],
            brand[:place] + letter + brand[place + 1 :],
            brand[:place] + letter + brand[place:],
        ):
            items = read("", f"Prosím o rezervaci jednoho balení {typed} v Brně.").items
            named = [item for item in items if item.name and item.read == "exact"]
            for item in named:  # one letter may make a case of the same name
                products = [one for one in sample_products() if one.id in item.products]
                assert brand in {product.brand for product in products}, (typed, item)


@pytest.mark.parametrize(
    ("text", "name"),
    [("Zyrteku 10 mg", "Zyrtec"), ("Nurophen 200", "Nurofen"), ("Ibalgni 400", "Ibalgin")],
)
def test_a_likely_slip_is_corrected_and_asked_back(text: str, name: str) -> None:
    text = f"Rezervujte mi prosím jedno balení {text} v Brně."
    item = only(text)
    assert (item.name, item.read) == (name, "corrected")
    assert wanted(text) == []
    assert name in request(text)["question"]


# --- strengths and packs


@pytest.mark.parametrize(
    ("text", "brand", "strengths"),
    [
        ("Rezervujte mi Euthyrox 50 v Brně.", "Euthyrox", ("75 mcg", "100 mcg")),
        ("Rezervujte mi Letrox 75 v Praze.", "Letrox", ("50 mcg", "100 mcg")),
        ("Quisiera reservar Ozempic 0,25 mg en Praga.", "Ozempic", ("0.5 mg", "1 mg")),
        ("Please reserve Concor 2.5 mg in Brno.", "Concor", ("5 mg", "10 mg")),
    ],
)
def test_a_strength_that_is_not_kept_is_said_to_be_so(
    text: str, brand: str, strengths: tuple[str, ...]
) -> None:
    item = only(text)
    assert (item.name, item.lacks) == (brand, "strength")
    question = request(text)["question"]
    assert all(strength in question for strength in strengths)
    assert wanted(text) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Rezervujte mi prosím dvě balení Detralexu 500 mg v Brně.", ("Detralex 500 mg", 2, 30)),
        ("Prosím o rezerváciu dvoch balení Aulinu v Ostrave.", ("Aulin 100 mg", 2, 15)),
        ("Odložte mi prosím 3x Fastum 50 g v Brně.", ("Fastum 25 mg/g", 3, 50)),
        ("Please hold two packs of Dulcolax in Brno.", ("Dulcolax 5 mg", 2, 30)),
        (
            "Nechte mi prosím pět krabiček Ibalginu 400, těch po 48 tabletách, v Brně.",
            ("Ibalgin 400 mg", 5, 48),
        ),
        (
            "Können Sie mir drei Packungen Flonidan in Prag zurücklegen?",
            ("Flonidan 10 mg", 3, 30),
        ),
        (
            "Quisiera reservar dos cajas de Rennie de 24 en Brno, por favor.",
            ("Rennie 680 mg", 2, 24),
        ),
        (
            "I have a prescription for Eliquis 5 mg, 60 tablets, valid until the 30th. Could you"
            " reserve one pack in Brno?",
            ("Eliquis 5 mg", 1, 60),
        ),
        ("Rezervujte mi prosím jen ten Xyzal 28 tablet v Brně.", ("Xyzal 5 mg", None, 28)),
    ],
)
def test_two_boxes_stay_two(text: str, expected: tuple[Any, ...]) -> None:
    assert wanted(text) == [expected]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Odložte mi prosím 10 krabiček Aulinu v Ostravě.", "10"),
        ("Rezervujte mi prosím půl tuctu Aulinu v Brně.", "6"),
        ("Could you hold half a dozen packs of Dulcolax in Brno?", "6"),
        ("Chtěl bych rezervovat několik balení Aulinu v Brně.", "kolik"),
        ("I would like to reserve several boxes of Dulcolax in Brno.", "how many"),
    ],
)
def test_too_many_or_unclear_packs_are_asked_back(text: str, said: str) -> None:
    assert wanted(text) == []
    assert said in request(text)["question"]


def test_a_wholesale_order_goes_to_a_person() -> None:
    text = "We would like to reserve two hundred boxes of Dulcolax in Prague."
    assert wanted(text) == []
    assert "200 packs" in request(text)["reason"]


def test_two_medicines_in_a_mail_are_two() -> None:
    text = "Prosím odložte mi 2x Otrivin a jeden Aulin v Brně."
    assert wanted(text) == [("Otrivin 1 mg/ml", 2, 10), ("Aulin 100 mg", 1, 15)]


# --- wishes


@pytest.mark.parametrize(
    "text",
    [
        "Your confirmation said that two packs of Aulin were set aside for me in Brno.",
        "Minulý týden jsem si u vás rezervovala Aulin v Brně.",
        "Pokud s tím doktor souhlasí, rezervujte mi prosím Aulin v Brně.",
        "Mám doma Zyrtec. Rezervujte mi prosím jeden Aulin v Brně.",
        "Rezervujte mi prosím Aulin v Brně. Může ho vyzvednout manžel na můj průkaz?",
        "Potvrzujeme rezervaci: Aulin, 1 balení, Brno.",
    ],
)
def test_only_a_plain_request_puts_something_aside(text: str) -> None:
    assert wanted(text) == []
    assert request(text)["hand_over"]


def test_a_town_without_a_pharmacy_is_named() -> None:
    question = request("Rezervujte mi prosím jeden Aulin v Pardubicích.")["question"]
    assert "Pardubice" in question


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("in Prag 7", "PH03"),
        ("v Budějcích", "PH10"),
        ("in Olmütz", "PH08"),
        ("en Praga", "Praha"),
        ("v Prahe", "Praha"),
        ("in Brünn", "Brno"),
        ("u Bílého beránka", "PH07"),
        ("at Slunce in Ostrava", "PH06"),
        ("mám alergii na slunce", ""),
        ("Jste andělé! Anděla Beránková", ""),
    ],
)
def test_places_are_known_in_other_languages_and_no_word_is_taken_for_one(
    text: str, place: str
) -> None:
    assert read("", text).place == place


# --- answers to our questions


def test_an_answer_completes_what_was_asked() -> None:
    first = request("Prosím o rezervaci dvou balení Controlocu v Plzni.")
    assert first["missing"]
    again = answered(first, "Ten 40 mg, 14 tablet.")
    text = "Ten 40 mg, 14 tablet."
    done = checked(as_output(again), "reservation", text, first)
    assert (done["slots"]["drug_1"], done["slots"]["packs_1"]) == ("Controloc 40 mg", 2)
    assert done["place"] == "PH07"


def test_a_yes_confirms_a_corrected_name() -> None:
    first = request("Rezervujte mi prosím jedno balení Zyrteku 7 tablet v Brně.")
    again = answered(first, "Ano, přesně tak.")
    done = checked(as_output(again), "reservation", "Ano, přesně tak.", first)
    assert done["read"]["drug_1"] == "confirmed"


def test_a_name_after_a_question_about_stock_puts_nothing_aside() -> None:
    first = checked(as_output(read("", "Máte ho skladem?")), "reservation", "Máte ho skladem?", {})
    text = "Myslím Aulin v Brně."
    done = checked(as_output(answered(first, text)), "reservation", text, first)
    assert "slots" not in done
