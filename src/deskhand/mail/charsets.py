"""Bytes to text, whatever the mail claims its charset to be."""

_WIDER = {
    "ascii": "utf-8",
    "us-ascii": "utf-8",
    "iso-8859-1": "cp1252",
    "latin1": "cp1252",
    "latin-1": "cp1252",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "ks_c_5601-1987": "cp949",
    "ks_c_5601": "cp949",
    "euc-kr": "cp949",
    "shift_jis": "cp932",
    "shift-jis": "cp932",
    "x-sjis": "cp932",
    "iso-2022-jp": "iso2022_jp_ext",
    "iso-8859-8-i": "iso-8859-8",
    "unicode-1-1-utf-7": "utf-7",
    "utf8mb4": "utf-8",
    "x-mac-roman": "mac-roman",
}
"""Programs name the older charset and write the newer one that holds it."""
_NOT_FOR_TEXT = {
    "idna",
    "punycode",
    "unicode_escape",
    "unicode-escape",
    "raw_unicode_escape",
    "raw-unicode-escape",
}
"""Codecs of Python that no mail is written in; some take a time that grows with the square."""


def decoded(raw: bytes, charset: str) -> str:
    """Text by the charset claimed, else UTF-8, else Latin-1, in which every byte is a letter."""
    claimed = charset.strip().strip("\"'").lower()
    for name in (_WIDER.get(claimed, claimed), claimed, "utf-8"):
        try:
            if name not in _NOT_FOR_TEXT:
                return raw.decode(name)
        except (LookupError, ValueError):  # unknown, or not what the bytes are
            continue
    return raw.decode("latin-1")


def clean(text: str) -> str:
    """Lone surrogates and NUL cannot be stored; line endings are of one kind."""
    text = text.encode("utf-8", "replace").decode().replace("\0", "\N{REPLACEMENT CHARACTER}")
    return text.replace("\r\n", "\n").replace("\r", "\n")
