from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deskhand.web.api.cursors import review_cursor, review_place, run_cursor, run_place
from deskhand.web.api.problems import Refused


@given(st.integers(0, 2**63 - 1))
def test_a_place_among_runs_survives_its_cursor(position: int) -> None:
    assert run_place(run_cursor(position)) == position


@given(st.floats(0, 1e12), st.text("abcdefgh_0123456789", min_size=1))
def test_a_place_among_reviews_survives_its_cursor_to_the_last_bit(
    created_at: float, review_id: str
) -> None:
    assert review_place(review_cursor(created_at, review_id)) == (created_at, review_id)


@given(st.text())
def test_a_made_up_cursor_is_refused_or_harmless(cursor: str) -> None:
    for place in (run_place, review_place):
        with suppress(Refused):
            place(cursor)


def test_the_beginning_needs_no_cursor() -> None:
    assert run_place(None) is None
    assert review_place(None) is None


@pytest.mark.parametrize("position", [-1, 2**63])
def test_a_position_beyond_every_database_is_refused(position: int) -> None:
    with pytest.raises(Refused):
        run_place(run_cursor(position))


def test_a_cursor_of_one_list_is_no_cursor_of_another() -> None:
    with pytest.raises(Refused):
        review_place(run_cursor(1))
    with pytest.raises(Refused):
        run_place(review_cursor(1.0, "rev_1"))
