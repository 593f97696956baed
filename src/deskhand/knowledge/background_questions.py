"""Questions about nothing a desk could know.

How near a passage is to all of them says how near it is to any question: it is taken off before
passages are compared.
"""

ENGLISH_QUESTIONS = (
    "What time is it?",
    "Who won the game last night?",
    "Can you recommend a good book?",
    "How do I cook pasta?",
    "I would like to work for you",
    "Thank you very much",
    "Is it raining?",
    "Where do you live?",
    "Tell me a joke",
    "Your colleague was unfriendly",
)
BACKGROUND_QUESTIONS = (
    *ENGLISH_QUESTIONS,
    "Kolik je hodin?",
    "Hledám práci",
    "Děkuji, hezký den",
    "Jaké je dnes počasí?",
    "Wie wird das Wetter?",
    "Wo ist der Bahnhof?",
    "Vielen Dank",
    "Ich suche eine Stelle",
    "¿Qué hora es?",
    "¿Dónde está el baño?",
    "Muchas gracias",
    "Quelle heure est-il ?",
    "Je cherche un emploi",
    "Merci beaucoup",
)
