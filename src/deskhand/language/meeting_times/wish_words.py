"""Words that limit, refuse or change times, by language; patterns over folded text."""

NEGATION: dict[str, str] = {
    "en": r"\b(?:(?:can't|cannot|can not|couldn't) (?:do|make it)|not (?:free|available|around)|"
    r"not|never|no|neither|nor|cannot|cant|dont|wont|unable|impossible|unavailable|busy|"
    r"booked|away|avoid|bad|closed|difficult|tricky|(?:is|are) out)\b|\b\w+n't\b",
    "cs": r"\b(?:ne|ani|nikoliv?|nelze|nikdy|obsazen\w*|zaneprazdnen\w*|plno|pryc|zavren\w*)\b|"
    r"\bne(?:[abcdefghiklmnoprstuvz][a-z]+)\b",
    "de": r"\b(?:nicht|kein\w*|nie|niemals|weder|noch nicht|unmoglich|verhindert|ausgebucht|belegt|"
    r"ungunstig|schlecht|abwesend|unterwegs|geschlossen)\b",
    "es": r"\b(?:no (?:puedo|podemos|podria|podriamos)|no|ningun\w*|"
    r"nunca|tampoco|jamas|ni|imposible|ocupad[oa]s?|fuera|mal|cerrad[oa]s?)\b",
}
NOTHING_PLANNED: dict[str, str] = {
    "en": r"\b(?:no|(?:have|got|has)n't (?:any|got any)|don't have any|without) (?:patients?|"
    r"meetings?|appointments?|calls?|class(?:es)?|lessons?|clients?|customers?|shifts?|commitments?|"
    r"plans|pupils|students|kids|children|guests|lectures?|deliveries|rehearsals?|sessions?)\b",
    "cs": r"\bnem(?:am|ame|ivam) (?:zadn\w+ |nic )?(?:pacient\w*|schuzk\w*|schuzi|porad\w*|"
    r"klient\w*|zakaznik\w*|vyuku|hodiny|smenu|jednani|v planu|v diari|deti|zak[yu]|"
    r"student\w*|host[yu]|trenink\w*|zkousk\w*|prednask\w*)\b",
    "de": r"\bkein\w* (?:patient\w*|besprechung\w*|meetings?|kund\w+|unterricht\w*|"
    r"verpflichtung\w*|dienst\w*|sprechstunde\w*|schicht\w*|kurse?|kinder|schuler\w*|student\w*|"
    r"klient\w*|mandant\w*|gaste|sitzung\w*|prob\w+|vorlesung\w*|lieferung\w*)\b|"
    r"\bnichts (?:vor|geplant)\b",
    "es": r"\bno teng(?:o|amos) (?:ningun\w* )?(?:pacientes?|reunion\w*|clases?|citas?|clientes?|"
    r"compromisos?|turno|nada|ninos|alumnos|huespedes|sesion\w*|consultas?|ensayos?)\b",
}
"""Nothing stands in the way then: `between three and five I have no patients`."""
NOT_NEGATION: dict[str, str] = {
    "en": r"\bno (?:problem|rush|hurry|doubt|worries)\b|\b(?:why|whether or) not\b|"
    r"\bno\. ?[0-9]|\b(?:not|no) (?:only|more than|longer than)\b|\bdon't hesitate\b|\bif not\b|"
    r"\bhas?ve n[o']t (?:yet )?(?:met|seen|been)\b|\bbooked (?:a|an|our)\b",
    "cs": r"\b(?:nebo|neb|nedel\w*|nez|nezli|nec[oh]\w*|nek\w+|nemeck\w*|nemec\w*|nemocni\w*|"
    r"nedavn\w*|nabid\w*|nejak\w*|net|nervov\w*|nech\w*|nemovit\w*|nehled\w*|nestle|nezav\w*)\b",
    "de": r"\bnicht (?:nur|wahr|mehr als|langer als)\b|\bkein problem\b",
    "es": r"\bno (?:solo|obstante|mas de|hay problema)\b|\bsi no\b|\bmal\b ",
}
"""What looks like a refusal and is none."""

EXCEPTION: dict[str, str] = {
    "en": r"\b(?:except(?:ing)?(?: for)?|excluding|apart from|other than|aside from|barring|"
    r"save for|bar)\b|\b(?:any|every|all|no|anything|everything|whenever|each)(?: \w+){0,3}? but\b",
    "cs": r"\b(?:krome|mimo|vyjma|az na|s vyjimkou)\b",
    "de": r"\b(?:auss?er|ausgenommen|bis auf|mit ausnahme(?: von| des| der)?|abgesehen von)\b",
    "es": r"\b(?:menos|excepto|salvo|exceptuando|quitando|a excepcion de|con excepcion de)\b",
}
NOT_EXCEPTION: dict[str, str] = {
    "en": r"\bexcept that\b|\bbar (?:stools?|counters?|tables?|chairs?|height|code|is|staff)\b|"
    r"\b(?:an?|the|this|that|your|our|my|coffee|snack|hotel|wine|standing|at|in) bar\b",
    "cs": r"\bmimo (?:jine|kancelar|praci)\b|\b(?:krome toho|az na to),? ze\b",
    "de": r"\bauss?erhalb\b|\bauss?er,? dass\b",
    "es": r"\b(?:al|por lo|mas o|ni mucho) menos\b|\bmenos cuarto\b|\b(?:salvo|excepto) que\b",
}

ONLY: dict[str, str] = {
    "en": r"\b(?:only|not until)\b",
    "cs": r"\b(?:jen|jenom|pouze|teprve|az|nejdrive?j?)\b",
    "de": r"\b(?:nur|erst|lediglich|fruhestens)\b",
    "es": r"\b(?:solo|solamente|unicamente|recien)\b",
}
"""Limits a day that was named before."""

CONDITION: dict[str, str] = {
    "en": r"\b(?:if|unless|in case|should)\b",
    "cs": r"\b(?:pokud|jestli\w*|kdyby|kdyz|v pripade)\b",
    "de": r"\b(?:wenn|falls|sofern|sollte)\b",
    "es": r"\b(?:si|en caso de|a no ser)\b",
}

JOIN: dict[str, str] = {
    "en": r"or else|or|and|either|as well as|alternatively",
    "cs": r"nebo|anebo|ci|a|i|pripadne|popr\.?|popripade|eventualne|bud",
    "de": r"oder|und|bzw\.?|sowie|entweder|alternativ",
    "es": r"o|u|y|e|ni|bien|o bien",
}
OR: dict[str, str] = {
    "en": r"\bor\b",
    "cs": r"\b(?:nebo|anebo|ci)\b",
    "de": r"\b(?:oder|bzw)\b",
    "es": r"\b[ou]\b",
}
"""Between times of which one is enough."""
HENCE: dict[str, str] = {
    "en": r"so|thus|therefore|hence|otherwise|then|rather",
    "cs": r"takze|tedy|tak|proto|jinak|jindy",
    "de": r"also|daher|deshalb|somit|sonst|ansonsten|andernfalls",
    "es": r"asi que|por eso|entonces|por tanto|de lo contrario",
}
"""What follows from something that was told, or is meant in its place."""
SMALL: dict[str, str] = {
    "en": r"on|at|in|the|any|some|time|of|for|during|over|both|by|a|an|each|sometime|ideally|"
    r"preferably|afterwards|then|still|maybe|perhaps|please|best|also|even|pm|am|only|from|"
    r"before|after|around|about|always|at most|anything|something|say|roughly|between|to|"
    r"either way|failing that|if not|your place|here|there|it (?:has|needs|would have|would need) "
    r"to be|it'd have to be|it must be",
    "cs": r"v|ve|na|s|o|k|ke|z|ze|po|od|do|pred|radsi|prosim|nejlepe|idealne|treba|taky|take|"
    r"jeste|jen|klidne|kolem|okolo|hodin\w*|hod|kdykoliv?|dne|az|spis\w*|pro|vzdy|maximalne|nejvys|"
    r"rekneme|dejme tomu|neco|oba|oboje|jenom|pouze|vyhradne|asi|"
    r"zhruba|priblizne|nekdy|pokazde|u vas|u nas|mezi|muselo by(?: to)? byt|musi to byt|"
    r"melo by(?: to)? byt",
    "de": r"am|an|im|in|den|dem|der|die|das|um|von|vom|gegen|ab|bis|vor|nach|uhr|jeweils|gern\w*|"
    r"auch|etwa|ca|bitte|am liebsten|gegebenenfalls|noch|einem|zur|zum|immer|hochstens|maximal|"
    r"sagen wir|sag(?:en)? wir mal|nur|ausschlieslich|so|ungefahr|vielleicht|eventuell|ersatzweise|"
    r"notfalls|beide|beides|zwischen|irgendwann|bei ihnen|bei uns|es musste|es muss|es sollte|sein",
    "es": r"el|la|los|las|a|al|de|del|en|por|sobre|hacia|también|tambien|mejor|dia|dias|incluso|"
    r"quiza|quizas|para|partir|antes|despues|siempre|como mucho|como maximo|como (?:muy )?tarde|"
    r"a mas tardar|digamos|solo|"
    r"solamente|unicamente|mas o menos|aproximadamente|entre|si no|en su defecto|unos|unas|"
    r"ahi|aqui|ambos|los dos|(?:tiene|tendria) que ser|(?:con tal de|siempre) que sea|"
    r"ha de ser|deberia ser",
}
"""Words that stand between times without adding anything."""

BREAK = (
    r"[,;:()]|\n\s*[-*•]|\s-\s|\b(?:but|however|though|although|because|since|aber|allerdings|"
    r"sondern|dafur|weil|denn|da ich|ale|avsak|nicmene|protoze|jelikoz|pero|sino|aunque|"
    r"porque|ya que|preferably|ideally|nejlepe|idealne|am liebsten|preferiblemente|lieber|"
    r"and (?:the )?(?:rest|other|otherwise)|a (?:jinak|ostatni)|und (?:sonst|ansonsten|"
    r"die ubrigen)|"
    r"y (?:los|las) demas)\b"
)
"""Where one thing that is said about times ends and the next begins."""

MOVE: dict[str, str] = {
    "en": r"\b(?:push(?:ed)? (?:it|our|the|this|that|back)|mov(?:e|ed|ing) (?:it|our|the|my|this|"
    r"that|to)|postpon\w*|re-?schedul\w*|shift(?:ed)? (?:it|our|the|my)|bring (?:\w+ ){0,3}forward|"
    r"put (?:\w+ ){0,3}off|rebook\w*|re-?arrang\w*|instead|chang(?:e|ing) (?:the|our|my|this) "
    r"(?:\w+ ){0,2}(?:appointment|meeting|call|time|date|slot|booking)|swap\w*|"
    r"same (?:time|day|hour|slot)|different (?:time|day|date))\b",
    "cs": r"\b(?:presun\w*|presou\w*|posun\w*|posou\w*|preloz\w*|preklad\w*|odloz\w*|odklad\w*|"
    r"prehod\w*|preobjedn\w*|namisto|misto (?:pondel\w*|utern?\w*|stred\w*|ctvrt\w*|patk\w*|"
    r"sobot\w*|"
    r"nedel\w*|toho|[0-9]+)|zmenit (?:\w+ )?(?:termin|cas|schuzku)|stejn(?:ou|y|em|e) "
    r"(?:dobu|cas\w*|hodinu|den|dobe)|ze? (?:pondel\w*|uter\w*|stred\w*|ctvrt\w*|patk\w*|[0-9]+\.)"
    r".{0,20} na|jin(?:y|ou) (?:termin|dobu|cas))\b",
    "de": r"\b(?:verschieb\w*|verschob\w*|verleg\w*|umbuch\w*|umzubuch\w*|vorverleg\w*|vorzieh\w*|"
    r"vorzuzieh\w*|verlegt|stattdessen|statt|anstatt|anstelle|(?:gleich|selb)e[nrs]? "
    r"(?:uhrzeit|zeit|tag|stunde)|andere[nrs]? (?:termin|tag|zeit)|umleg\w*|tausch\w*)\b|"
    r"\btermin\w*\b.{0,20}\bvom\b.{1,30}\bauf\b|"
    r"\b(?:zur|um die)(?: gleichen| selben)\b",
    "es": r"\b(?:aplaz\w*|mover(?:la|lo|se)?|cambi(?:ar|o|amos|arla|arlo|ara)|pospon\w*|retras\w*|"
    r"adelant\w*|reprogram\w*|en su lugar|en lugar|en vez|traslad\w*|pasar(?:la|lo)|"
    r"pasar (?:\w+ ){1,2}(?:reunion|cita|llamada|visita) del?|"
    r"(?:la |lo )?dejamos para|mism[oa] (?:hora|dia|horario))\b",
}
CANCEL: dict[str, str] = {
    "en": r"\b(?:cancel\w*|call(?:ed|ing)? (?:it |our \w+ |the \w+ )?off|"
    r"(?:won't|can't|cannot|not) be able to (?:make|come|attend|join)|"
    r"(?:can't|cannot|won't|couldn't) (?:make it|come|attend|join)|no longer (?:need|make|come|"
    r"able)|"
    r"come up|came up|missed)\b",
    "cs": r"\b(?:zrus\w*|rus(?:im|it|ime)|odrici|odrict|odreknout|odrik\w*|odvol\w*|stornov\w*|"
    r"nestih\w*|nedoraz\w*|neprijd\w*|neprijed\w*|do toho (?:\w+ ){0,2}prisl\w*|"
    r"(?:nemohu|nemuzu|nemuzeme) (?:prijit|dorazit|prijet|se (?:dostavit|zucastnit)))\b",
    "de": r"\b(?:absag\w*|abzusag\w*|stornier\w*|entfall\w*|ausfall\w*|auszufall\w*|"
    r"fallt (?:\w+ ){0,3}(?:aus|weg)|nicht (?:kommen|wahrnehmen|teilnehmen|erscheinen|einhalten)|"
    r"dazwischen\w*|streichen)\b|\bsage?n?\b.{1,60}\bab\b",
    "es": r"\b(?:anul\w*|cancel\w*|no (?:podre|puedo|podemos|podremos|me (?:va a ser|es|"
    r"sera) posible)"
    r"(?: (?:asistir|ir|venir|acudir|llegar))|no (?:me )?(?:va a ser|sera) posible|suspend\w*|"
    r"ha surgido|me surgio)\b",
}

HARMLESS: dict[str, str] = {
    "en": r"\bgood (?:morning|afternoon|evening|day)\b|\b(?:have|enjoy) (?:a|an|the|your) (?:\w+ )?"
    r"(?:day|week|weekend|evening|afternoon|morning|rest of (?:the|your) (?:day|week))\b|"
    r"\b(?:any|every|each) day\b|\b(?:all|most) days\b|"
    r"\b(?:great|nice|lovely|good) (?:day|week|weekend|evening)\b|\bthe rest(?: of (?:the|that) "
    r"(?:week|day|days))?\b|\b(?:the |all |any )?other days?\b|\bas soon as (?:possible|you can)\b|"
    r"\bbefore (?:we|i|you) (?:decide|order|buy|commit|choose|sign|purchase|invest)\b|"
    r"\bbefore (?:deciding|ordering|buying|committing|choosing|signing|purchasing)\b|"
    r"\bat your earliest convenience\b|\bin advance\b|\blong time\b|\bthese days\b|"
    r"\b(?:this|first|every) time\b|\bsoon\b|\b(?:look|looks|looking|looked|named) after\b|"
    r"\bafter all\b|\bif (?:at all )?possible\b|\bif (?:that|it|this) (?:works|suits you|"
    r"is (?:ok|okay|fine))\b|"
    r"\b\b(?:all|whole|entire|full) day\b|\bhalf of\b|"
    r"\b(?:meet|see|visit|talk|come by|speak|call) (?:us |you |me )?(?:one|some) day\b|"
    r"\bwhen (?:could|can|would|will|are|is|do|might|should|shall|suits|it suits|you)\b|"
    r"\bone day\b|\ball week\b|\bbusiness days?\b|\bwhen\?|"
    r"\b(?:at |on )?(?:what|which) (?:time|day|hour|slot|date)s?\b|"
    r"\byour (?:local )?time(?: ?zone)?\b|"
    r"\bsame time ?zone(?: as (?:you\w*|us|ours)\b|[.,;!?)]|$)",
    "cs": r"\b(?:dobr[eyou]+|hezk\w+|pekn\w+|krasn\w+|prijemn\w+) (?:zbytek )?(?:den|dne|rano|"
    r"dopoledne|odpoledne|vecer|tyden|tydne|vikend\w*)\b|\bzbytek (?:tydne|dne)\b|"
    r"\bpokud (?:mozno|je to mozne|to (?:jde|pujde|bude mozne))\b|\bje-li to mozne\b|"
    r"\bjiny den\b|\bco nejdrive\b|\bjeden den\b|\bnekdy\b|\bcel(?:y|e) (?:den|dny|tyden)\b|"
    r"\bkazdy den\b|\bv tydnu\b|\bbehem tydne\b|\bpredem\b|\bv kolik(?: hodin)?\b|"
    r"\b(?:ve? )?(?:kter|jak)(?:y|ou|em|a|e) (?:den|dny|cas|dobu|hodinu|hodine)\b|\bvaseho casu\b|"
    r"\b(?:drive?,? )?nez (?:\w+ ){0,2}(?:objedn\w*|koup\w*|rozhodn\w*|podepis\w*|investuj\w*)|"
    r"\bstejn\w+ casov\w+ pasm\w+(?: jako (?:vy|vase|u vas)\b|[.,;!?)]|$)|"
    r"\bcasov\w+ pasm\w+ (?:je |mame )?(?:stejne|totozne|shodne)\b",
    "de": r"\bguten (?:morgen|tag|abend|vormittag|nachmittag)\b|\bschon(?:e|en|es) (?:\w+ )?(?:tag|"
    r"abend|woche|wochenende|nachmittag|vormittag)\b|\b(?:die )?(?:ubrige|restliche)n? (?:woche|"
    r"tage)\b|"
    r"\bso (?:bald|schnell|rasch) wie moglich\b|\bvorab\b|\bim voraus\b|\bgesprach\b|"
    r"\bjede[nrmsn]? tag\b|\b(?:den )?ganzen? tage?\b|\bganztags\b|\b(?:die )?ganze woche\b|"
    r"\b(?:an )?eine[mn] tag\b|\bvor ort\b|\bwann\b|\bbei tag\b|\bwochentag\w*\b|"
    r"\bherzliche[nr]? (?:gruss|grus|dank)\b|\b(?:wenn|falls|sofern|soweit) (?:moglich|(?:es|das|"
    r"dies) (?:geht|passt|moglich ist))\b|\b(?:um )?wie ?viel uhr\b|"
    r"\b(?:zu |an )?welche[rnms]? (?:uhrzeit|zeit|stunde|tag|tagen)\b|"
    r"\b(?:ihrer|eurer) (?:orts)?zeit\b|"
    r"\b(?:dieselbe|derselben|gleiche[nr]?|selbe[nr]?) zeitzone(?: wie (?:sie|bei ihnen|ihr)\b|"
    r"[.,;!?)]|$)|\bzeitzone ist (?:dieselbe|die gleiche)(?: wie (?:ihre|bei ihnen)\b|[.,;!?)]|$)|"
    r"\bbevor (?:ich|wir|sie|man) (?:\w+ ){0,3}(?:unterschreib\w*|bestell\w*|kauf\w*|"
    r"entscheid\w*|zusag\w*|investier\w*)|"
    r"\bab(?: und\b| oder\b|[;!?)]|\.(?:\s|$)|$|, (?:also|dann|danach|aber|weil|da|wir|ich)\b)|"
    r"\bvor(?:[,;!?)]|\.(?:\s|$)|$)|\bdamit (?:ich|wir|man) bis dahin\b|"
    r"\b(?:e|repor)tagen\b",
    "es": r"\bbuen[oa]s? (?:dias?|tardes|noches)\b|\b(?:buen|feliz|un buen) (?:dia|fin de semana|"
    r"semana|tarde)\b|\b(?:los )?(?:demas|otros) dias\b|"
    r"\b(?:el )?resto(?: de (?:la semana|los dias|dias))?\b|"
    r"\bsi (?:puede ser|es posible|fuera posible|les? (?:va|viene) bien)\b|\bcuanto antes\b|"
    r"\blo antes posible\b|\bde antemano\b|\bcualquier dia\b|\btodos los dias\b|"
    r"\bcomo (?:muy )?tarde\b|\ba mas tardar\b|"
    r"\bel dia que (?:quier\w+|prefier\w+|mas (?:os|les?) convenga|(?:os|les?) (?:venga|vaya))\b|"
    r"\btodo el dia\b|\btoda la semana\b|\balgun dia\b|\bun dia\b|\bhoy en dia\b|"
    r"\b(?:a la )?hora de\b $|\b(?:a |en )?que (?:horas?|dias?|momento)\b|"
    r"\bcuando (?:podri\w*|pued\w*|podemos|les?|te|os|seria|nos|tien\w*|tendri\w*)\b|"
    r"\bantes de (?:firmar|comprar\w*|decidir\w*|pedir|encargar|invertir)\b|"
    r"\bmism[oa] (?:zona|huso) horari[oa](?: que (?:ustedes|vosotros|usted|tu)\b|[.,;!?)]|$)",
}
"""About time, but nothing that a wish depends on."""

AGREED: dict[str, str] = {
    "en": r"\b(?:our|my|the agreed|tomorrow's|today's|\w+day's) (?:\w+ )?(?:meeting|appointment|"
    r"call|visit)\b",
    "cs": r"\b(?:nasi|nase|nasem|svuj|svou|zitrejsi\w*|dnesni\w*|\w+ecni|domluven\w+|sjednan\w+) "
    r"(?:schuzk\w*|termin\w*|hovor\w*)\b",
    "de": r"\b(?:unser|mein|vereinbart|morgig|heutig)(?:en|em|er|e)? (?:\w+ )?(?:termin|gesprach|"
    r"treffen|besprechung)\b",
    "es": r"\b(?:nuestra|mi|la) (?:reunion|cita|llamada) (?:del?|de manana|acordada|prevista)\b|"
    r"\b(?:nuestra|mi) (?:reunion|cita|llamada)\b",
}
"""An appointment that was agreed before."""

LEFTOVER: dict[str, str] = {
    "en": r"\b(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b|\b(?:mon|tue|tues|wed|thu|thur|thurs|"
    r"fri)\b|\b(?:january|february|april|june|july|september|october|november|december)\b|"
    r"\b(?:today|tonight|tomorrow|yesterday|mornings?|afternoons?|evenings?|nights?|noon|midday|"
    r"lunch\w*|breakfast|dinner|weekends?|days?|weeks?|months?|fortnight|hours?|minutes?|quarter|"
    r"daily|weekly|monthly|every|regularly|recurring|holidays?|christmas|easter|"
    r"late|early|after|before|until|till|once|whenever|as soon as|by the time|while|during|later|"
    r"earlier|sooner|latest|earliest|o'clock|my time|your time|local time|time ?zone|"
    r"(?:our|my) (?:meeting|appointment|call|visit)|already (?:agreed|scheduled|"
    r"booked|arranged)|still on|midnight)\b|"
    r"\bhalf past\b|\bhalf (?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)\b",
    "cs": r"\b(?:pondel\w*|uter\w*|stred[auye]?|ctvrt\w*|pat(?:ek|ku|ky|cich|ecni\w*)|sobot\w*|"
    r"nedel[ei]\w*)\b|\b(?:ledna|lednu|unor\w*|brezn\w*|dubn\w*|kvetn\w*|cerven\w*|cervn\w*|"
    r"srpn\w*|"
    r"zari|rijn\w*|listopad\w*|prosin\w*)\b|\b(?:dnes\w*|zitr\w*|zejtra|pozitri|vcer\w*|rano|"
    r"dopoledn\w*|odpoledn\w*|vecer\w*|veceru|podvecer|poledn\w*|obed\w*|vikend\w*|den|dny|dni|dnu|"
    r"tyden|tydn\w*|mesic\w*|hodin\w*|minut\w*|pulhodin\w*|pravideln\w*|kazd\w*|opakovan\w*|"
    r"pozde|brzy|svatk\w*|vanoc\w*|velikonoc\w*|az|jakmile|dokud|predtim|potom|pozdeji|drive|"
    r"driv|behem|mezi|"
    r"meho casu|naseho casu|mistniho casu|casov\w* pasm\w*|nase(?:ho|mu|i|m)? (?:schuzk\w*|"
    r"termin\w*)|"
    r"nas[ei]? (?:schuzk\w*|hovor|termin)|sjednan\w*|pulnoc\w*|kratce|tesne|"
    r"(?:po|pred) (?:\w+ )?(?:schuzc\w+|schuzk\w+|porad\w+|jednani\w*|praci|skole|smene|"
    r"vyucovani\w*|skoleni\w*|konferenc\w*|veletrh\w*|navrat\w*|prijezd\w*|odjezd\w*|prilet\w*|odlet\w*|"
    r"dovolen\w*)|(?:hned|ihned|chvili|chvilku|kousek|minut\w*|hodin\w*) "
    r"(?:po|pred))\b|\bnez (?:\w+ ){0,3}(?:odj\w+|odlet\w+|odejd\w+|pojed\w+|polet\w+|"
    r"prij\w+|zavr\w+|zacn\w+|skonc\w+)\b",
    "de": r"\bder [0-9]{1,2}\.(?:,|$| oder\b| und\b|\?)|"
    r"\b(?:montag\w*|dienstag\w*|mittwoch\w*|donnerstag\w*|freitag\w*|samstag\w*|"
    r"sonnabend\w*|"
    r"sonntag\w*)\b|\b(?:januar|februar|marz|april|juni|juli|august|september|oktober|november|"
    r"dezember)\w*\b|"
    r"\b\w+(?:woche|wochen|wochenende|tag|tagen|monat)\b|\b(?:heut\w*|morgen\w*|ubermorgen|"
    r"gestern|vormittag\w*|nachmittag\w*|mittag\w*|abend\w*|nachts?|"
    r"fruh\w*|spat|wochenend\w*|tage?[ns]?|woche\w*|monat\w*|stunden?|minuten?|regelmassig\w*|"
    r"wochentlich\w*|"
    r"taglich\w*|jede[nrms]?|feiertag\w*|weihnacht\w*|oster\w*|ferien|urlaub\w*|nach|vor|bis|ab|"
    r"sobald|"
    r"nachdem|bevor|solange|wahrend|spater|eher|spatestens|uhr|ortszeit|meiner zeit|unserer zeit|"
    r"mitternachts?|zeitzone|unser(?:en|em|er|es)? (?:termin|gesprach|treffen|besprechung)|"
    r"vereinbarte[nrsm]?)\b",
    "es": r"\b(?:lunes|martes|miercoles|jueves|viernes|sabados?|domingos?)\b|\b(?:enero|febrero|"
    r"abril|"
    r"junio|julio|agosto|septiembre|octubre|noviembre|diciembre)\b|\b(?:hoy|mananas?|ayer|tardes?|"
    r"noches?|mediodia|almuerzo|comida|dias?|semanas?|fin(?:es)? de semana|mes(?:es)?|horas?|"
    r"minutos?|"
    r"temprano|cada|periodicamente|regularmente|festivos?|vacaciones|navidad\w*|semana santa|"
    r"despues|antes|"
    r"hasta|cuando|mientras|medianoche|a partir de (?:mas|las?|aprox\w*)|durante|luego|primero|"
    r"hora local|mi hora|nuestra hora|zona horaria|"
    r"nuestra (?:reunion|cita|llamada)|acordad[oa]s?)\b",
}
"""What is about time: each must have been understood, or a person looks."""
LEFTOVER_CLOCK = (
    r"\b[0-9]{1,2}(?:[:][0-9]{2}| ?(?:am|pm|a\.m|p\.m|uhr|hod|o'clock)\b)|"
    r"\b(?:at|@|um|a las?|gegen|kolem|okolo|around) [0-9]{1,2}(?:$|[ ,.;?!\n])|"
    r"(?:^|[ (])[0-9]{1,2}(?: ?- ?| (?:to|till|bis|az|do|a) )[0-9]{1,2}(?: ?$| ?[,.;?!)\n]|"
    r" (?:on|or|and|would|works|please|nebo|oder|und|am|ve?|el)\b)"
)
"""What is written like a time of day."""

OFFERING: dict[str, str] = {
    "en": r"\b(?:may (?:i|we)|too (?:soon|early|late)|can|could|would|free|available|"
    r"availability|suits?|"
    r"works|works? for|work well|"
    r"fits?|possible|possibly|prefer\w*|ideal\w*|best|fine|ok|okay|great|perfect|convenient|like|"
    r"love|want|please|meet|speak|talk|chat|visit|come|how about|what about|let's|"
    r"any chance|does|will do|"
    r"happy|good|"
    r"glad|propos\w*|suggest\w*|all right|alright|looking for|wonderful|hoping|hope|see you|"
    r"(?:have|got|is there)(?: some| any| a| an)? (?:time|slot|gap|opening|hour|half)|do you have|"
    r"ring me|call me|arrange|schedule|i'd|we'd|find me|give me|good for|need (?:a|an|to (?:meet|"
    r"talk|speak|see|discuss)))\b|\b(?:better|flexible|drop by|(?:am|are|be|i'm|we're) around)\b",
    "cs": r"\b(?:muz(?:u|eme|ete|es)|moh(?:u|ou|l\w*)|mozn\w*|slo|sla|jde|pujde|hod(?:i|il\w*)|"
    r"vyhov\w*|volno|(?:mam|mame|mate|mel\w*|mela) (?:\w+ ){0,3}cas|cas|rad|rada|radi|prosim\w*|"
    r"chtel\w*|sejit|sejdeme|sesl\w*|sesel|sesla|setka\w*|potka\w*|zavola\w*|zavolejte|zastav\w*|"
    r"navstiv\w*|domluv\w*|sjedna\w*|navrhuj\w*|co takhle|idealn\w*|nejlepe|nejradeji|potreb\w*|"
    r"ozvete|prijit|dorazit|v kolik|bych videl\w*|"
    r"prij(?:edu|edeme|du|deme)|(?:pris|prije|zastavi|stavi|dorazi|navstivi|podiva)l\w* "
    r"(?:bych|bychom)|(?:bych|bychom) (?:se )?(?:pris|prije|zastavi|stavi|dorazi|podiva)l\w*|"
    r"(?:mam|mame|mel\w*|je|jsou|bude|budeme? mit|byl\w*) (?:\w+ )?voln(?:e|y|a|ou)|"
    r"uvital\w*|preferuj\w*|zbyva\w*|v uvahu|kdykoliv?|v poradku|fajn|super|kdy|"
    r"bylo by|probrat|mit cas|lepsi)\b",
    "de": r"\b(?:konnt\w*|konnen|kann|wurde\w*|hatten?|ginge|geht|gehen|pass(?:t|en|end\w*)|"
    r"moglich\w*|gern\w*|bitte\w*|frei|zeit|besuch\w*|vorbeikommen|sprechen|telefonieren|"
    r"vereinbaren|vorschlag\w*|ideal|am besten|am liebsten|lieber|ware|waren|wunsch\w*|mochte\w*|"
    r"schlage|(?:wollen|sollen) wir|melden sie sich|rufen sie|vorbeischauen|"
    r"erreichbar|verfugbar|lassen sie uns|brauch\w*|recht|jederzeit|wann|sehen|rechnen|schon)\b",
    "es": r"\b(?:podri\w*|podemos|pued\w*|podre|gustaria|quisier\w*|querri\w*|quer\w*|quier\w*|"
    r"vendri\w*|(?:viene|vienen|va|van|iria|venga) bien|convien\w*|convendri\w*|posible|"
    r"disponib\w*|"
    r"libres?|hueco|prefer\w*|prefier\w*|mejor|ideal|favor|reunirnos|vernos|vemos|hablar|"
    r"visitar\w*|"
    r"propon\w*|propongo|perfect\w*|que tal|seria|tendri\w*|tienen algo|cualquier\w*|siempre|"
    r"necesit\w*|llam(?:en|e|ad|a)me|llam(?:en|e|ad)nos|pasarme|pasarnos|acercarme|acercarnos|"
    r"quedar|quedamos|(?:me|nos) (?:quedan?|cuadran?|cuadraria|encajan?|encajaria)|"
    r"recib(?:is|en|ir\w*)|atend(?:eis|er\w*)|atienden)\b",
}
"""Words with which somebody asks or offers; without one, a sentence only tells something."""
MEETING: dict[str, str] = {
    "en": r"\b(?:meeting|appointment|call|visit|chat|catch-?up)\b",
    "cs": r"\b(?:schuzk\w*|termin\w*|hovor\w*|navstev\w*|setkani)\b",
    "de": r"\b(?:termin\w*|gesprach\w*|besprechung|treffen|besuch|telefonat|\w+termin)\b",
    "es": r"\b(?:reunion|cita|llamada|visita|videollamada)\b",
}
"""What a few words alone, such as a subject, ask for."""
DURING: dict[str, str] = {
    "en": r"\b(?:during|within|in the course of)\b",
    "cs": r"\b(?:behem|v prubehu)\b",
    "de": r"\b(?:wahrend|im laufe?)\b",
    "es": r"\bdurante\b",
}
"""Before a day or a week it says no more than `in`."""
BOTH_REFUSED = r"^(?:ani|ni|nor)$"

THEN: dict[str, str] = {
    "en": r"\b(?:after that|afterwards|later)\b",
    "cs": r"\b(?:potom|pozdeji|pak)\b",
    "de": r"\b(?:spater|danach|hinterher|nachher)\b",
    "es": r"\b(?:despues|luego)\b",
}
"""After the time that was named."""
BEFORE_THAT: dict[str, str] = {
    "en": r"\b(?:before (?:that|then)|beforehand|until then)\b",
    "cs": r"\b(?:predtim|do te doby|drive?)\b",
    "de": r"\b(?:vorher|davor|bis dahin|zuvor)\b",
    "es": r"\bantes\b",
}
"""Before the time that was named."""
UNAVAILABLE: dict[str, str] = {
    "en": r"^,? (?:(?:i'm|we're|i am|we are|i'll be|we'll be) (?:away|out|unavailable|on the road|"
    r"not (?:available|free|around|in|here))|(?:i|we) (?:can't|cannot))\b",
    "cs": r"^ (?:uz |bohuzel )?(?:nemuzu|nemohu|nemuzeme|nejsem|nejsme|jsem pryc|jsme pryc|"
    r"to nejde|to nepujde)\b",
    "de": r"^ (?:(?:bin ich|sind wir) (?:leider )?(?:nicht (?:mehr )?(?:da|verfugbar|"
    r"erreichbar|frei|im \w+)|unterwegs|verhindert|weg|auss?er haus)|"
    r"(?:kann ich|konnen wir) (?:leider )?nicht|"
    r"(?:geht|klappt|passt) es (?:leider )?nicht|(?:habe ich|haben wir) (?:leider )?keine zeit)\b",
    "es": r"^,? (?:no (?:puedo|podemos|estoy|estamos|estare)|(?:estoy|estamos|estare) (?:fuera|"
    r"ocupad[oa]s?))\b",
}
"""Behind such a word: somebody is not to be met then."""
BUSY: dict[str, str] = {
    "en": r"^,? (?:(?:i|we)(?:'m| am|'re| are| have|'ve got| must| need to|'ll be| will be))\b",
    "cs": r"^ (?:uz )?(?:jsem|jsme|mam|mame|musim|musime|budu|budeme|jedu|jedeme|odjizdi\w+|"
    r"odlet\w+|leti(?:m|me)|pojed\w+)\b",
    "de": r"^ (?:bin ich|sind wir|habe ich|haben wir|muss ich|mussen wir)\b",
    "es": r"^,? (?:ya )?(?:tengo|tenemos|estoy|estamos|estare|estaremos|me voy|nos vamos|salgo|"
    r"salimos)\b",
}
"""Behind such a word: what somebody has to do then."""
IDLE: dict[str, str] = {
    "en": r"\b(?:time|home|nothing|reachable)\b",
    "cs": r"\b(?:voln\w+|klid|doma|k zastizeni|k dispozici|nic)\b",
    "de": r"\b(?:hause|nichts|wieder da)\b",
    "es": r"\b(?:tiempo|rato|casa|nada)\b",
}
"""What leaves time for a meeting."""
