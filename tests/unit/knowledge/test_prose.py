"""Articles as people read them."""

from deskhand.knowledge.prose import unwrapped


def test_wrapped_lines_become_paragraphs_and_lists_stay_lists() -> None:
    article = """\
# Delivery

We deliver within two working days. A parcel
that is late is looked for by
us.

- to the door,
  which is free
- to a shop
1. first
2) second
> quoted
> twice
| a | b |
"""
    assert (
        unwrapped(article)
        == """\
# Delivery

We deliver within two working days. A parcel that is late is looked for by us.

- to the door, which is free
- to a shop
1. first
2) second
> quoted
> twice
| a | b |"""
    )


def test_breaks_that_were_meant_stay() -> None:
    assert unwrapped("Acme Ltd  \nMain Street 1\\\nPrague\n\n    code\n    more") == (
        "Acme Ltd\nMain Street 1\\\nPrague\n\n    code\n    more"
    )
    assert unwrapped("One sentence.\n[…]") == "One sentence.\n[…]"
    assert unwrapped("") == ""
