"""Runs: what became of every message, and one run step by step."""

import json
import time
from collections.abc import Mapping
from typing import Any

from starlette.responses import HTMLResponse, RedirectResponse, Response

from deskhand.engine.audit import verify_run
from deskhand.engine.story import Records, read_records, time_spent, timeline_of
from deskhand.errors import Conflict
from deskhand.model.attached_files import FileOrigin
from deskhand.model.message import Message
from deskhand.model.run import Review, ReviewState, Run, RunStatus
from deskhand.ports.run_bench import RunBench
from deskhand.web.api.access import ServedDesk
from deskhand.web.api.problems import Refused
from deskhand.web.console.event_phrases import actor_words, event_words
from deskhand.web.console.flow_graph import FlowGraph, flow_graph
from deskhand.web.console.frame import Frame
from deskhand.web.console.labels import age, iso
from deskhand.web.console.safe_html import PAGE_HEADERS, page_document
from deskhand.web.console.screened_page import read_before
from deskhand.web.console.session import Visit
from deskhand.web.console.translation import chosen_language, translator
from deskhand.web.console.waterfall import waterfall_of

PLACE = "/runs/"
PAGE = 50
STATUSES: dict[RunStatus, tuple[str, str]] = {
    RunStatus.QUEUED: ("waits its turn", ""),
    RunStatus.RUNNING: ("at work", "accent"),
    RunStatus.WAITING_USER: ("waits for the customer", ""),
    RunStatus.WAITING_REVIEW: ("waits for a person", "warn"),
    RunStatus.SENT: ("answered", "good"),
    RunStatus.ANSWERED: ("answered elsewhere", "good"),
    RunStatus.DONE: ("done, nothing to send", ""),
    RunStatus.REJECTED: ("rejected", ""),
    RunStatus.NEEDS_REVIEW: ("a person must look", "warn"),
    RunStatus.FAILED: ("failed", "bad"),
    RunStatus.CANCELLED: ("cancelled", ""),
}
"""What a status means, and how it looks."""
_AGAIN = (RunStatus.NEEDS_REVIEW, RunStatus.FAILED)
_WAITS = (
    RunStatus.QUEUED,
    RunStatus.WAITING_USER,
    RunStatus.WAITING_REVIEW,
    RunStatus.NEEDS_REVIEW,
)
_ENDS = (RunStatus.QUEUED, RunStatus.WAITING_USER, RunStatus.NEEDS_REVIEW)


class RunPages:
    def __init__(self, frame: Frame, bench: RunBench) -> None:
        self._frame = frame
        self._bench = bench

    async def runs(self, visit: Visit) -> Response:
        """The newest first, of one desk and one status where somebody chose so."""
        params = visit.request.query_params
        chosen = _chosen(params, visit.desks)
        status = _status(params.get("status"))
        runs: list[Run] = []
        messages: dict[str, Message] = {}
        for name in chosen:
            store = visit.desks[name].store
            of_desk = await store.runs(status=status, limit=PAGE + 1, before=read_before(params))
            messages |= await store.messages([run.id for run in of_desk])
            runs += of_desk
        runs.sort(key=lambda run: run.position, reverse=True)
        now = time.time()
        shown = runs[:PAGE]
        more = shown[-1].position if len(runs) > PAGE else None
        rows = [(run, messages.get(run.id), age(now - run.created_at)) for run in shown]
        return self._frame.html(
            visit.request,
            "runs.html",
            **await self._frame.around(visit, "runs"),
            rows=rows,
            more=more,
            status=status,
            statuses=STATUSES,
            desk=chosen[0] if params.get("desk") in chosen else None,
        )

    async def run(self, visit: Visit) -> Response:
        return await self._show(visit)

    async def _show(self, visit: Visit, **said: Any) -> Response:
        """The page; `said` is what came of something that was tried."""
        desk, run_id = _place(visit)
        records = await read_records(desk.store, run_id)
        fall = waterfall_of(records, await desk.store.calls(run_id))
        at_work, waited = time_spent(records)
        return self._frame.html(
            visit.request,
            "run.html",
            **await self._frame.around(visit, "runs"),
            run=records.run,
            message=records.message,
            fall=fall,
            worked=at_work,
            waited=age(_waited(records.run, at_work, waited)),
            step=_step(records, visit.request.query_params.get("step", "")),
            row_count=len(records.rows),
            open_review=_open_review(records),
            events=[
                (actor_words(event), event_words(event), iso(event.at)) for event in records.events
            ],
            statuses=STATUSES,
            again=records.run.status in _AGAIN,
            ends=records.run.status in _ENDS,
            graph=_graph(desk, records),
            replayed=said.get("replayed"),
            case_file=said.get("case_file"),
            problem=said.get("problem"),
            verified=said.get("verified"),
        )

    async def _try(self, visit: Visit, desk: ServedDesk, run_id: str, action: str) -> Response:
        """Check the records, work the run again in a sandbox, or keep it as a golden case."""
        run = await desk.store.run(run_id)
        if action == "verify":
            problems = await verify_run(desk.store, run.position)
            return await self._show(visit, verified=[problem.what for problem in problems])
        name = desk.spec.name
        if action == "replay":
            return await self._show(visit, replayed=await self._bench.replay(name, run.id))
        try:
            return await self._show(visit, case_file=await self._bench.keep_case(name, run.id))
        except Conflict as error:
            return await self._show(visit, problem=str(error))

    async def page(self, visit: Visit) -> Response:
        """The message as its sender laid it out, made harmless, for a frame of its own."""
        desk, run_id = _place(visit)
        file = await desk.store.file(run_id, f"{run_id}.page", FileOrigin.PAGE)
        t = translator(chosen_language(visit.request))
        document = page_document(file, t("Not loaded, and not opened by a click:"))
        return HTMLResponse(document, headers=PAGE_HEADERS)

    async def act(self, visit: Visit) -> Response:
        """Let a run go on where it stopped, or end it; the page says why where that cannot be."""
        desk, run_id = _place(visit)
        action = visit.request.path_params["action"]
        if action in ("verify", "replay", "case"):
            return await self._try(visit, desk, run_id, action)
        try:
            if action == "retry":
                await desk.store.requeue(run_id, visit.name)
                desk.dispatcher.wake()
            elif action == "cancel":
                await desk.store.cancel(run_id, visit.name)
            else:
                raise Refused(404, f"there is no action {action!r}")
        except Conflict as error:
            raise Refused(409, str(error)) from None
        return RedirectResponse(f"{PLACE}{desk.spec.name}/{run_id}", 303)


def _graph(desk: ServedDesk, records: Records) -> FlowGraph:
    """The flow with the way taken; of a flow that has changed since, the way alone."""
    run = records.run
    flow = desk.spec.flows.get(run.flow)
    is_same = flow is not None and run.flow_version in (None, flow.version)
    states = records.states
    stages = [state.row.name for state in states if "/" not in state.row.name]
    waits_at = stages[-1] if stages and run.status in _WAITS else None
    return flow_graph(flow if is_same else None, states, waits_at)


def _chosen(params: Mapping[str, str], desks: Mapping[str, ServedDesk]) -> list[str]:
    named = params.get("desk")
    return [named] if named in desks and named is not None else sorted(desks)


def _status(name: str | None) -> RunStatus | None:
    return RunStatus(name) if name in list(RunStatus) else None


def _open_review(records: Records) -> Review | None:
    opened = (review for review in records.reviews if review.state is ReviewState.OPEN)
    return next(opened, None)


def _waited(run: Run, at_work: float, before: float) -> float:
    """Seconds of waiting up to the last step, or up to now where a run still waits."""
    return max(before, time.time() - run.created_at - at_work) if run.status in _WAITS else before


def _step(records: Records, asked: str) -> dict[str, Any] | None:
    """One step with its row and its state before and after, each written as JSON."""
    seq = int(asked) if asked.isascii() and asked.isdigit() and len(asked) < 9 else None
    for row, entry in zip(records.rows, timeline_of(records), strict=True):
        if row.seq != seq:
            continue
        states = {name: _written(entry.pop(name)) for name in ("input_state", "output_state")}
        chain = {"body": row.body_digest.hex(), "this": row.chain.hex()}
        call = entry["tool_call"] or {}
        return {"entry": entry, "written": _written(entry), "call": call, "chain": chain, **states}
    return None


def _written(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2, default=str)


def _place(visit: Visit) -> tuple[ServedDesk, str]:
    params: Mapping[str, str] = visit.request.path_params
    return visit.desk(params["desk"]), params["run"][:200]
