"""What a recorded stage tells about the mode its reply met, where modes are earned and so not in
desk.yaml."""

from deskhand.agents.sending import ASKED_IN_DRAFT, SHADOWED, SPOT_CHECK
from deskhand.model.envelope import StageResult


def recorded_mode(attempt: StageResult | None) -> str | None:
    """The mode in force when this attempt ended; None where there was no attempt to tell."""
    if attempt is None:
        return None
    if attempt.ask is not None and isinstance(mode := attempt.ask.payload.get("mode"), str):
        return mode
    return {SHADOWED: "shadow", ASKED_IN_DRAFT: "draft"}.get(attempt.reason or "", "auto")


def was_checked(attempt: StageResult | None) -> bool:
    """Whether this reply was one of those a person looked at although they could have left."""
    return (
        attempt is not None
        and attempt.ask is not None
        and attempt.ask.payload.get("waits") == SPOT_CHECK
    )
