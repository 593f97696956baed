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
    r"(?<![\w.,/-])(?<!minus )(\d{1,3}(?:'\d{3})+(?:[.,]\d{2})?|\d{1,3}(?:,\d{3})+(?:\.\d{2})?|"
    r"\d{1,3}(?:[ .']\d{3})+(?:,\d{1,2})?|"
    r"\d{1,8}(?:[.,]\d{1,2})?)"
    r"(?![\w%]|[.,]\d|[/-]\w|'\d{3}|\s*"
    r"(?:percent|procent|prozent|por ciento|items?|pieces?|days?|weeks?|months?|years?|times|"
    r"kusu?|ks|dny|dni|tydn\w+|mesic\w*|roky|let|stuck|tagen?|wochen?|monaten?|jahren?|mal|"
    r"dias|semanas|meses|anos|veces|cm|mm|kg|kilos?|zoll|uhr|watt|volt|grad|liter|litr\w*|litros?|"
    r"hours?|stunden?|hodin\w*|horas?|x)\b|\s*%)"
)
COUNTED_AFTER = re.compile(
    r"\s*-?(?:percent|procent\w*|prozent|por ciento|items?|pieces?|seconds?|minutes?|hours?|"
    r"days?|weeks?|months?|"
    r"years?|times|kusu?|ks|sekund\w*|minut\w*|hodin\w*|dny|dni|tydn\w+|mesic\w*|roky|let|stuck|"
    r"stunden?|tagen?|wochen?|monaten?|jahren?|mal|minutos?|horas?|dias|semanas|meses|anos|veces|"
    r"cm|mm|kg|kilos?|zoll|uhr|watt|volt|grad|liter|x)\b"
)
"""What a number counts that is no amount."""
LEADS_TO_AMOUNT = re.compile(
    r"(?:\bmake (?:that|it)|\bwant|\bonly|\bjust|\brather|\bamount|\brefund(?: me)?|\bback|"
    r"\bit's|\bis|"
    r"\bbut|\bmeant|\bshould be|\bcastk\w+|\bchci|\bvratte(?: mi)?|\bjen|\bale|\bje to|"
    r"\bma byt|\bbetrag|"
    r"\bsondern|\bnur|\bmeinte|\b(?:es|das) (?:sind|waren)|\bsinds|\bwere|\bbylo to|\beran|"
    r"\bmochte|\bimporte|\bsino|\bson|\bquiero|\bsolo|\bde|"
    r"\bmejor|\baspon|\bat least|\bmindestens|\bal menos|\bvsech|\blike)"
    r"(?: (?:a|the|some|say|about|bitte|auf|etwa|die|den|ungefahr|zpet|zpatky|mi|los|unos?|'?n))*"
    r"[ ,:]*$"
)
"""What stands before an amount without its currency, where none was asked for."""
LEADS_TO_PRICE = re.compile(
    r"(?:\bpaid|\bpay|\bcosts?|\bit was|\bes war(?:en)?|\bpriced? at|\bprice (?:was|is)|"
    r"\bcharged(?: me)?|\bstal[aoy]?|"
    r"\bstoji|\bcena (?:byla|je)|\b(?:za)?platil\w*|\buctoval\w*|\bstrhl\w*|\bdal[ai]? jsem|"
    r"\bbezahlt|"
    r"\bgezahlt|\bgekostet|\bkostete[n]?|\bkostet[e]?|\babgebucht|\bberechnet|\bkaufpreis|"
    r"\bpreis (?:war|ist)|"
    r"\bpague|\bpagado|\bcosto|\bcostaba|\bcobraron|\bcobrado|\bprecio (?:era|fue|es))"
    r"(?: (?:me|mi|us|nas|mich|uns|it|for it|about|asi|presne|exactly|exakt|genau|just|only|nur|"
    r"jen|"
    r"celkem|insgesamt|altogether|unos|ni|ni|ne[jn]|nej|za ni|za nej|pritom|it was|"
    r"to bylo))*[ ,:]*$"
)
"""What stands before the price of a thing, where no amount was asked for."""
PRICE_AFTER = re.compile(
    r"\s+(?:jsem (?:za|zaplatil|dal)|hab ?(?:e)? ich (?:bezahlt|gezahlt|dafur)|i paid|it cost|"
    r"is what i paid|it was|it came to|war es|waren es|to bylo|fue|fueron|"
    r"hat (?:es|er|sie|das) gekostet|pague|me costo)\b"
)
"""What follows the price of a thing."""
BEGINS_PART = re.compile(r"(?:^|[,;:\n]|[.!?]|\s[-–—/])\s*$")
ENDS_PART = re.compile(
    r"\s*(?:plz|please|pls|bitte|prosim|por favor)?\s*(?:$|[,;\n]|[.!?](?:\s|$)|[-–—/]\s)"
)
ENDS_CLAUSE = re.compile(
    r"\s*(?:$|[,;.!\n()]|(?:on|of|for|from|za|z|ze|von|fur|bei|and|und|a|y|"
    r"because|weil|protoze|jelikoz|porque|per|por|with|mit|s|se|con|instead|statt|misto|if|wenn|"
    r"pokud|"
    r"jsem|as|als|jako|como)\b|back\b|zuruck|zpet|zpatky|please|bitte|prosim|not\b|nicht\b|ne\b|"
    r"no\b|-)"
)
WANTS_MONEY = re.compile(
    r"\b(?:back|refund\w*|money|reimburs\w*|price|want|settle|zuruck\w*|erstatt\w*|geld|will|"
    r"mochte|"
    r"hatte|preis\w*|nachlass|rabatt|vrat\w*|vrac\w*|zpet|zpatky|peniz\w*|penez|chci|chceme|"
    r"chtel\w*|cen[auy]|castk\w*|slev\w*|devol\w*|devuelv\w*|reembols\w*|quiero|queremos|dinero|"
    r"importe|precio|descuento|discount|abon\w*|retour|owe|schuld\w*|dluz\w*|deb[eé]\w*)\b"
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
    r"\b(?:die|der|das|dem|den|des|am|im|vom|zum|beim|ta|tu|ten|to|te|v|ve|na|od|do|seit|bis|von|"
    r"ab) $"
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
EACH_BEFORE = re.compile(r"(?:\bà|@|\bje|\bjeweils|\bpo|\bat) $")
"""What stands before the price of one of several things."""
DIGIT_BEFORE = re.compile(r"\b(?:a|eine|jednu|una) $")
"""What stands before a single digit that is spoken of as one: `a 9 at the end`."""
IN_GROUP_BEFORE = re.compile(r"\d $")
IN_GROUP_AFTER = re.compile(r" \d{2,}(?![.,]?\d)")
"""What stands around a number that is only a part of one in groups."""
DAY_BEFORE = re.compile(r"\b(?:am|vom|bis(?: zum)?|ab(?: dem)?|seit(?: dem)?|dne|el dia) $")
DAY_AND_MONTH = re.compile(r"(?:[012]?\d|3[01])\.(?:0?\d|1[012])")
MONTH_AFTER = re.compile(
    r"\.?(?: de| of)? (?:january|february|march|april|may|june|july|august|september|october|"
    r"november|december|januar|februar|marz|mai|juni|juli|oktober|dezember|ledna|unora|brezna|"
    r"dubna|"
    r"kvetna|cervna|cervence|srpna|zari|rijna|listopadu|prosince|enero|febrero|marzo|abril|mayo|"
    r"junio|julio|agosto|septiembre|octubre|noviembre|diciembre)\b"
)
HAS_CENTS = re.compile(r"[.,]\d{2}$")
GROUPED = re.compile(
    r"(?<![\w.,/-])(?:\d{1,4}(?: \d{1,4}){1,3}|\d(?: \d){3,11})(?! ?\d)(?![\w%]|[.,/-]\d)"
)
"""An order's number in groups: `5 002 117`, `5 0 0 2`."""
PREFIXED_GROUPS = (
    r"(?i)(?<![\w.,/-]){prefix}[ -]?\d{{1,4}}(?:[ -]\d{{1,4}}){{1,7}}(?![\w%]|[.,/-]\d)"
)
"""The same after the letters of the shop's orders: `o53 268`."""
WITH_LETTERS = re.compile(
    r"(?<![\w.,/@-])([A-Za-z]{1,3})(\d{4,12}|-?\d{1,4}(?: \d{1,4}){1,5})(?![\w@]|[.,/-]\d| ?\d)"
)
"""An order's number whose letters stand close: `kn6001`."""
HYPHENED = re.compile(
    r"(?<![\w.,/@-])(?!\d{1,2}-\d{1,2}-(?:\d{2}|\d{4})(?!\w)|(?:19|20)\d\d-[01]\d-\d\d(?!\w))"
    r"\d{1,5}(?:-\d{1,5}){1,7}(?![\w%@]|[.,/-]\w| \d)"
)
"""An order's number with hyphens, which is no date: `5-0-0-2-1`, `50-021`."""
IN_THOUSANDS = re.compile(
    r"(?<![\w.,/-])(\d{1,3}) ?(?:tisice?|thousand|tausend|mil) ?(\d{1,3})"
    r"(?![\w%]|[.,/-]\d| ?(?:hundred|hundert|set|sta|ste|cien|und|and|y)\b)"
)
"""`39 tisíc 114`."""
OTHER_NUMBER_BEFORE = re.compile(
    r"(?P<thing>\b(?:customer|client|account|acct|invoice|tracking|shipment|article|item|product|"
    r"serial|"
    r"membership|card|voucher) (?:number|no|nr|id)|"
    r"\b(?:kunden|rechnungs|sendungs|artikel|serien|konto|karten|mitglieds|vertrags|gutschein)"
    r"-?(?:nummer|nr|id)|"
    r"\bcislo (?:faktury|zakaznika|zasilky|uctu|karty|vyrobku|zbozi|smlouvy)|"
    r"\b(?:podaci|sledovaci|zakaznicke|variabilni|seriove|clenske) (?:cislo|symbol)(?: zasilky)?|"
    r"\bnumero de (?:cliente|factura|seguimiento|cuenta|articulo|serie|socio|tarjeta|envio))"
    r"(?:,? (?:is|was|are|ist|war|ware|waere|lautet|je|bylo|by|byla|es|era|seria|only|nur|jen|"
    r"solo|here|hier|"
    r"tady|of mine|which|die|to|it's|und zwar))*[ .,:#]*(?:[a-z]{1,3}[ -]?)?$"
)
"""What stands before the number of something else than an order."""
DEARER_OR_CHEAPER = re.compile(
    r"\s*(?:\w+ )?(?:cheaper|less elsewhere|more expensive|billiger|gunstiger|teurer|levnej\w*|"
    r"levneji|drazs\w*|"
    r"draz|mas barat\w*|mas car\w*)\b"
)
"""What follows an amount that only compares prices."""
POSTCODE_AFTER = re.compile(
    r"\s+(?:is|ist|je|es)\s+(?:\w+ )?(?:plz|postleitzahl|psc|postcode|zip|codigo postal|"
    r"hausnummer)\b"
)
IN_ADDRESS = re.compile(r"\s+[A-ZÁČĎÉĚÍŇÓŘŠŤÚŮÝŽÄÖÜÑ][a-zá-ž]{2,}")
ORDER_BEFORE = re.compile(
    r"\b(?:orders?|obj|objednav\w*|bestell\w*|auftrag\w*|pedidos?|compra)"
    r"(?: (?:number|no|num|nr|nummer|cislo|c|numero|mit|with|s|con|the|der|die|o))*[ .:#]*$"
)
"""What stands before the number of an order."""
