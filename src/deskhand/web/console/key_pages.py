"""API keys made in the console: shown once, kept as digests, revoked at once."""

from starlette.responses import RedirectResponse, Response

from deskhand.errors import ConfigError, Conflict
from deskhand.model.access import Scope
from deskhand.ports import ApiKeys
from deskhand.web.api.problems import Refused
from deskhand.web.console.frame import Frame
from deskhand.web.console.session import Visit

PLACE = "/desk/keys"
_SCOPE = "scope:"


class KeyPages:
    def __init__(self, frame: Frame, keys: ApiKeys | None) -> None:
        self._frame = frame
        self._keys = keys

    def _store(self) -> ApiKeys:
        if self._keys is None:
            raise Refused(404, "this server keeps no API keys")
        return self._keys

    async def keys(self, visit: Visit) -> Response:
        return await self._page(visit)

    async def _page(
        self, visit: Visit, status: int = 200, *, problem: str = "", secret: str = ""
    ) -> Response:
        return self._frame.html(
            visit.request,
            "keys.html",
            status,
            **await self._frame.around(visit, "desk"),
            tab="keys",
            desk=None,
            keys=list(reversed(await self._store().list())),
            scopes=list(Scope),
            problem=problem,
            secret=secret,
        )

    async def add(self, visit: Visit) -> Response:
        """A new key; its secret is on the answer and nowhere else."""
        form = visit.form
        scopes = [name.removeprefix(_SCOPE) for name in form if name.startswith(_SCOPE)]
        desks = form.get("desks", "").replace(",", " ").split()
        try:
            _, secret = await self._store().add(form.get("name", "").strip(), scopes, desks)
        except (ConfigError, Conflict) as error:
            return await self._page(visit, 409, problem=str(error))
        return await self._page(visit, secret=secret)

    async def revoke(self, visit: Visit) -> Response:
        await self._store().revoke(visit.request.path_params["key"])
        return RedirectResponse(PLACE, 303)
