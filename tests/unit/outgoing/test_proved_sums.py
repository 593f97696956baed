"""Sums that a second reader writes down: right ones prove a number, all others nothing."""

from fractions import Fraction

import pytest

from deskhand.outgoing.proved_sums import LONGEST_SUM, MOST_SUMS, comes_out, proves
from deskhand.outgoing.stated_values import values_in
from deskhand.outgoing.values import Value
from tests.kit import lines_run

ARTICLE = (
    "Desks cost 540 EUR and chairs 289 EUR. From 10 pieces the price falls by 5%, from 30 pieces by"
    " 10%. Goods in stock come within 10 working days. We are open from 9:00 to 17:00. The warranty"
    " is 5 years. Rental costs 39 EUR a month. A refund takes 14 days. Parcels cost 3 EUR."
)
MESSAGE = "I buy 3 desks and 4 chairs for 30 people and come at 16:30. My desk is of 2019."
STATED = [*values_in(ARTICLE), *values_in(MESSAGE)]


def value(text: str) -> Value:
    (only,) = values_in(text)
    return only


def proved(written: str, *sums: str) -> bool:
    return proves(sums, value(written), STATED)


@pytest.mark.parametrize(
    ("written", "sum_"),
    [
        ("2,776 EUR", "3 * 540 + 4 * 289 = 2776"),
        ("2.776 €", "3*540+4*289=2776"),
        ("2776", "(3 * 540) + (4 * 289) = 2776"),
        ("2,776 EUR", "3 × 540 + 4 × 289 = 2776.00"),
        ("30 minutes", "17:00 - 16:30 = 30"),
        ("8 hours", "17:00 - 9:00 = 480"),
        ("468 EUR", "12 * 39 = 468"),
        ("468 EUR a year", "39 * 12 = 468"),
        ("513 EUR", "540 * (100 - 5) / 100 = 513"),
        ("513 EUR", "540 * 0.95 = 513"),
        ("60 months", "5 * 12 = 60"),
        ("5 years", "30 / 12 + 30 / 12 = 5"),
        ("1 chair", "4 - 3 = 1"),
        ("96.33 EUR", "289 / 3 = 96.33"),
        ("until 2024", "2019 + 5 = 2024"),
    ],
)
def test_a_right_sum_of_stated_numbers_proves_a_number(written: str, sum_: str) -> None:
    values = values_in(written)
    assert proves([sum_], values[0], STATED)


def test_what_one_sum_comes_to_is_stated_for_the_next() -> None:
    assert proved("1,053 EUR", "30 * 39 = 1170; 1170 * 0.9 = 1053")
    assert proved("1,053 EUR", "30 * 39 = 1170", "1170 * 0.9 = 1053")
    assert not proved("1,053 EUR", "1170 * 0.9 = 1053", "30 * 39 = 1170")
    assert not proved("1,053 EUR", "30 * 39 = 1171; 1171 * 0.9 = 1053.9")


@pytest.mark.parametrize(
    ("written", "sum_"),
    [
        ("2,777 EUR", "3 * 540 + 4 * 289 = 2777"),
        ("2,777 EUR", "3 * 540 + 4 * 289 = 2776"),
        ("2,700 EUR", "5 * 541 - 5 = 2700"),
        ("96 EUR", "289 / 3 = 96"),
        ("96.3 EUR", "289 / 3 = 96.3"),
        ("540 EUR", "540 = 540"),
        ("540 EUR", "540"),
        ("540 EUR", "= 540"),
        ("", ""),
    ],
)
def test_a_sum_that_is_wrong_or_none_proves_nothing(written: str, sum_: str) -> None:
    wanted = values_in(written)[0] if written else value("7 EUR")
    assert not proves([sum_], wanted, STATED)


@pytest.mark.parametrize(
    ("written", "sum_"),
    [
        ("7 EUR", "3 + 4 = 7"),
        ("17 EUR", "14 + 3 = 17"),
        ("543 EUR", "540 + 30 / 10 = 543"),
        ("42 days", "3 * 14 - 0 = 42"),
        ("30 USD", "3 * 10 = 30"),
        ("829 kg", "540 + 289 = 829"),
        ("120 minutes", "3 * 540 / 13.5 = 120"),
        ("45 %", "30 + 15 = 45"),
        ("44 days", "14 + 30 = 44"),
    ],
)
def test_euros_are_made_of_euros_and_days_of_days(written: str, sum_: str) -> None:
    assert not proved(written, sum_)


@pytest.mark.parametrize(
    ("written", "sum_"),
    [
        ("144 chairs", "12 * 12 = 144"),
        ("1,200 EUR", "12 * 100 = 1200"),
        ("88 chairs", "100 - 12 = 88"),
        ("1 EUR", "540 / 540 = 1"),
        ("2 EUR", "540 / 540 + 540 / 540 = 2"),
        ("2 chairs", "12 / 12 + 100 / 100 = 2"),
        ("0 EUR", "540 - 540 = 0"),
        ("15 chairs", "12 + 3 = 15"),
        ("640 EUR", "540 + 100 = 640"),
    ],
)
def test_numbers_that_everybody_knows_make_no_new_one(written: str, sum_: str) -> None:
    """Months of a year and parts of a hundred need no source, so nothing may rest on them alone."""
    assert not proved(written, sum_)


@pytest.mark.parametrize(
    "sum_",
    [
        "540 / 0 = 540",
        "540 / (289 - 289) = 1",
        "540 / (4 - 4) = 540",
        "999999999 * 999999999 = 1",
        "9**9**9**9 = 9",
        "9e9999999 + 3 = 9",
        "540 + 289 = 9e999999999",
        "__import__('os').system('true') + 540 = 540",
        "540 if True else 289 = 540",
        "(" * 50 + "3 + 4" + ")" * 50 + " = 7",
        "(" * 100 + "3 + 4 = 7",
        "3 + 4) = 7",
        "3 + (4 = 7",
        "3 + = 7",
        "+ 3 + 4 = 7",
        "3 4 = 7",
        "3 + 4 = +",
        "3 + 4 = 7 = 7",
        "٣ + ٤ = 7",
        "3 + 4 = 7 # or so",
        "\x00 = 7",
        "-3 + 10 = 7",
        "3:99 + 4 = 7",
        "00:00",
        " " * LONGEST_SUM + "3 + 4 = 7",
    ],
)
def test_what_is_no_plain_sum_proves_nothing(sum_: str) -> None:
    assert not proved("7 chairs", sum_)
    assert not proved("540 EUR", sum_)


def test_a_cut_sum_is_no_sum() -> None:
    """`= 70` must not become `= 7` where a long sum is cut."""
    padding = " " * (LONGEST_SUM - len("3 + 4 =7"))
    assert proved("7 chairs", f"3 + 4 ={padding}7")
    assert not proved("7 chairs", f"3 + 4 ={padding}70")


@pytest.mark.parametrize("text", ["Monday", "20 November 2026", "at 20:00", "A-20417"])
def test_days_times_and_identifiers_are_never_proved(text: str) -> None:
    assert not proves(["3 + 4 = 7", "10 * 120 = 1200"], values_in(text)[0], STATED)


def test_no_dose_follows_from_money() -> None:
    assert not proved("1,620 mg", "3 * 540 = 1620")


def test_only_so_many_sums_are_looked_at() -> None:
    wrong = ["3 + 4 = 8"] * (MOST_SUMS - 1)
    assert proved("7 chairs", *wrong, "3 + 4 = 7")
    assert not proved("7 chairs", *wrong, "3 + 4 = 8", "3 + 4 = 7")
    assert not proved("7 chairs", "; ".join([*wrong, "3 + 4 = 8", "3 + 4 = 7"]))


def test_whether_a_sum_comes_out_wherever_its_numbers_come_from() -> None:
    assert comes_out("77 * 2 = 154")
    assert comes_out("77 * 2 = 155; 8 + 8 = 16")
    assert not comes_out("77 * 2 = 155")
    assert not comes_out("see above")
    assert not comes_out("")


@pytest.mark.parametrize(
    "sum_",
    ["(" * 40_000, "1 + " * 40_000 + "1 = 1", "3 + 4 = 7; " * 20_000, " " * 100_000 + "="],
    ids=["brackets", "operands", "sums", "spaces"],
)
def test_a_long_sum_takes_no_longer_than_it_is(sum_: str) -> None:
    wanted = value("8 EUR")
    ordinary = lines_run(lambda: proves(["3 + 4 = 7"] * MOST_SUMS, wanted, STATED))
    assert lines_run(lambda: proves([sum_], wanted, STATED)) < 3 * ordinary


def test_many_stated_numbers_are_looked_through_once() -> None:
    many = [value(f"{number} chairs") for number in range(2, 1_000)]
    sums, wanted = ["3 + 4 = 8"] * MOST_SUMS, value("7 EUR")
    half = lines_run(lambda: proves(sums, wanted, many[:500]))
    assert lines_run(lambda: proves(sums, wanted, many)) < 2.5 * half


def test_a_sum_is_calculated_without_rounding_errors() -> None:
    assert sum([Fraction("0.1")] * 3) == Fraction("0.3")
    stated = [*values_in("It costs 0.10 EUR"), *values_in("3 pieces")]
    assert proves(["3 * 0.1 = 0.3"], value("0.30 EUR"), stated)


def test_the_hours_of_a_table_are_times_of_day() -> None:
    stated = [*values_in("Mon–Fri 7–18"), *values_in("My bus leaves at 7:40.")]
    assert proves(["7:40 - 7:00 = 40"], value("40 minutes"), stated)
    assert not proves(["7:40 - 6:00 = 100"], value("100 minutes"), stated)
    assert not proves(["7:40 - 7:00 = 40"], value("40 EUR"), stated)
