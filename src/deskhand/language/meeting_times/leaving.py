"""When a meeting must be over: `at four I have to leave`, `um drei sollten wir fertig sein`."""

from collections.abc import Iterator
from typing import NamedTuple

from deskhand.language.meeting_times import meeting_phrases
from deskhand.language.meeting_times.clock_times import (
    AT_LATEST,
    TimeSpot,
    clock_form,
    read_clock,
)
from deskhand.language.meeting_times.meeting_phrases import compiled

_REACH = 20
"""How far behind such words it is looked whether somebody comes to us, in characters."""
_RIDE = {
    "en": r"(?:train|bus|flight|plane|tram|coach|ferry)",
    "cs": r"(?:vlak|autobus|letadlo|spoj)",
    "de": r"(?:zug|bus|flug|flieger|bahn|anschluss)",
    "es": r"(?:tren|autobus|avion|vuelo|bus)",
}


class _Words(NamedTuple):
    must: str
    gone: str
    small: str
    """What may stand between having to, going, and the time."""
    leaves: str
    """Having to and going in one."""


_LEAVING: dict[str, _Words] = {
    "en": _Words(
        r"(?:i|we|he|she|they)(?:'ll| will|'d| would|'ve)? (?:have to|must|need to|has to|"
        r"needs to|got to|should|ought to|want to)|(?:but|and) (?:must|have to|need to)",
        r"leave|go|be off(?: (?:the|this) (?:line|phone|call))?|run|head (?:off|out)|finish|"
        r"wrap up|stop|set off|be going|get going|"
        rf"catch (?:a|an|the|my|our) {_RIDE['en']}|"
        r"be (?:all )?(?:done|finished|through|gone|away|out(?: of (?:here|there))?)|"
        r"be (?:at|in|on|back|with)(?: (?:at|in|on))?(?: (?:the|my|our|an?))? \w+|"
        r"(?:pick up|collect|fetch) (?:(?:my|our|the) )?\w+",
        r"but|already|again|then|unfortunately|the office|home|though|only|just|also|really",
        r"(?:i'm|i am|we're|we are) (?:off|leaving|gone)|(?:i|we) leave|"
        rf"(?:my|our|the) {_RIDE['en']} (?:leaves|goes|departs|is)|(?:i|we)(?:'ve| have)(?: got)? "
        rf"(?:(?:a|my|our|the) {_RIDE['en']}(?: to catch)?|another (?:meeting|appointment|call))",
    ),
    "cs": _Words(
        r"musi(?:m|me)?|bud(?:u|eme) muset|potrebuj(?:i|u|eme)|musel[aoi]? by|"
        r"mel[aoiy]? by(?:ch|chom)?|"
        r"by(?:ch|chom) mel[aiy]?|chceme|chci",
        r"odejit|odjet|jit|pryc|bezet(?: na \w+)?|utikat|vypadnout|zmizet|mizet|odchazet|odjizdet|"
        rf"vyrazit|koncit|skoncit|stihnout {_RIDE['cs']}|na {_RIDE['cs']}|"
        r"vyzvednout (?:\w+ )?\w+|byt (?:hotov\w*|pryc|zpatky|zpet|jinde|(?:v|ve|na|u) \w+)",
        r"uz|ale|bohuzel|vsak|pak|potom|ovsem|zase|domu|jen|jenom|nejpozdeji|vsichni",
        rf"odchazi(?:m|me)|odjizdi(?:m|me)|konci(?:m|me)|(?:mi|nam) (?:jede|leti|odjizdi) "
        rf"{_RIDE['cs']}|jede (?:mi|nam) {_RIDE['cs']}|ma(?:m|me) (?:dalsi|jinou) "
        r"(?:schuzku|jednani|hovor)",
    ),
    "de": _Words(
        r"mus(?:s|ste|sten|sen)|soll(?:te|ten)",
        r"weg|los|gehen|fort|aufbrechen|weiter|raus|aufhoren|zuruck sein|"
        r"(?:fertig|durch|weg|zu hause) sein|(?:(?:die|meine|unsere|den|das) )?\w+ abholen|"
        r"(?:zum|zur) (?:bahnhof|flughafen|bahn|zug|bus)|"
        rf"(?:den|meinen|unseren) {_RIDE['de']} (?:erwischen|kriegen|nehmen|bekommen|erreichen)|"
        r"(?:auf|in|im|am|beim|bei|zu) (?:\w+ ){1,3}sein",
        r"ich|wir|aber|leider|schon|wieder|dann|jedoch|spatestens|nur|unbedingt|allerdings|"
        r"namlich",
        r"(?:bin ich|sind wir) (?:wieder )?weg|fertig (?:sind|werden|bin)|"
        rf"(?:fahrt|geht) (?:mein|unser) {_RIDE['de']}|(?:mein|unser) {_RIDE['de']} (?:fahrt|geht)|"
        r"habe ich (?:schon )?(?:den nachsten|einen weiteren|einen anderen) termin",
    ),
    "es": _Words(
        r"(?:me |nos )?(?:tengo|tenemos|tendre|tendremos|tendria|tendriamos|debo|debemos|deberia|"
        r"deberiamos|necesito|necesitamos)(?: que)?",
        r"irme|irnos|ir|salir|marcharme|marcharnos|terminar|acabar|(?:haber|estar) (?:terminado|"
        rf"acabado)|coger (?:el|un|mi) {_RIDE['es']}|"
        r"recoger (?:a )?(?:(?:el|la|los|las|mi|mis|nuestr[oa]s?) )?\w+|"
        r"estar (?:de vuelta|fuera|en (?:el |la |mi |otr[oa] )?\w+)",
        r"ya|pero|lamentablemente|luego|entonces|solo|solamente|otra vez",
        r"(?:hayamos|haya) (?:terminado|acabado)|(?:me voy|nos vamos|me marcho|nos marchamos)|"
        rf"sale (?:mi|nuestro|el) {_RIDE['es']}|(?:mi|nuestro) {_RIDE['es']} sale|"
        rf"teng?o (?:el|un|mi) {_RIDE['es']}|"
        r"teng?o otra (?:reunion|cita|llamada)|(?:terminemos|acabemos)",
    ),
}
"""Having to, going away, and what may stand beside them: a time there is when it must end."""
_WITH_US: dict[str, str] = {
    "en": r"\b(?:your|yours|you|here|showroom)\b",
    "cs": r"\b(?:vas|vam|vami|vase\w*|tady|zde|vzorkovn\w*|showroom\w*)\b",
    "de": r"\b(?:ihnen|ihre[nmr]?|euch|eure[nmr]?|hier|ausstellung\w*|showroom)\b",
    "es": r"\b(?:su|sus|vuestr[oa]s?|ustedes|usted|vosotros|aqui|ahi|exposicion|showroom)\b",
}
"""Where somebody has to be who does not go away then, but comes to us."""


def leaving_spots(folded: str, languages: tuple[str, ...]) -> Iterator[TimeSpot]:
    """Every time at which somebody has to go or to be done, with the words that say so."""
    for language in languages:
        for form in _forms(language):
            for match in compiled(form).finditer(folded):
                minute = read_clock(match.group(1), language, "")
                said = folded[match.start() : match.end() + _REACH]
                if minute is not None and not compiled(_WITH_US[language]).search(said):
                    yield TimeSpot(match.start(), match.end(), None, 0, minute, leaves=True)


def _forms(language: str) -> tuple[str, ...]:
    clock = clock_form(language)
    at = f"{meeting_phrases.AT[language]}|{meeting_phrases.BEFORE[language]}"
    must, gone, small, leaves = _LEAVING[language]
    latest = AT_LATEST[language]
    fill = rf"(?:(?:{small}),? ){{0,4}}"
    return (
        rf"\b(?:{at}) ({clock}),? {fill}(?:{must}) {fill}(?:{gone})\b",
        rf"\b(?:{must}) {fill}(?:{gone}),? {fill}(?:{at}) ({clock})(?: (?:{latest}))?(?:\b|$)",
        rf"\b(?:{must}) {fill}(?:{at}) ({clock}) {fill}(?:{gone})\b",
        rf"\b(?:{at}) ({clock}) {fill}(?:{gone}) {fill}(?:{must})\b",
        rf"\b(?:{at}) ({clock}),? {fill}(?:{leaves})\b",
        rf"\b(?:{leaves}),? {fill}(?:{at}) ({clock})(?: (?:{latest}))?(?:\b|$)",
    )
