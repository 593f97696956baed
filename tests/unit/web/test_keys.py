"""Keys that a page shows are keys that its script knows."""

import re
from pathlib import Path

from deskhand.web import console

FOLDER = Path(console.__file__).parent


def test_every_key_of_a_review_does_something() -> None:
    shown = re.findall(
        r'call popup\("\w+", t\("[^"]+"\), "(\w)"',
        (FOLDER / "templates" / "_case.html").read_text(),
    )
    assert len(shown) >= 7
    script = (FOLDER / "static" / "console.js").read_text()
    known = set(re.findall(r"^  (\w): ", script, re.MULTILINE))
    assert set(shown) <= known
