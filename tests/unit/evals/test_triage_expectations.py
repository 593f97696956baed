"""What a case may expect of tickets: triage fields of which any of a list will do, and where a
message went."""

from typing import Any

import pytest

from deskhand.errors import ConfigErrors
from deskhand.evals.scorers import score_run
from deskhand.wiring import desk_cases, read_desk
from tests.cli_kit import write_desk

PLACED = {
    "ticket_id": "TKT-7Q2M4XK9",
    "is_new": False,
    "matching": {"evidence": "cited", "reopens": True},
}
RUN: dict[str, Any] = {
    "earlier_tickets": ["TKT-00000001", "TKT-7Q2M4XK9"],
    "outputs": {
        "ticket": PLACED,
        "reading": {"category": "billing_error"},
        "supervisor_decision": {"ticket_type": "billing"},
        "triage_result": {
            "urgency": "high",
            "recommended_action": "route_specialist",
            "extracted_info": {"language": "de", "sentiment": "angry"},
        },
    },
}
FIELDS: dict[str, tuple[Any, Any]] = {
    "urgency": (["medium", "high"], ["medium", "low"]),
    "ticket_type": ("billing", "technical"),
    "action": (["route_specialist", "escalate_human"], "auto_respond"),
    "language": ("de", ["cs", "en"]),
    "sentiment": (["angry", "frustrated"], "neutral"),
    "issue": ("billing_error", "how_to"),
}


async def test_each_field_of_triage_is_scored_apart() -> None:
    for field, (right, wrong) in FIELDS.items():
        expected = {"triage": {field: right}}
        [score] = await score_run(RUN, expected, {})
        assert (score.name, score.passed) == (f"triage {field}", True)
        for run, value in ((RUN, wrong), ({"outputs": {}}, right)):
            [score] = await score_run(run, {"triage": {field: value}}, {})
            assert not score.passed, field
    all_of_them = {field: values[0] for field, values in FIELDS.items()}
    assert len(await score_run(RUN, {"triage": all_of_them}, {})) == len(FIELDS)


@pytest.mark.parametrize(
    ("expected", "passed"),
    [
        ("TKT-7Q2M4XK9", True),
        (["new", "TKT-7Q2M4XK9"], True),
        ("new", False),
        ("TKT-00000001", False),
        ({"joins": "TKT-7Q2M4XK9", "evidence": ["cited", "reference"], "reopens": True}, True),
        ({"evidence": "meaning"}, False),
        ({"reopens": False}, False),
        ({"same_as": 2}, True),
        ({"same_as": 1}, False),
    ],
)
async def test_where_a_message_went_is_told(expected: Any, passed: bool) -> None:
    [score] = await score_run(RUN, {"ticket": expected}, {})
    assert score.passed is passed
    [nowhere] = await score_run({"outputs": {}}, {"ticket": expected}, {})
    assert not nowhere.passed


DESK = """
desk: counter
triage: {issues: {how_to: {type: general}, outage: {type: technical}}}
flows:
  main:
    stages:
      match: {service: match_ticket, output: ticket}
"""


@pytest.mark.parametrize(
    ("expect", "words"),
    [
        ("triage: {urgency: [high, urgent]}", "urgency"),
        ("triage: {action: escalate}", "escalate_human"),
        ("triage: {issue: howto}", "did you mean `how_to`?"),
        ("triage: {}", "says nothing"),
        ("ticket: {}", "says nothing"),
        ("ticket: TKT-1", "is no ticket"),
        ("ticket: {joins: [new, TKT-UUUUUUUU]}", "is no ticket"),
        ("ticket: {same_as: 0}", "greater than or equal to 1"),
    ],
)
def test_what_could_never_be_met_is_refused(expect: str, words: str, tmp_path: Any) -> None:
    folder = write_desk(tmp_path / "counter", DESK, "")
    text = f"cases:\n- id: a\n  message: {{body: hi}}\n  expect: {{{expect}}}\n"
    (folder / "evals.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(ConfigErrors) as caught:
        desk_cases(read_desk(str(folder)))
    assert words in str(caught.value.problems[0])


def test_a_desk_that_does_no_triage_expects_none(tmp_path: Any) -> None:
    plain = DESK.replace("triage:", "# triage:")
    folder = write_desk(tmp_path / "counter", plain, "")
    text = "cases:\n- {id: a, message: {body: hi}, expect: {triage: {urgency: high}}}\n"
    (folder / "evals.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(ConfigErrors, match="does no triage"):
        desk_cases(read_desk(str(folder)))
