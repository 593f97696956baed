"""Values of the queue in words: what a reply quotes, and how long something still waits."""

from dataclasses import replace

import pytest

from deskhand.model.run import REASSIGN_TO, Decision, Review, ReviewKind, ReviewState
from deskhand.web.console.labels import expiry_with_outcome, quotes_as_prose

NOW = 1_800_000_000.0
OPEN = Review(
    "rev_1", "shop", "run_1", 0, "c1", ReviewKind.REPLY, "", {}, "", ReviewState.OPEN, 1, NOW
)


def test_what_a_reply_quotes_is_unwrapped_and_its_own_lines_stay() -> None:
    reply = (
        "Dear Ann,\n\n> You may send it back\n> within 30 days.\n>\n> - unused\n\nBest"
        " regards\nAcme"
    )
    shown = (
        "Dear Ann,\n\n> You may send it back within 30 days.\n>\n> - unused\n\nBest regards\nAcme"
    )
    assert quotes_as_prose(reply) == shown


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({}, None),
        (
            {"expires_at": NOW + 5 * 3600 + 10, "fallback": Decision.REJECT},
            "in 5 h, then it is rejected",
        ),
        ({"expires_at": NOW + 3 * 86400, "fallback": Decision.CLOSE}, "in 3 d, then it is closed"),
        (
            {"expires_at": NOW + 7200, "fallback": Decision.HAND_OVER},
            "in 2 h, then it is handed over",
        ),
        (
            {
                "expires_at": NOW + 7200,
                "fallback": Decision.REASSIGN,
                "facts": {REASSIGN_TO: "lead"},
            },
            "in 2 h, then it goes to lead",
        ),
        ({"expires_at": NOW + 20, "fallback": Decision.REJECT}, "now"),
        ({"expires_at": NOW + 20, "fallback": Decision.APPROVE}, None),
        (
            {"expires_at": NOW + 3600, "fallback": Decision.REJECT, "state": ReviewState.DECIDED},
            None,
        ),
    ],
)
def test_how_long_something_waits_is_said(changes: dict[str, object], words: str | None) -> None:
    assert expiry_with_outcome(replace(OPEN, **changes), NOW) == words  # type: ignore[arg-type]
