"""Feelings and forms of address claim nothing; the same words about goods and terms do."""

import pytest

from deskhand.outgoing.grounding import check_grounding
from deskhand.outgoing.grounds import Grounds
from deskhand.outgoing.quoted_sources import Quote, SourceText, ToolSource

OPEN = "The workshop is open from Monday to Thursday."
WARRANTY = "Boats have a warranty of five years, engines of two years."
PARCEL = {"order": "K-20417", "status": "being packed", "carrier": "DPD"}


def holds(reply: str, message: str, rule: str = OPEN) -> bool:
    grounds = Grounds(
        quotes=[Quote("rule", rule)], articles=[SourceText("rule", rule)], message=message
    )
    return bool(check_grounding(reply, grounds).unbacked)


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("What a lovely plan!", "What a lovely discount you get!"),
        ("I understand your worry.", "I understand that the repair is covered."),
        ("We are glad you like your boat.", "We are glad you may return your boat."),
        ("Sorry for the noise.", "Sorry, we can refund nothing."),
        ("Good question!", "Good news, it arrives today!"),
        ("Chápeme vaši obavu.", "Chápeme, že opravu zaplatíme."),
        ("Nemusíte mít obavy.", "Nemusíte nic platit."),
        ("Ich verstehe Ihren Ärger gut.", "Ich verstehe, dass wir die Reparatur zahlen."),
        ("Das ist schade.", "Das ist kostenlos."),
        ("Entendemos la urgencia.", "Entendemos que podemos enviarlo."),
        ("¡Qué buena idea!", "¡Qué buena garantía!"),
        ("Nous comprenons votre souci.", "Nous comprenons que la livraison est payée."),
    ],
)
def test_a_feeling_claims_nothing_and_terms_do(right: str, wrong: str) -> None:
    message = "We plan a trip with our boat. When are you open?"
    assert not holds(f"{right} {OPEN}", message)
    assert holds(f"{wrong} {OPEN}", message)


@pytest.mark.parametrize(
    ("right", "wrong", "message"),
    [
        ("Hello Bev, ", "Hello Bob, ", "When are you open? - Bev"),
        ("Dobrý den, Hano, ", "Dobrý den, Zlatko, ", "Kdy máte otevřeno? Děkuji Hana"),
        ("Hallo Jörg, ", "Hallo Premium, ", "Wann habt ihr auf? LG Jörg"),
        ("Hola Rosa, ", "Hola Rubí, ", "¿Cuándo abren? Fdo. Rosa Quintero"),
    ],
)
def test_the_name_a_customer_signed_with_may_address_him(
    right: str, wrong: str, message: str
) -> None:
    found = {"place": "workshop", "hours": "Mon-Thu"}
    grounds = Grounds(results=[ToolSource("find_hours", found)], message=message)
    names: list[list[str]] = []
    for begin in (right, wrong):
        unbacked = check_grounding(f"{begin}{OPEN}", grounds).unbacked
        names.append([claim.text for claim in unbacked])
    name = wrong.split()[-1].strip(", ")
    assert not any(text == name or text.startswith(right.strip(", ")) for text in names[0])
    assert any(name in text for text in names[1])


def test_a_yes_with_a_feeling_still_says_yes() -> None:
    asked = "Are you open on Saturday?"
    for reply in ("Yes, wonderful idea!", "Sí, perfecto.", "Ano, to je prima.", "Perfecto."):
        assert holds(reply, asked)


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        (
            "Boats have a warranty of five years, engines of two years.",
            "All we sell has five years, so your engine too.",
        ),
        ("Boats have a warranty of five years.", "The engine has a warranty of five years."),
    ],
)
def test_what_a_source_pairs_stays_together(right: str, wrong: str) -> None:
    asked = "How long is the warranty?"
    assert not holds(right, asked, WARRANTY)
    assert holds(wrong, asked, WARRANTY)


@pytest.mark.parametrize(
    ("reply", "is_held"),
    [
        ("Your order K-20417 is being packed.", False),
        ("Ihre Bestellung K-20417 wird verpackt.", False),
        ("Your order K-20417 is on its way with DPD.", True),
        ("Your order K-20417 left our warehouse.", True),
        ("Ihre Bestellung K-20417 ist unterwegs.", True),
        ("Vaše objednávka K-20417 byla odeslána.", True),
        ("Su pedido K-20417 ya está en camino.", True),
    ],
)
def test_what_is_packed_is_not_on_its_way(reply: str, is_held: bool) -> None:
    grounds = Grounds(results=[ToolSource("find_order", PARCEL)], message="Where is K-20417?")
    assert bool(check_grounding(reply, grounds).unbacked) is is_held


@pytest.mark.parametrize(
    ("rule", "right", "wrong"),
    [
        (
            "The code is printed below the seat.",
            "The code is printed below the seat.",
            "The code is printed on the invoice.",
        ),
        (
            "Die Nummer steht unter dem Sitz.",
            "Die Nummer steht unter dem Sitz.",
            "Die Nummer steht auf der Rechnung.",
        ),
        (
            "An order can be changed until it is handed to the carrier.",
            "An order can be changed until it is handed to the carrier.",
            "An order can be changed even though it is handed to the carrier.",
        ),
        (
            "Un pedido se puede cambiar hasta que se entregue al transportista.",
            "Un pedido se puede cambiar hasta que se entregue al transportista.",
            "Un pedido se puede cambiar aunque se haya entregado al transportista.",
        ),
    ],
)
def test_another_place_and_another_time_are_seen(rule: str, right: str, wrong: str) -> None:
    assert not holds(right, "Please tell me", rule)
    assert holds(wrong, "Please tell me", rule)
