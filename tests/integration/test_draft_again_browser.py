"""A reviewer asks for another draft in a real browser, and decides on what comes back."""

import shutil
from pathlib import Path

import pytest

from deskhand.model.run import Decision, ReviewState
from deskhand.wiring import SHIPPED
from tests import api_kit
from tests.approvals_kit import make_passwords_cheap
from tests.browser import browser, needs_browser
from tests.console_site import a_mail, console_site, log_in, wait_for_review

pytestmark = needs_browser

ASKED = "The box was cracked; please send my money back for P-1002."
WISH = "Please say that a courier comes on Friday."
DRAFT = "document.querySelector('#reply-form textarea')?.value"


@pytest.fixture(autouse=True)
def _cheap(monkeypatch: pytest.MonkeyPatch) -> None:
    make_passwords_cheap(monkeypatch)


@pytest.fixture(autouse=True)
def _sample_is_served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The desk of these tests is the sample desk: its brain follows a reviewer's words."""
    monkeypatch.setenv("SAMPLE_RETURNS", str(tmp_path / "returns"))
    monkeypatch.setattr(api_kit, "write_desk", _copied)


def _copied(folder: Path, name: str, *, backlog: int, more: str) -> Path:
    here = folder / name
    shutil.copytree(SHIPPED / "sample", here)
    written = (here / "desk.yaml").read_text(encoding="utf-8")
    renamed = written.replace("desk: sample", f"desk: {name}", 1)
    (here / "desk.yaml").write_text(renamed + more, encoding="utf-8")
    return here


async def test_a_draft_is_asked_for_again_and_the_new_one_waits(tmp_path: Path) -> None:
    async with console_site(tmp_path, more="") as (shop, base), browser() as page:
        store = shop.desks["shop"].store
        await wait_for_review(shop, a_mail(1, ASKED))
        [first] = await store.find_reviews()
        await page.look(width=1440, height=900)
        await log_in(page, base)
        await page.open(f"{base}/approvals/shop/{first.id}")
        await page.until(f"{DRAFT}?.includes('P-1002')")
        assert WISH not in await page.run(DRAFT)

        await page.press("r")  # an empty wish is not sent
        await page.until("document.activeElement.matches('[data-revise]')")
        await page.press("Enter")
        assert (await store.review(first.id)).state is ReviewState.OPEN
        await page.fill("[data-revise]", WISH)
        await page.press("Enter")
        await page.until(
            "[...document.querySelectorAll('.queue .item')].some((item) =>"
            f" item.innerText.includes('Parcel 1') && !item.outerHTML.includes('{first.id}'))"
        )
        asked = await store.review(first.id)
        assert (asked.decision, asked.decided_by, asked.note) == (Decision.REVISE, "ida", WISH)

        await page.press("j")
        await page.press("Enter")
        await page.until(f"{DRAFT}?.includes({WISH!r})")
        [second] = [one for one in await store.find_reviews() if one.state is ReviewState.OPEN]
        assert second.run_id == first.run_id
        assert await page.run("location.pathname") == f"/approvals/shop/{second.id}"
        assert page.complaints == []
