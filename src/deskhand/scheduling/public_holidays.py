"""Public holidays of countries and of their regions, as the `holidays` library keeps them."""

from collections.abc import Iterable, Sequence
from datetime import date
from difflib import get_close_matches
from functools import cache

COUNTRIES = frozenset(
    """
    AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ
    BR BS BT BV BW BY BZ CA CC CD CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM
    DO DZ EC EE EG EH ER ES ET FI FJ FK FM FO FR GA GB GD GE GF GG GH GI GL GM GN GP GQ GR GS
    GT GU GW GY HK HM HN HR HT HU ID IE IL IM IN IO IQ IR IS IT JE JM JO JP KE KG KH KI KM KN
    KP KR KW KY KZ LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME MF MG MH MK ML MM MN MO MP MQ
    MR MS MT MU MV MW MX MY MZ NA NC NE NF NG NI NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM
    PN PR PS PT PW PY QA RE RO RS RU RW SA SB SC SD SE SG SH SI SJ SK SL SM SN SO SR SS ST SV
    SX SY SZ TC TD TF TG TH TJ TK TL TM TN TO TR TT TV TW TZ UA UG UM US UY UZ VA VC VE VG VI
    VN VU WF WS XK YE YT ZA ZM ZW
    """.split()  # noqa: SIM905 250 lines otherwise
)
"""The countries that the library knows. It takes long to import, and a command that reads a desk
checks the places that it names; a test compares the two."""


class HolidaysUnknown(ValueError):
    """A place whose holidays nobody knows: HolidaysUnknown(problem, fix)."""

    def __init__(self, problem: str, fix: str) -> None:
        super().__init__(problem, fix)
        self.problem, self.fix = problem, fix


def holiday_on(day: date, places: Iterable[str]) -> str | None:
    """The name of the public holiday that a day is in one of the places; None where it is none."""
    for place in places:
        name = _holidays(place, day.year).get(day)
        if name is not None:
            return name
    return None


def check_place(place: str) -> None:
    """Raise HolidaysUnknown unless `place` is a country, as `CZ`, or a region of one, as
    `DE-BY`."""
    country, dash, region = place.partition("-")
    if country not in COUNTRIES:
        raise HolidaysUnknown(
            f"the public holidays of `{place}` are not known", _country_meant(place)
        )
    if not dash:
        return
    regions = _regions(country)
    if region not in regions:
        raise HolidaysUnknown(
            f"`{country}` has no region `{region}` with holidays of its own",
            _region_meant(country, region, regions),
        )


@cache
def _holidays(place: str, year: int) -> dict[date, str]:
    # Costs more to import than all the rest of `deskhand --help`.
    from holidays import country_holidays

    country, _, region = place.partition("-")
    return dict(country_holidays(country, subdiv=region or None, years=year))


@cache
def _spellings() -> dict[str, str]:
    """Codes of countries by their names and codes, in capitals.

    The library's own list of countries would load the rules of each.
    """
    from holidays.registry import COUNTRIES

    codes: dict[str, str] = {}
    for name, code, *other_codes in COUNTRIES.values():
        codes |= dict.fromkeys((name.upper(), code, *other_codes), code)
    return codes


def _regions(country: str) -> Sequence[str]:
    from holidays import country_holidays

    return country_holidays(country).subdivisions


def _country_meant(place: str) -> str:
    spellings = _spellings()
    near = get_close_matches(place.upper().replace(" ", ""), spellings, n=1, cutoff=0.75)
    if near:
        return f"write `{spellings[near[0]]}`"
    return "write the country's code of two letters, as `CZ`, or with its region, as `DE-BY`"


def _region_meant(country: str, region: str, regions: Sequence[str]) -> str:
    if not regions:
        return f"write `{country}`"
    near = get_close_matches(region.upper(), regions, n=1)
    if near:
        return f"write `{country}-{near[0]}`"
    parts = ", ".join(f"{country}-{part}" for part in regions)
    return f"write `{country}` alone, or one of {parts}"
