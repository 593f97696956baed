"""How companies promise in Spanish: the ending of the verb says who.

Patterns over one folded clause; the first that matches names the action.
"""

from deskhand.outgoing.promise_patterns import ActionPatterns

_NEW = (
    r"(?:otr[ao] (?:unidad|articulo|\w+)|nuev[ao]s? \w+|\w+ nuev[ao]\b|recambio|"
    r"reemplazo|sustitut[oa]|repuesto|reposicion)"
)
_GIFT = r"(?:vale\b|vales|cupon\w*|descuento\w*|bono\b|abono comercial|saldo|rebaja|tarjeta regalo)"


def _conjugated(stem: str, participle: str) -> str:
    """Matches `reembolsaremos`, `he reembolsado`, `ha sido reembolsado`, `se le reembolsara`."""
    return (
        rf"\b(?:{stem})(?:aremos|eremos|iremos|amos|emos|imos|are|ere|ire|o)\b|"
        rf"\b(?:he|hemos)\b.*\b(?:{participle})\b|\b(?:ha|han|fue|fueron|sera|seran|queda|"
        rf"quedara)(?: sido)? ?(?:\w+ )?(?:{participle}|{participle}[as]?s?)\b|"
        rf"\bse (?:le |les |lo |la )?(?:{stem})(?:ara|era|ira|aran)\b|\b(?:voy|"
        rf"vamos) a (?:{stem})(?:ar|er|ir)(?:le|les|lo|la)?\b|\bacab(?:o|"
        rf"amos) de (?:{stem})(?:ar|er|ir)(?:le|les|lo|la)?\b"
    )


SPANISH: ActionPatterns = (
    (
        "reserve",
        _conjugated(r"reserv|agend|apart", r"reservad[oa]s?|agendad[oa]s?|apartad[oa]s?")
        + r"|\b(?:confirm|acept)(?:amos|aremos|o)\b.*\b(?:cita|reunion|visita|invitacion|"
        r"hora)\b|\b(?:cita|reunion|visita|invitacion)\b.*\b(?:confirmada|aceptada|"
        r"reservada)\b",
    ),
    (
        "credit",
        rf"\b(?:le |les )?(?:damos|doy|daremos|ofrecemos|regalamos|aplicamos|aplicaremos|"
        rf"concedemos|enviamos|obsequiamos|hemos|he)\b.*\b{_GIFT}|\b(?:tiene|tendra|"
        rf"dispone|recibira|obtendra)\b.*\b{_GIFT}|\b{_GIFT}.*\b(?:ha sido|fue|sera)\b",
    ),
    (
        "refund",
        _conjugated(
            r"reembols|devolv|reintegr|abon",
            r"reembolsad[oa]s?|devuelt[oa]s?|reintegrad[oa]s?|abonad[oa]s?",
        ),
    ),
    (
        "refund",
        r"\bnos hacemos cargo\b|\bcorremos con\b|\bcubrimos\b|\basumimos\b|\b(?:importe|"
        r"dinero|euros?|€|eur)\b.*\b(?:estara|estaran|volvera)\b|\b(?:recibira|obtendra|"
        r"tendra)\b.*\b(?:reembolso|dinero|importe|devolucion)\b|\b(?:tramit|proces|emit|"
        r"inici)(?:aremos|amos|imos|iremos|are|ado)\b.*\breembolso",
    ),
    (
        "cancel",
        _conjugated(
            r"cancel|anul|rescind|termin|dar de baja|suspend",
            r"cancelad[oa]s?|anulad[oa]s?|rescindid[oa]s?|terminad[oa]s?|dad[oa] de baja",
        ),
    ),
    (
        "cancel",
        r"\b(?:de|considere) por (?:terminad|cancelad|finalizad|resuelt)|"
        r"\bconsidere\b.*\b(?:cancelad|terminad|anulad)|\bdamos de baja\b",
    ),
    (
        "replace",
        _conjugated(
            r"cambi|sustitu|reemplaz|repon", r"sustituid[oa]s?|reemplazad[oa]s?|repuest[oa]s?"
        )
        + rf"|\b(?:envi|mand)(?:amos|aremos|are|o)\b.*\b{_NEW}|\b(?:he|hemos) (?:enviado|"
        rf"mandado)\b.*\b{_NEW}|\b{_NEW}\b.*\ben camino\b|\brecibira\b.*\b{_NEW}",
    ),
    (
        "change",
        _conjugated(
            r"modific|actualiz|correg|corrij|ajust|restablec|activ|ampli|prorrog",
            r"cambiad[oa]s?|modificad[oa]s?|actualizad[oa]s?|corregid[oa]s?|ajustad[oa]s?|"
            r"restablecid[oa]s?|activad[oa]s?|desbloquead[oa]s?",
        ),
    ),
    (
        "escalate",
        _conjugated(
            r"traslad|remit|reenvi|escal|deriv",
            r"trasladad[oa]s?|remitid[oa]s?|reenviad[oa]s?|escalad[oa]s?|derivad[oa]s?|"
            r"pasad[oa]s?",
        )
        + r"|\b(?:se lo |lo )pas(?:o|amos|are|aremos)\b",
    ),
    (
        "contact",
        r"\b(?:le|les|nos|se)\b.*\b(?:llamaremos|llamara|llamare|llamamos|contactaremos|"
        r"contactara|devolvera la llamada|escribiremos|avisaremos|avisamos|informaremos|"
        r"pondremos en contacto|pondra en contacto|responderemos|diremos)\b|"
        r"\bnos pondremos\b|\bdevolvera la llamada\b",
    ),
    ("send", _conjugated(r"envi|mand|remit|adjunt", r"enviad[oa]s?|mandad[oa]s?|adjuntad[oa]s?")),
    (
        "deliver",
        r"\b(?:recibira|recibiran|lo tendra|la tendra|los tendra|tendra (?:su|el))\b|"
        r"\b(?:pedido|paquete|envio|entrega)\b.*\b(?:llega|llegara|estara|"
        r"sera entregad[oa]|se entregara|deberia llegar)\b|\bentregaremos\b|"
        r"\bcuente con la entrega",
    ),
)
