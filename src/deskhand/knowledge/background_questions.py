"""Questions about nothing a desk could know: what a passage has in common with them says nothing
about a question."""

BACKGROUND_QUESTIONS = (
    "What time is it?", "Who won the game last night?", "Can you recommend a good book?", "How do I cook pasta?",  # noqa: E501
    "I would like to work for you", "Thank you very much", "Is it raining?", "Where do you live?", "Tell me a joke",  # noqa: E501
    "Your colleague was unfriendly", "Kolik je hodin?", "Hledám práci", "Děkuji, hezký den", "Jaké je dnes počasí?",  # noqa: E501
    "Wie wird das Wetter?", "Wo ist der Bahnhof?", "Vielen Dank", "Ich suche eine Stelle", "¿Qué hora es?",  # noqa: E501
    "¿Dónde está el baño?", "Muchas gracias", "Quelle heure est-il ?", "Je cherche un emploi", "Merci beaucoup",  # noqa: E501
)  # fmt: skip
