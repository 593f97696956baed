"""What a second reader is shown of a reply, and what its word changes about it."""

from collections.abc import Sequence

from deskhand.language.identify import identify
from deskhand.outgoing.grounds import Grounds
from deskhand.outgoing.sentences import sentence_at
from deskhand.outgoing.settling import MOST_ASKED, may_be_asked, may_be_asked_about, may_be_settled
from deskhand.outgoing.stated_values import values_in
from deskhand.outgoing.unbacked_claim import UnbackedClaim
from deskhand.outgoing.value_owner import is_said_of_another

LANGUAGES = ("en", "cs", "de", "es", "fr", "pl", "sk")
"""Languages whose claims are read."""


def in_language_of(text: str, grounds: Grounds) -> Grounds:
    """The grounds of a reply in whose language its claims are read."""
    language = identify(grounds.without_names(text), LANGUAGES).code
    return grounds.in_language(language)


def settled_again(
    claims: list[UnbackedClaim], place: tuple[int, int], text: str, grounds: Grounds
) -> list[UnbackedClaim]:
    """What is unbacked of the sentence here once a second reader's word on it counts."""
    sentence = text[slice(*place)].strip()
    missed = grounds.refused.get(sentence)
    if missed is not None:
        reason = f"the second reader does not find it: {missed}"
        return [*claims, UnbackedClaim("refused", sentence, reason, *place)]
    if sentence not in grounds.confirmed:
        return claims
    if _tells_value_of_another(place, text, grounds):
        return claims
    if all(may_be_settled(claim, grounds, text) for claim in claims):
        return []
    return claims


def _tells_value_of_another(place: tuple[int, int], text: str, grounds: Grounds) -> bool:
    """Whether the sentence here gives a thing what sources say of another alone."""
    start, end = place
    return any(
        is_said_of_another(
            value._replace(start=value.start + start, end=value.end + start), text, grounds
        )
        for value in values_in(text[start:end], grounds.now)
    )


def sentences_to_read(
    text: str,
    unbacked: Sequence[UnbackedClaim],
    others: Sequence[int],
    grounds: Grounds,
) -> list[str] | None:
    """The sentences that a second reader reads: all that claim something. None where anything holds
    the reply that no reader settles.

    `others` is where sentences begin that are backed, and promises that nothing stands behind.
    """
    grounds = in_language_of(text, grounds)
    if not all(may_be_asked_about(claim, grounds, text) for claim in unbacked):
        return None
    doubtful = [claim.start for claim in unbacked if claim.kind != "holding"]
    read = [sentence_at(text, place) for place in sorted({*doubtful, *others})]
    sentences = [sentence for sentence in dict.fromkeys(read) if sentence is not None]
    if len(sentences) > MOST_ASKED or not all(map(may_be_asked, sentences)):
        return None
    return sentences
