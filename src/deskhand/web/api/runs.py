"""Runs: what became of the messages, and starting or ending one by hand."""

import time
from typing import Annotated

from fastapi import APIRouter, Depends, Path, Query, Request
from pydantic import Field, ValidationError

from deskhand.engine.retry_many import RetryChoice, retry_many
from deskhand.engine.story import read_records, read_trail
from deskhand.measures import past_moment
from deskhand.model.access import Scope
from deskhand.model.causes import Cause
from deskhand.model.frozen import Frozen
from deskhand.model.run import RunStatus
from deskhand.web.api.access import Caller, may
from deskhand.web.api.cursors import run_cursor, run_place
from deskhand.web.api.problems import FieldProblem, invalid, invalid_fields
from deskhand.web.api.request_body import json_body, parse_json, read_body
from deskhand.web.api.views import AgentTrail, Page, RetriedView, RunDocument, RunView

router = APIRouter(prefix="/api/runs", tags=["runs"])

Reader = Annotated[Caller, Depends(may(Scope.RUNS_READ))]
Writer = Annotated[Caller, Depends(may(Scope.RUNS_WRITE))]
RunId = Annotated[str, Path(max_length=200)]
MAX_BODY = 10_000


@router.get("")
async def list_runs(
    caller: Reader,
    desk: str | None = None,
    status: RunStatus | None = None,
    conversation: str | None = None,
    screened: bool = False,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
    cursor: str | None = None,
) -> Page[RunView]:
    """Newest first. `desk` may be left out by a key that touches one desk only.

    `screened=true` lists the messages that were not answered because a program wrote them.
    """
    store = caller.desk(desk).store
    runs = await store.runs(
        status=status,
        conversation=conversation,
        screened=screened,
        limit=limit + 1,
        before=run_place(cursor),
    )
    shown = runs[:limit]
    following = run_cursor(shown[-1].position) if len(runs) > limit else None
    return Page[RunView](items=[RunView.of(run) for run in shown], next_cursor=following)


@router.get("/{run_id}", response_model_exclude_unset=True)
async def show_run(caller: Reader, run_id: RunId, state: bool = False) -> RunDocument:
    """A run's story and its steps; `state=true` adds the full state before and after each."""
    _, records = await caller.look(f"run {run_id}", lambda store: read_records(store, run_id))
    return RunDocument.of_records(records, with_state=state)


@router.get("/{run_id}/trail")
async def show_trail(caller: Reader, run_id: RunId) -> AgentTrail:
    """What agents and models did in a run: `agent_runs`, `llm_calls` and `email_events`."""
    _, trail = await caller.look(f"run {run_id}", lambda store: read_trail(store, run_id))
    return AgentTrail.model_validate(trail)


class RetryBody(Frozen):
    """Which runs to try again: those handed to people for a cause since some time."""

    cause: Cause
    since: str = Field(min_length=1, max_length=40)
    """A time in ISO 8601, or how long ago: `2h`."""
    until: str | None = Field(default=None, min_length=1, max_length=40)
    desk: str | None = Field(default=None, max_length=100)
    """May be left out by a key that touches one desk only."""
    dry_run: bool = False
    """Only say which."""


@router.post("/retry", openapi_extra=json_body(RetryBody))
async def retry_runs(request: Request, caller: Writer) -> RetriedView:
    """Queue all runs again that people have for a cause, such as `model_away`."""
    try:
        body = RetryBody.model_validate(parse_json(await read_body(request, MAX_BODY)))
    except ValidationError as error:
        raise invalid_fields(error.errors(include_url=False)) from None
    begin = _past("since", body.since)
    end = float("inf") if body.until is None else _past("until", body.until)
    desk = caller.desk(body.desk)
    choice = RetryChoice(body.cause, begin, end)
    retried = await retry_many(desk.store, choice, caller.key.name, dry_run=body.dry_run)
    desk.dispatcher.wake()
    return RetriedView(
        count=len(retried.runs),
        dry_run=body.dry_run,
        runs=list(retried.runs),
        skipped=list(retried.skipped),
    )


def _past(field: str, text: str) -> float:
    try:
        return past_moment(text, time.time())
    except ValueError:
        words = "is not a time; write 2026-03-01T09:00:00Z, or how long ago: 90m, 24h, 7d"
        raise invalid(FieldProblem(field, words)) from None


@router.post("/{run_id}/retry")
async def retry_run(caller: Writer, run_id: RunId) -> RunView:
    """Queue a run again that needs review or has failed; it goes on where it stopped.

    A run that was screened out is taken back: the desk works its message as a person's.
    """
    desk, run = await caller.look(
        f"run {run_id}", lambda store: store.requeue(run_id, caller.key.name)
    )
    desk.dispatcher.wake()
    return RunView.of(run)


@router.post("/{run_id}/cancel")
async def cancel_run(caller: Writer, run_id: RunId) -> RunView:
    """End a run that nobody works on at the moment."""
    _, run = await caller.look(f"run {run_id}", lambda store: store.cancel(run_id, caller.key.name))
    return RunView.of(run)
