"""What Crisp's templates say in English and Czech, as patterns that begin a line; case does not
matter."""

_NEW_EN = r"(?:(?:you have|you received|you have received|you've got) )?(?:a )?new"
_NEW_CS = r"(?:(?:máte|obdrželi jste|přišla vám|přišel vám|dostali jste) )?nov(?:á|ou|ý)"
_MESSAGE_EN = r"(?:message|conversation|inquiry|chat|ticket)"
_MESSAGE_CS = r"(?:zpráva|zprávu|konverzace|konverzaci|poptávka|poptávku|dotaz)"

HEADLINES = (
    rf"{_NEW_EN} {_MESSAGE_EN} (?:from|by|with)",
    rf"{_MESSAGE_EN} (?:from|with)",
    rf"{_NEW_CS} {_MESSAGE_CS} (?:od|s)",
    rf"{_MESSAGE_CS} (?:od|s)",
)
TITLES = (rf"{_NEW_EN} {_MESSAGE_EN}", rf"{_NEW_CS} {_MESSAGE_CS}", r"crisp")
"""Lines of their own above the fields."""
CALLED = r"(?:customer|visitor|user|zákazníka|návštěvníka|uživatele)"
"""What may stand before the name."""

FIELDS = {
    "name": (
        *("name", "full name", "customer", "customer name", "visitor", "nickname", "from"),
        *("jméno", "jmeno", "celé jméno", "zákazník", "návštěvník", "uživatel", "odesílatel", "od"),
    ),
    "address": (
        *(
            "email",
            "e-mail",
            "mail",
            "email address",
            "e-mail address",
            "customer email",
            "visitor email",
        ),
        *("e-mailová adresa", "emailová adresa", "e-mail zákazníka", "email zákazníka"),
    ),
    "message": ("message", "question", "text", "zpráva", "dotaz", "text zprávy", "znění zprávy"),
    "other": (
        *(
            "website",
            "site",
            "page",
            "subject",
            "date",
            "phone",
            "telephone",
            "country",
            "city",
            "location",
        ),
        *("browser", "device", "language", "segment", "segments", "company", "session"),
        *(
            "web",
            "stránka",
            "předmět",
            "datum",
            "telefon",
            "země",
            "město",
            "místo",
            "prohlížeč",
            "zařízení",
        ),
        *("jazyk", "segmenty", "firma"),
    ),
}
"""Labels of the fields above the customer's text."""

_MAIL_CS = r"tento e-?mail"
FOOTERS = (
    r"(?:reply to|answer) this (?:e-?mail|message)",
    r"reply directly",
    r"you can (?:also )?(?:reply|answer)",
    r"(?:view|open|see|show) (?:the |this )?(?:full )?conversation",
    r"open (?:it )?in crisp",
    r"powered by",
    r"(?:this (?:e-?mail|message) was )?sent (?:by|via|with|from|using) crisp",
    r"you (?:are )?receiv",
    r"unsubscribe",
    r"manage (?:your )?notifications",
    rf"odpověz(?:te)? na {_MAIL_CS}",
    r"odpovědět (?:na|můžete|lze|přímo)",
    rf"na {_MAIL_CS} (?:můžete|lze)",
    r"(?:zobrazit|otevřít|prohlédnout) (?:si )?(?:celou |tuto )?konverzaci",
    r"otevřít v crisp",
    rf"(?:{_MAIL_CS} )?(?:byl )?odesl(?:án[oa]?|al) (?:přes|z|ze|pomocí|prostřednictvím|crisp)",
    rf"{_MAIL_CS} (?:jste|vám|odeslal)",
    r"odhlásit",
    r"nastavení oznámení",
    r"https?://\S*crisp\.\S*$",
    r"(?:www\.)?crisp\.chat\b",
    r"©\s*(?:\d{4}\s*)?crisp",
)
