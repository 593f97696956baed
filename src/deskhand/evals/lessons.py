"""What a reviewer's edit teaches: words he put in must stand in the next draft, words he struck
out must not."""

from collections.abc import Sequence

from deskhand.engine.story import Document
from deskhand.evals.recorded_runs import RecordedRun
from deskhand.knowledge.exchanges import digest_of, sentences
from deskhand.model.message import REPLY
from deskhand.model.run import EXPIRY, Decision, Review


def edit_of(recorded: RecordedRun) -> Review | None:
    """The last time a person changed this run's reply, if somebody did."""
    decided = [one for one in recorded.records.reviews if one.decided_by not in (None, EXPIRY)]
    edits = [
        one for one in decided if one.decision is Decision.EDIT and (one.edit or {}).get("text")
    ]
    return edits[-1] if edits else None


def lesson_of(edit: Review) -> Document:
    """What the reply must and must not say; its whole text where the edit shows no whole
    sentence."""
    drafted = str((edit.payload.get(REPLY) or {}).get("text") or "")
    written = str((edit.edit or {})["text"])
    added, removed = _beyond(written, drafted), _beyond(drafted, written)
    if not added and not removed:
        return {"equals": written}
    return {name: said for name, said in (("contains", added), ("not_contains", removed)) if said}


def _beyond(text: str, other: str) -> Sequence[str]:
    """The sentences of one text that the other does not have."""
    known = {digest_of(one) for one in sentences(other)}
    return [one for one in sentences(text) if digest_of(one) not in known]
