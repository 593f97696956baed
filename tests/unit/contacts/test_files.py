"""Address books in files: nothing that can be read is lost, nothing that cannot goes unsaid."""

import csv
import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deskhand.contacts.csv_files import NoTable, read_csv, write_csv
from deskhand.contacts.entries import BadEntry, note_text
from deskhand.contacts.vcards import read_vcards
from deskhand.model.contact import Contact, ContactEntry, Note


def entries_in(raw: str | bytes) -> list[ContactEntry | BadEntry]:
    return list(read_csv(raw.encode() if isinstance(raw, str) else raw).rows)


def test_a_table_is_read_whatever_its_columns_are_called() -> None:
    table = read_csv(
        "First Name;Last Name;E-mail;Labels;Level;Birthday\r\n"
        'Karel;"Čapek; jun.";Karel@Example.cz;"vip, long time";gold;9.1.\r\n'.encode("utf-8-sig")
    )
    assert table.ignored == ("Birthday",)
    assert list(table.rows) == [
        ContactEntry(
            address="Karel@Example.cz",
            name="Karel Čapek; jun.",
            tags=("vip", "long-time"),
            tier="gold",
        )
    ]


def test_a_table_and_a_card_bring_plans() -> None:
    rows = entries_in(
        "email,plan,tenure_months,seats,region\n"
        "a@b.cz,Enterprise,24,50,us-west\nb@b.cz,pro,,many,\n"
    )
    assert rows[0] == ContactEntry(
        address="a@b.cz", plan="enterprise", tenure_months=24, seats=50, region="us-west"
    )
    assert isinstance(rows[1], BadEntry)
    assert "seats" in rows[1].problem
    card = "BEGIN:VCARD\nEMAIL:a@b.cz\nX-PLAN:Pro\nX-SEATS:3\nEND:VCARD\n"
    assert list(read_vcards(card.encode())) == [ContactEntry(address="a@b.cz", plan="pro", seats=3)]
    people = [Contact(address="a@b.cz", plan="pro", tenure_months=0, seats=3, region="eu")]
    assert entries_in("".join(write_csv(people))) == [
        ContactEntry(address="a@b.cz", plan="pro", tenure_months=0, seats=3, region="eu")
    ]


def test_a_bad_row_is_told_with_its_line_and_all_of_it() -> None:
    rows = entries_in(
        'email,name\nann@example.com,"Ann\nLee"\nnobody,Nob\n\n,Empty\nbob@example.com,Bob\n'
    )
    assert rows == [
        ContactEntry(address="ann@example.com", name="Ann Lee"),
        BadEntry(4, "`nobody` is no mail address", "nobody,Nob"),
        BadEntry(6, "there is no mail address", ",Empty"),
        ContactEntry(address="bob@example.com", name="Bob"),
    ]


def test_a_language_is_a_code() -> None:
    rows = entries_in("email,lang\na@b.cz,cs-CZ\nb@b.cz,Czech please\n")
    assert isinstance(rows[0], ContactEntry)
    assert rows[0].language == "cs"
    assert isinstance(rows[1], BadEntry)


def test_a_table_without_addresses_is_refused() -> None:
    with pytest.raises(NoTable, match="name, phone"):
        read_csv(b"name,phone\nAnn,1\n")
    with pytest.raises(NoTable):
        read_csv(b"")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_a_table_is_read_in_the_encodings_that_programs_write(encoding: str) -> None:
    rows = entries_in("email,name\nrene@example.fr,René\n".encode(encoding))
    assert rows == [ContactEntry(address="rene@example.fr", name="René")]


WORDS = st.text(
    st.characters(codec="utf-8", exclude_categories=["Cc", "Cs", "Zl", "Zp"]), max_size=30
).map(lambda text: " ".join(text.split()))


@settings(deadline=None, derandomize=True)
@given(
    st.builds(
        Contact,
        address=st.just("ann@example.com"),
        name=WORDS,
        company=WORDS,
        tags=st.lists(st.sampled_from(["vip", "=cmd", "late-payer"]), unique=True).map(tuple),
        notes=st.lists(
            st.builds(
                Note, text=WORDS.map(note_text).filter(bool), by=st.just("eve"), at=st.just(1.0)
            ),
            unique_by=lambda note: note.text,
            max_size=3,
        ).map(tuple),
    )
)
def test_what_is_exported_is_read_again(contact: Contact) -> None:
    written = "".join(write_csv([contact]))
    cells = [cell for row in csv.reader(io.StringIO(written, newline="")) for cell in row]
    assert not any(cell.startswith(("=", "+", "-", "@", "\t")) for cell in cells)
    (read,) = entries_in(written)
    assert isinstance(read, ContactEntry)
    assert (read.address, read.name, read.company, read.tags) == (
        contact.address,
        contact.name,
        contact.company,
        contact.tags,
    )
    assert read.notes == tuple(note.text for note in contact.notes)


CARDS = """BEGIN:VCARD
VERSION:3.0
FN:Ann Lee
N:Lee;Ann;;;
EMAIL;TYPE=INTERNET,WORK:ann@example.com
item1.EMAIL:ann@home.example
ORG:Acme\\; Ltd.;Sales
TEL;TYPE=CELL:+420 123
CATEGORIES:vip,long time
NOTE:likes tea\\nand a v
 ery long line
END:VCARD
BEGIN:VCARD
VERSION:2.1
N;CHARSET=UTF-8;ENCODING=QUOTED-PRINTABLE:=C4=8Capek;Karel=
;;;
EMAIL:karel@example.cz
END:VCARD
BEGIN:VCARD
FN:No Address
END:VCARD
stray
BEGIN:VCARD
FN:No End
"""


def test_cards_of_all_versions_are_read() -> None:
    read = list(read_vcards(CARDS.replace("\n", "\r\n").encode()))
    good = [one for one in read if isinstance(one, ContactEntry)]
    assert [one.address for one in good] == [
        "ann@example.com",
        "ann@home.example",
        "karel@example.cz",
    ]
    assert good[0] == ContactEntry(
        address="ann@example.com",
        name="Ann Lee",
        company="Acme; Ltd.",
        phone="+420 123",
        tags=("vip", "long-time"),
        notes=("likes tea\nand a very long line",),
    )
    assert good[2].name == "Karel Čapek"
    bad = [(one.line, one.problem) for one in read if isinstance(one, BadEntry)]
    assert bad == [
        (19, "there is no mail address"),
        (22, "this belongs to no card"),
        (23, "the card has no end"),
    ]


@settings(deadline=None, derandomize=True)
@given(st.binary(max_size=400))
def test_any_bytes_give_entries_or_complaints(raw: bytes) -> None:
    list(read_vcards(b"BEGIN:VCARD\n" + raw))
    list(read_csv(b"email,name\n" + raw.replace(b"\xff\xfe", b"")).rows)


@pytest.mark.parametrize("charset", ["Punycode_", "idna-", "Unicode-Escape", "no such"])
def test_a_card_names_no_codec_but_one_of_text(charset: str) -> None:
    """`punycode` takes the square of the text, and Python knows it by many spellings."""
    card = (
        f"BEGIN:VCARD\r\nEMAIL:ann@example.com\r\nFN;CHARSET={charset};ENCODING=QUOTED-PRINTABLE:"
        "a-b =5Cx41 =C4=8D\r\nEND:VCARD\r\n"
    )
    [entry] = read_vcards(card.encode())
    assert isinstance(entry, ContactEntry)
    assert entry.name == "a-b x41 č"
