import os
import signal
import subprocess
import sys
from collections.abc import Iterator

import pytest

from deskhand import crashpoints
from deskhand.crashpoints import (
    APPROVAL_POINTS,
    CRASH_POINTS,
    TICKET_POINTS,
    arm,
    arm_from,
    crash_point,
    disarm,
)


@pytest.fixture(autouse=True)
def _disarmed() -> Iterator[None]:
    yield
    disarm()


def test_an_unarmed_point_does_nothing_whatever_its_name() -> None:
    crash_point("effect.after_intend")
    crash_point("nobody.declared_this")


def test_the_action_runs_once_at_the_chosen_passage() -> None:
    fired: list[int] = []
    arm("effect.after_intend", lambda: fired.append(1), after=2)
    crash_point("effect.after_intend")
    assert fired == []
    crash_point("effect.after_perform")
    crash_point("effect.after_intend")
    crash_point("effect.after_intend")
    assert fired == [1]


def test_while_anything_is_armed_an_undeclared_point_is_an_error() -> None:
    arm("effect.after_intend", lambda: None)
    with pytest.raises(ValueError, match="not a crash point"):
        crash_point("effect.after_intned")
    with pytest.raises(ValueError, match="not a crash point"):
        arm("effect.after_intned", lambda: None)


@pytest.mark.parametrize("setting", ["effect.after_intend:x", "effect.after_intend:0", "nowhere"])
def test_a_wrong_setting_is_refused(setting: str) -> None:
    with pytest.raises(ValueError, match=r"effect\.after_intend|crash point"):
        arm_from(setting)


def test_names_are_unique() -> None:
    points = (*CRASH_POINTS, *APPROVAL_POINTS, *TICKET_POINTS)
    assert len(set(points)) == len(points)


def test_the_environment_variable_kills_the_process_at_the_second_passage() -> None:
    code = (
        "from deskhand.crashpoints import crash_point\n"
        "for n in range(3): crash_point('effect.after_perform'); print(n, flush=True)"
    )
    environment = {**os.environ, crashpoints.VARIABLE: "effect.after_perform:2"}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (-signal.SIGKILL, "0\n")
