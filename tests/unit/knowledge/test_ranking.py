"""Two lists to one, and which words are worth looking up."""

import pytest

from deskhand.knowledge.ranking import fuse, weigh
from deskhand.knowledge.text_normalization import primary_language, question_text, terms, words


def test_first_in_both_lists_with_all_words_is_one() -> None:
    [only] = fuse([7], [(7, 1.0)], 5)
    assert (only.position, only.score, only.coverage) == (7, 1.0, 1.0)


def test_a_stray_word_does_not_outweigh_meaning() -> None:
    order = [one.position for one in fuse([1, 2, 3], [(9, 0.05), (3, 0.04)], 5)]
    assert order == [1, 2, 3, 9]


def test_words_that_fit_well_lift_a_chunk() -> None:
    assert next(one.position for one in fuse([1, 2, 3], [(3, 0.9)], 5)) == 3


def test_equals_are_in_the_order_of_their_positions() -> None:
    assert [one.position for one in fuse([], [(5, 1.0)], 5)] == [5]
    assert [one.position for one in fuse([4], [(2, 1.0)], 5)] == [2, 4]


def test_common_and_unknown_words_are_not_looked_up_but_count() -> None:
    weighed = weigh({"rare": 2, "common": 501, "unknown": 0}, 10_000)
    assert list(weighed.weights) == ["rare"]
    assert weighed.coverage(weighed.weights["rare"]) < 0.6
    assert weigh({}, 100).coverage(1.0) == 0.0


def test_the_rarest_words_are_chosen_within_a_budget() -> None:
    counts = {f"w{number}": 1000 for number in range(30)} | {"rare": 1}
    chosen = list(weigh(counts, 100_000).weights)
    assert chosen[0] == "rare"
    assert 1 < len(chosen) <= 4
    assert len(weigh({f"w{number}": 1 for number in range(60)}, 1000).weights) == 16


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Přihlášení NEAR(x)", ["prihlaseni", "near", "x"]),
        ("e-mail_address", ["e", "mail", "address"]),
        ("Straße ﬁ Ⅷ", ["strasse", "fi", "viii"]),
        ("🎉 -- \"'*", []),
        ("ÅNGSTRÖM", ["angstrom"]),
    ],
)
def test_words_are_folded(text: str, expected: list[str]) -> None:
    assert words(text) == expected


def test_a_question_is_bounded() -> None:
    assert len(terms(" ".join(f"w{number}" for number in range(100_000)))) == 64
    assert len(question_text("x" * 1_000_000)) == 4000
    assert question_text("a\x00\x1b[31m  b\ud800") == "a [31m b"
    assert primary_language(" en_GB ") == "en"
