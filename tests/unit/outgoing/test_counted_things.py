"""Which small numbers of a reply a second reader may show to count things of the sources."""

import pytest

from deskhand.outgoing.counted_things import counts
from deskhand.outgoing.stated_values import values_in

MACHINES = (
    "The Piccolo is made for 15 people. The Grande takes fresh milk. It has one service a year."
)
COLOURS = "It comes in oak, white or black, in 140 x 70 and 160 x 80 cm."


def is_counted(reply: str, *written: str, sources: tuple[str, ...] = (MACHINES, COLOURS)) -> bool:
    value = next(value for value in values_in(reply) if value.kind == "number")
    return counts(written, value, reply, sources)


@pytest.mark.parametrize(
    ("reply", "written"),
    [
        ("Only one of our two machines does.", "2 = Piccolo + Grande"),
        ("It comes in three colours.", "3 = oak + white + black"),
        ("There are two sizes.", "2 = 140 x 70 + 160 x 80"),
        ("Two of the 3 colours are light.", "3 = oak + white + black; 2 = oak + white"),
        ("One of our two pharmacies has it.", "2 = Piccolo + Grande"),
    ],
)
def test_things_that_the_sources_name_may_be_counted(reply: str, written: str) -> None:
    assert is_counted(reply, written)


@pytest.mark.parametrize(
    ("reply", "written"),
    [
        ("One of our three machines does.", "2 = Piccolo + Grande"),
        ("One of our three machines does.", "3 = Piccolo + Grande"),
        ("One of our three machines does.", "3 = Piccolo + Grande + Gigante"),
        ("One of our two machines does.", "2 = Piccolo + Piccolo"),
        ("One of our two machines does.", "2 = Pic + Grande"),
        ("It has two services a year.", "2 = Piccolo + Grande"),
        ("There are two packs left.", "2 = Piccolo + Grande"),
        ("It costs 2 EUR.", "2 = Piccolo + Grande"),
        ("We carry seven of them.", "7 = oak + white + black + a + b + c + d"),
        ("It comes in two colours.", "2 = people + milk"),
        ("It comes in two colours.", "2 = oak + fresh"),
        ("It comes in two colours.", "two"),
    ],
)
def test_nothing_else_is_a_count(reply: str, written: str) -> None:
    """Things that no source names, that are fewer, that are the same; words from anywhere; what a
    source counts otherwise; packs, prices and large numbers."""
    assert not is_counted(reply, written)


def test_both_of_a_source_are_two() -> None:
    reply = "The two of them fit a glass top."
    assert is_counted(reply, sources=("Both have a clamp for a glass top.",))
    assert not is_counted(reply, sources=("Each has a clamp for a glass top.",))
    assert not is_counted("All three fit.", sources=("Both have a clamp for a glass top.",))
