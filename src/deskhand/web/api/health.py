"""Whether the process lives, and whether it can work: yes or no, to anybody."""

import asyncio
import logging
from collections.abc import Mapping
from typing import Literal, cast

from fastapi import APIRouter, Request

from deskhand.errors import DeskhandError
from deskhand.model.codes import ErrorCode
from deskhand.web.api.access import ServedDesk
from deskhand.web.api.problems import RETRY_AFTER, Refused

log = logging.getLogger("deskhand.web")

router = APIRouter(tags=["health"])
PATIENCE = 2.0


@router.get("/healthz")
async def alive() -> dict[str, str]:
    """The process answers."""
    return {"status": "alive"}


@router.get("/readyz")
async def ready(request: Request) -> dict[str, str | int]:
    """Every desk's store answers, its channels are not away, and this process still serves them.

    `stopped` is how many desks somebody has stopped: they take messages and let nothing leave, so
    they are ready.
    """
    desks = cast(Mapping[str, ServedDesk], request.app.state.desks)
    states = await asyncio.gather(*map(_state_of, desks.values()))
    if "away" in states:
        raise Refused(503, "not ready", code=ErrorCode.STORE_UNAVAILABLE, headers=RETRY_AFTER)
    return {"status": "ready", "stopped": states.count("stopped")}


async def _state_of(desk: ServedDesk) -> Literal["acting", "stopped", "away"]:
    if desk.dispatcher.lost.done():
        return "away"
    for channel in desk.channels:
        if not channel.is_well:
            log.error(
                "desk %s is not ready: channel %s is away: %s",
                desk.spec.name,
                channel.name,
                channel.trouble,
            )
            return "away"
    try:
        async with asyncio.timeout(PATIENCE):
            stop = await desk.store.stopped()
    except (DeskhandError, TimeoutError) as error:
        log.error(
            "desk %s is not ready: %s", desk.spec.name, str(error) or "its store does not answer"
        )
        return "away"
    return "acting" if stop is None else "stopped"
