"""What somebody finds who opens the address of a served desk in a browser."""

import re
from pathlib import Path

from tests.api_kit import served


async def test_the_root_leads_to_the_approvals_page(tmp_path: Path) -> None:
    async with served(tmp_path, approvals=True) as desks, desks.stranger() as browser:
        answer = await browser.get("/", headers={"Accept": "text/html"})

    assert answer.status_code == 303
    assert answer.headers["location"] == "/approvals/"


async def test_the_api_is_described_without_a_script_or_anything_foreign(tmp_path: Path) -> None:
    async with served(tmp_path, approvals=True) as desks, desks.stranger() as browser:
        answer = await browser.get("/docs")
        style = await browser.get("/docs/style.css")

    page = answer.text
    assert answer.status_code == 200
    assert "/api/reviews/{review_id}/decision" in page
    assert "Accept a message for good." in page
    assert "<script" not in page
    assert re.findall(r'(?:src|href)="([^"#]+)"', page) == ["docs/style.css"]
    assert answer.headers["content-security-policy"].startswith("default-src 'none'; style-src")
    assert style.headers["content-type"].startswith("text/css")
    assert "shop" not in page, "it says the same on every installation"
