"""What stands around numbers in a customer's turn, in folded text, and the forms of orders."""

import re

DENIED = re.compile(
    r"(?:\bnot|n't|\bnicht|\bne|\bnikoli|\bneni|(?<!order )(?<!pedido )\bno|\bkeine?|"
    r"\binstead of|\bmisto|\bnamisto|\bstatt|"
    r"\banstatt|\ben vez de|\ben lugar de|\bno es|\brather than|\bwrong one was)"
    r"(?: (?:the|die|der|das|den|ta|tu|ten|to|el|la|o|order|objednavk\w*|bestellung|pedido|is|"
    r"it's|es|"
    r"number|amount))*[ :]*$"
)
BARE_NUMBER = re.compile(
    r"(?<![\w.,/-])(?<!minus )(\d{1,3}(?:[ .']\d{3})+(?:,\d{1,2})?|\d{1,8}(?:[.,]\d{1,2})?)"
    r"(?![\w%]|[.,/]\d|-\d|\s*"
    r"(?:percent|procent|prozent|por ciento|items?|pieces?|days?|weeks?|months?|years?|times|"
    r"kusu?|ks|dny|dni|tydn\w+|mesic\w*|roky|let|stuck|tagen?|wochen?|monaten?|jahren?|mal|"
    r"dias|semanas|meses|anos|veces|cm|mm|kg|kilos?|zoll|uhr|x)\b|\s*%)"
)
LEADS_TO_AMOUNT = re.compile(
    r"(?:\bmake (?:that|it)|\bwant|\bonly|\bjust|\brather|\bamount|\brefund(?: me)?|\bback|"
    r"\bit's|\bis|"
    r"\bbut|\bmeant|\bshould be|\bcastk\w+|\bchci|\bvratte(?: mi)?|\bjen|\bale|\bje to|"
    r"\bma byt|\bbetrag|"
    r"\bsondern|\bnur|\bmeinte|\bes (?:sind|waren)|\bwere|\bbylo to|\beran|"
    r"\bmochte|\bimporte|\bsino|\bson|\bquiero|\bsolo|\bde|"
    r"\bmejor|\baspon|\bat least|\bmindestens|\bal menos|\bvsech|\blike)"
    r"(?: (?:a|the|some|say|about|etwa|die|den|ungefahr|zpet|zpatky|mi|los|unos?|'?n))*"
    r"[ ,:]*$"
)
"""What stands before an amount without its currency, where none was asked for."""
ENDS_CLAUSE = re.compile(
    r"\s*(?:$|[,;.!\n]|(?:on|of|for|from|za|z|ze|von|fur|bei|and|und|a|y|"
    r"because|weil|protoze|jelikoz|porque|per|por)\b|back\b|zuruck|zpet|zpatky|please|bitte|prosim|not\b|nicht\b|ne\b|no\b|-)"
)
WANTS_MONEY = re.compile(
    r"\b(?:back|refund\w*|money|reimburs\w*|price|want|settle|zuruck\w*|erstatt\w*|geld|will|mochte|"
    r"hatte|preis\w*|nachlass|rabatt|vrat\w*|vrac\w*|zpet|zpatky|peniz\w*|penez|chci|chceme|"
    r"chtel\w*|cen[auy]|castk\w*|slev\w*|devol\w*|devuelv\w*|reembols\w*|quiero|queremos|dinero|"
    r"importe|precio|descuento|discount|abon\w*)\b"
)
"""Words of a clause that speaks of money to be paid back."""
TOO_LITTLE = re.compile(
    r"\s*(?:is|are|isn't|je|jsou|ist|sind|es|son)? ?"
    r"(?:too little|too low|not enough|not|malo|nestaci|"
    r"zu wenig|reicht nicht|poco|no basta)\b"
)
"""What is said of a share that is not what the customer wants."""
PHONE = re.compile(
    r"\b(?:phone|telephone|mobile|cell|call me|tel|telefon\w*|mobil\w*|handy\w*|movil)\b"
    r"[^.!?]{0,30}$|"
    r"\b(?:plz|psc|postcode|post code|zip(?: code)?|postleitzahl|codigo postal|cp|hausnummer|"
    r"house number|born in|geboren|rocnik|nacid[oa] en)\b[^.!?,]{0,12}$"
)
"""What stands before the number of a telephone, a town or a house."""
NO_BEFORE = re.compile(
    r"(?:^|[^\w])(?:no|nope|nah|nein|nee?|ach ne|ale ne)[\s,.!:]+"
    r"(?:(?:un|una|el|la|a|the|ein|eine|die|das|"
    r"den|lieber|better|radsi|mejor|make it|say|let's say|lets say|rekneme|treba|spis|sagen wir|"
    r"digamos|just|only|jen|nur|solo)\s)*$"
)
"""A no that takes back what was said before it."""
ORDINAL = re.compile(r"\.\s+[^\W\d_]")
BEFORE_ORDINAL = re.compile(
    r"\b(?:die|der|das|dem|den|des|am|im|vom|zum|beim|ta|tu|ten|to|te|v|ve|na) $"
)
SHARE_BEFORE = re.compile(
    r"(?:%|percent|per cent|procent\w*|prozent|por ?ciento) (?:of|von|z|ze|de|del) (?:the )?$"
)
OTHER_THING_BEFORE = re.compile(
    r"\b(?:size|talla|grosse|gr\.|velikost\w*|vel\.|room|page|model|modell|type|typ|version|seat|"
    r"seite|stran[au]|zimmer|pokoj|pagina|modelo|tipo|habitacion|age|aged|alter|"
    r"ends? (?:in|with)|ending in|endet (?:auf|mit)|konci(?: na)?|(?:acaba|termina) en)[ :]*$"
)
"""What stands before a number that counts no money: `size 42`."""
DAY_BEFORE = re.compile(r"\b(?:am|vom|bis(?: zum)?|ab(?: dem)?|seit(?: dem)?|dne|el dia) $")
DAY_AND_MONTH = re.compile(r"(?:[012]?\d|3[01])\.(?:0?\d|1[012])")
MONTH_AFTER = re.compile(
    r"\.?(?: de| of)? (?:january|february|march|april|may|june|july|august|september|october|"
    r"november|december|januar|februar|marz|mai|juni|juli|oktober|dezember|ledna|unora|brezna|dubna|"
    r"kvetna|cervna|cervence|srpna|zari|rijna|listopadu|prosince|enero|febrero|marzo|abril|mayo|"
    r"junio|julio|agosto|septiembre|octubre|noviembre|diciembre)\b"
)
HAS_CENTS = re.compile(r"[.,]\d{2}$")
GROUPED = re.compile(
    r"(?<![\w.,/-])(?:\d{1,4}(?: \d{2,4}){1,3}|\d(?: \d){3,11})(?! ?\d)(?![\w%]|[.,/-]\d)"
)
"""An order's number in groups: `5 002 117`, `5 0 0 2`."""
PREFIXED_GROUPS = (
    r"(?i)(?<![\w.,/-]){prefix}[ -]?\d{{1,4}}(?:[ -]\d{{1,4}}){{1,7}}(?![\w%]|[.,/-]\d)"
)
"""The same after the letters of the shop's orders: `o53 268`."""
WITH_LETTERS = re.compile(
    r"(?<![\w.,/@-])([A-Za-z]{1,3})(\d{4,12}|\d{1,4}(?: \d{1,4}){1,5})(?![\w@]|[.,/-]\d| ?\d)"
)
"""An order's number whose letters stand close: `kn6001`."""
IN_ADDRESS = re.compile(r"\s+[A-ZÁČĎÉĚÍŇÓŘŠŤÚŮÝŽÄÖÜÑ][a-zá-ž]{2,}")
ORDER_BEFORE = re.compile(
    r"\b(?:orders?|obj|objednav\w*|bestell\w*|auftrag\w*|pedidos?|compra)"
    r"(?: (?:number|no|num|nr|nummer|cislo|c|numero|mit|with|s|con|the|der|die|o))*[ .:#]*$"
)
"""What stands before the number of an order."""
