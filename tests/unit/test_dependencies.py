"""What Deskhand depends on: within bounds, under licences that we accept, looked over for known
vulnerabilities."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LICENCES = ROOT / "requirements" / "licences.txt"
ACCEPTED = {
    *("MIT", "MIT-0", "Apache-2.0", "BSD", "BSD-2-Clause", "BSD-3-Clause", "0BSD", "ISC", "Zlib"),
    *("PSF-2.0", "CC0-1.0", "MPL-2.0"),
}
EXCEPTIONS = {
    "radicale": "GPL",  # a server that the tests talk to; no part of what is shipped
    "psycopg": "LGPL-3.0-only",  # needed by DBOS (deskhand[scale]); used as it is
    "psycopg-binary": "LGPL-3.0-only",
}


def requirements() -> list[str]:
    """All that pyproject.toml names, and the inputs of the other lock files."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    listed = [*project["project"]["dependencies"], *project["build-system"]["requires"]]
    for several in project["project"]["optional-dependencies"].values():
        listed += several
    for file in sorted((ROOT / "requirements").glob("*.in")):
        lines = file.read_text().splitlines()
        listed += [line for line in lines if line and not line.startswith(("#", "-"))]
    return listed


def test_every_dependency_has_an_upper_bound() -> None:
    named = requirements()
    assert any(written.startswith("litellm[proxy]") for written in named)
    assert [written for written in named if "<" not in written] == []


def test_the_tools_of_the_makefile_are_pinned() -> None:
    """What `make lock`, `make audit` and `make fuzz` install stands in no lock file."""
    text = (ROOT / "Makefile").read_text()
    tools = re.findall(r"^(PIP_TOOLS|PIP_AUDIT|SCHEMATHESIS) := (\S+)$", text, re.MULTILINE)
    assert [name for name, _ in tools] == ["PIP_TOOLS", "PIP_AUDIT", "SCHEMATHESIS"]
    assert [written for _, written in tools if "==" not in written] == []


def test_the_licences_of_all_pinned_packages_are_listed() -> None:
    command = [sys.executable, str(ROOT / "scripts" / "licences.py")]
    found = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert found == LICENCES.read_text(), "run scripts/licences.py > requirements/licences.txt"


def test_all_licences_are_accepted() -> None:
    refused: list[str] = []
    for line in LICENCES.read_text().splitlines():
        package, _, licence = line.partition(": ")
        parts = set(licence.replace(" OR ", " AND ").split(" AND "))
        if not parts <= ACCEPTED and EXCEPTIONS.get(package) != licence:
            refused.append(line)
    assert refused == []


def test_the_page_of_dependencies_says_what_each_is_for() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    runtime = [*project["dependencies"], *extras["scale"], *extras["mcp"], *extras["redis"]]
    names = [re.split(r"[\[<>=]", written)[0] for written in runtime]
    page = (ROOT / "docs" / "dependencies.md").read_text().partition("## What we do ourselves")[0]
    rows = [line for line in page.splitlines() if line.startswith("| `")]
    assert [row.split("`")[1] for row in rows] == names
    for row in rows:
        assert all(cell.strip() for cell in row.strip("|").split("|")), row


def test_a_package_without_a_wheel_is_told(tmp_path: Path) -> None:
    program = tmp_path / "python"
    program.write_text(
        "#!/bin/sh\necho 'ERROR: No matching distribution for fastpart' >&2\nexit 1\n"
    )
    program.chmod(0o755)
    done = subprocess.run(
        [str(ROOT / "scripts" / "wheels.sh"), "lock.txt", "3.12"],
        capture_output=True,
        text=True,
        check=False,
        env={"PYTHON": str(program), "PATH": "/usr/bin:/bin"},
    )
    assert done.returncode == 1
    assert "Python 3.12: ERROR: No matching distribution for fastpart" in done.stderr


@pytest.mark.parametrize(
    ("said", "code", "expected"),
    [
        ("No known vulnerabilities found", 0, 0),
        ("Found 2 known vulnerabilities in 1 package", 1, 1),
        ("yarl  Dependency not found on PyPI and could not be audited: yarl", 0, 2),
        ("ERROR: could not connect to the vulnerability feed", 1, 2),
    ],
)
def test_an_audit_that_could_not_be_made_says_so(
    tmp_path: Path, said: str, code: int, expected: int
) -> None:
    program = tmp_path / "pip-audit"
    program.write_text(f"#!/bin/sh\necho '{said}'\nexit {code}\n")
    program.chmod(0o755)
    command = [str(ROOT / "scripts" / "audit.sh"), str(program), "lock.txt"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == expected
    assert said in done.stdout
    assert ("nothing was checked" in done.stderr) == (expected == 2)
