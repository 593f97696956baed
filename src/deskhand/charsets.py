"""Bytes to text, whatever a mail or a file claims its charset to be."""

import re
from encodings import normalize_encoding
from encodings.aliases import aliases
from functools import lru_cache

_WIDER = {
    "ascii": "utf_8",
    "latin_1": "cp1252",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "euc_kr": "cp949",
    "shift_jis": "cp932",
    "iso2022_jp": "iso2022_jp_ext",
}
"""Programs name the older charset and write the newer one that holds it."""
_MAILERS_NAMES = {
    "ks_c_5601": "cp949",
    "iso_8859_1": "latin_1",
    "x_sjis": "cp932",
    "iso_8859_8_i": "iso8859_8",
    "unicode_1_1_utf_7": "utf_7",
    "utf8mb4": "utf_8",
    "x_mac_roman": "mac_roman",
    "windows_874": "cp874",
    "latin_9": "iso8859_15",
}
"""Names that mail programs write and Python does not know."""
_OF_TEXT = """
ascii utf_8 utf_8_sig utf_7 utf_16 utf_16_be utf_16_le utf_32 utf_32_be utf_32_le latin_1 big5
big5hkscs cp932 cp949 cp950 euc_jis_2004 euc_jisx0213 euc_jp euc_kr gb18030 gb2312 gbk hz johab
iso2022_jp iso2022_jp_1 iso2022_jp_2 iso2022_jp_2004 iso2022_jp_3 iso2022_jp_ext iso2022_kr
shift_jis shift_jis_2004 shift_jisx0213 koi8_r koi8_t koi8_u kz1048 ptcp154 tis_620 hp_roman8
mac_arabic mac_croatian mac_cyrillic mac_farsi mac_greek mac_iceland mac_latin2 mac_roman
mac_romanian mac_turkish cp037 cp273 cp437 cp500 cp720 cp737 cp775 cp850 cp852 cp855 cp857 cp858
cp860 cp861 cp862 cp863 cp864 cp865 cp866 cp869 cp874 cp875 cp1006 cp1026 cp1125 cp1140 cp1250
cp1251 cp1252 cp1253 cp1254 cp1255 cp1256 cp1257 cp1258 iso8859_1 iso8859_2 iso8859_3 iso8859_4
iso8859_5 iso8859_6 iso8859_7 iso8859_8 iso8859_9 iso8859_10 iso8859_11 iso8859_13 iso8859_14
iso8859_15 iso8859_16
"""
CODECS = frozenset(_OF_TEXT.split())
"""The codecs that a mail or a file may name, by Python's own names for them. All take a time that
grows with the text; others of Python's, such as `punycode`, take the square of it."""
_NAME = re.compile(r"[A-Za-z0-9_.:()+ -]{1,60}")


def decoded(raw: bytes, charset: str) -> str:
    """Text by the charset claimed, else UTF-8, else Latin-1, in which every byte is a letter."""
    claimed = codec_of(charset)
    names = ["utf_8"]
    if claimed is not None:
        names = [_WIDER.get(claimed, claimed), claimed, "utf_8"]
    for name in names:
        try:
            return raw.decode(name)
        except ValueError:  # not what the bytes are
            continue
    return raw.decode("latin-1")


@lru_cache(maxsize=1024)
def codec_of(charset: str) -> str | None:
    """The codec of text that a mail or a file names; None for any other.

    Python takes a name in many spellings (`Punycode_` is `punycode`). So a name is first brought
    to the one that Python would use, and only what is on our list is decoded by.
    """
    written = charset.strip().strip("\"'")
    if not _NAME.fullmatch(written):
        return None
    name = normalize_encoding(written).lower()
    name = _MAILERS_NAMES.get(name, name)
    codec = aliases.get(name) or aliases.get(name.replace(".", "_")) or name
    return codec if codec in CODECS else None


def clean(text: str) -> str:
    """Lone surrogates and NUL cannot be stored; line endings are of one kind."""
    text = text.encode("utf-8", "replace").decode().replace("\0", "\N{REPLACEMENT CHARACTER}")
    return text.replace("\r\n", "\n").replace("\r", "\n")
