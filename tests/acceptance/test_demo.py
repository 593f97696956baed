"""`deskhand demo` as a newcomer meets it: mail comes in, a page to log in to, a reply that
leaves."""

import html
import json
import queue
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from tests.waiting import PATIENCE

DESKHAND = [sys.executable, "-m", "deskhand.cli", "demo"]


@pytest.mark.slow
def test_the_sample_mails_are_worked_and_the_records_hold(tmp_path: Path) -> None:
    command = [*DESKHAND, "--json", "--mails", "8", "--folder", str(tmp_path / "demo")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    slow = (  # said of a source that a busy machine did not let answer
        "could not be asked: no answer within"
    )
    assert (done.returncode, [line for line in done.stderr.splitlines() if slow not in line]) == (
        0,
        [],
    )
    told = json.loads(done.stdout)
    assert told["audit"]["ok"] is True
    assert [run["desk"] for run in told["runs"]] == ["inbox"] * 6 + ["pharmacy"] * 2
    assert {run["status"] for run in told["runs"] if run["desk"] == "inbox"} <= {
        "waiting_review",
        "needs_review",
    }
    assert [run["status"] for run in told["runs"] if run["desk"] == "pharmacy"] == ["sent", "sent"]
    assert len(told["sent"]) == 2
    assert all(Path(path).is_file() for path in told["sent"])


class Demo:
    """A demo that runs, and what it has said so far."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self.process, self.said = process, ""
        self._lines: queue.Queue[str] = queue.Queue()
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._lines.put(line)

    def until(self, pattern: str) -> "re.Match[str]":
        deadline = time.monotonic() + PATIENCE
        while not (found := re.search(pattern, self.said)):
            try:
                self.said += self._lines.get(timeout=max(0.0, deadline - time.monotonic()))
            except queue.Empty:
                raise AssertionError(f"the demo never said {pattern!r}:\n{self.said}") from None
        return found


@contextmanager
def running(folder: Path) -> Iterator[Demo]:
    command = [*DESKHAND, "--folder", str(folder), "--port", "0", "--pace", "0", "--mails", "2"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        try:
            yield Demo(process)
        finally:
            process.kill()


@pytest.mark.slow
def test_a_reply_approved_on_the_page_leaves_into_the_outbox(tmp_path: Path) -> None:
    with running(tmp_path) as demo:
        home = demo.until(r"(http://127\.0\.0\.1:\d+)/approvals/")[1]
        password = demo.until(r"log in as demo with (\S+)")[1]
        demo.until("have no sure answer")
        assert "\033[" not in demo.said
        with httpx.Client(base_url=home, headers={"Origin": home}, timeout=60) as browser:
            to = {"name": "demo", "password": password, "to": "/approvals/"}
            assert browser.post("/login", data=to).status_code == 303
            listed = browser.get("/approvals/").text
            review = re.search(r'href="(/approvals/inbox/rev_\w+)"', listed)
            assert review is not None, listed
            page = browser.get(review[1]).text
            form = {
                name: re.search(rf'name="{name}" value="([^"]+)"', page)
                for name in ("csrf", "version", "hash")
            }
            fields = {name: found[1] for name, found in form.items() if found}
            draft = re.search(r'<textarea name="text"[^>]*>\n(.*?)</textarea>', page, re.DOTALL)
            recipient = re.search(r'<input name="to"[^>]* value="([^"]+)"', page)
            assert draft is not None, page
            assert recipient is not None, page
            fields["to"] = html.unescape(recipient[1])
            fields["text"] = html.unescape(draft[1]).replace("{answer}", "It is €12,400.")
            assert browser.post(f"{review[1]}/approve", data=fields).status_code == 303
        demo.until(r"inbox\s+sent ")
        assert len(list((tmp_path / "outbox" / "inbox").glob("*.eml"))) == 1
        demo.process.send_signal(signal.SIGINT)
        demo.until("init my-desk --from inbox")
        assert demo.process.wait(timeout=PATIENCE) == 0
        printed = re.findall(r"^  (export .+?|\S+ -m deskhand\.cli .+?)  ", demo.said, re.MULTILINE)
        assert len(printed) == 4
        script = "set -e\n" + "\n".join(printed)
        done = subprocess.run(
            ["sh", "-c", script], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert (done.returncode, done.stderr) == (0, "")
        assert "waiting_review" in done.stdout
        assert (tmp_path / "my-desk" / "desk.yaml").is_file()
