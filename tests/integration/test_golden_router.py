"""The orders desk's golden conversations, played by the desk and by an `AgentRouter`."""

import pytest

from deskhand.wiring import desk_cases, open_sandbox, read_desk, with_brain
from tests.golden_router import (
    AFTER_FAILURE,
    GUESSED,
    REMEMBERED,
    expected,
    play_desk,
    play_router,
)


@pytest.mark.slow
async def test_router_and_desk_tell_the_same_of_every_golden_conversation() -> None:
    """All that the desk's author wrote (conversations by others are in files of their own), but for
    those that turn out to need what only a desk has: for each of these, the reason is stated, and
    the turns before that one are compared as well."""
    loaded = with_brain(read_desk("orders"), "scripted")
    cases = [case for case in desk_cases(loaded)[0] if "author" in case.tags]
    whole: list[str] = []
    left_out: dict[str, list[str]] = {AFTER_FAILURE: [], GUESSED: [], REMEMBERED: []}
    async with open_sandbox(loaded) as sandbox:
        for case in cases:
            turns = await play_desk(case, loaded, sandbox)
            reason = turns[-1].left_out
            if reason:
                left_out[reason].append(case.id)
                del turns[-1]
            else:
                whole.append(case.id)
            told = await play_router(turns, loaded)
            assert told == [expected(turn) for turn in turns], case.id
    assert len(whole) >= 60
    assert [len(cases) <= 20 for cases in left_out.values()] == [True] * 3, left_out
