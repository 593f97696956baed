"""What people decided about the held calls and the replies of one run."""

from dataclasses import replace
from typing import Any

from deskhand.engine.decided import approved_reply, noted_verdict, verdict_of
from deskhand.model.envelope import Envelope, StageResult
from deskhand.model.message import delivery_of
from deskhand.model.run import (
    EXPIRY,
    Decision,
    EffectKey,
    Review,
    ReviewKind,
    Verdict,
    canonical_hash,
)


class Verdicts:
    """Each is good for one call at one place."""

    def __init__(self) -> None:
        self._of_calls: dict[tuple[str, str], Verdict] = {}
        self._of_reply: tuple[str, Verdict] | None = None

    def find(self, call_hash: str, key: EffectKey) -> Verdict | None:
        """What was decided about a call; an approved reply counts for the first key only."""
        call = (call_hash, str(key))
        of_reply = self._of_reply
        if call not in self._of_calls and of_reply is not None and of_reply[0] == call_hash:
            self._of_calls[call] = of_reply[1]
            self._of_reply = None
        return self._of_calls.get(call)

    def approve_reply(self, reply: Any, verdict: Verdict) -> None:
        """This reply may leave as it is."""
        approved = replace(verdict, decision=Decision.APPROVE)
        self._of_reply = (canonical_hash(delivery_of(reply)), approved)

    def note(self, asked: StageResult, review: Review | None, envelope: Envelope) -> None:
        """Keep what was decided about a question; without a review, by the run's own record."""
        payload = asked.ask.payload if asked.ask else {}
        if review is None:
            verdict = noted_verdict(envelope.metadata["decision"])
        else:
            verdict = verdict_of(review)
        if asked.ask is not None and asked.ask.kind == ReviewKind.STOPPED:
            # The resumption decides about the stop: an approval of the call still stands.
            return
        if "call_hash" in payload:
            if verdict.by != EXPIRY or verdict.decision is Decision.REJECT:
                self._of_calls[str(payload["call_hash"]), str(payload["effect_key"])] = verdict
        elif (reply := approved_reply(asked, verdict, envelope)) is not None:
            self.approve_reply(reply, verdict)
