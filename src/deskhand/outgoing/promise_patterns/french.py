"""How companies promise in French: subject, auxiliary, verb.

Patterns over one folded clause; the first that matches names the action.
"""

from deskhand.outgoing.promise_patterns import ActionPatterns

_NEW = (
    r"(?:remplacement|nouve(?:l|lle|au)s? \w+|autre (?:exemplaire|article|\w+)|piece de rechange)"
)
_GIFT = (
    r"(?:bons?\b|remises?|reductions?|avoirs?|cheque cadeau|cheque-cadeau|code promo|"
    r"geste commercial|rabais)"
)


def _conjugated(stem: str, participle: str) -> str:
    """Matches `nous remboursons`, `j'ai rembourse`, `a ete rembourse`, `sera rembourse`."""
    return (
        rf"\b(?:nous|je|on)\b.*\b(?:{stem})(?:ons|erons|rons|irons|issons|e|ai|erai|rai|s|is)\b|"
        rf"\b(?:j'ai|nous avons|nous vous avons|je vous ai|avons|nous l'avons|"
        rf"je l'ai)\b.*\b(?:{participle})(?:e|s|es)?\b|"
        rf"\b(?:a|ont|avait) (?:bien |deja )?ete (?:\w+ )?(?:{participle})(?:e|s|es)?\b|"
        rf"\b(?:sera|seront|est|sont)(?: \w+)? (?:{participle})(?:e|s|es)?\b|"
        rf"\b(?:je viens|nous venons) de (?:vous |le |la |l'|les )*(?:{stem})(?:er|re|"
        rf"ir)\b|\b(?:je vais|nous allons) (?:vous |le |la |l'|les )*(?:{stem})(?:er|re|"
        rf"ir)\b"
    )


FRENCH: ActionPatterns = (
    (
        "reserve",
        _conjugated(r"reserv|bloqu|retien|reten", r"reserve|bloque|retenu")
        + r"|\b(?:confirmons|acceptons|confirme|accepte)\b.*\b(?:rendez-vous|invitation|"
        r"reunion|visite)",
    ),
    (
        "credit",
        rf"\b(?:nous|je)\b.*\b(?:offr\w+|accord\w+|donn\w+|ajout\w+|appliqu\w+|propos\w+|"
        rf"envoy\w+)\b.*\b{_GIFT}|\bvous (?:beneficiez|beneficierez|avez|aurez|recevez|"
        rf"recevrez)\b.*\b{_GIFT}|\b{_GIFT}.*\b(?:a ete|sera)\b",
    ),
    (
        "refund",
        _conjugated(
            r"rembours|rend|recredit|revers|restitu",
            r"rembourse|rendu|recredite|reverse|restitue|credite",
        ),
    ),
    (
        "refund",
        r"\bprenons en charge\b|\bprendrons en charge\b|\bvous (?:recevrez|obtiendrez|"
        r"serez)\b.*\b(?:rembours\w+|argent)\b|\b(?:somme|montant|argent|euros?|€|"
        r"eur)\b.*\b(?:sera|seront)\b.*\b(?:compte|carte)",
    ),
    ("cancel", _conjugated(r"annul|resili|clotur|mett\w* fin", r"annule|resilie|cloture|supprime")),
    ("cancel", r"\bconsiderez\b.*\b(?:termine|annule|resilie|clos)"),
    (
        "replace",
        _conjugated(r"echange|echang|remplac", r"echange|remplace")
        + rf"|\b(?:nous|je)\b.*\b(?:envoy\w+|enverr\w+|expedi\w+)\b.*\b{_NEW}|"
        rf"\b{_NEW}\b.*\ben (?:route|chemin)\b|\bvous recevrez\b.*\b{_NEW}",
    ),
    (
        "change",
        _conjugated(
            r"modifi|chang|corrig|ajust|reinitialis|prolong|activ",
            r"modifie|change|corrige|mis a jour|mise a jour|ajuste|reinitialise|prolonge|"
            r"active|debloque",
        ),
    ),
    (
        "escalate",
        _conjugated(
            r"transmett|transm|fai\w* suivre|fa|escalad|confi",
            r"transmis|escalade|confie|fait suivre",
        )
        + r"|\b(?:je|nous) (?:fais|faisons|ferons) suivre\b|\bje transmets\b",
    ),
    (
        "contact",
        r"\b(?:vous|nous|vers vous)\b.*\b(?:rappellera|rappellerons|rappelle|contactera|"
        r"contacterons|appellera|recontactera|recontacterons|tiendrons|informerons|"
        r"repondrons|reviendrons|reviens|revenons|previendrons)\b|"
        r"\breviendrons vers vous\b",
    ),
    (
        "send",
        _conjugated(
            r"envo|envoy|enverr|expedi|adress|joign|fourn", r"envoye|expedie|adresse|joint|fourni"
        )
        + r"|\benverrons\b|\benverrai\b",
    ),
    (
        "deliver",
        r"\bvous (?:recevrez|l'aurez|les aurez|aurez)\b|\b(?:commande|colis|livraison|"
        r"paquet|il|elle)\b.*\b(?:arrive|arrivera|sera livree?|sera chez vous|"
        r"devrait arriver|parviendra)\b|\b(?:nous )?livrerons\b|\bcomptez\b.*\blivraison",
    ),
)
