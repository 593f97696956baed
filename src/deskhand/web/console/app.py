"""The console as an ASGI application: where a support team works."""

import asyncio
from collections.abc import Mapping

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from deskhand.errors import NotFound
from deskhand.model.access import Role
from deskhand.ports import ApiKeys, ConsoleActions, Users
from deskhand.ports.console import ConsoleFeed
from deskhand.ports.login import SingleSignOn
from deskhand.ports.run_bench import RunBench, WorkerList
from deskhand.web.api.access import ServedDesk
from deskhand.web.api.app import Hooks, Site
from deskhand.web.api.problems import Refused
from deskhand.web.console.actions import role_for
from deskhand.web.console.conversation_pages import ChatPages, ConversationPages
from deskhand.web.console.desk_pages import DeskPages
from deskhand.web.console.frame import Frame
from deskhand.web.console.key_pages import KeyPages
from deskhand.web.console.live import LiveHub
from deskhand.web.console.live_pages import LivePages
from deskhand.web.console.login_pages import LoginPages
from deskhand.web.console.metrics_pages import MetricsPages
from deskhand.web.console.openid_pages import BACK, BEGIN, OpenIdPages
from deskhand.web.console.pages import ApprovalPages
from deskhand.web.console.rating_pages import RATE, RatingPages
from deskhand.web.console.runs_pages import RunPages
from deskhand.web.console.search_pages import SearchPages
from deskhand.web.console.session import HOME, LOGIN, PATHS, SCREENS, SessionGate
from deskhand.web.console.setup_pages import PLACE as SETUP
from deskhand.web.console.setup_pages import SetupPages
from deskhand.web.console.snoozed_many import PLACE as SNOOZE
from deskhand.web.console.snoozed_many import snooze_many
from deskhand.web.console.ticket_pages import TicketPages
from deskhand.web.console.user_pages import UserPages
from deskhand.web.console.webhook_pages import PLACE as WEBHOOKS
from deskhand.web.console.webhook_pages import WebhookPages


def create_console(
    desks: Mapping[str, ServedDesk],
    users: Users,
    feed: ConsoleFeed,
    bench: RunBench,
    *,
    public_url: str | None = None,
    actions: ConsoleActions | None = None,
    keys: ApiKeys | None = None,
    hooks: Hooks | None = None,
    workers: WorkerList | None = None,
    single: SingleSignOn | None = None,
    stopping: asyncio.Event | None = None,
) -> Site:
    """The screens that show these desks to these people.

    Without a session only the login and our own static files are served. `public_url` is the
    address that browsers know it by, where a proxy stands in between. `actions` keeps what people
    do. `stopping` is set by whoever serves when it is about to stop; the site has one of its own
    where none is given.
    """
    frame = Frame()
    stopping = stopping or asyncio.Event()
    hub = LiveHub(feed, stopping)
    gate = SessionGate(users, desks, hub.look_now, actions, feed.newest)
    setup = SetupPages(users, frame, actions)
    login = LoginPages(users, frame, actions, single)
    metrics = MetricsPages(frame, feed)

    async def refused(request: Request, error: Exception) -> Response:
        assert isinstance(error, Refused)
        return frame.failed(request, error.problem.status, error.problem.detail)

    async def missing(request: Request, error: Exception) -> Response:
        words = str(error) if isinstance(error, NotFound) else "there is no such page"
        return frame.failed(request, 404, words)

    app = Starlette(
        routes=[
            *_open_routes(login, frame),
            *_openid_routes(frame, single, actions, public_url),
            Route(SETUP, setup.begin, methods=["GET", "POST"]),
            Route(RATE, RatingPages(frame, desks).rate, methods=["GET", "POST"]),
            *_account_routes(login, gate),
            *_setup_routes(setup, gate),
            *_user_routes(UserPages(frame, users, actions), gate),
            *_key_routes(KeyPages(frame, keys), gate),
            *_webhook_routes(_webhook_pages(frame, hooks), gate),
            *_desk_routes(DeskPages(frame, bench, workers), gate),
            Route(
                f"{HOME}chat/{{desk}}/files/{{number:int}}",
                gate.page(ChatPages().file),
                methods=["GET"],
            ),
            Route(f"{HOME}chat", gate.page(ChatPages().chat), methods=["GET"]),
            *_approval_routes(ApprovalPages(frame), gate),
            *_message_routes(ConversationPages(frame), gate),
            *_run_routes(RunPages(frame, bench), gate),
            *_live_routes(LivePages(hub), gate),
            Route("/search/", gate.page(SearchPages(frame, feed).search), methods=["GET"]),
            *_ticket_routes(TicketPages(frame), gate),
            Route("/metrics/", gate.page(metrics.metrics), methods=["GET"]),
            Route("/metrics/list", gate.page(metrics.list), methods=["GET"]),
        ],
        exception_handlers={Refused: refused, NotFound: missing, 404: missing, 405: missing},
    )
    app.router.redirect_slashes = False
    app.state.public_url = public_url
    return Site(app, PATHS, stopping)


def _open_routes(pages: LoginPages, frame: Frame) -> list[Route]:
    """What is answered without a session."""
    return [
        Route("/static/{name}", frame.static, methods=["GET"]),
        Route(LOGIN, pages.login, methods=["GET", "POST"]),
        Route(f"{HOME}login", _lead_to_login, methods=["GET", "POST"]),
        *(Route(screen, _lead_inside, methods=["GET"]) for screen in SCREENS),
    ]


def _openid_routes(
    frame: Frame,
    single: SingleSignOn | None,
    actions: ConsoleActions | None,
    public_url: str | None,
) -> list[Route]:
    """How people log in with a provider, where there is one."""
    if single is None:
        return []
    pages = OpenIdPages(frame, single, actions, public_url or "")
    return [
        Route(BEGIN, pages.begin, methods=["GET"]),
        Route(BACK, pages.back, methods=["GET"]),
    ]


def _account_routes(pages: LoginPages, gate: SessionGate) -> list[Route]:
    return [
        Route("/logout", gate.page(pages.logout), methods=["POST"]),
        Route("/preferences", gate.page(pages.preferences), methods=["POST"]),
    ]


def decides(request: Request) -> Role:
    """Everybody may look; to change something one must be an approver."""
    return Role.VIEWER if request.method in ("GET", "HEAD") else Role.APPROVER


def _role_of_action(request: Request) -> Role:
    return role_for(request.path_params["action"])


def _setup_routes(pages: SetupPages, gate: SessionGate) -> list[Route]:
    return [
        Route(f"{SETUP}/steps", gate.page(pages.steps, Role.ADMIN), methods=["GET"]),
        Route(f"{SETUP}/try", gate.page(pages.try_it, Role.ADMIN), methods=["POST"]),
    ]


def _user_routes(pages: UserPages, gate: SessionGate) -> list[Route]:
    path = "/desk/users/{name}/{action}"
    return [
        Route("/desk/users", gate.page(pages.users, Role.ADMIN), methods=["GET"]),
        Route("/desk/users", gate.page(pages.add, Role.ADMIN), methods=["POST"]),
        Route(path, gate.page(pages.act, Role.ADMIN), methods=["POST"]),
        Route("/desk/access", gate.page(pages.access, Role.ADMIN), methods=["GET"]),
    ]


def _key_routes(pages: KeyPages, gate: SessionGate) -> list[Route]:
    return [
        Route("/desk/keys", gate.page(pages.keys, Role.ADMIN), methods=["GET"]),
        Route("/desk/keys", gate.page(pages.add, Role.ADMIN), methods=["POST"]),
        Route("/desk/keys/{key}/revoke", gate.page(pages.revoke, Role.ADMIN), methods=["POST"]),
    ]


def _webhook_pages(frame: Frame, hooks: Hooks | None) -> WebhookPages:
    if hooks is None:
        return WebhookPages(frame, None, None)
    return WebhookPages(frame, hooks.webhooks, hooks.trial)


def _webhook_routes(pages: WebhookPages, gate: SessionGate) -> list[Route]:
    path = f"{WEBHOOKS}/{{webhook}}"
    return [
        Route(WEBHOOKS, gate.page(pages.webhooks, Role.ADMIN), methods=["GET"]),
        Route(WEBHOOKS, gate.page(pages.add, Role.ADMIN), methods=["POST"]),
        Route(path, gate.page(pages.webhook, Role.ADMIN), methods=["GET"]),
        Route(f"{path}/{{action}}", gate.page(pages.act, Role.ADMIN), methods=["POST"]),
    ]


def _desk_routes(pages: DeskPages, gate: SessionGate) -> list[Route]:
    switch = "/desk/{desk}/switch/{action}"
    evals = "/desk/{desk}/evals/run"
    return [
        Route("/desk/", gate.page(pages.first), methods=["GET"]),
        Route("/desk/{desk}/{tab}", gate.page(pages.tab), methods=["GET"]),
        Route(switch, gate.page(pages.act, Role.ADMIN), methods=["POST"]),
        Route(evals, gate.page(pages.run_evals, Role.ADMIN), methods=["POST"]),
    ]


def _approval_routes(pages: ApprovalPages, gate: SessionGate) -> list[Route]:
    home = HOME.rstrip("/")
    review = f"{home}/{{desk}}/{{review}}"
    return [
        Route(HOME, gate.page(pages.queue), methods=["GET"]),
        Route(f"{home}/taken-over", gate.page(pages.taken_over, decides), methods=["GET", "POST"]),
        Route(f"{home}/screened", gate.page(pages.screened, decides), methods=["GET", "POST"]),
        Route(SNOOZE, gate.page(snooze_many, Role.AGENT), methods=["POST"]),
        Route(review, gate.page(pages.review), methods=["GET"]),
        Route(f"{review}/now", gate.page(pages.now), methods=["GET"]),
        Route(f"{review}/files/{{file}}", gate.page(pages.file), methods=["GET"]),
        Route(f"{review}/{{action}}", gate.page(pages.action, _role_of_action), methods=["POST"]),
    ]


def _live_routes(pages: LivePages, gate: SessionGate) -> list[Route]:
    return [
        Route("/events", gate.page(pages.stream), methods=["GET"]),
        Route("/events/waiting", gate.page(pages.waiting), methods=["GET"]),
    ]


def _message_routes(pages: ConversationPages, gate: SessionGate) -> list[Route]:
    thread = "/messages/{desk}/{run}"
    return [
        Route("/messages/", gate.page(pages.conversations), methods=["GET"]),
        Route(thread, gate.page(pages.thread), methods=["GET"]),
        Route(f"{thread}/{{action}}", gate.page(pages.act, Role.AGENT), methods=["POST"]),
    ]


def _run_routes(pages: RunPages, gate: SessionGate) -> list[Route]:
    return [
        Route("/runs/", gate.page(pages.runs), methods=["GET"]),
        Route("/runs/{desk}/{run}", gate.page(pages.run), methods=["GET"]),
        Route("/runs/{desk}/{run}/page", gate.page(pages.page), methods=["GET"]),
        Route("/runs/{desk}/{run}/{action}", gate.page(pages.act, Role.APPROVER), methods=["POST"]),
    ]


def _ticket_routes(pages: TicketPages, gate: SessionGate) -> list[Route]:
    path = "/tickets/{desk}/{ticket}"
    return [
        Route("/tickets/", gate.page(pages.tickets), methods=["GET"]),
        Route("/tickets/{desk}/new", gate.page(pages.open_new, Role.AGENT), methods=["POST"]),
        Route("/tickets/{desk}/bulk", gate.page(pages.bulk, Role.AGENT), methods=["POST"]),
        Route("/tickets/{desk}/views", gate.page(pages.views, Role.AGENT), methods=["POST"]),
        Route(path, gate.page(pages.ticket), methods=["GET"]),
        Route(f"{path}/{{action}}", gate.page(pages.act, Role.AGENT), methods=["POST"]),
    ]


async def _lead_to_login(request: Request) -> Response:
    """Where people logged in before there was a console."""
    query = f"?{request.url.query}" if request.url.query else ""
    return RedirectResponse(f"{LOGIN}{query}", 307)


async def _lead_inside(request: Request) -> Response:
    return RedirectResponse(f"{request.url.path}/", 307)
