"""Which words of one customer's reply may be used in another's matter."""

from hypothesis import given
from hypothesis import strategies as st

from deskhand.knowledge.exchanges import (
    counter,
    digest_of,
    digests_in,
    learned,
    owner_of,
    person_of,
    sentences,
    shareable,
)
from deskhand.model.exchanges import Exchange, How
from deskhand.model.principal import ANONYMOUS, Principal, PrincipalKind
from tests.knowledge_kit import HashingEmbedder

REPLY = (
    "Dear Ann,\n\n> Returns are free within thirty days.\n- Your parcel P-1 was lost in"
    " Leeds!\nKind regards"
)


def an_exchange(how: How) -> Exchange:
    return Exchange("run_1", "p", None, "inquiry", "en", how, "May I return it?", REPLY, 1.0)


def test_sentences_are_told_apart_and_greetings_left_out() -> None:
    assert sentences(REPLY) == [
        "Returns are free within thirty days.",
        "Your parcel P-1 was lost in Leeds!",
    ]
    assert digest_of("Returns are FREE, within thirty days") == digest_of(
        "returns are free within thirty days!"
    )


def test_only_what_enough_people_were_told_is_shared() -> None:
    counts = {
        digest_of("Returns are free within thirty days."): 3,
        digest_of("Your parcel P-1 was lost in Leeds!"): 2,
    }
    assert set(digests_in([REPLY])) == set(counts)
    assert shareable(REPLY, counter(counts)) == ["Returns are free within thirty days."]
    assert shareable(REPLY, counter({})) == []


@given(st.text(max_size=300), st.dictionaries(st.text(max_size=8), st.integers(0, 9)))
def test_no_sentence_is_shared_that_was_not_counted_often_enough(
    answer: str, counts: dict[str, int]
) -> None:
    assert all(counts.get(digest_of(one), 0) >= 3 for one in shareable(answer, counter(counts)))


def test_what_the_desk_sent_by_itself_teaches_no_sentences() -> None:
    assert learned(an_exchange("sent"), HashingEmbedder()).sentences == ()
    assert len(learned(an_exchange("approved"), HashingEmbedder()).sentences) == 2
    assert len(learned(an_exchange("edited"), HashingEmbedder()).vector) == 2 * 384


def test_people_are_told_apart_by_address_and_owned_by_proof() -> None:
    assert (
        person_of(" Ann@Example.com ")
        == person_of("ann@example.com")
        != person_of("bob@example.com")
    )
    assert owner_of(ANONYMOUS) is None
    proven = Principal(kind=PrincipalKind.SENDER, address="ann@example.com")
    assert owner_of(proven) == owner_of(proven.changed(address="ANN@example.com")) is not None
