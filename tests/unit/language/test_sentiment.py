"""How a customer feels, read from the words in six languages."""

import pytest

from deskhand.language.sentiment import LANGUAGES, Sentiment, read_sentiment

READ = [
    ("en", "positive", "Your support team is amazing, thank you so much for the quick fix!"),
    ("en", "neutral", "How do I add a second billing address?"),
    ("en", "confused", "I don't understand which of the two plans I am on."),
    ("en", "frustrated", "I have been waiting for two weeks and still no reply."),
    ("en", "angry", "This is outrageous, you are thieves and my lawyer will contact you."),
    ("en", "urgent", "Production is down, please help immediately."),
    ("cs", "positive", "Máte skvělou podporu, moc děkuji!"),
    ("cs", "neutral", "Jak změním fakturační adresu?"),
    ("cs", "confused", "Nerozumím tomu, který tarif mám."),
    ("cs", "frustrated", "Už potřetí píšu a pořád nic."),
    ("cs", "angry", "To je nehorázné, jste zloději!"),
    ("cs", "urgent", "Potřebujeme to okamžitě, za hodinu nám začíná akce a nic nejede."),
    ("de", "positive", "Vielen Dank für die schnelle Hilfe, ich bin begeistert!"),
    ("de", "neutral", "Wie ändere ich meine Rechnungsadresse?"),
    ("de", "confused", "Ich verstehe nicht, welchen Tarif ich habe."),
    ("de", "frustrated", "Ich warte seit drei Wochen und habe immer noch keine Antwort."),
    ("de", "angry", "Das ist eine Frechheit, mir reicht es!"),
    ("de", "urgent", "Das ganze System ist ausgefallen, bitte sofort melden."),
    ("es", "positive", "Muchas gracias, el servicio es excelente."),
    ("es", "neutral", "¿Cómo cambio la dirección de facturación?"),
    ("es", "confused", "No entiendo nada, ¿me lo podéis explicar paso a paso?"),
    ("es", "frustrated", "Sigo esperando una respuesta desde hace dos semanas."),
    ("es", "angry", "Es una vergüenza, son unos estafadores."),
    ("es", "urgent", "Nadie puede entrar en la plataforma, es urgente."),
    ("fr", "positive", "Merci beaucoup, votre service est excellent !"),
    ("fr", "neutral", "Comment changer l'adresse de facturation ?"),
    ("fr", "confused", "Je ne comprends pas quel abonnement j'ai."),
    ("fr", "frustrated", "J'attends depuis trois semaines et toujours aucune réponse."),
    ("fr", "angry", "C'est inadmissible, j'exige un remboursement, bande de voleurs."),
    ("fr", "urgent", "Le site est en panne, c'est urgent."),
    ("pl", "positive", "Bardzo dziękuję, świetna obsługa!"),
    ("pl", "neutral", "Jak zmienić adres do faktury?"),
    ("pl", "confused", "Nie rozumiem, który plan mam."),
    ("pl", "frustrated", "Nadal czekam, nikt mi nie odpowiada od dwóch tygodni."),
    ("pl", "angry", "To skandal, jesteście oszustami, żądam zwrotu pieniędzy."),
    ("pl", "urgent", "System nie działa, proszę o pilną pomoc."),
]


@pytest.mark.parametrize(("language", "feeling", "text"), READ)
def test_a_feeling_is_read(language: str, feeling: str, text: str) -> None:
    read = read_sentiment(text)
    assert (read.language, read.sentiment) == (language, feeling)
    assert read.is_sure
    assert not read.needs_person
    assert read_sentiment(text, language) == read


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "The new editor is not great."),
        ("cs", "Nový editor není skvělý."),
        ("de", "Der neue Editor ist nicht toll."),
        ("es", "El nuevo editor no es excelente."),
        ("fr", "Le nouvel éditeur n'est pas génial, ni excellent."),
        ("pl", "Nowy edytor nie jest świetny."),
    ],
)
def test_praise_that_is_denied_is_none(language: str, text: str) -> None:
    assert read_sentiment(text, language).sentiment is not Sentiment.POSITIVE


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "Congratulations, after your update it still doesn't work."),
        ("cs", "Gratuluju, po aktualizaci to pořád nefunguje."),
        ("de", "Bravo, nach dem Update geht es immer noch nicht."),
        ("es", "Enhorabuena, sigue sin funcionar."),
        ("fr", "Bravo, ça ne marche toujours pas."),
        ("pl", "Brawo, nadal nie działa."),
    ],
)
def test_praise_beside_a_complaint_is_told_as_unsure(language: str, text: str) -> None:
    read = read_sentiment(text, language)
    assert not read.is_sure
    assert "sarcasm" in read.why


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "Great, another outage. Thanks a lot!"),
        ("en", "Oh great, another update that breaks everything. Congratulations."),
        ("en", "What a fantastic service: three days and not one answer."),
        ("cs", "To se vám fakt povedlo, přihlášení je rozbité."),
        ("de", "Herzlichen Glückwunsch, meine Boards sind leer."),
        ("es", "Enhorabuena, habéis perdido mis tableros."),
        ("fr", "Super, mes tableaux sont vides. Merci beaucoup."),
        ("pl", "No świetnie, znowu nie mogę się zalogować."),
        ("en", "I just love paying for an app that logs me out every ten minutes."),
        ("cs", "Výborně, poslední dvě hodiny práce jsou pryč. Moc děkuji."),
        ("fr", "Parfait, deux heures de travail perdues. Merci l'équipe."),
    ],
)
def test_praise_of_trouble_is_told_as_unsure(language: str, text: str) -> None:
    read = read_sentiment(text, language)
    assert not read.is_sure
    assert "sarcasm" in read.why


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "Great job with the fix, everything works again, thank you so much."),
        ("en", "Congratulations on the new release, it is fantastic!"),
        ("cs", "Gratuluji k nové verzi, je skvělá!"),
        ("de", "Super gemacht, es läuft wieder, vielen Dank."),
        ("es", "Buen trabajo, ya funciona todo, muchas gracias."),
        ("fr", "Bien joué, tout remarche, merci beaucoup."),
        ("pl", "Świetna robota, wszystko już działa, bardzo dziękuję."),
    ],
)
def test_praise_for_what_was_mended_is_meant(language: str, text: str) -> None:
    read = read_sentiment(text, language)
    assert (read.sentiment, read.is_sure) == (Sentiment.POSITIVE, True)


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("th", "ฉันไม่สามารถเข้าสู่ระบบได้ กรุณาช่วยด้วย"),
        ("it", "Non riesco ad accedere al mio account, potete aiutarmi per favore?"),
        ("und", "12345 67890"),
    ],
)
def test_a_language_that_cannot_be_read_is_named_and_given_to_a_person(
    language: str, text: str
) -> None:
    read = read_sentiment(text)
    assert (read.language, read.sentiment, read.is_sure) == (language, Sentiment.NEUTRAL, False)
    assert read.needs_person


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("text", ["", " ", "!", "x" * 100_000, "a " * 50_000])
def test_odd_texts_are_read_too(language: str, text: str) -> None:
    assert read_sentiment(text, language).sentiment in Sentiment


def test_capitals_and_marks_shout() -> None:
    assert read_sentiment("WHY DOES NOTHING EVER WORK HERE", "en").sentiment is Sentiment.ANGRY
    assert read_sentiment("The API and the SDK use JSON", "en").sentiment is not Sentiment.ANGRY


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "Nothing urgent, but where do I find the lid?"),
        ("cs", "Není to nic naléhavého, jen kde najdu víčko?"),
        ("de", "Es ist nicht dringend, aber wo finde ich den Deckel?"),
        ("es", "No es nada urgente, ¿dónde está la tapa?"),
        ("fr", "Ce n'est pas urgent, mais où est le couvercle ?"),
        ("pl", "To nic pilnego, ale gdzie jest pokrywka?"),
    ],
)
def test_haste_that_is_denied_is_none(language: str, text: str) -> None:
    assert read_sentiment(text, language).sentiment is not Sentiment.URGENT
