"""How companies promise in English: subject, auxiliary, verb.

Patterns over one folded clause; the first that matches names the action.
"""

from deskhand.outgoing.promise_patterns import ActionPatterns

_WHO = (
    r"(?:\b(?:we|i)\b|\b(?:a|an|my|our|the|one of our|"
    r"one of my) (?:\w+ )?(?:colleagues?|managers?|teams?|specialists?|"
    r"agents?|supervisors?|technicians?|departments?|warehouse|courier)\b)"
)
_AUX = (
    r"(?:'(?:ll|ve|re|m|d)|(?: (?:will|shall|have|has|are|am|is|can|could|do|did|just|"
    r"already|now|also|gladly|happily|of"
    r" course|certainly|immediately|today|then|going to|happy to|glad to|pleased to|"
    r"able to|be|been|hereby|personally|"
    r"promptly|fully|automatically|and|to|arrange to|make sure to|about to|like to|want to))+)*"
)
_WE = _WHO + _AUX + " "
_BE = (
    r"(?:(?:has|have|'s|'ve)(?: \w+)? been|(?:will|shall|going to)(?: \w+)? be|(?:is|"
    r"are|'s) (?:now |already )?(?:being )?|was|were)(?: \w+ly| now| just| already)? ?"
)
_YOU = (
    r"\byou(?:'ll| will| shall| should| are going to| can expect to| are getting| get|"
    r" receive)(?: (?:also|now|then|soon|automatically))?"
)
_BACK = r"(?:refund\w*|reimburse\w*|money|amount|payment|sum|price|cost\w*)"
_NEW = (
    r"(?:replacement\w*|new (?:one|unit|item|copy|pair|set|device|product|\w+)|"
    r"another (?:one|unit|item|pair|copy)|substitute|spare part)"
)
_GIFT = (
    r"(?:vouchers?|coupons?|discounts?|gift cards?|store credit|credit note|bonus|"
    r"free month|goodwill|[0-9]+ ?%|percent)"
)

_TIME = r"(?:appointment|meeting|visit|slot|date|invitation|call)"

ENGLISH: ActionPatterns = (
    (
        "reserve",
        _WE + rf"(?:reserv\w*|book\w*|schedul\w*|pencil\w*|(?:hold|held|holding|block|blocked|"
        rf"kept|keep|set)\b(?: \w+){{0,6}} (?:for you|aside|free)|(?:confirm|"
        rf"accept)\w*(?: \w+){{0,4}} {_TIME})",
    ),
    (
        "reserve",
        rf"{_BE}(?:reserved|booked|held for|blocked for|scheduled)\b|"
        rf"\b{_TIME}\b.*\b{_BE}(?:confirmed|accepted)",
    ),
    (
        "refund",
        _WE + r"(?:refund|reimburs|repa[iy]|(?:pay|paid|give|gave|giving|transfer|wire|send|"
        r"sent|return)\w*(?: \w+){0,6} (?:back|refund|money)|issu\w+(?: \w+){0,4} refund|"
        r"process\w*(?: \w+){0,4} refund|initiat\w+(?: \w+){0,4} refund|"
        r"cover\w*(?: \w+){0,4} (?:cost|postage|shipping)|waiv\w+)",
    ),
    (
        "refund",
        rf"\b{_BACK}\b.*\b{_BE}(?:refunded|reimbursed|credited|returned|transferred|repaid|"
        rf"issued|processed|back\b)",
    ),
    ("refund", rf"{_BE}(?:refunded|reimbursed|repaid|credited back)"),
    ("refund", rf"{_YOU}.*\b(?:refund\w*|reimbursement|money|your money back)"),
    (
        "credit",
        _WE + rf"(?:giv|gave|offer|add|appl|grant|credit|send|sent|issu|includ|attach|"
        rf"prepar)\w*.*\b{_GIFT}",
    ),
    ("credit", rf"{_YOU}.*\b{_GIFT}"),
    ("credit", rf"\b(?:here is|here's|enjoy|use (?:the|this) code)\b.*(?:\boff\b|{_GIFT})"),
    ("credit", rf"\b{_GIFT}.*\b{_BE}(?:added|applied|credited|granted|issued)"),
    ("replace", _WE + r"(?:replac|exchang|swap)\w*"),
    (
        "replace",
        _WE + rf"(?:send|sent|ship|dispatch|mail|post|order|prepar|arrang|get)\w*.*\b{_NEW}",
    ),
    (
        "replace",
        rf"\b{_NEW}\b.*\b(?:on (?:its|their|the) way|under ?way|{_BE}(?:sent|shipped|"
        rf"dispatched|ordered))",
    ),
    ("replace", rf"{_YOU}.*\b{_NEW}|{_BE}(?:replaced|exchanged)\b"),
    ("cancel", _WE + r"(?:cancel|terminat|revok|stop|clos|end|annul|withdr)\w*"),
    ("cancel", rf"{_BE}(?:cancell?ed|terminated|stopped|closed|annulled)"),
    ("cancel", r"\bconsider\b.*\b(?:cancell?ed|terminated|closed|ended)"),
    (
        "change",
        _WE + r"(?:chang|updat|correct|amend|modif|adjust|edit|switch|reset|unlock|activat|"
        r"deactivat|reschedul|mov|extend)\w*",
    ),
    (
        "change",
        rf"{_BE}(?:changed|updated|corrected|amended|modified|adjusted|reset|unlocked|"
        rf"activated|rescheduled|extended)",
    ),
    (
        "escalate",
        _WE + r"(?:escalat\w*|forward\w*|(?:pass|hand)\w*(?: \w+){0,5} (?:on|over|to)\b|"
        r"refer\w*|rais\w* (?:this|it|your)|inform\w* (?:my|our|the))",
    ),
    ("escalate", rf"{_BE}(?:escalated|forwarded|passed on|handed over)"),
    (
        "contact",
        _WE + r"(?:call|contact|phone|ring|(?:get|got|come|reach|be|write|"
        r"report)\w*(?: \w+){0,2} (?:back|in touch|out to you|to you)|let you know|"
        r"keep you|notify|follow up|answer you|reply to you|inform you)\w*",
    ),
    ("contact", rf"{_YOU}(?: be)? (?:hear from|contacted|called|notified|informed|get a call)"),
    (
        "deliver",
        rf"{_YOU}.*\b(?:parcel|package|order|delivery|shipment|it|them|item\w*|"
        rf"product\w*)\b",
    ),
    (
        "deliver",
        r"\b(?:parcel|package|order|delivery|shipment|it|item\w*|"
        r"courier)\b.*\b(?:arrives?|arriving|will arrive|will be (?:there|delivered|"
        r"with you)|should (?:arrive|be (?:there|delivered|with you))|will reach|"
        r"be with you|comes)\b",
    ),
    (
        "deliver",
        r"\bexpect (?:it|them|(?:your|the) (?:parcel|package|order|delivery|shipment))|"
        + _WE
        + r"(?:deliver|bring)\w*",
    ),
    ("send", _WE + r"(?:e-?mail|send|sent|ship|mail|post|dispatch|provid|attach)\w*"),
    ("send", rf"{_BE}(?:sent|e-?mailed|mailed|dispatched)\b"),
)
