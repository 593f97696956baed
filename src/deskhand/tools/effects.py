"""Carrying an effect out once: intended before it happens, settled after, looked into when a
crash came between."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

from deskhand.crashpoints import crash_point
from deskhand.errors import Fenced, ToolError
from deskhand.model.codes import ErrorCode
from deskhand.model.results import ToolErrorDetails, ToolResult
from deskhand.model.run import Effect, EffectKey, EffectState
from deskhand.model.totals import CountedEffect
from deskhand.ports import Effects
from deskhand.tools.readable import readable_failure, readable_result
from deskhand.tools.registry import Probe, Tool
from deskhand.tools.running import run_within

log = logging.getLogger("deskhand.effects")

Perform = Callable[[], Awaitable[ToolResult]]
"""Does the work; raises whatever the tool raised, TimeoutError when it did not come back."""


async def carry_out(
    key: EffectKey,
    tool: Tool,
    call_hash: str,
    arguments: dict[str, Any],
    ledger: Effects,
    perform: Perform,
    probe: Probe | None,
    counted: CountedEffect | None = None,
    *,
    earlier: Effect | None,
) -> ToolResult:
    """Perform the effect unless the ledger knows better; what is recorded under the key always
    stands. The result of another tool under the key is no result of this one.

    `known` is what the ledger said of the key just before: only that tells a fresh intention from
    one a crash left. Nobody else can write in between: the ledger takes a run's effects from the
    run's owner only.
    """
    if earlier is None:
        crash_point("effect.before_intend")
        written = await ledger.intend(key, tool.name, call_hash, counted)
        crash_point("effect.after_intend")
        if written.state is EffectState.INTENDED and written.call_hash == call_hash:
            return await _perform(written, tool, ledger, perform, probe)
        earlier = written
    settled = earlier.state in (EffectState.DONE, EffectState.FAILED)
    if settled and earlier.tool != tool.name:
        words = f"{tool.name} did not run: {earlier.tool} stood in its place before an interruption"
        return _failure(ErrorCode.TOOL_FAILED, words, {})
    if earlier.state is EffectState.DONE:
        return _recorded(earlier)
    same_again = tool.may_repeat and earlier.call_hash == call_hash
    if earlier.state is EffectState.FAILED and not (same_again and _may_heal(earlier)):
        return _recorded(earlier)
    if earlier.call_hash != call_hash:
        return await _give_to_a_person(
            earlier, ledger, "it was worded differently before an interruption"
        )
    if earlier.state is EffectState.FAILED:
        await ledger.reopen(key)
    return await _look_into(earlier, tool, arguments, ledger, perform, probe)


def outcome_unknown(result: ToolResult) -> bool:
    """Nobody knows whether it happened: repeat the same step (same key) or stop for a person,
    but never just go on."""
    return result.error is not None and result.error.details.get("outcome") == "unknown"


def is_done(result: ToolResult) -> bool:
    """Whether it took effect, also where its result may not be shown."""
    return result.ok or (result.error is not None and result.error.details.get("outcome") == "done")


async def _look_into(
    left: Effect,
    tool: Tool,
    arguments: dict[str, Any],
    ledger: Effects,
    perform: Perform,
    probe: Probe | None,
) -> ToolResult:
    """Settle or repeat what an earlier attempt left open."""
    if probe is None and not tool.may_repeat:
        return await _give_to_a_person(left, ledger, "it was interrupted, and nobody can be asked")
    if probe is not None:
        try:
            reported = await probe(str(left.key), arguments)
            if not isinstance(reported, dict | None):
                raise TypeError(
                    f"the probe of {tool.name} returned {reported!r}, not a dict or None"
                )
        except Exception as error:
            log.warning("%s %s: the probe failed: %r", tool.name, left.key, error)
            if isinstance(error, ToolError) and not error.recoverable:
                return await _give_to_a_person(left, ledger, str(error))
            return _to_be_repeated(tool, error)
        if reported is not None:
            return await _settle_returned(left, readable_result(reported), ledger)
    return await _perform(left, tool, ledger, perform, probe)


async def _perform(
    effect: Effect, tool: Tool, ledger: Effects, perform: Perform, probe: Probe | None
) -> ToolResult:
    """A cancellation passes through and leaves the row as intended."""
    try:
        result = await perform()
    except Fenced:
        raise  # another process has the run: what it writes about the effect stands
    except Exception as error:
        crash_point("effect.after_perform")
        if not _leaves_it_open(error):
            return await _settle(effect.key, EffectState.FAILED, readable_failure(error), ledger)
        log.warning("%s %s: the outcome is unknown: %r", tool.name, effect.key, error)
        if probe is None and not tool.may_repeat:
            return await _give_to_a_person(
                effect, ledger, readable_failure(error).for_model()["error"]
            )
        return _to_be_repeated(tool, error)
    crash_point("effect.after_perform")
    return await _settle_returned(effect, result, ledger)


async def _settle_returned(effect: Effect, result: ToolResult, ledger: Effects) -> ToolResult:
    """What came back unreadable or too large was done all the same."""
    if result.error is not None and result.error.error_type in _NOT_SHOWN:
        message = f"{effect.tool} did its work and must not be repeated, but {result.error.message}"
        kept_back = _failure(
            ErrorCode(result.error.error_type), message, {**result.error.details, "outcome": "done"}
        )
        return await _settle(effect.key, EffectState.DONE, kept_back, ledger)
    return await _settle(
        effect.key, EffectState.DONE if result.ok else EffectState.FAILED, result, ledger
    )


_NOT_SHOWN = (ErrorCode.TOOL_RESULT_INVALID, ErrorCode.TOOL_RESULT_WITHHELD)


async def _settle(
    key: EffectKey, state: EffectState, result: ToolResult, ledger: Effects
) -> ToolResult:
    await ledger.settle(key, state, result.model_dump(mode="json"))
    crash_point("effect.after_settle")
    return result


async def _give_to_a_person(effect: Effect, ledger: Effects, why: str) -> ToolResult:
    message = (
        f"nobody knows whether {effect.tool} took effect: {why}; a person must look before it is"
        " tried again"
    )
    details = {"outcome": "unknown", "retry": "ask_person", "effect_key": str(effect.key)}
    result = _failure(ErrorCode.EFFECT_UNKNOWN, message, details)
    if effect.state is EffectState.UNKNOWN:
        return result
    return await _settle(effect.key, EffectState.UNKNOWN, result, ledger)


def _to_be_repeated(tool: Tool, error: Exception) -> ToolResult:
    timed_out = isinstance(error, TimeoutError)
    message = (
        f"{tool.name} may or may not have taken effect:"
        f" {readable_failure(error).for_model()['error']}"
    )
    code = ErrorCode.TOOL_TIMEOUT if timed_out else ErrorCode.EFFECT_UNKNOWN
    return _failure(code, message, {"outcome": "unknown", "retry": "same_key"})


def _failure(code: ErrorCode, message: str, details: dict[str, Any]) -> ToolResult:
    return ToolResult.failure(
        ToolErrorDetails(error_type=code, message=message, details=details, recoverable=False)
    )


def _may_heal(effect: Effect) -> bool:
    """A recoverable failure did not take effect and may succeed another time, under the same
    key."""
    recorded = _recorded(effect)
    return recorded.error is not None and recorded.error.recoverable


def _recorded(effect: Effect) -> ToolResult:
    if effect.result is not None:
        return ToolResult.model_validate(effect.result)
    if effect.state is EffectState.DONE:
        return ToolResult.success({})
    return _failure(
        ErrorCode.TOOL_FAILED, f"{effect.tool} failed earlier; why is no longer recorded", {}
    )


_BROKEN_OFF = (OSError, TimeoutError, asyncio.CancelledError, SystemExit)
_LOST_CONNECTIONS = {
    "ClientConnectionError",
    "ClientPayloadError",
    "TransportError",
    "IncompleteRead",
}
"""Lost connections that are no OSError: aiohttp's (two), httpx's and the standard library's."""


def _leaves_it_open(error: Exception) -> bool:
    """The connection or the clock gave out, anywhere in the chain: the request may have arrived all
    the same.

    A ToolError says that it did not, whatever led to it.
    """
    if isinstance(error, ToolError):
        return False
    for link in _chain(error):
        names = {kind.__name__ for kind in type(link).__mro__}
        if isinstance(link, _BROKEN_OFF) or not names.isdisjoint(_LOST_CONNECTIONS):
            return True
    return False


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)


def timed_probe(tool: Tool) -> Probe | None:
    """The tool's probe within the tool's own time limit; None for a tool without one."""
    probe = tool.probe
    if probe is None:
        return None

    async def ask(key: str, arguments: dict[str, Any]) -> dict[str, Any] | None:
        async def asked() -> dict[str, Any] | None:
            return await probe(key, arguments)

        reported: dict[str, Any] | None = await run_within(
            tool.timeout, asked, {}, what=f"the probe of {tool.name}"
        )
        return reported

    return ask
