"""What Exchange, Gmail and other servers answer that Dovecot does not, as public transcripts show
it: the mailbox is read all the same, or a sentence says what is wrong."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from deskhand.adapters.channels.imap import Folder, Imap, ImapRefused
from deskhand.adapters.channels.imap_client import ImapProtocolError
from deskhand.adapters.channels.mail_connection import MailLoginRefused, ServerUnavailable
from tests.scripted_imap import (
    HANG_UP,
    PASSWORD,
    ScriptedImap,
    scripted_imap,
    scripted_spec,
)
from tests.waiting import until

EXCHANGE = "IMAP4 IMAP4rev1 AUTH=PLAIN AUTH=XOAUTH2 SASL-IR UIDPLUS MOVE ID UNSELECT CHILDREN IDLE"
GMAIL = "IMAP4rev1 UNSELECT IDLE NAMESPACE QUOTA ID XLIST CHILDREN X-GM-EXT-1 UIDPLUS MOVE ESEARCH"
OPENED = (
    "* 3 EXISTS\r\n* 0 RECENT\r\n* OK [UIDVALIDITY 170535] UIDVALIDITY value\r\n"
    "* OK [UIDNEXT 23072] The next unique identifier value\r\n"
    "* OK [PERMANENTFLAGS (\\Seen \\Answered \\*)] Permanent flags\r\n"
    "TAG OK [READ-WRITE] SELECT completed."
)
BODY = "Subject: x\r\n\r\nx\r\n"


def mail(sequence: int, items: str, body: str = BODY, end: str = ")") -> str:
    return f"* {sequence} FETCH ({items} BODY[]<0> {{{len(body.encode())}}}\r\n{body}{end}\r\n"


@asynccontextmanager
async def opened(
    folder: Path, answers: Mapping[str, str | list[str]], capabilities: str = EXCHANGE
) -> AsyncIterator[tuple[Imap, ScriptedImap]]:
    async with scripted_imap({"SELECT": OPENED, **answers}, capabilities=capabilities) as server:
        imap = await Imap.connect(scripted_spec(server.port, folder))
        try:
            await imap.select("INBOX")
            yield imap, server
        finally:
            await imap.close()


# --- answers nobody asked for


async def test_news_of_other_mails_between_the_answers_changes_nothing(tmp_path: Path) -> None:
    """Exchange tells of a changed flag by sequence number alone: 7 is no UID here."""
    answer = (
        "* 7 FETCH (FLAGS (\\Answered))\r\n"
        + mail(2, 'UID 7 FLAGS (\\Seen) INTERNALDATE "15-Mar-2026 19:31:57 +0000"')
        + "* 7 FETCH (FLAGS (\\Answered \\Flagged))\r\n* 4 EXISTS\r\n* 1 EXPUNGE\r\nTAG OK done"
    )
    async with opened(tmp_path, {"UID FETCH": answer}) as (imap, _):
        [read] = await imap.fetch([7], most=1000)
    assert read.uid == 7
    assert read.flags == {"\\seen"}
    assert read.raw.decode() == BODY


async def test_news_told_before_a_command_is_no_answer_to_it(tmp_path: Path) -> None:
    answers = {
        "NOOP": "* 1 FETCH (UID 9 FLAGS (\\Answered))\r\n* SEARCH 77\r\nTAG OK done",
        "UID SEARCH": "* SEARCH 9\r\nTAG OK done",
        "UID FETCH": mail(1, "UID 9 FLAGS ()") + "TAG OK done",
    }
    async with opened(tmp_path, answers) as (imap, _):
        await imap.noop()
        assert await imap.search("ALL") == [9]
        await imap.noop()
        [read] = await imap.fetch([9], most=1000)
    assert read.flags == frozenset()


async def test_gmail_tells_a_mail_in_two_answers(tmp_path: Path) -> None:
    answer = (
        mail(1, 'X-GM-LABELS ("\\\\Inbox" "Caf&AOk-" Plain) MODSEQ (5) UID 4 FLAGS ()', end=" )")
        + "* 1 FETCH (UID 4 MODSEQ (6) FLAGS (\\Seen))\r\nTAG OK Success"
    )
    async with opened(tmp_path, {"UID FETCH": answer}, GMAIL) as (imap, _):
        [read] = await imap.fetch([4], most=1000)
    assert (read.uid, read.raw.decode()) == (4, BODY)
    assert read.flags == {"\\seen"}


@pytest.mark.parametrize(
    ("items", "body"),
    [
        ('BODY[]<0> "Subject: \\"x\\"" UID 4 FLAGS ()', b'Subject: "x"'),
        ("UID 4 BODY[]<0> NIL FLAGS ()", b""),
        ('UID 4 BODY[]<0> "" FLAGS ()', b""),
        ("UID 4 BODY[]<0> {0}\r\n FLAGS ()", b""),
    ],
)
async def test_a_mail_without_a_literal_is_read(tmp_path: Path, items: str, body: bytes) -> None:
    async with opened(tmp_path, {"UID FETCH": f"* 1 FETCH ({items})\r\nTAG OK"}) as (imap, _):
        [read] = await imap.fetch([4], most=1000)
    assert read.raw == body


@pytest.mark.parametrize("date", ['" 1-Mar-2026 19:31:57 +0100"', '"01-Mar-2026 19:31:57 +0100"'])
async def test_when_a_mail_came_is_understood(tmp_path: Path, date: str) -> None:
    answer = mail(1, f"UID 4 INTERNALDATE {date}") + "TAG OK"
    async with opened(tmp_path, {"UID FETCH": answer}) as (imap, _):
        [read] = await imap.fetch([4], most=1000)
    assert read.arrived == 1772389917


async def test_a_mail_that_exchange_will_not_show_unread_is_read_all_the_same(
    tmp_path: Path,
) -> None:
    """It answers a PEEK with nothing, and a plain FETCH with a mail that says what is wrong."""
    answers = {
        "UID FETCH": [
            mail(1, "UID 4") + "TAG OK FETCH completed.",
            mail(2, "UID 5", "Subject: Retrieval using the IMAP4 protocol failed\r\n\r\n")
            + "TAG OK FETCH completed.",
        ]
    }
    async with opened(tmp_path, answers) as (imap, server):
        read = await imap.fetch([4, 5], most=1000)
    assert [each.uid for each in read] == [4, 5]
    assert b"Retrieval using the IMAP4 protocol failed" in read[1].raw
    assert "UID FETCH 5 (UID FLAGS INTERNALDATE BODY[]<0.1000>)" in server.heard[-1]


@pytest.mark.parametrize(
    ("answer", "uids"),
    [
        ("* SEARCH 3 1 2 \r\nTAG OK done", [1, 2, 3]),
        ("* SEARCH 1 2\r\n* 5 EXISTS\r\n* SEARCH 3\r\nTAG OK done", [1, 2, 3]),
        ("* SEARCH 1 2 (MODSEQ 917162500)\r\nTAG OK done", [1, 2]),
        ("* SEARCH\r\nTAG OK done", []),
        ("TAG OK SEARCH completed.", []),
        ("* OK [ALERT] slow today\r\n* SEARCH 8\r\n* XYZZY plugh\r\nTAG OK", [8]),
    ],
)
async def test_searches_are_answered_in_many_ways(
    tmp_path: Path, answer: str, uids: list[int]
) -> None:
    async with opened(tmp_path, {"UID SEARCH": answer}) as (imap, _):
        assert await imap.search("ALL") == uids


# --- folders


async def test_folders_of_every_kind_are_listed(tmp_path: Path) -> None:
    answer = (
        '* LIST (\\HasNoChildren \\Sent) "/" "[Gmail]/Envoy&AOk-s"\r\n'
        '* LIST (\\Marked \\HasNoChildren) "/" INBOX\r\n'
        '* LIST () "/" {6}\r\nSe"nt \r\n'
        '* LIST (\\NoInferiors) NIL "Tom & Jerry"\r\n'
        '* LIST () "." "Tom & Jerry-Ltd"\r\n'
        '* LIST () "/" "Entwürfe"\r\n'
        '* LIST () "/" 2026\r\n'
        '* LIST () "/" "a \\"b\\" \\\\c"\r\n'
        "TAG OK Success"
    )
    async with opened(tmp_path, {"LIST": answer}, GMAIL) as (imap, _):
        folders = await imap.folders()
    assert folders[0] == Folder("[Gmail]/Envoyés", frozenset({"\\hasnochildren", "\\sent"}))
    assert [folder.name for folder in folders[1:]] == [
        "INBOX",
        'Se"nt ',
        "Tom & Jerry",
        "Tom & Jerry-Ltd",
        "Entwürfe",
        "2026",
        'a "b" \\c',
    ]


async def test_a_folder_with_letters_of_its_own_is_opened(tmp_path: Path) -> None:
    async with opened(tmp_path, {}) as (imap, server):
        await imap.select('Envoyés & "Co"')
    assert server.heard[-1].partition(" ")[2] == 'SELECT "Envoy&AOk-s &- \\"Co\\""'


async def test_a_server_that_takes_no_keywords_of_ours_says_so(tmp_path: Path) -> None:
    answer = OPENED.replace("\\Seen \\Answered \\*", "\\Seen \\Answered \\Flagged $MDNSent")
    async with opened(tmp_path, {"SELECT": answer}) as (imap, _):
        selected = await imap.select("INBOX")
    assert selected == (170535, 23072, False)


@pytest.mark.parametrize(
    ("answers", "next_uid"),
    [
        ({"STATUS": '* STATUS "INBOX" (UIDNEXT 44)\r\nTAG OK'}, 44),
        ({"STATUS": "TAG OK", "UID SEARCH": "* SEARCH 17\r\nTAG OK"}, 18),
        ({"STATUS": "TAG BAD not open folders", "UID SEARCH": "* SEARCH\r\nTAG OK"}, 1),
    ],
)
async def test_a_folder_that_opens_without_its_next_number_is_read(
    tmp_path: Path, answers: dict[str, str], next_uid: int
) -> None:
    opening = "* 3 EXISTS\r\n* OK [UIDVALIDITY 5] ok\r\nTAG OK [READ-WRITE] opened"
    async with opened(tmp_path, {"SELECT": opening, **answers}) as (imap, _):
        selected = await imap.select("INBOX")
    assert selected == (5, next_uid, False)


async def test_a_folder_that_may_only_be_read_is_read(tmp_path: Path) -> None:
    only = (
        "* 1 EXISTS\r\n* OK [UIDVALIDITY 5] ok\r\n* OK [UIDNEXT 6] ok\r\n"
        "* OK [PERMANENTFLAGS ()] none\r\nTAG OK [READ-ONLY] opened"
    )
    answers = {"SELECT": only, "EXAMINE": only, "UID SEARCH": "* SEARCH 5\r\nTAG OK"}
    async with opened(tmp_path, answers) as (imap, _):
        assert await imap.select("INBOX") == (5, 6, False)
        assert await imap.search("ALL") == [5]


# --- refusals and goodbyes


@pytest.mark.parametrize(
    ("answer", "kind", "words"),
    [
        ("TAG BAD User is authenticated but not connected.", ImapRefused, "not connected"),
        ("TAG NO [THROTTLED] Account exceeded limits", ImapRefused, "THROTTLED"),
        (
            "* BYE Session invalidated - AccessTokenExpired" + HANG_UP,
            ServerUnavailable,
            "AccessTokenExpired",
        ),
        ("* BYE Connection closed. 14\r\nTAG BAD closed", ServerUnavailable, "closed"),
        ("* BYE System Error" + HANG_UP, ServerUnavailable, "System Error"),
        ("* SEARCH 1 2" + HANG_UP, ServerUnavailable, "hung up"),
        ("* SEARCH one two\r\nTAG OK", ImapProtocolError, "SEARCH"),
        ("complete nonsense\r\nTAG OK", ServerUnavailable, "nonsense"),
    ],
)
async def test_what_a_server_will_not_do_is_told_in_its_words(
    tmp_path: Path, answer: str, kind: type[Exception], words: str
) -> None:
    async with opened(tmp_path, {"UID SEARCH": answer}) as (imap, _):
        with pytest.raises(kind, match=words):
            await imap.search("ALL")


async def test_a_mail_that_breaks_off_is_not_taken_for_a_whole_one(tmp_path: Path) -> None:
    answer = "* 1 FETCH (UID 4 BODY[]<0> {500}\r\nSubject: x" + HANG_UP
    async with opened(tmp_path, {"UID FETCH": answer}) as (imap, _):
        with pytest.raises(ServerUnavailable):
            await imap.fetch([4], most=1000)


async def test_a_store_that_is_refused_is_told(tmp_path: Path) -> None:
    answer = {"UID STORE": "TAG NO [CANNOT] keywords are not kept here"}
    async with opened(tmp_path, answer) as (imap, _):
        with pytest.raises(ImapRefused, match="keywords are not kept here"):
            await imap.add_flags([4], ["$DeskhandDone"])


async def test_a_refused_login_tells_no_password(tmp_path: Path) -> None:
    answer = {"LOGIN": "TAG NO [ALERT] Too many simultaneous connections. (Failure)"}
    async with scripted_imap(answer, capabilities=GMAIL) as server:
        with pytest.raises(MailLoginRefused) as raised:
            await Imap.connect(scripted_spec(server.port, tmp_path))
    assert PASSWORD not in str(raised.value)


@pytest.mark.parametrize("password", ['pa"ss \\word', "pässwörter", "p(a){s}*%"])
async def test_every_password_reaches_the_server(tmp_path: Path, password: str) -> None:
    async with scripted_imap(
        {"AUTHENTICATE": "+ "}, capabilities=f"{EXCHANGE} AUTH=PLAIN"
    ) as server:
        spec = scripted_spec(server.port, tmp_path)
        (tmp_path / "secret").write_text(password)
        await (await Imap.connect(spec)).close()
    said = "\n".join(server.heard)
    if password.isascii():
        escaped = password.replace("\\", "\\\\").replace('"', '\\"')
        assert f'"{escaped}"' in said
    else:
        assert password in said or "AUTHENTICATE PLAIN" in said


async def test_a_folder_is_emptied_without_uidplus(tmp_path: Path) -> None:
    async with opened(tmp_path, {}, "IMAP4rev1") as (imap, server):
        await imap.move([3, 4, 5], "Done")
    assert server.verbs[-3:] == ["UID COPY", "UID STORE", "EXPUNGE"]


async def test_many_mails_are_named_in_a_short_line(tmp_path: Path) -> None:
    """Exchange takes lines of 8 KB and no more."""
    async with opened(tmp_path, {}) as (imap, server):
        await imap.add_flags(range(100_000, 102_000), ["\\Seen"])
    assert "100000:101999" in server.heard[-1]


# --- waiting


@pytest.mark.parametrize(
    ("answer", "news"),
    [
        ("+ IDLE accepted, awaiting DONE command.\r\n* 4 EXISTS", True),
        ("+ idling\r\n* OK Still here", False),
        ("+ idling\r\n* 2 FETCH (FLAGS (\\Seen))\r\n* 4 EXISTS\r\n* 1 RECENT", True),
        ("* 4 EXISTS\r\n+ idling", True),
    ],
)
async def test_news_is_noticed_at_once_wherever_it_stands(
    tmp_path: Path, answer: str, news: bool
) -> None:
    """Also news that came in one piece with the answer to IDLE; it is not waited for."""
    patience = 600.0 if news else 0.05
    async with opened(tmp_path, {"IDLE": answer}) as (imap, _):
        async with asyncio.timeout(60):
            assert await imap.idle(patience) is news
        assert await imap.search("ALL") == []


@pytest.mark.parametrize("verb", ["UID SEARCH", "UID FETCH"])
async def test_news_said_before_the_waiting_counts(tmp_path: Path, verb: str) -> None:
    """A server that has told of a mail with the end of a command does not tell of it again."""
    answers = {"IDLE": "+ idling", verb: "* 4 EXISTS\r\nTAG OK done"}
    async with opened(tmp_path, answers) as (imap, _):
        await imap.newest_uid()
        await imap.sizes([3])
        async with asyncio.timeout(60):
            assert await imap.idle(600) is True
        await imap.select("INBOX")
        assert await imap.idle(0.05) is False, "opened anew, there is no news"


async def test_news_said_only_at_the_end_of_waiting_counts(tmp_path: Path) -> None:
    answers = {"IDLE": "+ idling", "IDLE END": "* 4 EXISTS\r\nTAG OK IDLE terminated"}
    async with opened(tmp_path, answers) as (imap, _):
        assert await imap.idle(0.05) is True


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        ("+ idling\r\n* BYE Session expired, please login again." + HANG_UP, ServerUnavailable),
        ("+ idling" + HANG_UP, ServerUnavailable),
        ("TAG NO [LIMIT] not now", ImapRefused),
        ("TAG BAD what?", ImapRefused),
    ],
)
async def test_waiting_that_is_refused_or_ended_is_told(
    tmp_path: Path, answer: str, kind: type[Exception]
) -> None:
    async with opened(tmp_path, {"IDLE": answer}) as (imap, _):
        async with asyncio.timeout(60):
            with pytest.raises(kind):
                await imap.idle(600)


async def test_waiting_that_is_cancelled_ends_at_once(tmp_path: Path) -> None:
    async with opened(tmp_path, {"IDLE": "+ idling"}) as (imap, server):
        waiting = asyncio.create_task(imap.idle(600))
        await until(lambda: "IDLE" in server.verbs)
        waiting.cancel()
        async with asyncio.timeout(60):
            with pytest.raises(asyncio.CancelledError):
                await waiting


async def test_a_command_that_is_never_answered_can_be_cancelled(tmp_path: Path) -> None:
    async with opened(tmp_path, {"NOOP": ""}) as (imap, server):
        asking = asyncio.create_task(imap.noop())
        await until(lambda: "NOOP" in server.verbs)
        asking.cancel()
        async with asyncio.timeout(60):
            with pytest.raises(asyncio.CancelledError):
                await asking
            with pytest.raises(ServerUnavailable):
                await imap.search("ALL")
