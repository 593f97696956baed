"""Free times in words."""

import pytest

from deskhand.brain.times_in_words import offer

SLOTS = {
    "time_zone": "Europe/Prague",
    "slots": [{"start": "2026-11-16T09:30+01:00"}, {"start": "2026-12-01T14:00+01:00"}],
}


@pytest.mark.parametrize(
    ("language", "first"),
    [
        ("en", "Monday 16 November 2026, 9:30 (Europe/Prague)"),
        ("cs", "pondělí 16. listopadu 2026 v 9:30 (Europe/Prague)"),
        ("de", "Montag, 16. November 2026, 9:30 Uhr (Europe/Prague)"),
        ("es", "lunes 16 de noviembre de 2026, 9:30 h (Europe/Prague)"),
        ("fr", "lundi 16 novembre 2026, 9:30 (Europe/Prague)"),
        ("pl", "Monday 16 November 2026, 9:30 (Europe/Prague)"),
    ],
)
def test_times_are_told_in_the_customers_language(language: str, first: str) -> None:
    assert offer(SLOTS, language)[0] == first
    assert len(offer(SLOTS, language)) == 2


@pytest.mark.parametrize(
    "data", [None, {}, {"slots": []}, {"slots": "soon"}, {"slots": [{"start": "soon"}]}, [1]]
)
def test_what_is_no_offer_offers_nothing(data: object) -> None:
    assert offer(data, "en") == []
