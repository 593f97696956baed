"""Print the licence of each package in requirements/lock.txt, as the installed packages say."""

import re
from importlib.metadata import metadata
from pathlib import Path

LOCK = Path(__file__).parents[1] / "requirements" / "lock.txt"
_PIN = re.compile(r"^([A-Za-z0-9._-]+)==", re.M)
_SPELT_ALIKE = {
    "Apache Software License": "Apache-2.0",
    "MIT License": "MIT",
    "DFSG approved OR MIT": "MIT",
    "BSD License": "BSD",
    "3-Clause BSD License": "BSD-3-Clause",
    "ISC License (ISCL)": "ISC",
    "Python Software Foundation License": "PSF-2.0",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
    "GNU General Public License (GPL)": "GPL",
}
_AS_FILED = {
    "imapclient": "BSD-3-Clause",  # the text of its COPYING; its metadata names none
}


def licence_of(package: str) -> str:
    """The licence as an SPDX expression where the package gives one, else as it is written."""
    described = metadata(package)
    classifiers = described.get_all("Classifier") or []
    named = [line.rpartition(" :: ")[2] for line in classifiers if line.startswith("License ::")]
    spelt_alike = [_SPELT_ALIKE.get(name, name) for name in named]
    written = described.get("License-Expression") or " OR ".join(spelt_alike)
    written = written or (described.get("License") or "unknown").splitlines()[0]
    if written == "unknown":
        written = _AS_FILED.get(package, written)
    return _SPELT_ALIKE.get(written, written)


def main() -> None:
    for package in _PIN.findall(LOCK.read_text(encoding="utf-8")):
        print(f"{package}: {licence_of(package)}")


if __name__ == "__main__":
    main()
