"""Mails made to hurt whoever reads them, in sizes: each kind takes more than its share of
something."""

import base64
import zlib
from collections.abc import Callable, Iterator
from typing import NamedTuple

HEAD = b"From: ann@example.com\r\nSubject: Teapot\r\nMessage-ID: <hostile@example.com>\r\n"
_ICS_HEAD = "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:x\r\nMETHOD:REQUEST\r\n"
_EVENT = (
    "BEGIN:VEVENT\r\nUID:1\r\nDTSTAMP:20261116T100000Z\r\nDTSTART:20261201T100000Z\r\n"
    "ORGANIZER:mailto:ann@example.com\r\n{}END:VEVENT\r\n"
)


class HostileMail(NamedTuple):
    kind: str
    raw: bytes


def _text(body: bytes, kind: bytes = b"text/plain", more: bytes = b"") -> bytes:
    return HEAD + b"Content-Type: " + kind + b"\r\n" + more + b"\r\n" + body


def _html(page: bytes) -> bytes:
    return _text(page, b"text/html; charset=utf-8")


def _parts(parts: list[bytes], kind: bytes = b"mixed") -> bytes:
    head = HEAD + b"Content-Type: multipart/" + kind + b"; boundary=b\r\n\r\n"
    return head + b"".join(b"--b\r\n" + part + b"\r\n" for part in parts) + b"--b--\r\n"


def _header(value: bytes) -> bytes:
    return HEAD + value + b"\r\n\r\nHello"


def _calendar(lines: str) -> bytes:
    body = b"Content-Type: text/calendar; method=REQUEST\r\n\r\n"
    return _parts([b"\r\nCome", body + f"{_ICS_HEAD}{lines}END:VCALENDAR\r\n".encode()])


def _zones(number: int, rule: str) -> str:
    zone = (
        "BEGIN:VTIMEZONE\r\nTZID:Z{0}\r\nBEGIN:STANDARD\r\nDTSTART:19700101T000000\r\n"
        "RRULE:{1}\r\nTZOFFSETFROM:+0100\r\nTZOFFSETTO:+0200\r\nEND:STANDARD\r\nEND:VTIMEZONE\r\n"
    )
    return "".join(zone.format(place, rule) for place in range(number)) + _EVENT.format("")


def _nested_parts(depth: int) -> bytes:
    layer = b"Content-Type: multipart/mixed; boundary=b%d\r\n\r\n--b%d\r\n"
    return HEAD + b"".join(layer % (n, n) for n in range(depth)) + b"\r\nHello"


def _tnef(size: int) -> bytes:
    content = base64.encodebytes(b"\x78\x9f\x3e\x22" + b"\x01" * size)
    head = b"Content-Type: application/ms-tnef; name=winmail.dat\r\n"
    return _parts([b"\r\nSee", head + b"Content-Transfer-Encoding: base64\r\n\r\n" + content])


def _numbered(template: bytes, number: int, between: bytes) -> bytes:
    return between.join(template % place for place in range(number))


def _charset_names(lines: int) -> bytes:
    written = [b"X: y"]
    for line in range(lines):
        words = _numbered(b"=?c%d_%%d?q?a?=" % line, 200, b" ")
        written.append(b"X-%d: %s" % (line, words))
    return b"\r\n".join(written)


def _pdf_part(content: bytes) -> bytes:
    head = b"Content-Type: application/pdf; name=a.pdf\r\nContent-Transfer-Encoding: base64\r\n"
    return head + b"\r\n" + base64.encodebytes(content)


def _with_pdf(content: bytes) -> bytes:
    return _parts([b"\r\nSee", _pdf_part(content)])


def _asks(characters: int) -> bytes:
    """As many asks as the models read, of words that stand in no article."""
    words = ("order", "parcel", "refund", "where", "please", "when", "teapot", "invoice")
    asks: list[str] = []
    for place in range(characters // 60 + 1):
        about = " ".join(words[(place * 5 + word) % 8] for word in range(12))
        asks.append(f"Can you tell me {about}?")
    return " ".join(asks)[:characters].encode()


def _asks_beside(size: int) -> bytes:
    """Asks with a PDF and calendars that take what they are given."""
    pages = _pdf_part(hostile_pdf(b"BT /F 1 Tf (x) Tj ET\n" * size, 20))
    zones = f"{_ICS_HEAD}{_zones(min(size // 25, 900), 'FREQ=YEARLY')}END:VCALENDAR\r\n"
    calendar = b"Content-Type: text/calendar; method=REQUEST\r\n\r\n" + zones.encode()
    return _parts([b"\r\n" + _asks(1950), pages, calendar])


def hostile_pdf(stream: bytes, pages: int = 1, packed: bool = False, depth: int = 0) -> bytes:
    """A file whose pages all show one stream, below so many levels of nodes."""
    data = zlib.compress(stream, 9) if packed else stream
    how = b"/Filter /FlateDecode " if packed else b""
    first_node, first_page = 5, 5 + depth
    nodes = range(first_node, first_node + depth)
    kids = b" ".join(b"%d 0 R" % (first_page + page) for page in range(pages))
    chain = [b"%d 0 R" % node for node in nodes] + [kids]
    written = [
        b"<</Type /Catalog /Pages 2 0 R>>",
        b"<</Type /Pages /Count %d /Kids [%s]>>" % (pages, chain[0]),
        b"<<%s/Length %d>> stream\n%s\nendstream" % (how, len(data), data),
        b"<</Type /Font /Subtype /Type1 /BaseFont /Helvetica>>",
    ]
    written += [b"<</Type /Pages /Count %d /Kids [%s]>>" % (pages, kid) for kid in chain[1:]]
    page = (
        b"<</Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] /Contents 3 0 R"
        b" /Resources <</Font <</F 4 0 R>>>>>>"
    )
    return _numbered_objects([*written, *[page] * pages])


def _numbered_objects(written: list[bytes]) -> bytes:
    """A PDF of these objects, with the table of where each begins."""
    pieces, places, place = [b"%PDF-1.4\n"], [], 9
    for number, content in enumerate(written, 1):
        pieces.append(b"%d 0 obj %s endobj\n" % (number, content))
        places.append(b"%010d 00000 n \n" % place)
        place += len(pieces[-1])
    size = len(written) + 1
    table = b"xref\n0 %d\n0000000000 65535 f \n%s" % (size, b"".join(places))
    end = b"trailer <</Root 1 0 R /Size %d>>\nstartxref\n%d\n%%%%EOF\n" % (size, place)
    return b"".join([*pieces, table, end])


_KINDS: dict[str, Callable[[int], bytes]] = {
    "punycode charset": lambda n: _text(b"a-b" * n, b'text/plain; charset="Punycode_"'),
    "idna charset": lambda n: _text(b"xn--a." * n, b"text/plain; charset=IDNA-"),
    "escape charset": lambda n: _text(b"\\x41" * n, b"text/plain; charset=Unicode.Escape"),
    "file name by punycode": lambda n: _parts(
        [
            b"Content-Disposition: attachment;"
            b" filename*=punycode''" + b"a-b" * min(n, 6000) + b"\r\n\r\nx"
        ]
        * 20
    ),
    "charset by punycode": lambda n: _text(
        b"x", b"text/plain; charset*=punycode''" + b"a-b" * min(n, 6000)
    ),
    "encoded words by punycode": lambda n: _header(
        b"Subject: " + b"=?punycode?q?" + b"ab-c" * 1200 + b"?= " * (n % 7 + 1)
    ),
    "huge charset name": lambda n: _text(b"x", b"text/plain; charset=" + b"u" * n),
    "many charset names": lambda n: _header(_charset_names(min(n // 200, 100))),
    "style at rules": lambda n: _html(b"<style>" + b"@a" * n + b"</style><p>Hello"),
    "style nested": lambda n: _html(b"<style>" + b"@a{b{" * n + b"</style><p>Hello"),
    "style rules": lambda n: _html(b"<style>" + b".a{color:red}" * n + b"</style><p>Hello"),
    "many HTML parts": lambda n: _parts(
        [b"Content-Type: text/html\r\n\r\n" + b"<div><p>x</p></div>" * (n // 40)] * 40
    ),
    "many small HTML parts": lambda n: _parts(
        [b"Content-Type: text/html\r\n\r\n<table><tr><td>x" + b"y" * (n // 500)] * 499
    ),
    "many parts": lambda n: _parts([b"\r\n" + b"x" * (n // 500)] * 499),
    "many alternatives": lambda n: _parts(
        [b"Content-Type: text/html\r\n\r\n<p hidden>x" + b"<b>y" * (n // 500)] * 499, b"alternative"
    ),
    "many attached mails": lambda n: _parts(
        [b"Content-Type: message/rfc822\r\n\r\nSubject: x\r\n\r\n" + b"y" * (n // 500)] * 499
    ),
    "many files": lambda n: _parts(
        [b"Content-Disposition: attachment; filename=a.txt\r\n\r\n" + b"y" * (n // 500)] * 499
    ),
    "nested parts": lambda n: _nested_parts(min(n, 20_000)),
    "nested mails": lambda n: (
        HEAD + b"Content-Type: message/rfc822\r\n\r\n" * min(n, 50_000) + b"Hello"
    ),
    "header bomb": lambda n: _header(_numbered(b"X-%d: y", n, b"\r\n")),
    "folded header": lambda n: _header(b"X-Long: a\r\n" + b" b\r\n" * n + b" c"),
    "continuations": lambda n: _parts(
        [
            b"Content-Disposition: attachment; "
            + _numbered(b"filename*%d*=a%%20", min(n, 20_000), b"; ")
            + b"\r\n\r\nx"
        ]
    ),
    "parameters": lambda n: _text(b"x", b"text/plain" + b';a="' * n),
    "encoded words": lambda n: _header(b"Subject: " + b"=?utf-8?b?QQ==?= " * n),
    "open encoded words": lambda n: _header(b"Subject: " + b"=?utf-8?q?" * n),
    "base64 garbage": lambda n: _text(
        b"====%%%%AAA=\n" * n, b"text/plain", b"Content-Transfer-Encoding: base64\r\n"
    ),
    "soft breaks": lambda n: _text(
        b"=\r\n" * n + b"=", b"text/plain", b"Content-Transfer-Encoding: quoted-printable\r\n"
    ),
    "uuencode": lambda n: _text(
        b"begin 644 a\n" + b"M" * n + b"\nend\n" * 1000,
        b"text/plain",
        b"Content-Transfer-Encoding: x-uuencode\r\n",
    ),
    "one long line": lambda n: _text(b"x" * n * 10),
    "one long word of addresses": lambda n: _text(b"a@b.cz" * n),
    "entities": lambda n: _html(b"<p>" + b"&lt;&amp;lt;&#1234567;&NotNestedGreaterGreater;" * n),
    "nested tables": lambda n: _html(b"<table><tr><td>" * n + b"x"),
    "nested blockquotes": lambda n: _html(b"<blockquote>" * n + b"x"),
    "wide table": lambda n: _html(b"<table><tr>" + b"<td>x" * n + b"</table>"),
    "tall table": lambda n: _html(b"<table>" + b"<tr><td>x<td>y" * n + b"</table>"),
    "attributes": lambda n: _html(b"<p " + b'a="b" ' * n + b">x"),
    "styles of elements": lambda n: _html(
        b'<p style="' + b"color: red;" * 400 + b'">x' * (n // 50)
    ),
    "open tags": lambda n: _html(b"<" * n * 5),
    "hidden words": lambda n: _html(b"<p>a <b hidden>b</b> " * n),
    "ink": lambda n: _html(b"<font color=white><span>x</span>" * n),
    "comments": lambda n: _html(b"<!--" * n + b"x"),
    "recipients": lambda n: _header(b"To: " + b"a@b.cz, " * n + b"c@d.cz"),
    "recipients' comments": lambda n: _header(b"To: " + b"(" * n),
    "quoted recipients": lambda n: _header(b"From: " + b'"\\' * n),
    "references": lambda n: _header(
        (b"References: " + _numbered(b"<%d@x.cz>", 500, b" ") + b"\r\n") * 20
        + b"In-Reply-To: "
        + b"<a@b.cz> " * n
    ),
    "results of authentication": lambda n: _header(
        b"Authentication-Results: mx.example.com; " + b"dkim=pass (" * n + b"header.d=example.com"
    ),
    "received": lambda n: _header(b"\r\n".join([b"Received: from a (b (c) by d; x"] * n)),
    "date": lambda n: _header(b"Date: " + b"Mon, " * n + b"1 Jan 2026 00:00:00 +9999"),
    "quotes": lambda n: _text(b"On 2020 a@b.cz:\n" * n),
    "attribution": lambda n: _text((b"On 1.1.2020 " + b"a " * 150 + b"\n") * (n // 50) + b"wrote:"),
    "marks of quotes": lambda n: _text((b"> " * 200 + b"x\n") * (n // 100)),
    "greetings": lambda n: _text(b"Regards\nAnn\n\n" * n),
    "forwarded": lambda n: _text(
        b"---------- Forwarded message ---------\nFrom: " + b"<mailto:a" * n + b"\nTo: x\n"
    ),
    "quoted headers": lambda n: _text(b"From: a\nTo: b\nSubject: c\n" * n),
    "separators": lambda n: _text(b"-----" * n + b"\n" + b"_" * n),
    "spaces": lambda n: _text(b"\t \t" * n + b"x" + b" " * n + b"\n" * n),
    "digits": lambda n: _text(b"1 2-3.4/5 " * n),
    "dates in words": lambda n: _text(b"next Monday at 10 or on 3. 4. from 9 to " * (n // 10)),
    "money": lambda n: _text(b"EUR 1.000,00 \xe2\x82\xac 12 $ 3 " * (n // 5)),
    "hosts": lambda n: _text(b"a.b.c.d." * n),
    "letters of all alphabets": lambda n: _text(
        "ａё́ß漢字🏴".encode() * n, b"text/plain; charset=utf-8"
    ),
    "combining marks": lambda n: _text("e\u0301\u0323".encode() * n, b"text/plain; charset=utf-8"),
    "asks": lambda n: _text(_asks(min(n, 1950))),
    "short asks": lambda n: _text(b"What does desk 7 cost? Can I return it? " * min(n // 40, 45)),
    "asks in a wide table": lambda n: _html(
        b"<p>" + _asks(1900) + b"</p><table><tr>" + b"<td hidden>x" * (n // 16)
    ),
    "asks in nested letters": lambda n: _html(
        b"<p>" + _asks(1900) + b"</p><div hidden>" + b"<b><i><p>" * (n // 40)
    ),
    "asks beside files": lambda n: _asks_beside(n),
    "tnef": lambda n: _tnef(n * 5),
    "pdf of many words": lambda n: _with_pdf(hostile_pdf(b"BT /F 1 Tf (x) Tj ET\n" * n)),
    "pdf of many pages": lambda n: _with_pdf(
        hostile_pdf(b"BT /F 1 Tf (x) Tj ET\n" * (n // 50), min(n // 30, 3000))
    ),
    "pdf that unpacks": lambda n: _with_pdf(
        hostile_pdf(b"BT /F 1 Tf (x) Tj ET\n" * n * 10, 20, packed=True)
    ),
    "pdf of nothing unpacked": lambda n: _with_pdf(hostile_pdf(b"\0" * n * 1000, 3, packed=True)),
    "pdf of nested pages": lambda n: _with_pdf(
        hostile_pdf(b"BT /F 1 Tf (x) Tj ET", depth=min(n, 20_000))
    ),
    "pdf of open brackets": lambda n: _with_pdf(hostile_pdf(b"[" * n + b"(" * n)),
    "pdf of marks": lambda n: _with_pdf(b"%PDF-1.4\n" + b"1 0 obj <<" * n),
    "three pdfs": lambda n: _parts([_pdf_part(hostile_pdf(b"BT /F 1 Tf (x) Tj ET\n" * n))] * 3),
    "zones": lambda n: _calendar(_zones(min(n // 25, 1500), "FREQ=YEARLY")),
    "zones by the second": lambda n: _calendar(_zones(min(n // 1000, 30), "FREQ=SECONDLY")),
    "duration": lambda n: _calendar(_EVENT.format("DURATION:P" + "9" * min(n, 900) + "D\r\n")),
    "rules": lambda n: _calendar(
        _EVENT.format("RRULE:FREQ=SECONDLY;BYSECOND=59;BYMONTHDAY=31;BYMONTH=2\r\n" * min(n, 900))
    ),
    "dates": lambda n: _calendar(_EVENT.format("RDATE:20261201T100000Z\r\n" * min(n, 8000))),
    "attendees": lambda n: _calendar(_EVENT.format("ATTENDEE:mailto:a@b.cz\r\n" * min(n, 8000))),
    "events": lambda n: _calendar(_EVENT.format("") * min(n // 10, 2000)),
}
SIZES = (300, 5_000, 30_000, 100_000, 250_000)


def hostile_mail(kind: str, size: int) -> bytes:
    """A mail of one kind, without making the others."""
    return _KINDS[kind](size)


def hostile_mails(sizes: tuple[int, ...] = SIZES) -> Iterator[HostileMail]:
    """Each kind in each size."""
    for kind, made in _KINDS.items():
        for size in sizes:
            yield HostileMail(f"{kind}, {size:,}", made(size))
