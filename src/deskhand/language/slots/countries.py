"""How telephone numbers look in the countries a desk can name, and which country codes there
are."""

from typing import NamedTuple

from deskhand.config.sections.slots import Country


class Numbering(NamedTuple):
    code: str
    trunk: str
    """What stands before a number at home and falls away abroad."""
    lengths: tuple[int, int]
    """Fewest and most digits after the trunk prefix."""
    first: str = "123456789"
    """What the number may begin with after the trunk prefix."""
    mobile: str = ""
    """What mobile numbers begin with: these are numbers even without a word or groups that say
    so."""


NUMBERING: dict[Country, Numbering] = {
    "AT": Numbering("43", "0", (6, 12)),
    "AU": Numbering("61", "0", (9, 9), "23478", "4"),
    "BE": Numbering("32", "0", (8, 9)),
    "BG": Numbering("359", "0", (7, 9)),
    "CA": Numbering("1", "", (10, 10), "23456789"),
    "CH": Numbering("41", "0", (9, 9)),
    "CZ": Numbering("420", "", (9, 9), "2345679", "67"),
    "DE": Numbering("49", "0", (6, 12)),
    "DK": Numbering("45", "", (8, 8), "23456789"),
    "EE": Numbering("372", "", (7, 8), "345678"),
    "ES": Numbering("34", "", (9, 9), "6789", "67"),
    "FI": Numbering("358", "0", (6, 11)),
    "FR": Numbering("33", "0", (9, 9)),
    "GB": Numbering("44", "0", (9, 10)),
    "GR": Numbering("30", "", (10, 10), "26", "69"),
    "HR": Numbering("385", "0", (7, 9)),
    "HU": Numbering("36", "06", (8, 9)),
    "IE": Numbering("353", "0", (7, 9)),
    "IT": Numbering("39", "", (8, 11), "03", "3"),
    "LT": Numbering("370", "8", (8, 8), "34567"),
    "LU": Numbering("352", "", (6, 9), "23456789"),
    "LV": Numbering("371", "", (8, 8), "26789"),
    "MX": Numbering("52", "", (10, 10)),
    "NL": Numbering("31", "0", (9, 9)),
    "NO": Numbering("47", "", (8, 8), "23456789", "49"),
    "NZ": Numbering("64", "0", (8, 10)),
    "PL": Numbering("48", "", (9, 9), "123456789", "5678"),
    "PT": Numbering("351", "", (9, 9), "239", "9"),
    "RO": Numbering("40", "0", (9, 9)),
    "SE": Numbering("46", "0", (7, 9)),
    "SI": Numbering("386", "0", (8, 8)),
    "SK": Numbering("421", "0", (9, 9)),
    "UA": Numbering("380", "0", (9, 9)),
    "US": Numbering("1", "", (10, 10), "23456789"),
}

_ONE = ("1", "7")
_THREE_BEGIN = (
    "21",
    "22",
    "23",
    "24",
    "25",
    "26",
    "29",
    "35",
    "37",
    "38",
    "42",
    "50",
    "59",
    "67",
    "68",
    "69",
    "85",
    "88",
    "96",
    "97",
    "99",
)
"""How codes of three digits begin; all others have two."""
_NEVER = ("0", "28", "83", "89", "80", "87")


def country_code(digits: str) -> str | None:
    """The country code an international number begins with."""
    if digits.startswith(_ONE):
        return digits[0]
    if digits.startswith(_NEVER):
        return None
    return digits[:3] if digits.startswith(_THREE_BEGIN) else digits[:2]
