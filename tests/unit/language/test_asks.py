"""What a message asks is found, in six languages, with its place."""

import pytest

from deskhand.language.asks import MOST_PARTS, PartKind, read_parts


def asks(text: str, subject: str = "", language: str | None = None) -> list[str]:
    parts = read_parts(text, subject, language)
    return [part.text for part in parts if part.kind is PartKind.ASK]


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("en", "Hi, do you sell hoses, and what does delivery cost?\nBest\nAnn", 2),
        ("en", "Could you tell me whether you repair kettles. Thank you so much!", 1),
        ("cs", "Dobrý den, prodáváte hadice a kolik stojí doprava?\nDěkuji\nJana", 2),
        ("cs", "Zajímá mě, jestli opravujete konvice. Hezký den", 1),
        ("de", "Guten Tag, haben Sie Schläuche, und was kostet die Lieferung?\nGruß", 2),
        ("de", "Was kostet ein Schlauch im Jahr, und könnt ihr ihn auch kürzen?", 2),
        ("de", "Ich wollte fragen, ob Sie Kessel reparieren. Danke!", 1),
        ("en", "My boss asks whether you repair kettles. Our office is in Leeds.", 1),
        ("cs", "Vaříme denně. Hlavně nás zajímá, jak rychle konvici opravíte.", 1),
        ("de", "Meine Frau will auch wissen, wie lange die Garantie gilt.", 1),
        ("de", "Ich weiß, wie der Kessel funktioniert.", 0),
        ("es", "Mi jefa quiere saber cuánto dura la garantía.", 1),
        ("fr", "Ma collègue voudrait savoir combien de temps dure la garantie.", 1),
        ("pl", "Szefowa pyta, ile trwa gwarancja.", 1),
        ("es", "Hola, ¿tienen mangueras y cuánto cuesta el envío?\nUn saludo", 2),
        ("fr", "Bonjour, avez-vous des tuyaux et combien coûte la livraison ?\nMerci", 2),
        ("pl", "Dzień dobry, czy macie węże i ile kosztuje dostawa?\nPozdrawiam", 2),
    ],
)
def test_each_question_is_one_ask(language: str, text: str, expected: int) -> None:
    assert len(asks(text, language=language)) == expected


def test_items_of_a_list_that_is_asked_for_are_asks() -> None:
    text = "Hello,\nplease let us know:\n- price per metre\n- delivery time\n\nRegards\nBo"
    assert asks(text, language="en") == ["price per metre", "delivery time"]


def test_a_condition_stays_with_its_question() -> None:
    assert asks("If it rains, what happens to the tour?", language="en") == [
        "If it rains, what happens to the tour?"
    ]
    both = "And if we can't take it that day, when can you come again, and do you charge for that?"
    assert asks(both, language="en") == [
        "And if we can't take it that day, when can you come again",
        "and do you charge for that?",
    ]


def test_a_word_that_only_joins_asks_nothing() -> None:
    text = "Kindly advise:\n1. your charge for assembly; and\n2. whether you take old desks away."
    assert asks(text, language="en") == [
        "your charge for assembly",
        "whether you take old desks away.",
    ]


def test_statements_wishes_and_thanks_ask_nothing() -> None:
    parts = read_parts("Thank you for the hose. It arrived. We want two more.", "", "en")
    assert [part.kind for part in parts] == [PartKind.THANKS, PartKind.STATEMENT, PartKind.WISH]


def test_every_part_says_where_it_stands() -> None:
    text = "Dobrý den,\nmáme zahradu. Kolik stojí hadice?\n\nS pozdravem\nEva Malá"
    for part in read_parts(text, "", "cs"):
        assert text[part.start : part.end] == part.text


def test_an_ask_comes_with_what_was_said_before_it() -> None:
    [_, ask] = read_parts("We rent a Grande. Who services it?", "", "en")
    assert ask.in_context == "We rent a Grande. Who services it?"


def test_the_subject_asks_where_the_text_does_not() -> None:
    assert asks("", "How high does the ladder go?", "en") == ["How high does the ladder go?"]
    assert asks("Is it in stock?", "How high does it go?", "en") == ["Is it in stock?"]


def test_closing_words_close_only_where_nothing_long_follows() -> None:
    long = "The lamp that we bought last week in your shop in Brno does not go on at all."
    closed = read_parts(f"What does it cost?\nThank you\nAnn\n{long}", "", "en")
    assert closed[-1].text == long
    assert len(read_parts("What does it cost?\nThank you\nAnn Lee", "", "en")) == 1


def test_an_endless_message_is_read_to_a_limit() -> None:
    assert len(read_parts("Why? " * 100_000, "", "en")) <= MOST_PARTS
    assert read_parts("", "", None) == []
    assert read_parts("¿? ... !!! \x00", "", None) == []


@pytest.mark.parametrize(
    ("language", "text", "asked"),
    [
        ("en", "Two small things: how do I add a guest? We grew.", ["how do I add a guest?"]),
        ("de", "Ich habe zwei Fragen. Was kostet es? Wann?", ["Was kostet es?", "Wann?"]),
        (
            "cs",
            "Mám dva dotazy. Kolik to stojí? A kdy to bude?",
            ["Kolik to stojí?", "A kdy to bude?"],
        ),
        ("fr", "Une chose m'échappe : le prix est par personne ?", ["le prix est par personne ?"]),
        ("cs", "Mám dotaz.", ["Mám dotaz."]),
    ],
)
def test_what_only_announces_a_question_asks_nothing_beside_it(
    language: str, text: str, asked: list[str]
) -> None:
    assert asks(text, "", language) == asked


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "Hi, how are you? What does the lamp cost?"),
        ("cs", "Dobrý den, jak se máte? Kolik stojí doprava?"),
        ("de", "Hallo, wie geht es Ihnen? Was kostet die Lampe?"),
        ("es", "Buen día, ¿cómo les va? ¿Cuánto cuesta la silla?"),
        ("fr", "Bonjour, comment allez-vous ? Quel est le prix ?"),
        ("pl", "Dzień dobry, co słychać? Ile kosztuje lampa?"),
    ],
)
def test_who_asks_after_somebody_wants_no_answer(language: str, text: str) -> None:
    asks = [part.text for part in read_parts(text, language=language) if part.kind is PartKind.ASK]
    assert asks == [text.rpartition("? ")[2] if "¿" not in text else "¿Cuánto cuesta la silla?"]


def test_a_question_that_begins_like_a_courtesy_is_one() -> None:
    [part] = read_parts("¿Qué tal os va el martes?", language="es")
    assert part.kind is PartKind.ASK


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "Is the kettle lost for good, or can it be mended?"),
        ("cs", "Dá se ta konvice opravit, nebo je po ní?"),
        ("de", "Kann man den Kessel flicken oder ist er hin?"),
        ("es", "¿Se arregla la tetera o tengo que comprar otra?"),
        ("fr", "Est-ce que la bouilloire se répare ou faut-il la jeter ?"),
        ("pl", "Czy czajnik da się naprawić, czy trzeba kupić nowy?"),
    ],
)
def test_two_possibilities_are_one_ask(language: str, text: str) -> None:
    assert asks(text, "", language) == [text]


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "Can I check somewhere whether the shop is open?"),
        ("cs", "Můžete mi říct, kolik vody se tam vejde?"),
        ("de", "Wo kann ich nachsehen, ob der Laden offen hat?"),
        ("es", "¿Dónde puedo ver si la tienda está abierta?"),
        ("fr", "Où puis-je voir si le magasin est ouvert ?"),
        ("pl", "Gdzie mogę sprawdzić, czy sklep jest otwarty?"),
        ("cs", "Za jak dlouho dodáte konvice, které máte v Brně?"),
        ("de", "Haben Sie Kessel, welche pfeifen?"),
    ],
)
def test_what_somebody_wants_to_see_or_describes_is_no_second_ask(language: str, text: str) -> None:
    assert asks(text, "", language) == [text]


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "When I pour the tea, the lid falls off. "),
        ("en", "My aunt mentioned how kindly you look on choirs. "),
        ("cs", "Jak už jsem psala, čaj máme rádi. "),
        ("de", "Was mich wundert: Der Deckel war gestern noch dran. "),
        ("es", "Que el té está rico ya lo sabéis. Además, llevo años con vosotros. "),
        ("es", "Cuando uno se hace mayor, el café le sienta mal. "),
        ("fr", "Quand je verse le thé, le couvercle tombe. "),
        ("pl", "Jak już pisałam, herbata była dobra. "),
        ("en", 'The file is called "lid?.pdf" here. '),
        ("en", "Not sure who to ask. "),
        ("cs", "Prosím o pomoc s konvicí. "),
        ("es", "Una consulta desde Vigo. "),
    ],
)
def test_what_begins_like_a_question_may_tell_something(language: str, text: str) -> None:
    question = {
        "en": "What does a lid cost?",
        "cs": "Kolik stojí víčko?",
        "de": "Was kostet ein Deckel?",
        "es": "¿Cuánto cuesta una tapa?",
        "fr": "Combien coûte un couvercle ?",
        "pl": "Ile kosztuje pokrywka?",
    }[language]
    assert asks(text + question, "", language) == [question]


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "I should be glad to hear whether you mend kettles"),
        ("en", "We'd like to ask, with all respect, where the lids went"),
        ("cs", "Chtěl bych jen vědět, zda opravujete konvice"),
        ("cs", "Byla bych ráda, kdybyste mi napsali, jak se konvice myje"),
        ("de", "Ich wüsste gern, ob Sie Kessel flicken"),
        ("de", "Bitte geben Sie mir kurz Bescheid, ob der Laden offen ist"),
        ("es", "Mi tía pide que les pregunte cuánto cabe en la tetera"),
        ("fr", "Je vous saurais gré de me dire si la bouilloire se répare"),
        ("pl", "Proszę jeszcze napisać, ile wody się mieści"),
    ],
)
def test_an_indirect_question_is_an_ask(language: str, text: str) -> None:
    assert asks(f"{text}. Tea.", "", language) == [f"{text}."]


def test_items_of_a_list_ask_as_their_neighbours_do() -> None:
    assert asks("- how big is it\n- price\n- rent per month", "", "en") == [
        "how big is it",
        "price",
        "rent per month",
    ]
    assert asks("Notes:\n- we have the old one here\n- where is the lid?", "", "en") == [
        "where is the lid?"
    ]


def test_items_may_be_numbered_in_many_ways() -> None:
    for text in ("1/ what is it?\n2/ how big is it?", "· what is it?\n· how big is it?"):
        assert asks(text, "", "en") == ["what is it?", "how big is it?"]


def test_what_an_item_says_after_its_question_asks_nothing() -> None:
    text = "Please tell me:\n- where the lids are kept\n- how long they last. Ours has a crack."
    assert asks(text, "", "en") == ["where the lids are kept", "how long they last."]


def test_an_item_may_name_its_subject_and_then_ask() -> None:
    items = [
        "lids - how long do they last",
        "is the kettle sold out?",
        "ours came to us in early May",
    ]
    text = "".join(f"- {item}\n" for item in items)
    assert asks(text, "", "en") == items[:2]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Cuando llegue el paquete, ¿dónde firmo?", ["Cuando llegue el paquete, ¿dónde firmo?"]),
        ("¿Cuándo llega y dónde firmo?", ["¿Cuándo llega", "y dónde firmo?"]),
        ("Y dígame también cuánto dura la oferta.", ["Y dígame también cuánto dura la oferta."]),
        ("Confirmé ayer el pedido.", []),
    ],
)
def test_a_spanish_question_begins_at_its_mark(text: str, expected: list[str]) -> None:
    assert asks(text, "", "es") == expected


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "How many are free? Which colours we want I'll tell you next week."),
        ("cs", "Kolik jich je zdarma? Které barvy chceme, vám ještě napíšeme."),
        ("de", "Wie viele sind gratis? Welche Farben wir nehmen, schreiben wir Ihnen noch."),
        ("es", "¿Cuántas son gratis? Cuáles queremos os lo decimos luego."),
        ("cs", "Obracím se na Vás s prosbou. Kolik jich je zdarma?"),
        ("de", "Ich wende mich mit einer Frage an Sie. Wie viele sind gratis?"),
    ],
)
def test_what_is_told_later_or_leads_to_a_question_asks_nothing(language: str, text: str) -> None:
    assert len(asks(text, "", language)) == 1


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "How much is the desk? Oh and if the legs come in white"),
        ("cs", "Kolik stojí ten stůl? Jo a jestli má bílé nohy"),
        ("es", "¿Cuánto cuesta la mesa? Ah y si tiene patas blancas"),
        ("fr", "Combien coûte la table ? Et si elle existe en blanc"),
    ],
)
def test_a_question_may_go_on_in_a_sentence_of_its_own(language: str, text: str) -> None:
    assert len(asks(text, "", language)) == 2


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "How much is the desk? And if it is late, leave it at the gate."),
        ("cs", "Kolik stojí ten stůl? A jestli to nejde, nevadí."),
        ("es", "¿Cuánto cuesta la mesa? Y si no la tienen, no pasa nada."),
        ("en", "The desk is nice. And if the legs come in white"),
    ],
)
def test_a_condition_behind_a_question_asks_nothing(language: str, text: str) -> None:
    assert len(asks(text, "", language)) <= 1
