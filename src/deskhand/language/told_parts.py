"""Parts of a message that give no reason: which thing is meant, how it came, that it shall go back,
what is put off, and a wrong number."""

import re

from deskhand.language.slots.folded_text import FoldedText

COMES = re.compile(
    r"^\W*(?:(?:i|we|ich|wir|hab\w*|gestern|heute|vcera|dnes|today|yesterday|just|so|also|the|die|"
    r"der|das)\W+)*"
    r"(?:got|received|ordered|bought|picked up|bekam\w*|erhielt\w*|bestellt\w*|gekauft|"
    r"dostal\w*|objednal\w*|koupil\w*|prevzal\w*)\b|"
    r"\b(?:arrived|came|turned up|kam\w*|angekommen|geliefert|bekommen|erhalten|dorazil\w*|"
    r"prisl\w*|prisel) (?:heute|gestern|endlich|dnes|vcera|konecne|today|yesterday|finally)\b"
)
"""Words of a clause that tells how something was bought or came, and not what is wrong with it."""
RETURNS = re.compile(
    r"\b(?:want\w*|like|love|need\w*|wish\w*|going|decided|trying|can i|may i|let me) (?:\w+ ){0,2}"
    r"(?:return|send|give|bring|hand|take)\b|"
    r"\b(?:will|wollen|wollte\w*|mochte\w*|wurde\w*|hatte\w*|kann ich|darf ich|muss)\b.*"
    r"\b(?:zuruck\w*|retourn\w*|loswerden|umtausch\w*)\b|"
    r"\b(?:chci|chtel\w*|chceme|potrebuj\w*|rad\w?|bych|mohu|muzu|hodlam)\b.*"
    r"\b(?:vrat\w*|vrac\w*|poslat|zpet|zpatky)\b|\bvrati\w+ bych\b|"
    r"\b(?:quier\w*|quisiera|gustaria|querria|necesito|puedo)\b.*\b(?:devol\w*|devuelv\w*)\b"
)
"""Words of somebody who wants to give a thing back."""

SLIP = re.compile(
    r"\b(?:mixed (?:it|them|that)? ?up|typo|mistyped|wrong (?:number|digits?)|swapped the|"
    r"zahlendreher|vertippt|verschrieben|verwechselt|falsche nummer|spletl\w*|preklep\w*|"
    r"prehodil\w*|popletl\w*|spatne cislo|equivoc\w*|confund\w*|baile de (?:numeros|cifras))\b"
)
"""Words of somebody who named the wrong number."""
PUTS_OFF = re.compile(
    r"\b(?:forget|scrap|never ?mind|leave (?:the|that|it)|changed my mind|another time|later|"
    r"can wait|"
    r"cancel(?: (?:it|that|the|my|order)\b|$)|before (?:we|you|i)|by the way|"
    r"nechme|nechte|odloz\w*|pocka|jindy|vykasl\w*|zruste|zrusit|stornuj\w*|storno|az potom|"
    r"nejdriv|"
    r"vergess\w*|ein ?ander ?mal|beiseite|egal|erledigt|spater|lassen wir\w*|stornier\w*|"
    r"wisst ihr was|wissen sie was|vis co|vite co|you know what|sabe que|"
    r"olvid\w*|puede esperar|dejemos|dejalo|otro dia|aparc\w*|cancel[ae]\w*|anul\w*)\b"
)
"""What is said of the matter that is dropped, or of an order that is to be cancelled."""


def says_only_which(words: str) -> bool:
    """Whether words only say which thing is meant, as `order O-10018`, and nothing about it."""
    folded = _NUMBERS.sub(" ", FoldedText(words).folded)
    return not re.findall(r"[^\W\d_]{2,}", _POINTS.sub(" ", folded))


_POINTS = re.compile(
    r"\b(?:orders?|number|no|nr|ref|reference|it|its|is|was|the|my|this|that|of|for|about|and|also|"
    r"objednavk\w*|cislo|je|to|jde|tyka|se|moje|ma|ta|ten|und|bestell\w*|auftrag\w*|nummer|es|geht|"
    r"um|ist|war|die|der|das|meine|von|pedido|numero|el|la|mi|de|del|trata)\b"
)
"""Words around the number of a thing that say nothing about it."""
_NUMBERS = re.compile(r"\b(?:[a-z]{1,3}[-# ]?)?\d[\w./-]*")


def tells_how_it_came(words: str) -> bool:
    """Whether words begin with how something was bought or came."""
    return COMES.search(_GREETING.sub("", FoldedText(words).folded)) is not None


_GREETING = re.compile(
    r"^\W*(?:hi|hello|hey|hallo|moin|guten (?:tag|morgen|abend)|dobry (?:den|vecer)|ahoj|zdravim|"
    r"hola)\b\W*"
)
