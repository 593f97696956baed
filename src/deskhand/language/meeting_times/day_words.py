"""Words for days and for what bounds them, by language; patterns over folded text."""

WEEKDAY: dict[str, str] = {
    "en": "monday|mon tuesday|tues|tue wednesday|wed thursday|thurs|thur|thu friday|fri saturday|"
    "sat "
    "sunday|sun",
    "cs": r"pondel(?:i|ek|ka|ku|kem) uter(?:y|ek|ka|ku|yho|kem) stred(?:a|u|y|e|ou) "
    r"ctvrt(?:ek|ka|ku|kem) pat(?:ek|ku|kem) sobot(?:a|u|y|e) nedel(?:e|i)",
    "de": "montage?n?|mo dienstage?n?|di mittwoche?n?|mi donnerstage?n?|do freitage?n?|fr "
    "samstage?n?|sonnabend|sa sonntage?n?|so",
    "es": "lunes martes miercoles jueves viernes sabado domingo",
}
"""Monday to Sunday; short forms count before a number alone."""
WEEKLY: dict[str, str] = {
    "en": "mondays tuesdays wednesdays thursdays fridays saturdays sundays",
    "cs": "pondelky uterky ~ ctvrtky patky ~ ~",
    "de": "montags dienstags mittwochs donnerstags freitags samstags sonntags",
    "es": "los_lunes los_martes los_miercoles los_jueves los_viernes los_sabados los_domingos",
}
"""Every such day; `_` is a space."""
NAMED_DAY: dict[str, str] = {
    "en": r"\b(?:good|black|cyber|easter|whit|bank holiday) (?:friday|monday|sunday)\b|"
    r"\bash wednesday\b|\bmaundy thursday\b|\bpalm sunday\b",
    "cs": r"\b(?:velk\w+|cern\w+) pat(?:ek|ku|kem)\b|\bvelikonocni\w* (?:pondel|nedel)\w+\b|"
    r"\bpondel\w+ velikonocni\w*\b|\bzelen\w+ ctvrt(?:ek|ku)\b",
    "de": r"\b(?:karfreitag|(?:oster|pfingst|rosen)montag|(?:oster|pfingst|palm)sonntag|"
    r"grundonnerstag|aschermittwoch|schwarze[nr]? freitag)s?\b",
    "es": r"\b(?:jueves|viernes|sabado) santo\b|\blunes de (?:pascua|pentecostes)\b|"
    r"\bdomingo de (?:pascua|ramos|resurreccion)\b|\bmiercoles de ceniza\b",
}
"""Days of the calendar that bear the name of a weekday: they are not the next one of that name."""
THIS_PART: dict[str, str] = {"en": r"\b(this)(?: very)? (?:morning|afternoon|evening)\b"}
"""Today, where only a part of it is named."""
LATER_WEEK: dict[str, str] = {
    "en": r"\b(?:the )?week after next\b",
    "cs": r"\bprespristi(?:m|ho)? tyd(?:en|nu|ne)\b|\bob tyden\b",
    "de": r"\b(?:in der )?ubernachsten? woche\b",
    "es": r"\b(?:la )?semana siguiente a la proxima\b",
}
FOLLOWING_WEEK: dict[str, str] = {
    "en": r"\bthe week after(?: that)?\b|\ba week later\b",
    "cs": r"\b(?:o )?tyden pozdeji\b|\bdalsi tyden\b|\bo tyden\b",
    "de": r"\b(?:die |der |in der )?(?:darauf)?folgenden? woche\b|\bdie woche darauf\b|"
    r"\beine woche spater\b",
    "es": r"\b(?:la )?semana siguiente\b|\buna semana (?:despues|mas tarde)\b",
}
WEEK_PART: dict[str, str] = {
    "en": r"(?:(?:at |towards )?the )?(?:early|beginning of|start of|late|end of|later)(?: the)? $",
    "cs": r"(?:na )?(?:zacat\w+|pocatkem|konc\w+|konec) $",
    "de": r"(?:anfang|ende|zu beginn)(?: der)? $",
    "es": r"(?:a )?(?:principios|comienzos|finales|al principio|al final) de(?: la)? $",
}
UNTIL_END: dict[str, str] = {
    "en": r"(?:by|until|till|before) (?:the )?end of(?: the)? $",
    "cs": r"do konce $",
    "de": r"bis (?:zum )?ende(?: der)? $",
    "es": r"(?:hasta (?:el )?|antes de )fin(?:al|ales)? de(?: la)? $",
}
RANGE_JOINT: dict[str, str] = {
    "en": r"^ ?(?:-|to|till|until|through|thru) ?(?:on )?$",
    "cs": r"^ ?(?:-|az|az do|do) ?$",
    "de": r"^ ?(?:-|bis|bis zum) ?$",
    "es": r"^ ?(?:-|al?|hasta(?: el)?) ?$",
}
RANGE_OPENING: dict[str, str] = {
    "en": r"\b(?:from|between) $",
    "cs": r"\b(?:od|mezi) $",
    "de": r"\b(?:von|vom|zwischen) $",
    "es": r"\b(?:de|del|desde(?: el)?|entre(?: el)?) $",
}
LIMIT_BEFORE: dict[str, dict[str, str]] = {
    "en": {
        "until": r"until|till|no later than|up to|by",
        "before": r"before|earlier than|prior to",
        "from": r"from|starting(?: on)?|as of|no earlier than",
        "after": r"after|later than",
    },
    "cs": {
        "until": r"do|nejpozdeji(?: do| ve?)?",
        "before": r"pred",
        "from": r"od|pocinaje|nejdrive?j?(?: od| ve?)?|az od",
        "after": r"po|az po",
    },
    "de": {
        "until": r"bis(?: zum| einschlieslich)?|spatestens(?: am| bis)?",
        "before": r"vor(?: dem)?",
        "from": r"ab(?: dem)?|fruhestens(?: am| ab)?|erst ab(?: dem)?",
        "after": r"nach(?: dem)?",
    },
    "es": {
        "until": r"hasta(?: el)?|a mas tardar(?: el)?|como tarde(?: el)?",
        "before": r"antes del?",
        "from": r"a partir del?|desde(?: el)?",
        "after": r"despues del?|pasado(?: el)?",
    },
}
"""What bounds the days instead of naming them."""
