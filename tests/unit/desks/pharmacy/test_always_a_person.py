"""The pharmacy's complaints are a person's, and no rule of its policy is needed for that."""

from deskhand.tools.terms import always_asked, terms_of
from deskhand.wiring import read_desk


def test_complaints_and_what_is_unclear_are_held_by_the_gate_itself() -> None:
    spec = read_desk("pharmacy").spec
    assert always_asked(spec) == terms_of(spec).always_ask == {"complaint", "other"}
