"""What a reply claims needs a quote: values, names, denials, a yes."""

from datetime import UTC, datetime

import pytest

from deskhand.outgoing.grounding import check_grounding
from deskhand.outgoing.grounds import Grounds
from deskhand.outgoing.quoted_sources import Quote, SourceText, ToolSource
from deskhand.outgoing.sentences import _CLAUSE

NOW = datetime(2026, 11, 16, tzinfo=UTC)
DELIVERY = SourceText(
    "delivery",
    "Furniture and lamps in stock are delivered within ten working days, made-to-order desks within"
    " six weeks. We deliver in the European Union and in Norway. Delivery costs 49 EUR, and nothing"
    " for orders over 1,000 EUR.",
    "Delivery times and cost",
)
WARRANTY = SourceText(
    "warranty",
    "We give a five-year warranty on furniture and lamps and a two-year warranty on coffee"
    " machines. The warranty does not cover normal wear and damage by moisture.",
    "Warranty",
)
POST = SourceText("post", "Léky neposíláme poštou. Vyzvednout si je můžete osobně.", "Zasílání")
DRUG = ToolSource(
    "search_drugs",
    {
        "query": "ibalgin 4000 mg",
        "drugs": [
            {
                "name": "Ibalgin 400 mg",
                "pack": 24,
                "available": [
                    {"pharmacy": "Lékárna Slunce", "street": "Nádražní 140", "packs": 7},
                    {"pharmacy": "Lékárna Letná", "street": "Milady Horákové 41", "packs": 0},
                ],
            }
        ],
    },
    {"query": "ibalgin 4000 mg"},
)


def all_of(*sources: SourceText) -> list[Quote]:
    return [Quote(source.id, source.text) for source in sources]


def held(reply: str, message: str = "", *sources: SourceText, **more: object) -> list[str]:
    """The kinds of what is not backed."""
    grounds = Grounds(all_of(*sources), sources, message=message, now=NOW, **more)  # type: ignore[arg-type]
    return [claim.kind for claim in check_grounding(reply, grounds).unbacked]


@pytest.mark.parametrize(
    ("reply", "message"),
    [
        ("Made-to-order desks are delivered within six weeks.", "How long for a desk?"),
        ("Delivery costs 49 EUR.", "What does delivery cost?"),
        ("Dear customer, thank you for your message. Kind regards", "Hello"),
        ("Delivery costs 49 EUR and is free for orders over 1,000 EUR.", "Cost of delivery?"),
        ("Yes, we deliver in Norway.", "Do you deliver in Norway?"),
        ("Furniture in stock is delivered within 10 working days.", "When is furniture delivered?"),
    ],
)
def test_what_a_quote_says_leaves(reply: str, message: str) -> None:
    assert held(reply, message, DELIVERY) == []


@pytest.mark.parametrize(
    ("reply", "message"),
    [
        ("Made-to-order desks are delivered within ten working days.", "How long for a desk?"),
        ("Delivery costs 29 EUR.", "What does delivery cost?"),
        ("Delivery is free.", "What does delivery cost for 990 EUR?"),
        ("Yes.", "Do you deliver to Iceland?"),
        ("Sure!", "Do you deliver to Iceland within two days?"),
        ("As you say, delivery takes 60 days.", "Delivery takes 60 days, right?"),
        ("We do not deliver in Norway.", "Do you deliver in Norway?"),
        ("You will get a voucher from us.", "It was late."),
        ("See https://acme.example.evil.org/form for delivery.", "Where?"),
        ("Ask Karel Dvořák about delivery.", "Who?"),
        ('{"error": "no such order"}', "Where is it?"),
    ],
)
def test_what_no_quote_says_waits(reply: str, message: str) -> None:
    assert held(reply, message, DELIVERY)


def test_a_denial_must_be_the_quotes_own() -> None:
    asked = "Does the warranty cover moisture?"
    assert held("The warranty does not cover damage by moisture.", asked, WARRANTY) == []
    assert held("The warranty covers damage by moisture.", asked, WARRANTY)
    assert held("Coffee machines have a two-year warranty.", "Coffee machines?", WARRANTY) == []
    assert held("Coffee machines have a five-year warranty.", "Coffee machines?", WARRANTY)


def test_czech_denies_by_its_first_syllable() -> None:
    asked = "Posíláte léky poštou?"
    assert held("Léky poštou neposíláme.", asked, POST) == []
    assert held("Léky poštou posíláme.", asked, POST)
    assert held("Ano.", asked, POST) == ["answer"]


def test_a_quote_that_nobody_wrote_backs_nothing() -> None:
    grounds = Grounds([Quote("delivery", "Delivery takes two days.")], [DELIVERY], now=NOW)
    kinds = [claim.kind for claim in check_grounding("Delivery takes two days.", grounds).unbacked]
    assert {"quote", "value"} <= set(kinds)


def test_an_article_that_is_not_quoted_backs_nothing() -> None:
    grounds = Grounds([], [DELIVERY], now=NOW)
    assert check_grounding("Delivery costs 49 EUR.", grounds).unbacked


def test_what_a_tool_found_may_be_told_record_by_record() -> None:
    asked = "Do you have Ibalgin?"

    def found(reply: str) -> list[str]:
        return held(reply, asked, results=[DRUG])

    assert found("Ibalgin 400 mg is in stock at Lékárna Slunce, Nádražní 140: 7 packs.") == []
    assert found("Ibalgin 400 mg is in stock at Lékárna Letná: 7 packs.")
    assert found("Ibalgin 400 mg is in stock at Lékárna Letná.")
    assert found("There are 24 packs of Ibalgin 400 mg at Lékárna Slunce.")
    assert found("Ibalgin 4000 mg is in stock at Lékárna Slunce.")
    assert found("Take 4 tablets of Ibalgin a day.")
    assert found("Aspirin 400 mg is in stock at Lékárna Slunce.")


def test_the_words_that_nothing_backs_are_marked() -> None:
    reply = "Delivery costs 49 EUR. Returns take 99 days."
    grounds = Grounds(all_of(DELIVERY), [DELIVERY], message="Delivery?", now=NOW)
    first = check_grounding(reply, grounds).unbacked[0]
    assert (first.text, reply[first.start : first.end]) == ("99 days", "99 days")


CONTRACTS = SourceText(
    "contracts",
    "The Basis contract costs 180 EUR a year: one service, help within three working days. The Plus"
    " contract costs 320 EUR: two services, help on the next working day and a spare machine.",
    "Contracts",
)
DESCALING = SourceText(
    "descaling",
    "Put one sachet of descaler and one litre of water into the tank and press the button with the"
    " drop. A delivery can be moved free of charge until noon of the day before. What is usable we"
    " give to social workshops, and the rest is recycled. You receive a quote that is valid for 30"
    " days. The contract is extended if it is not cancelled.",
    "Descaling",
)


@pytest.mark.parametrize(
    ("reply", "message", "source"),
    [
        ("The Plus contract costs 320 EUR a month.", "What does Plus cost?", CONTRACTS),
        ("Plus is 320 EUR with help within three working days.", "What is Plus?", CONTRACTS),
        ("You get two services.", "How many services has Basis?", CONTRACTS),
        ("Both contracts have a spare machine.", "Spare machine?", CONTRACTS),
        ("Put one litre of vinegar into the tank.", "How do I descale?", DESCALING),
        ("Press the button with the star.", "Which button?", DESCALING),
        ("It is free of charge until noon.", "Until when can I move my delivery?", DESCALING),
        ("We burn the rest for heating and give usable ones to social workshops.", "", DESCALING),
        ("Yes, your quote remains valid.", "Quote of 10 May, today is 20 June, ok?", DESCALING),
        ("No, the contract is not extended.", "Is the contract extended?", DESCALING),
        ("I do not know the price, but the tank is made of gold.", "The price?", DESCALING),
    ],
)
def test_one_other_word_is_another_statement(reply: str, message: str, source: SourceText) -> None:
    assert held(reply, message, source)


def test_a_number_of_the_customer_may_be_told_within_the_quotes() -> None:
    machine = SourceText("machine", "The Piccolo is made for up to 15 people a day.", "Machines")
    assert held("For 12 people: the Piccolo is made for 15 people.", "12 people?", machine) == []
    assert held("For 30 people: the Piccolo is made for 15 people.", "30 people?", machine)


def test_what_leaves_something_to_a_colleague_waits_although_the_rest_is_backed() -> None:
    reply = "Delivery costs 49 EUR. I do not know the hour; a colleague will answer you."
    grounds = Grounds(all_of(DELIVERY), [DELIVERY], message="Delivery?", now=NOW)
    claims = check_grounding(reply, grounds).unbacked
    assert [claim.reason for claim in claims] == ["it leaves this open: somebody has to answer"]


def test_what_follows_a_code_is_a_clause_of_its_own() -> None:
    clauses = _CLAUSE.split("rezervace R-6MQ3WDE7: 1 x Zodac kapky, Liberec")
    assert clauses == ["rezervace R-6MQ3WDE7", " 1 x Zodac kapky", " Liberec"]
    assert _CLAUSE.split("at 10: 30") == ["at 10: 30"]


CHAIRS = SourceText(
    "chairs",
    "The Linea chair costs 289 EUR. The Forma chair carries 150 kg. Our people assemble furniture"
    " for 35 EUR a desk, 15 EUR a chair and 10 EUR a lamp.",
    "Chairs",
)
CONTRACTS = SourceText(
    "contracts",
    "The Basis contract includes one service a year. The Plus contract includes a replacement"
    " machine.",
    "Contracts",
)
CANCEL = SourceText(
    "cancel",
    "An order can be cancelled free of charge until it has been handed to the carrier.",
    "Cancelling an order",
)
TRIAL = SourceText(
    "trial", "A chair can be tried for 14 days; we collect it if you do not keep it.", "Trial"
)
HOLIDAYS = SourceText(
    "feiertage", "An Feiertagen und zwischen Weihnachten und Neujahr haben wir geschlossen.", ""
)
DISCOUNT = SourceText(
    "rabatt", "Ab 10 Stück sinkt der Preis um 5 %, ab 30 Stück um 10 %.", "Mengenrabatt"
)
MEASURES = SourceText(
    "sizes",
    "The desks come in 140 x 70, 160 x 80 and 180 x 80 cm, in oak, white or black.",
    "Desks",
)
PLACES = SourceText("places", "The contract is valid in Germany, Austria and Poland.", "Contract")


@pytest.mark.parametrize(
    ("reply", "message", "source"),
    [
        ("Good morning, yes, we deliver in Norway.", "Do you deliver in Norway?", DELIVERY),
        ("Of course. A chair can be tried for 14 days.", "Can I try a chair?", TRIAL),
        ("Should you not keep it, we collect it.", "And if I do not keep it?", TRIAL),
        ("Nein, an Feiertagen haben wir geschlossen.", "Geöffnet an Feiertagen?", HOLIDAYS),
        ("Ab 30 Stück sinkt der Preis um 10 %.", "Rabatt für 30 Stück?", DISCOUNT),
        (
            "The desks come in three sizes: 140 x 70, 160 x 80 and 180 x 80 cm.",
            "Which desks?",
            MEASURES,
        ),
        (
            "1. The desks come in oak.\n2. The desks come in white or black.",
            "Desks in oak?",
            MEASURES,
        ),
        ("It is valid in Germany, Austria and Poland; Spain is not listed.", "Spain?", PLACES),
        ("For orders over 1,000 EUR delivery is free.", "Delivery for 1,400 EUR?", DELIVERY),
    ],
)
def test_what_a_quote_says_in_other_words_leaves(
    reply: str, message: str, source: SourceText
) -> None:
    assert held(reply, message, source) == []


@pytest.mark.parametrize(
    ("reply", "message", "source"),
    [
        ("10 EUR a desk.", "What does assembly of a lamp cost?", CHAIRS),
        ("It costs 289 EUR a year.", "What is the Linea?", CHAIRS),
        ("With Basis you get a replacement machine.", "What is in Basis?", CONTRACTS),
        ("You can cancel after the order has been handed to the carrier.", "Cancel?", CANCEL),
        ("Damage by moisture is covered for five years.", "Water damage?", WARRANTY),
        ("It is valid in Germany, Austria and Poland; Poland is not listed.", "Poland?", PLACES),
        ("We deliver in Norway; Spain is not listed.", "Spain?", DELIVERY),
        ("Of course. A chair can be tried for 30 days.", "Can I try a chair?", TRIAL),
        (
            "The desks come in four sizes: 140 x 70, 160 x 80 and 180 x 80 cm.",
            "Which desks?",
            MEASURES,
        ),
        ("We pay it back in cash.", "How do you pay it back?", CANCEL),
        ("Your order can be cancelled anytime.", "Cancel?", CANCEL),
    ],
)
def test_what_says_something_else_in_like_words_waits(
    reply: str, message: str, source: SourceText
) -> None:
    assert held(reply, message, source) != []


FLONIDAN = {"product": "Flonidan", "pack": 30, "price_czk": 89, "strength": "10 mg"}
CLARITINE = {"product": "Claritine", "pack": 30, "price_czk": 238, "strength": "10 mg"}


@pytest.mark.parametrize(
    ("reply", "leaves"),
    [
        ("Flonidan is cheaper. Both are 10 mg.", True),
        ("Claritine is cheaper.", False),
        ("Both are 20 mg.", False),
    ],
)
def test_a_comparison_of_records_must_be_true(reply: str, leaves: bool) -> None:
    found = ToolSource("search_drugs", {"items": [FLONIDAN, CLARITINE]}, {"query": "allergy"})
    message = "Is Flonidan or Claritine cheaper?"
    assert (held(reply, message, results=[found]) == []) is leaves


def test_packs_of_different_sizes_are_not_compared() -> None:
    items = [FLONIDAN, {**CLARITINE, "pack": 90}]
    found = ToolSource("search_drugs", {"items": items}, {"query": "allergy"})
    message = "Is Flonidan or Claritine cheaper?"
    assert held("Flonidan is cheaper.", message, results=[found]) != []


def test_a_search_that_found_nothing_may_be_told() -> None:
    found = ToolSource("find_pharmacy", {"found": False, "query": "Zlín"}, {"query": "Zlín"})
    message = "Do you have a branch in Zlín?"
    assert held("I did not find a pharmacy of ours in Zlín.", message, results=[found]) == []
    assert held("I did not find a pharmacy of ours in Brno.", message, results=[found]) != []
    assert held("We have a pharmacy in Zlín.", message, results=[found]) != []


PROMISE = "We have refunded 45 EUR to you."


@pytest.mark.parametrize(
    "data",
    [{"text": PROMISE}, {"also": [PROMISE]}, {"ticket": {"words": f"Noted: {PROMISE} Thanks."}}],
)
def test_what_a_run_gave_to_a_tool_backs_nothing_when_it_comes_back(data: object) -> None:
    written = ToolSource("read_ticket", data, {"ticket": "T-1"}, True, (PROMISE,))
    assert held(PROMISE, "Where is my money?", results=[written]) != []


@pytest.mark.parametrize(
    ("data", "is_backed"),
    [
        ({"note": PROMISE}, False),
        ({"notes": [{"by": "a colleague", "words": f"Hello. {PROMISE}"}]}, False),
        ({"order": "O-10001", "refund": "refunded to you", "refunded": "45 EUR"}, True),
    ],
)
def test_a_deed_is_told_by_fields_and_not_by_a_text(data: object, is_backed: bool) -> None:
    """Anybody may have written the text that a tool hands back."""
    found = ToolSource("find_order", data, {"order": "O-10001"}, changed=True)
    grounds = Grounds(results=[found], message="Where is my refund?", now=NOW)
    assert check_grounding(PROMISE, grounds).backs(0, len(PROMISE))
    assert check_grounding(PROMISE, grounds.for_deeds).backs(0, len(PROMISE)) is is_backed


@pytest.mark.parametrize(
    "reply",
    [
        "Take Ibalgin 400 mg, seven packs are at Lékárna Slunce.",
        "Yes, you can use Ibalgin 400 mg, it is at Lékárna Slunce.",
        "Vezměte si Ibalgin 400 mg, je v Lékárně Slunce.",
        "Nehmen Sie Ibalgin 400 mg, Lékárna Slunce hat sieben Packungen.",
        "Tome Ibalgin 400 mg, está en Lékárna Slunce.",
    ],
)
def test_a_record_of_a_medicine_is_no_advice_to_take_it(reply: str) -> None:
    assert "subject" in held(reply, "Do you have Ibalgin 400 mg?", results=[DRUG])


@pytest.mark.parametrize(
    "reply",
    [
        "Take one tablet in the evening.",
        "We advise you to take two tablets daily.",
        "Seven packs are there. Just take Ibalgin after a meal.",
        "Vezměte si dvě tablety denně.",
        "Nehmen Sie Ibalgin nach dem Essen.",
        "Tome un comprimido al día.",
    ],
)
def test_advice_to_take_a_medicine_needs_no_strength(reply: str) -> None:
    assert "subject" in held(reply, "Do you have Ibalgin?", results=[DRUG])


@pytest.mark.parametrize(
    "reply",
    [
        "Our people take the packaging with them in the morning.",
        "Please take the code of the text message with you.",
        "It takes three days.",
    ],
)
def test_what_else_is_taken_is_no_advice(reply: str) -> None:
    assert "subject" not in held(reply, "Do you have Ibalgin?", results=[DRUG])


def test_what_a_source_says_of_taking_it_may_be_told() -> None:
    leaflet = SourceText("leaflet", "Take one tablet of Ibalgin 400 mg with water.", "Leaflet")
    reply = "Take one tablet of Ibalgin 400 mg with some water."
    assert "subject" not in held(reply, "How?", leaflet)


LETNA = SourceText(
    "hours",
    "Lékárna Letná (Milady Horákové 41, Praha 7): Mon–Fri 7:30–19, Sat 8–12.",
    "Opening hours",
)


def test_the_number_of_a_district_is_no_time_of_day() -> None:
    right = "Lékárna Letná opens at 7:30 on weekdays."
    assert held(right, "When does Letná open?", LETNA) == []
    assert held("Lékárna Letná opens at 7:00 on weekdays.", "When does Letná open?", LETNA) != []
    assert held("Lékárna Letná is in Praha 7.", "Where is Letná?", LETNA) == []


def test_a_unit_within_the_name_of_a_field_counts() -> None:
    lamp = ToolSource("find_product", {"product": "Mira lamp", "price_eur_without_vat": 79}, {})
    assert held("The Mira lamp has a price of 79 EUR.", "The price?", results=[lamp]) == []
    assert held("The Mira lamp has a price of 79 USD.", "The price?", results=[lamp]) != []
