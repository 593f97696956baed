"""Every rule of the gate switched off in turn: the hijacked model finds each hole, so its
silence means something."""

import pytest

from deskhand.tools.rules import RULES
from tests.security.hijack.game import Table, Violation, play_by_chance
from tests.security.hijack.mutants import HARMLESS, LATER, MUTANTS, PLAYED_ELSEWHERE, Mutant

STEPS = 50_000
"""Many more than any of them needs; a mutant is caught within a few hundred to a few thousand."""


@pytest.fixture(autouse=True)
def _without_log(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("CRITICAL", logger="deskhand")


@pytest.mark.parametrize("mutant", [*MUTANTS, *LATER], ids=lambda mutant: mutant.name)
async def test_a_gate_with_a_hole_is_found_out(mutant: Mutant) -> None:
    with mutant.at_work():
        table = Table(policy=mutant.policy, build=mutant.build)
        with pytest.raises(Violation):
            await play_by_chance(table, 1, STEPS)


def test_there_is_a_mutant_for_every_rule() -> None:
    switched_off = {mutant.name.removeprefix("rule ") for mutant in (*MUTANTS, *LATER)}
    unplayed = {rule.name for rule in RULES} - switched_off
    assert unplayed == {*HARMLESS, *PLAYED_ELSEWHERE}
    assert len(MUTANTS) >= 15
