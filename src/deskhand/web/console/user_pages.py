"""Users: who may log in, with which role, limit and desks; and what people did."""

import secrets
from urllib.parse import quote

from starlette.responses import RedirectResponse, Response

from deskhand.errors import ConfigError, Conflict
from deskhand.model.access import Role
from deskhand.ports import ConsoleActions, Users
from deskhand.web.api.problems import Refused
from deskhand.web.console.frame import Frame
from deskhand.web.console.screened_page import read_before
from deskhand.web.console.session import Visit

PLACE = "/desk/users"
_ACTIONS_SHOWN = 100
ROLES = {
    Role.VIEWER: "looks at everything",
    Role.AGENT: "works tickets, assigns, notes, drafts",
    Role.APPROVER: "decides reviews, lets runs go on",
    Role.ADMIN: "keeps users and keys, stops a desk",
}


class UserPages:
    def __init__(self, frame: Frame, users: Users, actions: ConsoleActions | None) -> None:
        self._frame = frame
        self._users = users
        self._actions = actions

    async def users(self, visit: Visit) -> Response:
        return await self._page(visit)

    async def _page(
        self, visit: Visit, status: int = 200, *, problem: str = "", shown_once: str = ""
    ) -> Response:
        listed = await self._users.list()
        given = visit.request.query_params.get("problem", "")[:300]
        return self._frame.html(
            visit.request,
            "users.html",
            status,
            **await self._frame.around(visit, "desk"),
            tab="users",
            desk=None,
            users=sorted(listed, key=lambda user: (user.removed_at is not None, user.name)),
            roles=ROLES,
            problem=problem or given,
            shown_once=shown_once,
        )

    async def add(self, visit: Visit) -> Response:
        """Let somebody log in; the password that was made up is shown on the answer only."""
        form = visit.form
        password = secrets.token_urlsafe(12)
        try:
            user = await self._users.add(
                form.get("name", "").strip(),
                password,
                form.get("desks", "").replace(",", " ").split(),
                role=form.get("role", ""),
                limit=form.get("limit", "").strip() or None,
                mail=form.get("mail", "").strip() or None,
            )
        except (ConfigError, Conflict) as error:
            return await self._page(visit, 409, problem=str(error))
        return await self._page(visit, shown_once=f"{user.name}: {password}")

    async def act(self, visit: Visit) -> Response:
        """Change what somebody may do, set a new password, or shut somebody out."""
        name = visit.request.path_params["name"]
        action = visit.request.path_params["action"]
        if name == visit.name and action != "password":
            raise Refused(409, "somebody else must change your own rights")
        try:
            if action == "password":
                password = secrets.token_urlsafe(12)
                await self._users.set_password(name, password)
                if name != visit.name:
                    return await self._page(visit, shown_once=f"{name}: {password}")
                raise Refused(409, "set your own password with `deskhand users password`")
            await self._change(name, action, visit)
        except (ConfigError, Conflict) as error:
            return RedirectResponse(f"{PLACE}?problem={quote(str(error))}", 303)
        return RedirectResponse(PLACE, 303)

    async def _change(self, name: str, action: str, visit: Visit) -> None:
        if action == "remove":
            await self._users.remove(name)
        elif action == "rights":
            fields = ("role", "limit", "mail", "desks")
            said = {field: visit.form[field].strip() for field in fields if field in visit.form}
            await self._users.set_rights(name, **said)
        else:
            raise Refused(404, f"there is no action {action!r}")

    async def access(self, visit: Visit) -> Response:
        """What people did in the console: who, when and from where."""
        shown = []
        changed = None
        if self._actions is not None:
            before = read_before(visit.request.query_params)
            shown = list(await self._actions.list(limit=_ACTIONS_SHOWN + 1, before=before))
            changed = await self._actions.first_changed()
        more = shown[_ACTIONS_SHOWN - 1].number if len(shown) > _ACTIONS_SHOWN else None
        return self._frame.html(
            visit.request,
            "access.html",
            **await self._frame.around(visit, "desk"),
            tab="access",
            desk=None,
            rows=shown[:_ACTIONS_SHOWN],
            more=more,
            changed=changed,
        )
