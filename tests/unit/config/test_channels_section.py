"""Channels and modes in desk.yaml: what is read from them, and what is told about mistakes."""

from pathlib import Path
from textwrap import dedent

import pytest

from deskhand.config.desk import DeskSpec, load_desk
from deskhand.errors import ConfigErrors
from deskhand.trust.standing import first_mode
from deskhand.wiring import read_desk

IMAP = "imap: {host: mail.acme.example, user: support@acme.example, password_file: secrets/imap}"
FLOWS = """
flows:
  inbox:
    stages:
      classify: {task: classify, categories: [inquiry, complaint]}
"""


def loaded(folder: Path, text: str) -> DeskSpec:
    (folder / "desk.yaml").write_text("desk: acme\n" + dedent(text) + FLOWS)
    return load_desk(folder)


def problem(folder: Path, text: str) -> str:
    with pytest.raises(ConfigErrors) as raised:
        loaded(folder, text)
    assert len(raised.value.problems) == 1, raised.value
    return str(raised.value)


def test_a_mailbox_as_short_as_it_can_be_written(tmp_path: Path) -> None:
    text = f"""
    channels:
      support:
        {IMAP}
        smtp: {{host: mail.acme.example}}
        identity: Acme Support <support@acme.example>
    """
    channel = loaded(tmp_path, text).channels["support"]
    assert channel.imap is not None
    assert channel.smtp is not None
    assert (channel.imap.port, channel.imap.security, channel.imap.folders) == (
        993,
        "tls",
        ("INBOX",),
    )
    assert (channel.smtp.port, channel.smtp.security, channel.smtp.sent_copy) == (
        587,
        "starttls",
        "self",
    )
    assert channel.imap.login is not None
    assert channel.imap.login.password_file == tmp_path / "secrets" / "imap"
    assert channel.smtp.login == channel.imap.login
    assert (channel.identity.name, channel.identity.address) == (
        "Acme Support",
        "support@acme.example",
    )


def test_servers_that_file_copies_themselves_are_known(tmp_path: Path) -> None:
    text = f"channels: {{a: {{{IMAP}, smtp: {{host: smtp.gmail.com, user: ''}}, identity: a@b.c}}}}"
    smtp = loaded(tmp_path, text).channels["a"].smtp
    assert smtp is not None
    assert (smtp.sent_copy, smtp.login) == ("server", None)


def test_modes_by_category(tmp_path: Path) -> None:
    spec = loaded(tmp_path, "modes: {inquiry: auto, else: shadow}")
    assert [spec.mode_for(one) for one in ("inquiry", "complaint", None)] == [
        "auto",
        "shadow",
        "shadow",
    ]
    assert loaded(tmp_path, "modes: {inquiry: auto}").mode_for("complaint") == "draft"
    assert loaded(tmp_path, "mode: draft").mode_for("inquiry") == "draft"


def test_nothing_leaves_by_itself_unless_desk_yaml_says_so(tmp_path: Path) -> None:
    assert loaded(tmp_path, "").mode_for("inquiry") == "draft"
    assert loaded(tmp_path, "").mode_for(None) == "draft"
    earning = loaded(tmp_path, "trust: {start: draft}")
    assert earning.mode_for("inquiry") == "auto", "the most that it may earn"


@pytest.mark.parametrize("name", ["sample", "inbox", "orders", "pharmacy"])
def test_a_shipped_desk_starts_in_draft(name: str) -> None:
    spec = read_desk(name).spec
    categories = [None, *spec.modes, "other"]
    assert {first_mode(spec.trust, spec.mode_for(category)) for category in categories} == {"draft"}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (f"channels: {{a: {{{IMAP}, identity: a@b.c}}}}", "needs a server that takes the replies"),
        ("channels: {a: {smtp: {host: x}, identity: a@b.c}}", "`smtp` needs `imap` beside it"),
        ("channels: {a: {identity: a@b.c}}", "the channel has no kind"),
        (
            f"channels: {{a: {{{IMAP}, smtp: {{host: x}}}}}}",
            "does not say who its replies are from",
        ),
        (
            f"channels: {{a: {{{IMAP}, smtp: {{host: x}}, identity: Acme}}}}",
            "`identity` holds no mail address",
        ),
        (
            "channels: {a: {imap: {host: x, user: u}, smtp: {host: x}, identity: a@b.c}}",
            "nothing says where the password lies",
        ),
        (
            (
                "channels: {a: {imap: {host: x, user: u, password: geheim}, smtp: {host: x},"
                " identity: a@b.c}}"
            ),
            "unknown key `password`",
        ),
        (
            f"channels: {{a: {{{IMAP}, smtp: {{host: x, security: none}}, identity: a@b.c}}}}",
            "`security: none` would send the password to x",
        ),
        (
            f"channels: {{a: {{{IMAP}, smtp: {{host: x}}, files: mail, identity: a@b.c}}}}",
            "of several kinds: imap, files",
        ),
        ("modes: {inqiry: auto}", "no stage gives the category `inqiry`"),
        ("{mode: auto, modes: {inquiry: auto}}", "`mode` has no effect beside `modes`"),
        ("mode: sometimes", "`mode` cannot be"),
    ],
)
def test_mistakes_are_told_with_their_line(tmp_path: Path, text: str, words: str) -> None:
    if text.startswith("{"):
        text = text[1:-1].replace(", modes", "\nmodes")
    said = problem(tmp_path, text)
    assert words in said
    assert "desk.yaml:" in said
    assert "geheim" not in said
