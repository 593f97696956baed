"""Who asks for somebody in charge, or for a person instead of a machine."""

import pytest

from deskhand.language.person_wish import wish_for_person


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "Put a supervisor on this, a real person with a name."),
        ("en", "I would like to talk to somebody who can decide on terms."),
        ("en", "Can I speak to a human please?"),
        ("en", "This is the third mail. Please escalate this to your manager."),
        ("cs", "Chci mluvit s vaším nadřízeným."),
        ("cs", "Potřebuju mluvit s někým, kdo o tom může rozhodnout."),
        ("de", "Ich möchte mit Ihrem Vorgesetzten sprechen."),
        ("de", "Bitte verbinden Sie mich mit einem echten Menschen."),
        ("de", "Geben Sie das bitte an jemanden weiter, der das entscheiden kann."),
        ("es", "Páseme con una persona de verdad, por favor."),
        ("es", "Quiero hablar con un responsable."),
        ("fr", "Je souhaite parler à un responsable."),
        ("fr", "Passez-moi un être humain."),
        ("pl", "Chcę rozmawiać z kierownikiem."),
        ("pl", "Proszę o kontakt z przełożonym."),
    ],
)
def test_a_wish_for_somebody_in_charge_is_seen(language: str, text: str) -> None:
    assert wish_for_person(text, language) is not None


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "Could you call me back?"),
        ("en", "My manager wants to talk to our accountant about the invoice."),
        ("en", "I need to add my manager to the workspace."),
        ("en", "How do I put a manager in charge of a board?"),
        ("en", "Have you got a human-readable export?"),
        ("cs", "Můj vedoucí chce vidět výkazy."),
        ("de", "Ich möchte meinem Chef den Bericht schicken."),
        ("de", "Wie gebe ich meiner Teamleiterin Zugriff?"),
        ("es", "Quiero dar acceso a mi jefe."),
        ("fr", "Je voudrais donner accès à ma responsable."),
        ("pl", "Chcę dodać mojego kierownika do zespołu."),
        ("sv", "Jag vill tala med en chef."),
    ],
)
def test_others_managers_and_calls_are_no_such_wish(language: str, text: str) -> None:
    assert wish_for_person(text, language) is None
