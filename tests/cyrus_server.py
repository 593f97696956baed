"""A second real IMAP server for tests: Cyrus on loopback, which keeps its mail unlike Dovecot."""

import contextlib
import grp
import os
import pwd
import shutil
import socket
import struct
import subprocess
import tempfile
import threading
import time
from pathlib import Path

from tests.imap_access import put
from tests.mail_servers import PASSWORD
from tests.servers import NOBODY, free_port
from tests.waiting import PATIENCE

PROGRAMS = Path("/usr/lib/cyrus/bin")
IMAPD = Path("/usr/local/lib/deskhand-tests/cyrus/imapd")
"""Unpacked there by scripts/test-servers.sh: the package and Dovecot's cannot both be installed."""
MISSING = "Cyrus is not there (on Debian as root: scripts/test-servers.sh)"


def has_cyrus() -> bool:
    return IMAPD.exists() and (PROGRAMS / "master").exists()


class Cyrus:
    """A throw-away server; whoever logs in with the password gets a mailbox."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="deskhand-cyrus-"))
        self.port, self.tls_port = free_port(), 0
        uid, gid = (NOBODY, NOBODY) if os.getuid() == 0 else (os.getuid(), os.getgid())
        for name in ("config", "config/db", "config/socket", "config/proc", "config/log", "mail"):
            (self.folder / name).mkdir()
        self._write_configuration(pwd.getpwuid(uid).pw_name, grp.getgrgid(gid).gr_name)
        self._check_passwords()
        self._command = [str(PROGRAMS / "master"), "-C", str(self._settings)]
        self._command += ["-M", str(self.folder / "cyrus.conf"), "-p", str(self.folder / "pid")]
        if os.getuid() == 0:
            for path in (self.folder, *self.folder.rglob("*")):
                os.chown(path, uid, gid)
            drop = ["setpriv", f"--reuid={uid}", f"--regid={gid}", "--clear-groups"]
            self._command = [*drop, *self._command]
        self.start()

    @property
    def _settings(self) -> Path:
        return self.folder / "imapd.conf"

    def start(self) -> None:
        self._process = subprocess.Popen(
            self._command,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # it ends its whole process group with itself: other servers
        )
        deadline = time.monotonic() + PATIENCE
        while True:
            assert self._process.poll() is None, "Cyrus did not start"
            assert time.monotonic() < deadline, "Cyrus does not answer"
            with (
                contextlib.suppress(OSError),
                socket.create_connection(("127.0.0.1", self.port), timeout=5) as line,
            ):
                if line.recv(4) == b"* OK":
                    return
            time.sleep(0.05)

    @property
    def pid(self) -> int:
        return self._process.pid

    def stop(self) -> None:
        """All connections end with it."""
        self._process.terminate()
        self._process.wait(timeout=PATIENCE)

    def remove(self) -> None:
        self.stop()
        self._passwords.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def deliver(self, user: str, raw: bytes) -> None:
        put(self.port, user, raw)

    def _write_configuration(self, user: str, group: str) -> None:
        here = self.folder
        self._settings.write_text(f"""
configdirectory: {here}/config
defaultpartition: default
partition-default: {here}/mail
cyrus_user: {user}
cyrus_group: {group}
altnamespace: yes
unixhierarchysep: yes
virtdomains: userid
defaultdomain: localhost
allowplaintext: yes
sasl_mech_list: PLAIN
sasl_pwcheck_method: saslauthd
sasl_saslauthd_path: {here}/passwords
autocreate_quota: 0
autocreate_inbox_folders: Sent | Drafts
xlist-sent: Sent
xlist-drafts: Drafts
specialusealways: yes
imapidlepoll: 1
""")
        (here / "cyrus.conf").write_text(f"""
START {{
  recover cmd="{PROGRAMS}/ctl_cyrusdb -C {self._settings} -r"
}}
SERVICES {{
  imap cmd="{IMAPD} -C {self._settings}" listen="127.0.0.1:{self.port}" prefork=0 maxchild=100
}}
EVENTS {{
}}
""")

    def _check_passwords(self) -> None:
        """What saslauthd does, for the one password that there is."""
        self._passwords = socket.socket(socket.AF_UNIX)
        self._passwords.bind(str(self.folder / "passwords"))
        self._passwords.listen(50)

        def answer() -> None:
            with contextlib.suppress(OSError):
                while True:
                    asking, _ = self._passwords.accept()
                    with asking, asking.makefile("rb") as words:
                        _, password, *_ = (_word(words.read) for _ in range(4))
                        said = b"OK" if password == PASSWORD.encode() else b"NO"
                        asking.sendall(struct.pack("!H", len(said)) + said)

        threading.Thread(target=answer, daemon=True).start()


def _word(read: object) -> bytes:
    assert callable(read)
    (length,) = struct.unpack("!H", read(2))
    word = read(length)
    assert isinstance(word, bytes)
    return word
