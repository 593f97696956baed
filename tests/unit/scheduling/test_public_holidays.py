"""Which countries' public holidays are known."""

import pytest
from holidays.registry import COUNTRIES as COUNTRIES_OF_THE_LIBRARY

from deskhand.scheduling.public_holidays import COUNTRIES, HolidaysUnknown, check_place


def test_the_countries_are_those_of_the_library() -> None:
    codes = {code for _, code, *_ in COUNTRIES_OF_THE_LIBRARY.values()}
    assert codes == COUNTRIES


@pytest.mark.parametrize("place", ["CZ", "DE", "DE-BY"])
def test_a_country_and_a_region_of_it_are_known(place: str) -> None:
    check_place(place)


@pytest.mark.parametrize(
    ("place", "fix"), [("Germany", "write `DE`"), ("XX", "write the country's code of two letters")]
)
def test_what_is_no_country_is_told_with_what_is_meant(place: str, fix: str) -> None:
    with pytest.raises(HolidaysUnknown) as unknown:
        check_place(place)
    assert unknown.value.fix.startswith(fix)
