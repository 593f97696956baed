"""Plain questions are answered, whatever harmless words stand beside them; medical ones never."""

from typing import Any

import pytest

from deskhand.desks.pharmacy import answers, wishes
from deskhand.desks.pharmacy.catalogue import sample_pharmacies, sample_products
from deskhand.desks.pharmacy.customer_request import as_output, read
from deskhand.desks.pharmacy.request_check import checked
from deskhand.desks.pharmacy.signs import medical_signs
from deskhand.desks.pharmacy.wording import name_of

PLAIN = """
Dědovi je 88 let a potřebuje Furon. Máte ho v Ostravě?
Tatínek má předepsaný Micardis 80 od doktora, kde ho seženu?
Kašlu, kolik stojí Stoptussin?
Máma je 72letá a ptá se, jestli máte Eliquis 5.
Kolik stojí dohromady Visine a Nasivin?
Nasivin a Visine, kolik korun zaplatím dohromady?
Kolik tablet má balení Dulcolaxu?
Zároveň se chci zeptat, do kdy máte otevřeno v Plzni.
My grandfather is 88 years old and needs Furon. Is it in Ostrava?
For my backache I need Veral, do you stock it?
What do Visine and Nasivin cost together?
Can I have a look at what you have of Dulcolax?
Mein Opa ist 88 Jahre alt und braucht Furon. Haben Sie es in Ostrau?
Ich suche Veral gegen Rückenschmerzen, haben Sie es in Prag?
Was kosten Visine und Nasivin zusammen?
Wie viele Tabletten sind in der Packung Dulcolax?
Mi abuelo tiene 88 años y necesita Furon. ¿Lo tienen en Ostrava?
Me duele la espalda, ¿cuánto cuesta Veral?
¿Cuánto cuestan juntos Visine y Nasivin?
¿Cuántas pastillas trae la caja de Dulcolax?
Dedo má 88 rokov a potrebuje Furon. Máte ho v Ostrave?
Koľko stoja spolu Visine a Nasivin?
""".strip().splitlines()
MEDICAL = """
Můžu Visine a Nasivin dohromady? Kolik stojí?
Visine a Nasivin dohromady?
Jdou dohromady Veral a Furon a kolik stojí?
Smí babička Veral?
Dědovi je 88 let, je pro něj Veral dobrý?
Od kolika let je Nasivin a máte ho?
Kolik Veralu dát 88letému dědovi?
Je Stilnox návykový a kolik stojí?
Máte Veral a je na bolest zad?
Po Veralu mi bylo špatně, máte Dolminu?
Máte Nasivin pro děti?
Are Visine and Nasivin fine together, and what do they cost?
Do Veral and Furon go together? What do they cost together?
Do you have Veral, and is it good for an 88-year-old?
From what age is Nasivin, and do you have it?
How much Veral for my 88-year-old grandfather?
Is Stilnox addictive and how much is it?
Do you have Nasivin for kids?
Kann man Visine und Nasivin zusammen verwenden? Was kosten sie?
Gehen Veral und Furon zusammen?
Haben Sie Veral, und ist es gut für meinen Opa (88 Jahre alt)?
Ab welchem Alter ist Nasivin, und was kostet es?
Macht Stilnox abhängig, und was kostet es?
Was haben Sie gegen Rückenschmerzen?
¿Visine y Nasivin van bien juntos? ¿Cuánto cuestan juntos?
¿Veral es bueno para mi abuelo de 88 años?
¿Desde qué edad se usa Nasivin y cuánto cuesta?
¿Stilnox crea adicción y cuánto vale?
¿Tienen Nasivin para niños?
Môžem Visine a Nasivin spolu? Koľko stoja spolu?
Od koľkých rokov je Nasivin a máte ho?
Je Veral dobrý pre 88 ročného deda?
Potřebuju poradit, zda Veral zabere na koleno, a kolik stojí.
Máte Veral nebo něco podobného?
Do you have Veral or something comparable?
Haben Sie Veral oder etwas Ähnliches?
¿Tienen Veral o algo parecido?
¿Furon o Veral, cuál es mejor para la espalda? ¿Precios?
Furon oder Veral, was ist besser? Was kosten sie?
Máte Fenistil? Nevím, jestli kapky nebo gel.
""".strip().splitlines()


@pytest.mark.parametrize("text", PLAIN)
def test_a_complaint_an_age_or_a_sum_makes_no_medical_question(text: str) -> None:
    assert medical_signs(text) == []


@pytest.mark.parametrize("text", MEDICAL)
def test_a_medical_question_beside_a_plain_one_is_noticed(text: str) -> None:
    assert medical_signs(text)


@pytest.mark.parametrize("text", MEDICAL)
def test_a_medical_question_after_a_plain_sentence_is_noticed(text: str) -> None:
    assert medical_signs(f"Máte v Brně Crestor 10? {text}")


@pytest.mark.parametrize(
    "text",
    [
        "Je Furon gluten a kolik stojí?",
        "Haben Sie Furon, und ist es vegan?",
        "Do you have Furon and is it made in Germany?",
        "¿Tienen Furon y es vegano?",
        "Máte Furon a je ještě v původním obalu?",
        "Chtěla bych vědět, jestli Furon zlevní.",
        "Do you have Furon? Do you sell thermometers?",
        "Haben Sie Furon? Haben Sie Fieberthermometer?",
        "¿Tienen Furon? ¿Tienen termómetros?",
        "Máte Furon? Prodáváte i teploměry?",
        "what does furon cost and do you take cards",
        "Which pharmacy with Furon is the closest to the castle?",
    ],
)
def test_a_clause_that_the_shelves_do_not_answer_leaves_the_question_open(text: str) -> None:
    assert wishes.open_questions(text, ["Furon"])


@pytest.mark.parametrize(
    "text",
    [
        "Je Furon v Ostravě?",
        "Is it in Ostrava and how much is it?",
        "Ist Furon in Prag da, und was kostet es?",
        "¿Está Furon en Praga?",
        "Je Furon na předpis a máte ho?",
        "Is Furon sold without a prescription?",
        "Ist Furon rezeptfrei?",
        "¿Necesito receta para Furon?",
        "Jaká balení Furonu máte?",
        "How many tablets are in a box of Furon?",
        "Do kdy máte otevřeno a je tam Furon?",
        "Kann ich Furon heute bei Ihnen kaufen?",
        "Máte otevřeno i v neděli? Máte skladem Furon?",
        "Do you have any in stock? Do you have Furon?",
        "¿Tienen cajas grandes de Furon?",
    ],
)
def test_what_the_shelves_answer_is_not_open(text: str) -> None:
    assert wishes.open_questions(text, ["Furon"]) == []


@pytest.mark.parametrize(
    "text",
    [
        "Is a German prescription enough for Furon?",
        "Platí u vás slovenský recept na Furon?",
        "Kann ich Furon mit Karte bezahlen?",
        "Can I pay for Furon by card?",
    ],
)
def test_other_prescriptions_and_payments_are_a_persons(text: str) -> None:
    assert wishes.open_questions(text, ["Furon"])


@pytest.mark.parametrize(
    "text",
    [
        "Máte Furon Plus? Jestli ne, kolik stojí obyčejný Furon?",
        "Do you have Furon Rapid? Otherwise I take the plain one.",
        "Haben Sie Furon Forte? Wenn nicht, was kostet das normale?",
        "¿Tienen Furon Plus? Si no, ¿cuánto cuesta el normal?",
    ],
)
def test_another_choice_beside_what_is_not_kept_is_a_persons(text: str) -> None:
    made = checked(as_output(read("", text)), "availability", text, {})
    assert made["hand_over"]


# --- what is told


def told(text: str, shelves: int = 3) -> str:
    """The reply where every product lies on the shelves of the first pharmacies."""
    request = as_output(read("", text))
    where = [
        {
            "pharmacy_id": pharmacy.id,
            "pharmacy": pharmacy.name,
            "street": pharmacy.street,
            "city": pharmacy.city,
            "packs": 2,
        }
        for pharmacy in sample_pharmacies()[:shelves]
    ]
    drugs: list[dict[str, Any]] = [
        product._asdict()
        | {
            "name": name_of(product, "en"),
            "name_cs": name_of(product, "cs"),
            "available": where,
        }
        for product in sample_products()
    ]
    results = [{"tool": "search_drugs", "status": "success", "data": {"drugs": drugs}}]
    return str(answers.text_of_results(request, results, wishes.details_in(text))["text"])


def test_who_asks_for_a_prescription_is_told_of_it() -> None:
    assert "bez receptu" in told("Je Veral na předpis?") or "na recept" in told(
        "Je Veral na předpis?"
    )
    assert "no prescription needed" in told("Is Nasivin sold without a prescription?")
    assert "on prescription" in told("Does Crestor 10 need a prescription?")
    assert "bez receptu" not in told("Mám recept. Kolik stojí Nasivin?")


def test_a_sum_is_told_with_what_it_is_of() -> None:
    prices = {product.id: product.price_czk for product in sample_products()}
    items = read("", "Visine a Nasivin").items
    cost = sum(prices[item.products[0]] for item in items)
    assert f"stojí {cost} Kč" in told("Kolik stojí dohromady Visine a Nasivin?")
    assert f"cost {cost} CZK" in told("How much are Visine and Nasivin in total?")
    assert "Dohromady" not in told("Kolik stojí Visine a Nasivin?")
    assert f"cost {2 * prices[items[0].products[0]]} CZK" in told(
        "How much are two boxes of Visine?"
    )


def test_no_sum_is_told_of_what_is_open() -> None:
    assert "In total" not in told("How much are Crestor and Visine in total?")


def test_every_pack_is_told_where_packs_are_asked_for() -> None:
    text = told("Jaká balení Ibalginu máte?")
    assert all(f"Ibalgin {strength} mg" in text for strength in (200, 400, 600))
    assert text.startswith("V katalogu máme")


def test_products_without_room_for_their_shelves_are_named() -> None:
    text = told("Do you have Celaskon?")
    strengths = {product.strength for product in sample_products() if product.brand == "Celaskon"}
    assert all(f"Celaskon {strength}" in text for strength in strengths)


def test_what_is_sold_out_has_its_price() -> None:
    text = told("Kolik stojí Visine?", shelves=0)
    price = next(one.price_czk for one in sample_products() if one.brand == "Visine")
    assert f"{price} Kč" in text
    assert "není skladem" in text


@pytest.mark.parametrize(
    "text",
    [
        "Haben Sie in Prag Klosterfrau? Und Furon, was würde das kosten?",
        "Haben Sie Klosterfrau und Furon?",
        "haben sie furon und klosterfrau?",
        "Furon habt ihr, und Klosterfrau?",
        "máte furon a priessnitz?",
        "A kolik stojí priessnitz? Furon máte?",
        "Sháním priessnitz. A máte Furon?",
        "Potřebovala bych Furon. A priessnitz máte taky?",
        "Odložte mi prosím furon a priessnitz v Liberci.",
        "Máte Furon? Je priessnitz v Brně?",
        "Zháňam priessnitz. Máte aj Furon?",
        "Do you have furon, gaviska and veral in Brno?",
        "I need gaviska. Do you have Furon?",
        "¿Tienen furon y termalgina?",
        "Necesito termalgina. ¿Tienen Furon?",
    ],
)
def test_a_thing_beside_a_medicine_is_never_left_out(text: str) -> None:
    made = checked(as_output(read("", text)), "availability", text, {})
    assert made.get("hand_over") or len(made["items"]) > 1 + text.lower().count("veral")


@pytest.mark.parametrize(
    "text",
    [
        "Máte Furon? Kde ho v Praze dneska seženu?",
        "Do you have Furon in stock at the moment, and how much is it?",
        "Haben Sie Furon am Samstag noch auf Lager, und was kostet er?",
        "¿Tienen Furon? ¿Cuánto vale, y hasta qué hora abren hoy?",
        "Mám zájem o Furon, dostanu ho v Plzni?",
        "Ibalgin 400 po 24 tabletách a dva Paraleny 500 po 12 máte?",
        "Do you have Furon 40 mg (50 tabs) and Visine?",
        "Quick one: do you carry Lipitor 20 mg at the Letná pharmacy?",
        "Is Lipitor 20 mg at the Letná pharmacy?",
        "Haben Sie Furon-Forte in Brünn?",
    ],
)
def test_words_around_a_medicine_are_no_things(text: str) -> None:
    made = checked(as_output(read("", text)), "availability", text, {})
    assert not made.get("hand_over"), made["reason"]


def test_a_medicine_in_the_subject_alone_is_never_left_out() -> None:
    made = checked(as_output(read("Furon", "Máte Visine?")), "availability", "Máte Visine?", {})
    assert made["hand_over"]
    assert len(read("Furon", "Máte Furon 40 mg?").items) == 1
    assert len(read("Voltaren", "Máte Voltaren Emulgel 20 mg/g?").items) == 1


@pytest.mark.parametrize(
    "text",
    [
        "Máte Visine? Na kolik přijde?",
        "Are Visine and Furon in at Kobližná in Brno?",
        "What would Visine set me back?",
        "¿Tenéis Visine en Brno?",
        "Sháním Visine. V Ostravě by byly?",
        "Wie lange habt ihr heute offen, und ist Visine da?",
        "Do you have Visine? Can I come on Saturday at ten?",
        "Máte Visine? Pošlete mi ho poštou?",
        "Haben Sie Visine? Verschicken Sie auch nach Wien?",
        "¿Tienen Visine? ¿Hacen envíos a Madrid?",
    ],
)
def test_other_words_for_stock_prices_hours_and_post_are_answered(text: str) -> None:
    made = checked(as_output(read("", text)), "availability", text, {})
    assert not made.get("hand_over"), made["reason"]


def test_who_asks_for_post_is_told_that_nothing_is_sent() -> None:
    assert "poštou neposíláme" in told("Máte Visine? Pošlete mi ho poštou?")
    assert "do not send medicines by post" in told("Haben Sie Visine? Verschicken Sie es?")
    assert "poštou" not in told("Máte Visine?")


@pytest.mark.parametrize(
    "text",
    [
        "Prosím odložte mi Visine v Olomouci a pošlete ho poštou.",
        "Please reserve one Visine in Olomouc and ship it to Vienna.",
        "Bitte Visine in Olmütz zurücklegen und per Post schicken.",
    ],
)
def test_nothing_is_put_aside_for_who_wants_it_sent(text: str) -> None:
    made = checked(as_output(read("", text)), "reservation", text, {})
    assert made["hand_over"]
    assert not made.get("slots")


@pytest.mark.parametrize(
    ("text", "is_open"),
    [
        ("Please put aside one Furon in Olomouc. I hold an electronic prescription.", False),
        ("Prosím odložte mi Furon v Olomouci. Kód mi přišel do telefonu, mám ho u sebe.", False),
        ("Please put aside one Furon in Olomouc. I hold a German prescription.", True),
        ("Prosím odložte mi Furon v Olomouci. Mám eRecept, pošlete mi prosím fakturu.", True),
        ("Can I come on Saturday for a vaccination?", True),
        ("How long does Furon last?", True),
    ],
)
def test_who_tells_of_a_prescription_asks_nothing(text: str, is_open: bool) -> None:
    assert bool(wishes.open_questions(text, ["Furon"])) is is_open


def test_what_is_asked_beside_a_reservation_is_told() -> None:
    product = next(product for product in sample_products() if product.brand == "Visine")
    pharmacy = next(pharmacy for pharmacy in sample_pharmacies() if pharmacy.id == "PH08")
    made = {
        "id": "R-ABCDEFGH",
        "status": "active",
        "packs": 2,
        "product": product._asdict(),
        "pharmacy_id": pharmacy.id,
        "pharmacy": pharmacy.name,
        "street": pharmacy.street,
        "city": pharmacy.city,
        "until": "2026-11-21",
    }
    data = {"action": "create", "reservation": made}
    results = [{"tool": "manage_reservation", "status": "success", "data": data}]

    def told_of(text: str) -> str:
        request = as_output(read("", text))
        return str(answers.text_of_results(request, results, wishes.details_in(text))["text"])

    plain = "Odložte mi prosím dvě Visine v Olomouci."
    assert "stojí" not in told_of(plain)
    assert f"stojí {2 * product.price_czk} Kč" in told_of(f"{plain} Kolik to bude stát?")
    assert pharmacy.hours_cs in told_of(f"{plain} Do kolika máte zítra otevřeno?")
