"""Logging in with a provider in a real browser: cookies that other sites do not bring along are
there in the end, and axe-core finds nothing serious on the login page."""

import asyncio
import socket
from pathlib import Path

import uvicorn

from deskhand.model.access import Admission, Role
from deskhand.ports.login import SingleSignOn
from deskhand.web.api.app import answer_who_waits
from deskhand.wiring import Database, openid_logins, openid_provider
from tests.api_kit import served
from tests.browser import browser, needs_browser
from tests.openid_server import CLIENT, SECRET, openid_server
from tests.widget_kit import AXE, needs_axe

pytestmark = needs_browser

SERIOUS = """axe.run(document, {resultTypes: ['violations']}).then((found) => found.violations
  .filter((one) => ['serious', 'critical'].includes(one.impact)).map((one) => one.id))"""


@needs_axe
async def test_somebody_logs_in_with_a_provider_of_another_site(tmp_path: Path) -> None:
    """The desk is at 127.0.0.1 and the provider at localhost: for a browser, two sites."""
    ann = {"email": "ann@acme.example", "email_verified": True}
    with socket.create_server(("127.0.0.1", 0)) as listener:
        base = f"http://127.0.0.1:{listener.getsockname()[1]}"
        async with openid_server(person=ann, public=base, host="localhost") as provider:

            def single(database: Database) -> SingleSignOn:
                built = openid_provider(
                    issuer=provider.url, client=CLIENT, secret=SECRET, name="Acme", public_url=base
                )
                admission = Admission({}, Role.VIEWER, ("*",))
                return SingleSignOn(built, openid_logins(database), admission)

            async with (
                served(tmp_path, approvals=True, public_url=base, single=single) as shop,
                browser() as page,
            ):
                config = uvicorn.Config(shop.app, log_config=None, ws="none")
                server = uvicorn.Server(config)
                serving = asyncio.create_task(server.serve(sockets=[listener]))
                await page.open(f"{base}/tickets/")
                await page.until("document.querySelector('a[href^=\"/login/oidc\"]') !== null")
                await page.call("Runtime.evaluate", expression=AXE.read_text(encoding="utf-8"))
                assert await page.run(SERIOUS) == []
                await page.click('a[href^="/login/oidc"]')
                await page.until("location.pathname === '/tickets/'")
                await page.until("document.querySelector('#main') !== null")
                assert "ann@acme.example" in await page.run("document.body.innerHTML")
                assert page.complaints == []
                answer_who_waits(shop.app)
                server.should_exit = True
                await serving
