"""A share of an amount, as arguments and rows hold it."""

from fractions import Fraction

import pytest
from pydantic import TypeAdapter

from deskhand import Money, Share
from deskhand.model.share import as_argument


def test_a_share_comes_to_whole_cents() -> None:
    assert Share(Fraction(1, 3)).of_money(Money.of("10.00 EUR")) == Money.of("3.33 EUR")


def test_a_share_is_read_from_what_it_is_written_as() -> None:
    adapter: TypeAdapter[Money | Share] = TypeAdapter(Money | Share)
    share = adapter.validate_python({"share": "3/4"})
    assert adapter.validate_python(adapter.dump_python(share)) == share == Share(Fraction(3, 4))


def test_arguments_say_shares_and_amounts_in_words() -> None:
    assert as_argument({"share": "1/2"}) == "1/2 of it"
    assert as_argument({"amount": "5", "currency": "EUR"}) == "5 EUR"
    assert as_argument({"street": "Elm 5"}) == {"street": "Elm 5"}


@pytest.mark.parametrize("value", ["0", "5/4", "1/0", "a half", "-1/2", "1" * 30])
def test_what_is_no_share_is_refused(value: str) -> None:
    with pytest.raises(ValueError, match="share"):
        Share.of({"share": value})
