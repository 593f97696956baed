"""Metrics and the box in which a call is tried, in a real browser and with the keyboard."""

from pathlib import Path

import pytest

from tests import api_kit
from tests.browser import browser, needs_browser
from tests.console_site import MORE, a_mail, console_site, log_in, wait_for_review
from tests.integration.test_console_policies import MORE as RULES
from tests.integration.test_console_policies import REFUND

pytestmark = needs_browser

TITLE = "document.querySelector('h1').textContent"


@pytest.fixture(autouse=True)
def _prepared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(api_kit, "TOOLS", api_kit.TOOLS + REFUND)


async def test_a_figure_leads_to_its_messages_with_the_keyboard_alone(tmp_path: Path) -> None:
    async with console_site(tmp_path) as (shop, base), browser() as page:
        await wait_for_review(shop, a_mail(1))
        await log_in(page, base)
        await page.run("document.activeElement.blur()")
        await page.press_at_once("gf")
        await page.until("location.pathname === '/metrics/'")
        await page.run("document.querySelector('.seg a').focus()")
        await page.press("Enter")
        await page.until("location.search === '?period=7'")
        await page.run("document.querySelector('.tiles a').focus()")
        await page.press("Enter")
        await page.until("location.pathname === '/metrics/list'")
        assert await page.run(TITLE) == "Messages"
        await page.run("document.querySelector('.table a').focus()")
        await page.press("Enter")
        await page.until("location.pathname.startsWith('/runs/shop/')")
        assert page.complaints == []


async def test_a_call_is_tried_on_the_page_and_the_rule_is_marked(tmp_path: Path) -> None:
    more = MORE + RULES
    async with console_site(tmp_path, more=more) as (_, base), browser() as page:
        await log_in(page, base)
        await page.open(f"{base}/desk/shop/policies")
        await page.run(
            "(() => { const box = document.querySelector('[name=tool]'); box.value = 'refund';"
            " box.dispatchEvent(new Event('change', {bubbles: true})) })()"
        )
        await page.until("document.querySelector('[name=\"argument.amount\"]') !== null")
        await page.fill('[name="argument.order"]', "O-1")
        await page.fill('[name="argument.amount"]', "60 EUR")
        await page.fill("[name=customer]", "ann@example.com")
        await page.press("Enter")
        await page.until("document.querySelector('#verdict') !== null")
        verdict = await page.run("document.querySelector('#verdict').textContent")
        assert "other refunds ask" in verdict
        marked = "document.querySelector('tr[aria-selected=true] b').textContent"
        assert await page.run(marked) == "other refunds ask"
        assert page.complaints == []
