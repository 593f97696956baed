"""What is read from messages: never another medicine, strength or number than the customer's."""

import random
import string
from typing import Any

import pytest

from deskhand.desks.pharmacy import wishes
from deskhand.desks.pharmacy.catalogue import sample_products
from deskhand.desks.pharmacy.category_choice import choose_category
from deskhand.desks.pharmacy.customer_request import AskedMedicine, answered, as_output, read
from deskhand.desks.pharmacy.numbers_in_words import number_at
from deskhand.desks.pharmacy.places import places_in
from deskhand.desks.pharmacy.request_check import checked
from deskhand.desks.pharmacy.word_forms import words_in

BRANDS = sorted({product.brand for product in sample_products()})
SINGLE = [brand for brand in BRANDS if " " not in brand and "-" not in brand]


def only(text: str) -> AskedMedicine:
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
        "Dobrý den, máte prosím v Praze Qorvasil?",
        "Rezervujte mi prosím dvě balení Qorvasilu v Brně.",
        "Do you have Qorvasil in Prague?",
        "Haben Sie Qorvasil 10 mg in Prag?",
        "¿Tienen Qorvasil en Praga?",
        "¿Tienen en Praga Qorvasil?",
        "Máte u vás na Letné Qorvasil?",
        "Chtěl bych v Plzni koupit Qorvasil pro maminku, paní Novotnou.",
        "I have a prescription for Qorvasil.",
        "potrebuju agen 5, maj ho u vas?",
    ],
)
def test_a_name_that_nobody_has_heard_of_is_unknown(text: str) -> None:
    assert only(text).lacks == "name"


@pytest.mark.parametrize(
    "text",
    [
        "Dobrý den, máte v Kutné Hoře lékárnu? Děkuji, Jan Novák",
        "Odložte mi prosím Aulin v Brně. Díky, Petra Malá",
        "Could you reserve Aulin for me in Brno? Thanks, Tom Barker",
        "Rezervujte mi prosím Aulin v Brně na jméno Dvořák.",
        "Could you reserve Aulin in Brno for Martin Dvorak?",
        "Máte na Žižkově pobočku?",
        "Máte v Praze, Karlíně, Aulin?",
    ],
)
def test_a_person_or_a_place_is_no_medicine(text: str) -> None:
    assert [item.name for item in read("", text).items if not item.name] == []


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
        ("Quisiera reservar Zoloft 25 mg en Praga.", "Zoloft", ("50 mg", "100 mg")),
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
            "Schovejte mi prosím čtyři balení Paralenu 500 po 24 tabletách v Olomouci.",
            ("Paralen 500 mg", 4, 24),
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
            "My prescription is for Sortis 20 mg, 100 tablets, and runs out on the 21st. Please"
            " put one box aside in Brno.",
            ("Sortis 20 mg", 1, 100),
        ),
        (
            "Bitte legen Sie mir zwei Schachteln Rennie zu 24 Stück in Prag zurück.",
            ("Rennie 680 mg", 2, 24),
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
        ("Please put a dozen boxes of Dulcolax aside in Brno.", "12"),
        ("Chtěl bych rezervovat několik balení Aulinu v Brně.", "kolik"),
        ("I would like to reserve several boxes of Dulcolax in Brno.", "how many"),
    ],
)
def test_too_many_or_unclear_packs_are_asked_back(text: str, said: str) -> None:
    assert wanted(text) == []
    assert said in request(text)["question"]


def test_a_wholesale_order_goes_to_a_person() -> None:
    text = "Potřebuju čtyřicet krabiček Dulcolaxu v Praze, platím hotově."
    assert "40 packs" in request(text, "availability")["reason"]
    text = "Please reserve ninety packs of Dulcolax for our clinic in Prague."
    assert wanted(text) == []
    assert "90 packs" in request(text)["reason"]


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("Máte Zodac 10 mg, třicítku?", 30),
        ("Haben Sie Magne B6, die Hunderter-Packung?", 100),
        ("Je skladem Smecta? Stačí krabička po 10 pytlících.", 10),
        ("Máte Ibalgin 400, balení po osmačtyřiceti?", 48),
        ("Do you have Magne B6? A box of 100, please.", 100),
    ],
)
def test_a_pack_is_known_by_its_nickname_and_by_what_it_holds(text: str, size: int) -> None:
    assert only(text).pack_size == size


def test_a_strength_may_have_a_nickname_as_well() -> None:
    strengths = {
        one.strength for one in sample_products() if one.id in only("Betaloc stovka?").products
    }
    assert strengths == {"100 mg"}


def test_a_form_before_an_and_is_the_other_medicines() -> None:
    items = read("", "Haben Sie Iberogast (Tropfen) und Buscopan 10 mg?").items
    assert [(item.written, item.lacks) for item in items] == [
        ("Iberogast", "name"),
        ("Buscopan", ""),
    ]


def test_a_town_alone_is_a_place() -> None:
    assert places_in("Zlín. Zodac 10 mg. Mají někde?").not_served == ("Zlín",)


@pytest.mark.parametrize(
    ("text", "tells"),
    [
        ("For how long is a reserved medicine kept?", False),
        ("Jak dlouho u vás drží rezervace?", False),
        ("How long is my reserved Zodac kept? I asked for it on Monday.", True),
        ("Wie lange liegt meine Reservierung noch bereit?", True),
    ],
)
def test_a_question_about_reservations_in_general_tells_of_none(text: str, tells: bool) -> None:
    assert wishes.has_reservation(text) is tells


@pytest.mark.parametrize(
    "text",
    [
        "Prosím rezervujte Panadol 24 tablet v Praze, v té vaší u nádraží.",
        "Please put aside one Panadol in Prague, at the one near the station.",
        "Bitte legen Sie Panadol zurück, in Brünn in der Apotheke, die nachts offen hat.",
    ],
)
def test_one_of_several_pharmacies_that_is_not_named_is_asked_for(text: str) -> None:
    made = request(text)
    assert made["missing"]
    assert not made.get("slots")
    assert "Lékárna" in made["question"]


@pytest.mark.parametrize(
    "text",
    [
        "Chtěl jsem psát o rezervaci gelu Fastum v Liberci. Rezervaci už nechci. Kolik stojí?",
        "I wanted to ask you to keep Zodac in Liberec. I no longer need you to hold it.",
        "Ich wollte Zodac in Liberec reservieren. Reserviert werden muss nichts mehr.",
    ],
)
def test_a_wish_that_is_taken_back_puts_nothing_aside(text: str) -> None:
    assert wanted(text) == []


def test_numbers_are_put_together() -> None:
    words = words_in("a hundred and five, twenty-eight, cuarenta y ocho, two and four, ten two")
    numbers = [number_at(words, place) for place in (0, 4, 6, 9, 12)]
    assert [number and number.value for number in numbers] == [105, 28, 48, 2, 10]


def test_a_comma_makes_two_numbers() -> None:
    assert wanted("Please put aside Zodac 10 mg, the box of thirty, two boxes, in Liberec.") == [
        ("Zodac 10 mg", 2, 30)
    ]


def test_two_medicines_in_a_mail_are_two() -> None:
    text = "Prosím odložte mi 2x Otrivin a jeden Aulin v Brně."
    assert wanted(text) == [("Otrivin 1 mg/ml", 2, 10), ("Aulin 100 mg", 1, 15)]


def test_names_in_a_list_are_all_read() -> None:
    items = read("", "Máte Aulin, Qorvasil a Otrivin?").items
    assert [item.asked for item in items] == ["Aulin", "Qorvasil", "Otrivin"]


def test_what_is_kept_is_offered_where_the_rest_is_not() -> None:
    first = request("Rezervujte mi prosím v Brně Qorvasil 10 mg a jeden Aulin.")
    assert first["missing"]
    assert "„Qorvasil 10 mg“ v našem katalogu není" in first["question"]
    assert first["question"].endswith("Máme odložit jen Aulin 100 mg?")
    done = checked(as_output(answered(first, "Ano, prosím.")), "reservation", "Ano, prosím.", first)
    assert (done["slots"]["drug_1"], done["slots"]["packs_1"]) == ("Aulin 100 mg", 1)
    assert "drug_2" not in done["slots"]


def test_a_question_of_what_is_kept_in_stock_is_no_wish_to_put_aside() -> None:
    assert not wishes.speaks_of_reserving("Do you keep Aulin in Brno?")
    assert wishes.wants_reserved("Could you keep one Aulin for me in Brno?")


# --- wishes


@pytest.mark.parametrize(
    "text",
    [
        "I had a reservation of Aulin at your pharmacy in Brno.",
        "Aulin byl podle vaší zprávy odložený v Brně.",
        "Laut Ihrer Nachricht war Aulin für mich in Brünn reserviert.",
        "Reservé Aulin en Brno la semana pasada.",
        "Please don't reserve Aulin in Brno yet, I only want to know the price.",
        "Bitte Aulin in Brünn noch nicht reservieren.",
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


@pytest.mark.parametrize(
    "text",
    [
        "Měla jsem u vás odložený Aulin. Přišla jsem do lékárny a nikde nic.",
        "You wrote that Aulin was ready for me. We drove there and came back without it.",
        "Aulin war für mich reserviert, ich bin hingegangen, und er war weg.",
        "Tenía una reserva de Aulin, fui a la farmacia y no estaba.",
    ],
)
def test_who_was_there_for_a_reservation_complains(text: str) -> None:
    assert choose_category({"abstained": True}, text, text, True).category == "complaint"


@pytest.mark.parametrize(
    "text",
    [
        "U nás v lékárně ho neměli, rezervujte mi prosím jeden Aulin v Brně.",
        "Bitte reservieren Sie mir Aulin in Brünn, ich bin am Freitag da.",
        "I came across your page. Could you reserve one Aulin for me in Brno?",
    ],
)
def test_who_was_elsewhere_or_will_come_does_not(text: str) -> None:
    assert choose_category({"abstained": True}, text, text, True).category == "reservation"


def test_a_reservation_that_nobody_asks_about_goes_to_a_person() -> None:
    told = request("I have a reservation of Aulin in Brno.", "check_reservation")
    assert told["hand_over"]
    asked = request("I have a reservation of Aulin. Is it ready?", "check_reservation")
    assert not asked.get("hand_over")


def test_a_cancellation_that_is_not_plainly_said_is_guessed() -> None:
    text = "I have a reservation of Aulin but I won't be able to pick it up."
    assert choose_category({"abstained": True}, text, text, True).category == "cancel_reservation"
    assert request(text, "cancel_reservation")["read"]["action"] == "guessed"


def test_what_the_brain_takes_for_a_complaint_goes_to_a_person() -> None:
    text = "Nikdy bych nečekala, že mě s Aulinem v Brně takhle odbudete."
    guess = {"abstained": True, "best": "complaint", "best_confidence": 0.62}
    assert choose_category(guess, text, text, True).category == "complaint"


@pytest.mark.parametrize(
    "text",
    [
        "O víkendu jsme vyrazili na výlet a s sebou měli Aulin i Otrivin, což se vyplatilo.",
        "Doma nám leží Aulin. Máte v Brně Otrivin?",
    ],
)
def test_a_medicine_that_nobody_asks_for_is_left_to_a_person(text: str) -> None:
    assert request(text, "availability")["hand_over"]


@pytest.mark.parametrize(
    "text",
    ["Aulin 100", "dobry den mate aulin v brne", "Sháním Aulin v Brně.", "Ich brauche Aulin."],
)
def test_a_name_may_be_asked_for_without_a_question_mark(text: str) -> None:
    assert not request(text, "availability").get("hand_over")


def test_what_was_asked_for_before_is_told_and_not_wanted() -> None:
    text = "We requested one Aulin in Brno by phone yesterday, please reserve it."
    assert wanted(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "Máte na Nový rok v Brně otevřeno?",
        "Is the pharmacy in Brno open on 6 July?",
        "Haben Sie am Karfreitag in Prag geöffnet?",
        "¿Abren en Semana Santa?",
    ],
)
def test_a_holiday_has_hours_of_its_own(text: str) -> None:
    assert wishes.asks_for_a_holiday(text)


def test_a_day_of_the_week_is_no_holiday() -> None:
    assert not wishes.asks_for_a_holiday("Do kolika máte v pátek v Brně otevřeno?")


def test_a_town_without_a_pharmacy_is_named() -> None:
    question = request("Rezervujte mi prosím jeden Aulin v Pardubicích.")["question"]
    assert "Pardubice" in question


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("in Prag 7", "PH03"),
        ("v Budějkách", "PH10"),
        ("in Olmütz", "PH08"),
        ("en Praga", "Praha"),
        ("v Prahe", "Praha"),
        ("in Brünn", "Brno"),
        ("u Bílého beránka", "PH07"),
        ("in the pharmacy Slunce", "PH06"),
        ("nesnáším slunce ani horko", ""),
        ("Zdraví Anděla Lvová", ""),
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


@pytest.mark.parametrize(
    ("text", "is_open"),
    [
        ("Please put Zyrtec aside. Honey tea goes well with that, right?", True),
        ("Please put Zyrtec aside. Fridays at noon, ok?", False),
        ("Please put Zyrtec aside. How are you?", False),
    ],
)
def test_a_word_at_its_end_makes_no_question_small_talk(text: str, is_open: bool) -> None:
    assert bool(wishes.open_questions(text, ["Zyrtec"])) is is_open


CONDITIONS = """
Kolik stojí Olynth? Je-li to pod 150, odložte mi ho v Brně. Kdyby víc, tak nic.
Jestli je Olynth do 150 korun, dejte mi ho stranou v Brně.
Ak je Olynth lacnejší ako 150, odložte mi ho v Brne, inak nechcem nič.
Is Olynth under 150? If so put one by for me in Brno, if not never mind.
If Olynth costs at most 150, set one aside in Brno; otherwise leave it.
Was kostet Olynth? Wenn er unter 150 Kronen liegt, legen Sie ihn in Brünn zurück.
Bitte Olynth in Brünn zurücklegen. Wenn er teurer als 150 ist, lieber nicht.
¿Cuánto vale Olynth? Si cuesta menos de 150, guárdenme uno en Brno; si no, nada.
""".strip().splitlines()


@pytest.mark.parametrize("category", ["availability", "reservation"])
@pytest.mark.parametrize("text", CONDITIONS)
def test_a_wish_tied_to_a_price_goes_to_a_person(text: str, category: str) -> None:
    made = request(text, category)
    assert made["hand_over"]
    assert not made.get("slots")


@pytest.mark.parametrize(
    "text",
    [
        "Odložte mi prosím Olynth v Brně na Kobližné. Kdyby nebyl, dejte vědět.",
        "Please reserve one Olynth in Ostrava if you have it in stock.",
    ],
)
def test_a_wish_tied_to_stock_alone_needs_nobody(text: str) -> None:
    assert wanted(text)
