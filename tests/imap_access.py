"""What a mail program does with a mailbox, on any IMAP server; everything here blocks."""

from email import policy
from email.message import EmailMessage
from email.parser import BytesParser

from imapclient import IMAPClient

from tests.mail_servers import PASSWORD, a_mail
from tests.waiting import PATIENCE


def log_in(port: int, user: str) -> IMAPClient:
    client = IMAPClient("127.0.0.1", port, ssl=False, timeout=PATIENCE)
    client.login(user, PASSWORD)
    return client


def put(port: int, user: str, raw: bytes, folder: str = "INBOX") -> None:
    with log_in(port, user) as client:
        client.append(folder, raw)


def mails_in(port: int, user: str, folder: str = "INBOX") -> list[EmailMessage]:
    with log_in(port, user) as client:
        client.select_folder(folder, readonly=True)
        told = client.fetch(client.search(), ["BODY.PEEK[]"])
    reader = BytesParser(policy=policy.default)
    return [reader.parsebytes(fields[b"BODY[]"]) for fields in told.values()]


def flags_in(port: int, user: str, folder: str = "INBOX") -> set[bytes]:
    with log_in(port, user) as client:
        client.select_folder(folder, readonly=True)
        told = client.get_flags(client.search())
    return {flag for flags in told.values() for flag in flags}


def fill(port: int, user: str, count: int) -> None:
    """So many mails that nobody has read."""
    put(port, user, a_mail("old"))
    with log_in(port, user) as client:
        client.select_folder("INBOX")
        there = 1
        while there < count:
            more = min(there, count - there)
            client.copy(f"1:{more}", "INBOX")
            there += more


def make_folder(port: int, user: str, folder: str) -> None:
    with log_in(port, user) as client:
        client.create_folder(folder)


def rebuild(port: int, user: str, folder: str) -> None:
    """What a restored backup does: every mail is there, under a new UIDVALIDITY."""
    mails = mails_in(port, user, folder)
    with log_in(port, user) as client:
        client.delete_folder(folder)
        client.create_folder(folder)
        for mail in mails:
            client.append(folder, mail.as_bytes(policy=policy.SMTP))
