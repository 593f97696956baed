import asyncio
import dataclasses
import itertools
from collections.abc import Iterator
from typing import Any

import aiohttp
import httpx
import pytest

from deskhand import crashpoints
from deskhand.errors import ToolError
from deskhand.model.codes import ErrorCode
from deskhand.model.outcome import EffectClass
from deskhand.model.results import ToolErrorDetails, ToolResult
from deskhand.model.run import Effect, EffectKey, EffectState
from deskhand.tools import Tool, tool
from deskhand.tools.effects import carry_out, outcome_unknown
from tests.memory_ledger import MemoryLedger

KEY = EffectKey("run_1", 3, 0)


async def _known(ledger: MemoryLedger, key: EffectKey) -> Effect | None:
    return next((effect for effect in await ledger.effects(key.run_id) if effect.key == key), None)


EFFECTS = [EffectClass.REVERSIBLE, EffectClass.KEYED, EffectClass.IRREVERSIBLE]
POINTS = [point for point in crashpoints.CRASH_POINTS if point.startswith("effect.")]


class Killed(BaseException):
    """Stands for SIGKILL: nothing in the code under test may catch it."""


@tool(effect="keyed")
def send(text: str) -> None:
    """Send."""


class World:
    """The other side. A keyed effect is remembered by its key, a reversible one sets a state,
    others just happen."""

    def __init__(self, effect: EffectClass) -> None:
        self.effect = effect
        self.happened: list[tuple[str, str]] = []
        self.asked = 0

    def act(self, key: str, text: str) -> None:
        same_again = self.effect is EffectClass.REVERSIBLE and (key, text) in self.happened
        known = self.effect is EffectClass.KEYED and any(key == done for done, _ in self.happened)
        if not (same_again or known):
            self.happened.append((key, text))

    async def probe(self, key: str, arguments: dict[str, Any]) -> dict[str, Any] | None:
        self.asked += 1
        return next(({"text": text} for done, text in self.happened if done == key), None)


class Desk:
    """One effect against one world; what a restarted process would run."""

    def __init__(self, effect: EffectClass, with_probe: bool = False) -> None:
        self.world, self.ledger = World(effect), MemoryLedger()
        self.tool: Tool = dataclasses.replace(send, effect=effect)
        self.with_probe = with_probe
        self.attempts = 0
        self.fails: list[BaseException] = []

    async def run(self, text: str = "hello", key: EffectKey = KEY) -> ToolResult:
        async def perform() -> ToolResult:
            self.attempts += 1
            if self.fails:
                raise self.fails.pop(0)
            self.world.act(str(key), text)
            return ToolResult.success({"text": text})

        probe = self.world.probe if self.with_probe else None
        known = await _known(self.ledger, key)
        return await carry_out(
            key,
            self.tool,
            f"hash of {text}",
            {"text": text},
            self.ledger,
            perform,
            probe,
            earlier=known,
        )


@pytest.fixture(autouse=True)
def _disarmed() -> Iterator[None]:
    yield
    crashpoints.disarm()


def kill() -> None:
    raise Killed


async def test_an_effect_is_intended_before_and_done_after() -> None:
    desk = Desk(EffectClass.KEYED)
    seen: list[list[EffectState]] = []
    for point in POINTS:
        crashpoints.arm(point, lambda: seen.append(desk.ledger.states))
    result = await desk.run()
    assert result.data == {"text": "hello"}
    assert seen == [[], [EffectState.INTENDED], [EffectState.INTENDED], [EffectState.DONE]]


async def test_the_same_key_again_gives_the_recorded_result() -> None:
    desk = Desk(EffectClass.IRREVERSIBLE)
    first = await desk.run()
    assert await desk.run() == first
    assert desk.attempts == 1


async def test_another_tool_under_the_key_neither_runs_nor_seems_to_have_run() -> None:
    desk = Desk(EffectClass.KEYED)
    await desk.run()
    desk.tool = dataclasses.replace(desk.tool, name="refund")
    other = await desk.run()
    assert not other.ok
    assert other.error is not None
    assert "refund did not run" in other.error.message
    assert (desk.attempts, len(desk.world.happened)) == (1, 1)


async def test_two_honest_identical_calls_stay_two() -> None:
    desk = Desk(EffectClass.IRREVERSIBLE)
    await desk.run()
    await desk.run(key=EffectKey("run_1", 3, 1))
    assert len(desk.world.happened) == 2


@pytest.mark.parametrize(
    ("point", "effect", "with_probe", "reworded"),
    list(itertools.product(POINTS, EFFECTS, [True, False], [True, False])),
)
async def test_a_kill_at_any_point_never_doubles_an_effect(
    point: str, effect: EffectClass, with_probe: bool, reworded: bool
) -> None:
    desk = Desk(effect, with_probe)
    crashpoints.arm(point, kill)
    with pytest.raises(Killed):
        await desk.run("hello")
    before = list(desk.world.happened)
    words = "bye" if reworded else "hello"
    results = [await desk.run(words) for _ in range(3)]
    assert results[0] == results[1] == results[2]
    assert len(desk.world.happened) <= 1
    (state,) = desk.ledger.states
    in_doubt = point in ("effect.after_intend", "effect.after_perform")
    if in_doubt and (reworded or (effect is EffectClass.IRREVERSIBLE and not with_probe)):
        assert state is EffectState.UNKNOWN
        assert outcome_unknown(results[0])
        assert desk.world.happened == before
    else:
        assert state is EffectState.DONE
        first_wording = not (reworded and point == "effect.before_intend")
        assert results[0].data == {"text": "hello" if first_wording else "bye"}
        assert len(desk.world.happened) == 1


@pytest.mark.parametrize(("first", "second"), list(itertools.product(POINTS, POINTS)))
@pytest.mark.parametrize("with_probe", [True, False])
@pytest.mark.parametrize("effect", EFFECTS)
async def test_two_kills_in_a_row_never_double_an_effect(
    first: str, second: str, effect: EffectClass, with_probe: bool
) -> None:
    desk = Desk(effect, with_probe)
    for point in (first, second):
        crashpoints.disarm()
        crashpoints.arm(point, kill)
        try:
            await desk.run()
        except Killed:
            continue
    crashpoints.disarm()
    await desk.run()
    assert len(desk.world.happened) <= 1
    assert (desk.ledger.states == [EffectState.UNKNOWN]) <= (
        effect is EffectClass.IRREVERSIBLE and not with_probe
    )


async def test_a_probe_that_can_never_know_gives_the_effect_to_a_person() -> None:
    desk = Desk(EffectClass.KEYED, with_probe=True)
    desk.fails = [ConnectionError("hung up")]
    await desk.run()

    async def probe(key: str, arguments: dict[str, Any]) -> Any:
        raise ToolError("no_copy", "nothing would show it", recoverable=False)

    desk.world.probe = probe  # type: ignore[method-assign]
    for _ in range(2):
        result = await desk.run()
        assert outcome_unknown(result)
        assert result.error is not None
        assert result.error.details["retry"] == "ask_person"
    assert (desk.attempts, desk.ledger.states) == (1, [EffectState.UNKNOWN])


async def test_a_probe_is_asked_before_anything_is_repeated() -> None:
    desk = Desk(EffectClass.KEYED, with_probe=True)
    crashpoints.arm("effect.after_perform", kill)
    with pytest.raises(Killed):
        await desk.run()
    assert (await desk.run()).data == {"text": "hello"}
    assert (desk.world.asked, desk.attempts) == (1, 1)


@pytest.mark.parametrize("answer", [False, "yes", ConnectionError("down")])
async def test_a_probe_that_fails_or_babbles_leaves_everything_open(answer: object) -> None:
    desk = Desk(EffectClass.IRREVERSIBLE, with_probe=True)
    await desk.ledger.intend(KEY, "send", "hash of hello")

    async def probe(key: str, arguments: dict[str, Any]) -> Any:
        if isinstance(answer, Exception):
            raise answer
        return answer

    desk.world.probe = probe  # type: ignore[method-assign]
    result = await desk.run()
    assert outcome_unknown(result)
    assert (desk.attempts, desk.ledger.states) == (0, [EffectState.INTENDED])


@pytest.mark.parametrize("effect", EFFECTS)
async def test_a_tool_error_is_recorded_as_failed_and_stays_so(effect: EffectClass) -> None:
    desk = Desk(effect)
    desk.fails = [ToolError("amount_too_high", "At most 5.", recoverable=False)]
    result = await desk.run()
    assert result.error == ToolErrorDetails(
        error_type="amount_too_high", message="At most 5.", recoverable=False
    )
    assert desk.ledger.states == [EffectState.FAILED]
    assert await desk.run() == result
    assert desk.attempts == 1


@pytest.mark.parametrize("effect", EFFECTS)
async def test_a_recoverable_failure_is_tried_again_only_where_a_repetition_does_no_harm(
    effect: EffectClass,
) -> None:
    desk = Desk(effect)
    desk.fails = [ToolError("mailbox_full", "Try later.")]
    assert not (await desk.run()).ok
    again = await desk.run()
    assert (again.ok, desk.attempts) == (
        (False, 1) if effect is EffectClass.IRREVERSIBLE else (True, 2)
    )


@pytest.mark.parametrize("point", ["effect.after_perform", "effect.after_settle"])
async def test_a_kill_in_a_second_attempt_leaves_no_failure_on_record(point: str) -> None:
    """Other words under the key might double what the second attempt did."""
    desk = Desk(EffectClass.KEYED)
    desk.fails = [ToolError("mailbox_full", "Try later.")]
    await desk.run()
    crashpoints.arm(point, kill)
    with pytest.raises(Killed):
        await desk.run()
    crashpoints.disarm()
    assert EffectState.FAILED not in desk.ledger.states
    await desk.run("worded differently")
    assert desk.world.happened == [(str(KEY), "hello")]


async def test_another_wording_of_what_failed_is_not_carried_out_under_its_key() -> None:
    desk = Desk(EffectClass.KEYED)
    desk.fails = [ToolError("mailbox_full", "Try later.")]
    failed = await desk.run()
    assert await desk.run("worded differently") == failed
    assert desk.world.happened == []


def wrapped() -> Exception:
    error = RuntimeError("the payment service did not answer")
    error.__cause__ = ConnectionResetError()
    return error


OPEN = [TimeoutError("slow"), ConnectionResetError(), OSError("network"), wrapped()]
OPEN += [aiohttp.ServerDisconnectedError(), httpx.ReadError("gone")]


@pytest.mark.parametrize("error", OPEN, ids=lambda error: type(error).__name__)
@pytest.mark.parametrize("with_probe", [True, False])
@pytest.mark.parametrize("effect", EFFECTS)
async def test_a_lost_connection_leaves_the_outcome_open(
    effect: EffectClass, with_probe: bool, error: Exception
) -> None:
    desk = Desk(effect, with_probe)
    desk.fails = [error]
    result = await desk.run()
    assert outcome_unknown(result)
    assert result.error is not None
    assert not result.error.recoverable
    again = await desk.run()
    if effect is EffectClass.IRREVERSIBLE and not with_probe:
        assert result.error.error_type == ErrorCode.EFFECT_UNKNOWN
        assert (desk.ledger.states, desk.attempts) == ([EffectState.UNKNOWN], 1)
        assert outcome_unknown(again)
    else:
        timed_out = isinstance(error, TimeoutError)
        assert result.error.error_type == (
            ErrorCode.TOOL_TIMEOUT if timed_out else ErrorCode.EFFECT_UNKNOWN
        )
        assert again.ok
        assert len(desk.world.happened) == 1


async def test_a_tool_error_after_a_lost_connection_is_the_tools_own_word() -> None:
    desk = Desk(EffectClass.KEYED)
    error = ToolError("shop_closed", "The shop is closed.")
    error.__cause__ = ConnectionResetError()
    desk.fails = [error]
    await desk.run()
    assert desk.ledger.states == [EffectState.FAILED]


async def test_any_other_exception_is_a_failure() -> None:
    desk = Desk(EffectClass.KEYED)
    desk.fails = [KeyError("id")]
    result = await desk.run()
    assert result.for_model() == {"error": "KeyError: 'id'"}
    assert desk.ledger.states == [EffectState.FAILED]


async def test_a_cancellation_passes_through_and_leaves_the_intention() -> None:
    desk = Desk(EffectClass.IRREVERSIBLE)
    desk.fails = [asyncio.CancelledError()]
    with pytest.raises(asyncio.CancelledError):
        await desk.run()
    assert desk.ledger.states == [EffectState.INTENDED]


async def test_an_unreadable_result_of_something_done_is_not_a_failed_effect() -> None:
    desk = Desk(EffectClass.KEYED)
    invalid = ToolErrorDetails(
        error_type=ErrorCode.TOOL_RESULT_INVALID, message="the result is too large"
    )

    async def perform() -> ToolResult:
        return ToolResult.failure(invalid)

    known = await _known(desk.ledger, KEY)
    result = await carry_out(KEY, desk.tool, "hash", {}, desk.ledger, perform, None, earlier=known)
    assert desk.ledger.states == [EffectState.DONE]
    assert "must not be repeated" in result.for_model()["error"]
    assert result.error is not None
    assert not result.error.recoverable


@pytest.mark.parametrize("state", [EffectState.DONE, EffectState.FAILED])
async def test_a_settled_row_whose_result_was_erased_still_stands(state: EffectState) -> None:
    desk = Desk(EffectClass.KEYED)
    await desk.ledger.intend(KEY, "send", "hash of hello")
    await desk.ledger.settle(KEY, state, None)
    result = await desk.run()
    assert result.ok == (state is EffectState.DONE)
    assert desk.attempts == 0


async def test_what_somebody_else_settled_meanwhile_stands() -> None:
    """The ledger knew nothing when it was read, and more when the intention was to be written."""
    desk = Desk(EffectClass.IRREVERSIBLE)
    await desk.ledger.intend(KEY, "send", "hash of hello")
    await desk.ledger.settle(
        KEY, EffectState.DONE, ToolResult.success({"text": "theirs"}).model_dump(mode="json")
    )

    async def nothing(*_: Any) -> list[Any]:
        return []

    desk.ledger.effects = nothing  # type: ignore[method-assign,assignment]
    assert (await desk.run()).data == {"text": "theirs"}
    assert desk.attempts == 0
