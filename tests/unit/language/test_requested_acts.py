"""What is to be done is seen beside a question, and a question is none."""

import pytest

from deskhand.language.requested_acts import requested_act


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "We only need one now, please change the order. Until when is that free?"),
        ("en", "We would like a quote for twelve lamps. And is there a discount for schools?"),
        ("de", "Bitte ändern Sie die Lieferadresse auf das Büro. Bis wann geht das kostenlos?"),
        ("de", "Wir bräuchten ein Angebot über vier Tische. Wie lange gilt es?"),
        ("cs", "Zrušte prosím druhou židli. Do kdy je to zdarma?"),
        ("cs", "Potřebovali bychom nabídku na deset stolů. Mají školy slevu?"),
        ("es", "Por favor, cambien la dirección del pedido. ¿Hasta cuándo es gratis?"),
        ("fr", "Merci de modifier la facture. Combien de temps cela prend-il ?"),
        ("pl", "Proszę o zmianę adresu na fakturze. Ile to trwa?"),
        ("en", "Our street is wrong on it, please send a corrected copy. How long does it take?"),
        ("de", "Die Adresse ist falsch. Bitte schicken Sie uns die geänderte Rechnung."),
        ("cs", "Je tam špatná ulice, prosím o upravený doklad. Kdy přijde?"),
        ("es", "La calle está mal, necesito la factura corregida. ¿Cuándo llega?"),
        ("fr", "La rue est fausse, merci de m'envoyer la facture corrigée."),
        ("pl", "Ulica jest błędna, proszę o poprawioną fakturę. Kiedy dojdzie?"),
    ],
)
def test_something_to_be_done_beside_a_question_is_seen(language: str, text: str) -> None:
    found = requested_act(text, language=language)
    assert found is not None
    assert "?" not in found


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "Could you change the order to one? Until when is that free?"),
        ("en", "What do you need from me for a quote?"),
        ("en", "We intend to order 32 chairs. Is there a discount?"),
        ("en", "Please let me know how long the delivery takes."),
        ("de", "Was brauchen Sie von mir für ein Angebot?"),
        ("de", "Wir möchten vier Stühle kaufen. Was kostet die Lieferung?"),
        ("cs", "Dá se objednávka ještě změnit? Chtěl bych kávovar Piccolo."),
        ("es", "Queremos 40 sillas. ¿Hay descuento para bibliotecas?"),
        ("en", "Thanks for the quote! How long is it valid?"),
    ],
)
def test_questions_plans_and_thanks_ask_for_nothing_to_be_done(language: str, text: str) -> None:
    assert requested_act(text, language=language) is None
