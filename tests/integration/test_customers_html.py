"""A customer's HTML in a real browser: it is laid out, and nothing of it runs or is loaded."""

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from deskhand.mail.message_parser import parse
from deskhand.web.console.safe_html import safe_page
from tests.approvals_kit import HOME
from tests.browser import browser, needs_browser
from tests.console_site import console_site, log_in, wait_for_review
from tests.hostile_html import corpus
from tests.waiting import until

MAIL = (
    "From: Ann <ann@example.com>\r\nTo: shop@example.com\r\nSubject: {subject}\r\n"
    "Message-ID: <{number}@example.com>\r\nMIME-Version: 1.0\r\n"
    "Content-Type: text/html; charset=utf-8\r\n\r\n"
    "<p>I am <b>unsure</b> where my parcel is.</p>{html}"
)


@asynccontextmanager
async def a_trap() -> AsyncIterator[tuple[str, list[str]]]:
    """A server of the attacker, and the paths that it was asked for."""
    asked: list[str] = []

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        line = await reader.readline()
        asked.append(line.decode(errors="replace"))
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", asked


@pytest.mark.parametrize("page", corpus("http://trap.test"))
def test_nothing_active_is_left_of_a_page(page: str) -> None:
    cleaned = safe_page(f"<p>before</p>{page}").html.casefold()
    assert "before" in cleaned
    tags = cleaned.replace("&lt;", "").partition("<p>before</p>")[2].split("<")[1:]
    for tag in (tag.partition(">")[0] for tag in tags):
        assert not tag.startswith(("script", "iframe", "object", "embed", "svg", "math", "style"))
        assert re.search(r"\s(?:on\w+|src\w*|href|background|ping|poster)\s*=", tag) is None
        assert "(" not in tag


def test_the_page_keeps_its_words_and_names_what_it_would_load() -> None:
    page = safe_page(
        '<table><tr><td align=right><b>12</b></td></tr></table><a href="https://shop.test/a">see'
        '</a><img src="https://shop.test/p.png" alt="a lamp"><img src="cid:x@y">'
    )
    assert "<b>12</b>" in page.html
    assert 'align="right"' in page.html
    assert 'alt="a lamp"' in page.html
    assert "shop.test" not in page.html
    assert page.named == [
        ("links to", "https://shop.test/a"),
        ("shows", "https://shop.test/p.png"),
        ("shows", "cid:x@y"),
    ]


@needs_browser
async def test_no_script_runs_and_nothing_is_loaded(tmp_path: Path) -> None:
    async with a_trap() as (trap, asked), console_site(tmp_path) as (shop, base):
        pages = corpus(trap)
        groups = ["\n".join(pages[start::8]) for start in range(8)]
        for number, html in enumerate(groups):
            raw = MAIL.format(subject=f"Page {number}", number=number, html=html).encode()
            await wait_for_review(shop, parse(raw).changed(channel="post"))
        reviews = await shop.desks["shop"].store.find_reviews()
        async with browser() as page:
            await page.look(width=1440, height=900)
            await log_in(page, base)
            for review in reviews:
                await page.open(f"{base}{HOME}shop/{review.id}")
                await page.until("document.querySelector('.laid-out') !== null")
                await page.run(
                    "document.querySelector('.laid-out').open = true;"
                    "document.querySelector('iframe').scrollIntoView()"
                )
                frame = f"{base}/runs/shop/{review.run_id}/page"
                await page.until(
                    "performance.getEntriesByType('resource')"
                    f".some((entry) => entry.name === '{frame}' && entry.responseEnd > 0)"
                )
                await page.open(frame)  # and by itself, outside of its frame
                await page.until(f"location.href === '{frame}' && document.body !== null")
                assert "unsure" in await page.words()
            await page.open(f"{base}{HOME}")
            await page.until("document.querySelector('.queue') !== null")
            assert asked == []
            assert page.dialogs == []

            raw_page = tmp_path / "raw.html"  # the trap does catch what is not made harmless
            raw_page.write_text("\n".join(pages), encoding="utf-8")
            await page.call("Page.navigate", url=raw_page.as_uri())
            await until(lambda: any("/ran" in line for line in asked))
