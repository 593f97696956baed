"""Whether the process lives, and whether it can work: yes, or what is away, to anybody."""

import asyncio
import logging
from collections.abc import Mapping
from typing import NamedTuple, cast

from fastapi import APIRouter, Request

from deskhand.errors import DeskhandError
from deskhand.model.codes import ErrorCode
from deskhand.web.api.access import ServedDesk
from deskhand.web.api.problems import RETRY_AFTER, FieldProblem, Refused

log = logging.getLogger("deskhand.web")

router = APIRouter(tags=["health"])
PATIENCE = 2.0


@router.get("/healthz")
async def alive() -> dict[str, str]:
    """The process answers."""
    return {"status": "alive"}


@router.get("/readyz")
async def ready(request: Request) -> dict[str, str | int | list[str]]:
    """Every desk's store answers and takes writes, its channels are not away, and this process
    still serves it.

    Otherwise the answer is 503 and names the desks and channels that are away. `stopped` is how
    many desks somebody has stopped: they take messages and let nothing leave, so they are ready.
    `models_away` names the models that messages wait for: those desks are ready as well.
    """
    desks = cast(Mapping[str, ServedDesk], request.app.state.desks)
    states = await asyncio.gather(*map(_state_of, desks.values()))
    away = [problem for state in states for problem in state.away]
    if away:
        raise Refused(
            503,
            f"not ready: {'; '.join(map(str, away))}",
            code=ErrorCode.STORE_UNAVAILABLE,
            errors=away,
            headers=RETRY_AFTER,
        )
    models = {model for state in states for model in state.models_away}
    return {
        "status": "ready",
        "stopped": sum(state.stopped for state in states),
        "models_away": sorted(models),
    }


class _State(NamedTuple):
    stopped: bool = False
    away: tuple[FieldProblem, ...] = ()
    """By name only: anybody may ask, and what exactly is wrong stands in the log."""
    models_away: tuple[str, ...] = ()


async def _state_of(desk: ServedDesk) -> _State:
    name = desk.spec.name
    if desk.dispatcher.lost.done():
        return _State(away=(FieldProblem(name, "another process serves this desk now"),))
    away: list[FieldProblem] = []
    for channel in desk.channels:
        if not channel.is_well:
            log.error(
                "desk %s is not ready: channel %s is away: %s", name, channel.name, channel.trouble
            )
            away.append(FieldProblem(f"{name}.{channel.name}", "the channel is away"))
    try:
        async with asyncio.timeout(PATIENCE):
            stop = await desk.store.stopped()
            models = [model.model for model in await desk.store.models_away()]
    except (DeskhandError, TimeoutError) as error:
        log.error("desk %s is not ready: %s", name, str(error) or "its store does not answer")
        return _State(away=(*away, FieldProblem(name, "its database does not answer")))
    try:
        async with asyncio.timeout(PATIENCE):
            await desk.store.check_writes()
    except (DeskhandError, TimeoutError) as error:
        log.error("desk %s is not ready: writes fail: %s", name, str(error) or "no answer")
        away.append(FieldProblem(name, "its database cannot be written"))
    return _State(stop is not None, tuple(away), tuple(models))
