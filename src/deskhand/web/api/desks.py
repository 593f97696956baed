"""The stop switch of a desk."""

import time
from typing import Annotated

from fastapi import APIRouter, Depends, Path, Request
from pydantic import Field, ValidationError

from deskhand.model.access import Scope
from deskhand.model.frozen import Frozen
from deskhand.model.totals import Stop
from deskhand.web.api.access import Caller, ServedDesk, may
from deskhand.web.api.problems import invalid_fields
from deskhand.web.api.request_body import json_body, parse_json, read_body
from deskhand.web.api.views import DeskView

router = APIRouter(prefix="/api/desks", tags=["desks"])

Reader = Annotated[Caller, Depends(may(Scope.RUNS_READ))]
Operator = Annotated[Caller, Depends(may(Scope.DESKS_WRITE))]
DeskName = Annotated[str, Path(max_length=100)]
MAX_BODY = 10_000
WEEK = 7 * 86400.0


class StopBody(Frozen):
    """Why a desk is stopped; shown wherever something is held."""

    reason: str = Field(default="", max_length=1000)


@router.get("")
async def list_desks(caller: Reader) -> list[DeskView]:
    """Every desk that the key may touch, and whether it acts."""
    return [await _view(desk) for _, desk in sorted(caller.desks.items())]


@router.get("/{desk}")
async def show_desk(caller: Reader, desk: DeskName) -> DeskView:
    """Whether the desk acts or was stopped, by whom and why."""
    return await _view(caller.desk(desk))


@router.post("/{desk}/stop", openapi_extra=json_body(StopBody))
async def stop_desk(request: Request, caller: Operator, desk: DeskName) -> DeskView:
    """Hold every effect and every reply from now on; stopping a stopped desk changes nothing."""
    try:
        body = StopBody.model_validate(parse_json(await read_body(request, MAX_BODY)))
    except ValidationError as error:
        raise invalid_fields(error.errors(include_url=False)) from None
    served = caller.desk(desk)
    await served.store.stop(caller.key.name, body.reason)
    return await _view(served)


@router.post("/{desk}/resume")
async def resume_desk(caller: Operator, desk: DeskName) -> DeskView:
    """Let the desk act again; what was held because of the stop goes on by itself."""
    served = caller.desk(desk)
    released = await served.store.resume(caller.key.name)
    served.dispatcher.wake()
    return await _view(served, released)


async def _view(desk: ServedDesk, released: int = 0) -> DeskView:
    stop: Stop | None = await desk.store.stopped()
    screened = await desk.store.count_screened(time.time() - WEEK)
    away = await desk.store.models_away()
    return DeskView.of(desk.spec.name, stop, released=released, screened=screened, away=away)
