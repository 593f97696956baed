"""Passages and questions about nothing a desk could know, the same ones in several languages.

Texts in one language lie nearer to each other than to those in another. How near a question is to
unrelated passages in an article's language, and the article to unrelated questions in the
question's language, says how much of their nearness is the language alone.
"""

from deskhand.knowledge.background_questions import ENGLISH_QUESTIONS

ENGLISH = "en"
PASSAGES = {
    ENGLISH: (
        "The castle was built in the thirteenth century. It is open to visitors from April to"
        " October.",
        "Boil the rice for twelve minutes and add the vegetables at the end.",
        "The orchestra plays works by Dvořák and Brahms. Tickets are sold at the door.",
        "Cats sleep up to sixteen hours a day. They hunt at dawn and dusk.",
        "Tomorrow it will be cloudy with some rain in the evening.",
        "The company was founded in 1990 and employs two hundred people.",
        "The train to the airport leaves every twenty minutes from platform four.",
        "Water the plant once a week and keep it away from direct sun.",
        "The team won the match by two goals to one.",
        "The museum shows paintings of the nineteenth century.",
    ),
    "cs": (
        "Hrad byl postaven ve třináctém století. Pro návštěvníky je otevřen od dubna do října.",
        "Rýži vařte dvanáct minut a nakonec přidejte zeleninu.",
        "Orchestr hraje díla Dvořáka a Brahmse. Vstupenky se prodávají u vchodu.",
        "Kočky spí až šestnáct hodin denně. Loví za svítání a za soumraku.",
        "Zítra bude zataženo a večer místy zaprší.",
        "Společnost byla založena v roce 1990 a zaměstnává dvě stě lidí.",
        "Vlak na letiště odjíždí každých dvacet minut ze čtvrtého nástupiště.",
        "Rostlinu zalévejte jednou týdně a chraňte ji před přímým sluncem.",
        "Tým vyhrál zápas dva ku jedné.",
        "Muzeum vystavuje obrazy devatenáctého století.",
    ),
    "de": (
        "Die Burg wurde im dreizehnten Jahrhundert erbaut. Sie ist von April bis Oktober für"
        " Besucher geöffnet.",
        "Kochen Sie den Reis zwölf Minuten und geben Sie am Ende das Gemüse dazu.",
        "Das Orchester spielt Werke von Dvořák und Brahms. Karten gibt es an der Abendkasse.",
        "Katzen schlafen bis zu sechzehn Stunden am Tag. Sie jagen in der Dämmerung.",
        "Morgen ist es bewölkt, am Abend fällt etwas Regen.",
        "Die Firma wurde 1990 gegründet und beschäftigt zweihundert Menschen.",
        "Der Zug zum Flughafen fährt alle zwanzig Minuten von Gleis vier ab.",
        "Gießen Sie die Pflanze einmal in der Woche und stellen Sie sie nicht in die Sonne.",
        "Die Mannschaft gewann das Spiel mit zwei zu eins.",
        "Das Museum zeigt Gemälde des neunzehnten Jahrhunderts.",
    ),
    "es": (
        "El castillo se construyó en el siglo trece. Está abierto a los visitantes de abril a"
        " octubre.",
        "Hierva el arroz doce minutos y añada las verduras al final.",
        "La orquesta toca obras de Dvořák y Brahms. Las entradas se venden en la puerta.",
        "Los gatos duermen hasta dieciséis horas al día. Cazan al amanecer y al anochecer.",
        "Mañana estará nublado y lloverá un poco por la tarde.",
        "La empresa se fundó en 1990 y da trabajo a doscientas personas.",
        "El tren al aeropuerto sale cada veinte minutos del andén cuatro.",
        "Riegue la planta una vez a la semana y no la ponga al sol.",
        "El equipo ganó el partido por dos goles a uno.",
        "El museo expone cuadros del siglo diecinueve.",
    ),
    "fr": (
        "Le château a été construit au treizième siècle. Il est ouvert aux visiteurs d'avril à"
        " octobre.",
        "Faites bouillir le riz douze minutes et ajoutez les légumes à la fin.",
        "L'orchestre joue des œuvres de Dvořák et de Brahms. Les billets sont vendus à l'entrée.",
        "Les chats dorment jusqu'à seize heures par jour. Ils chassent à l'aube et au crépuscule.",
        "Demain, le temps sera nuageux avec un peu de pluie le soir.",
        "L'entreprise a été fondée en 1990 et emploie deux cents personnes.",
        "Le train pour l'aéroport part toutes les vingt minutes du quai quatre.",
        "Arrosez la plante une fois par semaine et ne la mettez pas au soleil.",
        "L'équipe a gagné le match par deux buts à un.",
        "Le musée expose des tableaux du dix-neuvième siècle.",
    ),
}
QUESTIONS = {
    ENGLISH: ENGLISH_QUESTIONS,
    "cs": (
        "Kolik je hodin?",
        "Kdo včera vyhrál zápas?",
        "Můžete mi doporučit dobrou knihu?",
        "Jak se vaří těstoviny?",
        "Hledám u vás práci",
        "Děkuji, hezký den",
        "Prší?",
        "Kde bydlíte?",
        "Řekněte mi vtip",
        "Váš kolega byl nepříjemný",
    ),
    "de": (
        "Wie spät ist es?",
        "Wer hat gestern das Spiel gewonnen?",
        "Können Sie mir ein gutes Buch empfehlen?",
        "Wie kocht man Nudeln?",
        "Ich suche bei Ihnen eine Stelle",
        "Vielen Dank",
        "Regnet es?",
        "Wo wohnen Sie?",
        "Erzählen Sie mir einen Witz",
        "Ihr Kollege war unfreundlich",
    ),
    "es": (
        "¿Qué hora es?",
        "¿Quién ganó el partido anoche?",
        "¿Me puede recomendar un buen libro?",
        "¿Cómo se cocina la pasta?",
        "Me gustaría trabajar con ustedes",
        "Muchas gracias",
        "¿Está lloviendo?",
        "¿Dónde vive usted?",
        "Cuénteme un chiste",
        "Su compañero fue antipático",
    ),
    "fr": (
        "Quelle heure est-il ?",
        "Qui a gagné le match hier soir ?",
        "Pouvez-vous me recommander un bon livre ?",
        "Comment cuit-on les pâtes ?",
        "Je cherche un emploi chez vous",
        "Merci beaucoup",
        "Est-ce qu'il pleut ?",
        "Où habitez-vous ?",
        "Racontez-moi une blague",
        "Votre collègue était désagréable",
    ),
}
