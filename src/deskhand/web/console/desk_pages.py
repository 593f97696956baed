"""A desk from within: what it knows, what it may do, how it holds up, and how to stop it."""

from urllib.parse import quote

from starlette.responses import RedirectResponse, Response

from deskhand.errors import Conflict
from deskhand.model.access import Role
from deskhand.model.run import RunStatus
from deskhand.model.workers import Member
from deskhand.ports.run_bench import RunBench, WorkerList
from deskhand.web.api.access import ServedDesk
from deskhand.web.api.problems import Refused
from deskhand.web.console.desk_facts import (
    article_rows,
    gaps_of,
    intent_rows,
    queue_counts,
    routing_rows,
)
from deskhand.web.console.eval_rows import compare_kept, failing_cases
from deskhand.web.console.frame import Frame
from deskhand.web.console.policy_page import cap_rows, policy_facts
from deskhand.web.console.runs_pages import STATUSES
from deskhand.web.console.session import Visit

PLACE = "/desk/"
TABS = ("knowledge", "intents", "routing", "policies", "evals", "health", "stop")
_MOST_STUCK = 50


class DeskPages:
    def __init__(self, frame: Frame, bench: RunBench, workers: WorkerList | None) -> None:
        self._frame = frame
        self._bench = bench
        self._workers = workers

    async def first(self, visit: Visit) -> Response:
        """The desk that was named, else the first one."""
        named = visit.request.query_params.get("desk")
        names = sorted(visit.desks)
        if not names:
            raise Refused(404, "there is no desk that you may see")
        chosen = named if named in visit.desks else names[0]
        return RedirectResponse(f"{PLACE}{chosen}/knowledge", 303)

    async def tab(self, visit: Visit) -> Response:
        desk = visit.desk(visit.request.path_params["desk"])
        name = visit.request.path_params["tab"]
        if name not in TABS:
            raise Refused(404, "there is no such page")
        values = await getattr(self, f"_{name}")(desk, visit)
        return self._frame.html(
            visit.request,
            f"desk_{name}.html",
            **await self._frame.around(visit, "desk"),
            tab=name,
            desk=desk.spec.name,
            problem=visit.request.query_params.get("problem", "")[:300],
            **values,
        )

    async def _knowledge(self, desk: ServedDesk, visit: Visit) -> dict[str, object]:
        """Articles and how fresh they are, what nothing answered, and a search to try."""
        asked = visit.request.query_params.get("question", "").strip()[:500]
        hits = await desk.knowledge.search(asked, limit=5) if asked else []
        rows = await article_rows(desk)
        return {"asked": asked, "hits": hits, "rows": rows, "gaps": await gaps_of(desk)}

    async def _intents(self, desk: ServedDesk, visit: Visit) -> dict[str, object]:
        languages, rows = intent_rows(desk)
        newest = await self._bench.evals(desk.spec.name, 1)
        learned = newest[0].report.get("intents") or {} if newest else {}
        confusions = learned.get("confusions") or []
        return {"languages_used": languages, "rows": rows, "confusions": confusions}

    async def _evals(self, desk: ServedDesk, visit: Visit) -> dict[str, object]:
        """The newest report beside the one before it."""
        name = desk.spec.name
        kept = await self._bench.evals(name, 2)
        return {
            "evals": kept,
            "difference": compare_kept(kept),
            "failing": failing_cases(kept),
            "at_work": self._bench.evaluates(name),
            "eval_problem": self._bench.eval_problem(name),
            "may_run": visit.role.covers(Role.ADMIN),
        }

    async def run_evals(self, visit: Visit) -> Response:
        """Hold the desk against its golden cases; the page shows the report when it is there."""
        desk = visit.desk(visit.request.path_params["desk"])
        place = f"{PLACE}{desk.spec.name}/evals"
        try:
            await self._bench.start_eval(desk.spec.name, visit.name)
        except Conflict as error:
            return RedirectResponse(f"{place}?problem={quote(str(error))}", 303)
        return RedirectResponse(place, 303)

    async def _routing(self, desk: ServedDesk, visit: Visit) -> dict[str, object]:
        return await routing_rows(desk)

    async def _policies(self, desk: ServedDesk, visit: Visit) -> dict[str, object]:
        return await policy_facts(desk, visit.request.query_params)

    async def _health(self, desk: ServedDesk, visit: Visit) -> dict[str, object]:
        stuck = []
        for status in (RunStatus.FAILED, RunStatus.NEEDS_REVIEW):
            stuck += await desk.store.runs(status=status, limit=_MOST_STUCK)
        messages = await desk.store.messages([run.id for run in stuck])
        away = {model.model: model for model in await desk.store.models_away()}
        return {
            "channels": desk.channels,
            "models": sorted(set(desk.spec.models.values())),
            "models_out": away,
            "statuses": STATUSES,
            "queues": await queue_counts(desk),
            "is_full": desk.dispatcher.full,
            "workers": await self._members(desk),
            "stuck": [(run, messages.get(run.id)) for run in stuck],
            "may_retry": visit.role.covers(Role.APPROVER),
        }

    async def _members(self, desk: ServedDesk) -> list[Member]:
        """The workers of this desk; none where this process works it alone."""
        members = [] if self._workers is None else await self._workers.members()
        return [member for member in members if desk.spec.name in member.desks]

    async def _stop(self, desk: ServedDesk, visit: Visit) -> dict[str, object]:
        stop = await desk.store.stopped()
        may_stop = visit.role.covers(Role.ADMIN)
        return {"stop": stop, "may_stop": may_stop, "caps": await cap_rows(desk)}

    async def act(self, visit: Visit) -> Response:
        """Throw the stop switch or take it back."""
        desk = visit.desk(visit.request.path_params["desk"])
        action = visit.request.path_params["action"]
        place = f"{PLACE}{desk.spec.name}/stop"
        try:
            if action == "halt":
                reason = visit.form.get("reason", "").strip()[:1000]
                if not reason:
                    raise Conflict("say why: everybody whose work waits reads it")
                await desk.store.stop(visit.name, reason)
            elif action == "resume":
                await desk.store.resume(visit.name)
                desk.dispatcher.wake()
            else:
                raise Refused(404, f"there is no action {action!r}")
        except Conflict as error:
            return RedirectResponse(f"{place}?problem={quote(str(error))}", 303)
        return RedirectResponse(place, 303)
