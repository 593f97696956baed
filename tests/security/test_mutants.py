"""Every rule of the gate switched off in turn: the hijacked model finds each hole, so its
silence means something."""

import pytest

from deskhand.tools.rules import RULES
from tests.security.hijack.game import Table, Violation, play_by_chance
from tests.security.hijack.mutants import HARMLESS, LATER, MUTANTS, PLAYED_ELSEWHERE, Mutant

STEPS = 50_000
"""Many more than any of them needs; a mutant is caught within a few hundred to a few thousand."""

SEEDS = {
    "rule attachments_not_approved": 2,
    "rule removal_not_asked": 4,
    "rule unsure_reading": 3,
    "rule always_ask": 3,
    "recipients: a Cc counts": 6,
    "closing: nothing is always a person's": 3,
    "closing: as many replies as one likes": 2,
    "results: what strangers wrote counts": 6,
}
"""Games that come upon these holes soon. With seed 1, as for the others, each takes seconds."""


@pytest.fixture(autouse=True)
def _without_log(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("CRITICAL", logger="deskhand")


@pytest.mark.parametrize("mutant", [*MUTANTS, *LATER], ids=lambda mutant: mutant.name)
async def test_a_gate_with_a_hole_is_found_out(mutant: Mutant) -> None:
    with mutant.at_work():
        table = Table(policy=mutant.policy, build=mutant.build)
        with pytest.raises(Violation):
            await play_by_chance(table, SEEDS.get(mutant.name, 1), STEPS)


def test_there_is_a_mutant_for_every_rule() -> None:
    switched_off = {mutant.name.removeprefix("rule ") for mutant in (*MUTANTS, *LATER)}
    unplayed = {rule.name for rule in RULES} - switched_off
    assert unplayed == {*HARMLESS, *PLAYED_ELSEWHERE}
    assert len(MUTANTS) >= 15
    assert SEEDS.keys() <= {mutant.name for mutant in (*MUTANTS, *LATER)}
