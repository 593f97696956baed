"""Mail read in limited processes: as before, or as a message for a person."""

import base64
import gc
import signal
from contextlib import suppress
from resource import RUSAGE_CHILDREN, getrusage
from weakref import WeakSet

import pytest

from deskhand.limited_process import LimitedProcess, WorkStopped
from deskhand.mail import limited_mail, parse, pdf_text
from deskhand.mail.limited_mail import read_mail, read_mail_now
from deskhand.mail.long_text import (
    CUT,
    LONGEST_BODY,
    LONGEST_SUBJECT,
    LONGEST_TEXTS,
    MOST_LINES,
    REST,
    SUBJECT,
)
from deskhand.mail.message_files import message_from
from deskhand.mail.message_parser import LONGEST_HTML, UNREAD_PAGE
from deskhand.mail.pdf_text import PDF_SECONDS, read_pdf
from deskhand.model.message import UNREADABLE
from deskhand.scheduling.limited_calendars import ANSWERING_SECONDS, READING_SECONDS
from tests.hostile_mail import hostile_mail, hostile_mails, hostile_pdf

HEAD = (
    b"From: Ann Lee <ann@example.com>\r\nTo: shop@example.com\r\nSubject: =?utf-8?q?Teapot?=\r\n"
    b"Message-ID: <one@example.com>\r\nDate: Mon, 16 Nov 2026 10:00:00 +0000\r\n"
)
WITH_FILE = (
    HEAD + b"Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\r\nSee\r\n"
    b"--b\r\nContent-Disposition: attachment; filename=a.bin\r\n\r\n\xff\x00\r\n--b--\r\n"
)


async def test_an_ordinary_mail_is_read_as_it_always_was() -> None:
    expected = parse(WITH_FILE)
    for message in (read_mail_now(WITH_FILE), await read_mail(WITH_FILE)):
        assert message == expected
        assert [file.content for file in message.attachments] == [b"\xff\x00"]


async def test_a_mail_that_takes_too_long_is_a_message_for_a_person(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(limited_mail, "CPU_SECONDS", 0.02)
    page = b"<table><tr>" + b"<td>x" * 50_000
    raw = HEAD + b"Content-Type: text/html\r\n\r\n" + page
    message = await read_mail(raw)
    assert "more computing" in message.headers[UNREADABLE]
    assert (message.sender.address, message.subject) == ("ann@example.com", "Teapot")
    [whole] = message.attachments
    assert (whole.name, whole.content) == ("mail.eml", raw)
    assert message.id == read_mail_now(raw).id


def with_pdfs(*contents: bytes) -> bytes:
    head = b"Content-Type: application/pdf; name=a.pdf\r\nContent-Transfer-Encoding: base64\r\n\r\n"
    parts = [b"\r\nSee the invoice"]
    parts += [head + base64.encodebytes(content) for content in contents]
    written = b"".join(b"--b\r\n" + part + b"\r\n" for part in parts)
    return HEAD + b"Content-Type: multipart/mixed; boundary=b\r\n\r\n" + written + b"--b--\r\n"


ENDLESS_PDF = hostile_pdf(b"BT /F 1 Tf (x) Tj ET\n" * 200_000, pages=100)
"""Its pages would take minutes."""


def test_a_pdf_beyond_its_share_is_listed_and_its_mail_is_read() -> None:
    message = parse(with_pdfs(ENDLESS_PDF))
    assert message.body == "See the invoice"
    assert [file.text for file in message.attachments] == [None]
    [read] = parse(with_pdfs(hostile_pdf(b"BT /F 1 Tf (x) Tj ET"))).attachments
    assert read.text == "x"
    text, used = read_pdf(ENDLESS_PDF, 0.1)
    assert text is None
    assert 0.05 < used < 0.6


def test_a_tick_while_garbage_is_collected_is_not_lost() -> None:
    """What is raised in a callback of the collector is reported and goes no further."""
    ticks: list[int] = []

    def collecting(phase: str, info: dict[str, int]) -> None:
        if not ticks and signal.getitimer(signal.ITIMER_VIRTUAL)[1]:
            ticks.append(1)
            signal.raise_signal(signal.SIGVTALRM)

    thresholds = gc.get_threshold()
    gc.set_threshold(1)  # so that some collection falls into the reading for sure
    gc.callbacks.append(collecting)
    try:
        text, _ = read_pdf(ENDLESS_PDF, 0.1)
    finally:
        gc.callbacks.remove(collecting)
        gc.set_threshold(*thresholds)
    assert text is None
    assert ticks


def test_a_tick_while_a_weak_set_forgets_is_not_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is raised there is reported and goes no further, as in a collector's callback."""
    ticks: list[int] = []

    class Forgotten:
        pass

    class Ticking(set[object]):
        def discard(self, element: object) -> None:
            ticks.append(1)
            signal.raise_signal(signal.SIGVTALRM)
            super().discard(element)

    def reading(raw: bytes) -> str:
        kept: WeakSet[Forgotten] = WeakSet()
        monkeypatch.setattr(kept, "data", Ticking())
        kept.add(Forgotten())
        return "read"

    monkeypatch.setattr(pdf_text, "_text_of", reading)
    assert read_pdf(b"%PDF", 5.0)[0] == "read"
    assert ticks


def test_a_tick_that_comes_when_a_pdf_was_read_stops_nobody(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The clock ticks on until it is stopped, and the last tick may come while it is."""
    set_timer = signal.setitimer

    def late(which: int, seconds: float, interval: float = 0.0) -> tuple[float, float]:
        if which == signal.ITIMER_VIRTUAL and not seconds:
            signal.raise_signal(signal.SIGVTALRM)
        return set_timer(which, seconds, interval)

    monkeypatch.setattr(signal, "setitimer", late)
    text, _ = read_pdf(hostile_pdf(b"BT /F 1 Tf (x) Tj ET"))
    assert text == "x"
    assert signal.getitimer(signal.ITIMER_VIRTUAL) == (0.0, 0.0)


async def test_the_pdfs_of_a_mail_count_against_its_computing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """They have no process of their own beside the one that is ended."""
    monkeypatch.setattr(limited_mail, "CPU_SECONDS", 0.2)
    message = await read_mail(with_pdfs(ENDLESS_PDF))
    assert "more computing" in message.headers[UNREADABLE]
    assert [file.name for file in message.attachments] == ["mail.eml"]


def test_all_that_one_mail_may_compute_is_less_than_two_seconds() -> None:
    whole = limited_mail.CPU_SECONDS
    assert whole > PDF_SECONDS
    assert whole + READING_SECONDS + ANSWERING_SECONDS < 2


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["three pdfs", "pdf that unpacks", "wide table", "zones", "ink"])
def test_no_hostile_mail_is_given_two_seconds(kind: str) -> None:
    """By what the kernel counted for the process that read it, from its first step to its end."""
    mail = hostile_mail(kind, 250_000)
    process = LimitedProcess()
    ended = getrusage(RUSAGE_CHILDREN)
    process.call(limited_mail.FUNCTION, b"0" + with_pdfs(hostile_pdf(b"BT /F 1 Tf (x) Tj ET")), 60)
    started = process.computing()
    with suppress(WorkStopped):
        process.call(limited_mail.FUNCTION, b"0" + mail, limited_mail.CPU_SECONDS)
    process.end()
    whole = getrusage(RUSAGE_CHILDREN)
    used = whole.ru_utime + whole.ru_stime - ended.ru_utime - ended.ru_stime
    assert 0 < used - started < 2


def test_nobody_but_us_says_that_a_mail_could_not_be_read() -> None:
    message = parse(HEAD + b"X-Deskhand-Unreadable: yes\r\nX-Deskhand-Hidden: x\r\n\r\nHello")
    assert not [name for name in message.headers if name.startswith("x-deskhand-")]


@pytest.mark.slow
def test_whatever_is_sent_becomes_a_message_with_so_much_text() -> None:
    for mail in hostile_mails((5_000,)):
        message = read_mail_now(mail.raw)
        assert message.attachments or message.body.strip() or message.subject, mail.kind
        assert len(message.body) <= LONGEST_BODY + 200, mail.kind
        assert message.body.count("\n") <= MOST_LINES + 2, mail.kind
        assert sum(len(file.text or "") for file in message.attachments) <= LONGEST_TEXTS


@pytest.mark.parametrize("text", ["word " * 100_000, "a\n" * 10_000])
def test_a_long_message_is_cut_and_its_rest_is_kept(text: str) -> None:
    mail = parse(HEAD + b"\r\n" + text.encode())
    posted = message_from({"from": "ann@example.com", "body": text})
    for message in (mail, posted):
        assert message.body.endswith(CUT)
        [rest] = message.attachments
        assert rest.name == REST
        kept = message.body.removesuffix(CUT) + (rest.content or b"").decode()
        assert kept.replace("\n", "") == text.replace("\n", "")


def test_a_long_subject_is_cut_and_kept() -> None:
    """A mail's subject is cut where its header is; the header stays with the message."""
    message = message_from({"from": "ann@example.com", "subject": "a@b " * 9_000, "body": "x"})
    assert message.subject == "a@b " * (LONGEST_SUBJECT // 4)
    [whole] = message.attachments
    assert (whole.name, whole.content) == (SUBJECT, b"a@b " * 9_000)


def test_the_texts_of_files_are_read_to_a_limit() -> None:
    files = [{"name": "a.txt", "type": "text/plain", "size": 1, "text": "x" * 150_000}] * 3
    message = message_from({"from": "ann@example.com", "body": "x", "attachments": files})
    assert [len(file.text or "") for file in message.attachments] == [150_000, 50_000, 0]


def test_pages_beyond_what_is_laid_out_are_attached() -> None:
    page = b"Content-Type: text/html\r\n\r\n<p>Hello</p><p hidden>SECRET</p>" + b"<p>x" * 30_000
    parts = b"".join(b"--b\r\n" + page + b"\r\n" for _ in range(5))
    message = parse(HEAD + b"Content-Type: multipart/mixed; boundary=b\r\n\r\n" + parts)
    unread = [file for file in message.attachments if file.name == UNREAD_PAGE]
    assert unread
    assert (5 - len(unread)) * len(page) < LONGEST_HTML + 2 * len(page)
    assert "SECRET" not in message.body


@pytest.mark.parametrize(
    ("sheet", "is_seen"),
    [
        ("@media (x) { .x {display:none} } .y {color:red}", True),
        ("@import url(a.css); .x {display:none}", False),
        ("@media (x) { .y {color:red} } .x, .z {display: none}", False),
        ("}}} .x {display:none}", False),
        (".x {display:none", True),
        ("@a" * 50_000 + "{} .x {display:none}", False),
    ],
)
def test_rules_that_hide_are_found_in_any_style_sheet(sheet: str, is_seen: bool) -> None:
    page = f"<style>{sheet}</style><p class=x>WORDS</p><p>Hello</p>"
    body = parse(HEAD + b"Content-Type: text/html\r\n\r\n" + page.encode()).body
    assert ("WORDS" in body) == is_seen
