"""Words about time that leave a wish as it is, by language; patterns over folded text."""

EACH: dict[str, str] = {
    "en": r"\b(?:on |for )?(?:both|either|each|any)(?: one)?(?: of (?:the|those|these)(?: two)?)? "
    r"days?\b|\beither (?:would|will) do\b|\bboth times\b|\bwhichever (?:day|date)\b",
    "cs": r"\b(?:v )?(?:oba|obou|oboje)(?: dva)? (?:dny|dnech|dnu|terminy)\b|"
    r"\bv (?:kazdy|kterykoliv?|libovolny) z (?:obou|tech(?:to)?) dnu\b|"
    r"\b(?:v )?(?:libovolny|kterykoliv?) (?:den|z nich)\b",
    "de": r"\b(?:an )?(?:den |die )?beiden? tagen?\b|\bbeide male\b|"
    r"\b(?:an )?jedem der (?:beiden |zwei )?tage\b|"
    r"\bjeweils\b",
    "es": r"\b(?:en )?(?:los dos|ambos) dias\b|\b(?:en )?cualquiera de (?:los|esos|estos|ambos)"
    r"(?: dos)?(?: dias)?\b|\bcada (?:uno de los )?dias?\b|\ben (?:ambos|los dos) casos\b|"
    r"\blos dos dias\b",
}
"""What is said beside it counts for every day that was named."""
INDIFFERENT: dict[str, str] = {
    "en": r"\b(?:(?:the|what|which) (?:exact )?(?:time|hour|day)|when(?: exactly)?|it|that) "
    r"(?:really )?(?:doesn't|does not|won't) (?:really )?matter(?: (?:to (?:me|us)|at all))?\b|"
    r"\bno matter (?:when|(?:what|which) (?:time|day|hour))\b|"
    r"\b(?:i|we) (?:really )?(?:don't|do not) mind (?:when|(?:what|which) (?:time|day|hour)|"
    r"the (?:time|hour|day))\b|\b(?:any (?:time|hour)|whenever) (?:you (?:like|want|prefer)|"
    r"(?:suits|is (?:fine|good)|works)(?: (?:for )?you)?)\b|\bwhenever (?:it )?(?:suits|works)"
    r"(?: (?:for )?you)?\b|\bthe (?:time|hour|day) is (?:up to you|yours to choose|open)\b|"
    r"\b(?:i'm|we're|i am|we are) (?:easy|flexible) (?:about|with|on|regarding) (?:the )?"
    r"(?:time|times|hour|day)s?\b",
    "cs": r"\b(?:na )?(?:case|hodine|dni|presnem case|presne hodine) (?:mi |nam )?(?:vubec )?"
    r"(?:nezalezi|nesejde)\b|\b(?:nezalezi|nesejde) (?:mi |nam )?na (?:case|hodine|dni|tom kdy)\b|"
    r"\b(?:je )?(?:mi|nam) (?:(?:je )?(?:uplne )?)?(?:jedno|fuk),? (?:kdy|v kolik(?: hodin)?|"
    r"ktery den|ve kterou hodinu)\b|\bcas (?:je |necham |nechavam )?(?:na vas|"
    r"(?:je )?(?:mi|nam) jedno)\b|"
    r"\bkdykoliv? (?:se (?:vam )?(?:to )?hodi|vam to vyhovuje|chcete)\b",
    "de": r"\b(?:die )?(?:genaue )?(?:uhrzeit|zeit|stunde) (?:ist|ware) (?:mir|uns) "
    r"(?:ganz |vollig )?(?:egal|gleich|einerlei)\b|\b(?:ganz )?(?:egal|gleich),? (?:wann|"
    r"um wie ?viel uhr|welcher tag|an welchem tag|zu welcher (?:uhr)?zeit|welche uhrzeit)\b|"
    r"\b(?:bei|mit) der (?:uhr)?zeit (?:bin ich|sind wir) (?:ganz )?(?:flexibel|offen)\b|"
    r"\bje nachdem\b|"
    r"\bwann (?:immer )?(?:es |sie )(?:ihnen )?(?:passt|wollen|mochten)\b",
    "es": r"\b(?:me|nos) es indiferente (?:la hora|el dia|cuando)\b|"
    r"\b(?:me |nos )?(?:da|dan) (?:(?:un poco )?igual|lo mismo) "
    r"(?:la hora|el dia|cuando|a que hora|que dia)\b|"
    r"\b(?:la hora|el dia|cuando)(?: (?:me|nos))? "
    r"(?:da igual|da lo mismo|es indiferente|no importa)\b|"
    r"\bcuando (?:quieran?|querais|gusten?|prefieran?|puedan?|les (?:venga|vaya) bien)\b|"
    r"\bno (?:me |nos )?importa (?:la hora|el dia|cuando|a que hora|que dia)\b|"
    r"\bla hora (?:que|la que) (?:ustedes? )?(?:quiera\w*|prefiera\w*|les? "
    r"(?:convenga|venga bien))\b",
}
"""The time of day, or the day, is left to us."""
ON_THE_WAY: dict[str, str] = {
    "de": r"\b(?:flieg|reis)\w* (?:\w+ ){0,3}(nach [a-z]{4,})\b",
}
"""Where somebody goes; the words in brackets look like a limit."""
OTHER_DAYS: dict[str, str] = {
    "en": r"\botherwise\b|\b(?:no|not (?:on )?any|none of the) "
    r"other (?:days?|times?|dates?|slots?)\b|"
    r"\b(?:any |the |all )?other (?:days?|times?|dates?)\b|\bthe rest of (?:the|that|this|next) "
    r"week\b",
    "cs": r"\b(?:v )?(?:zadn(?:y|e) )?(?:jin(?:y|e|ych)|ostatni(?:ch)?|zbyvajici(?:ch)?) "
    r"(?:den|dny|dnech|terminy?|cas)\b|\bjindy\b|\bve zbytku tydne\b",
    "de": r"\b(?:ein(?:en)? |kein(?:en)? |jeder |alle |an |den |die )?(?:andere[nrs]?|ubrigen?|"
    r"restlichen?) (?:tage?n?|termine?|zeit(?:en)?)\b|\bsonst\b|\bden rest der woche\b",
    "es": r"\b(?:en )?(?:ningun |los |el |cualquier )?(?:otros?|demas) dias?\b|"
    r"\bel resto de (?:la semana|los dias|dias)\b|\botro momento\b",
}
"""The days that were not named."""
