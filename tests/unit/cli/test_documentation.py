"""What README.md and the guide show can be typed as it stands."""

import re
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from ruamel.yaml import YAML

from deskhand.evals.case_sections import cases_schema
from tests.cli_kit import Cli
from tests.shared_schema import shared_schema

ROOT = Path(__file__).parents[3]
GUIDE = sorted(str(page.relative_to(ROOT)) for page in (ROOT / "docs/guide").glob("*.md"))
PAGES = sorted(
    str(page.relative_to(ROOT)) for page in (*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"))
)


def blocks(file: str, language: str) -> list[Any]:
    text = (ROOT / file).read_text(encoding="utf-8")
    found = re.finditer(rf"^```{language}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    return [
        pytest.param(one[1], id=f"{file}:{text.count(chr(10), 0, one.start()) + 2}")
        for one in found
    ]


def read(text: str) -> dict[str, Any]:
    yaml = YAML(typ="safe")
    yaml.allow_duplicate_keys = True  # a block may show several ways to write the same key
    found = yaml.load(text)
    assert isinstance(found, dict)
    return found


@cache
def section_validator() -> Any:
    """For a part of a desk.yaml: a section alone is no desk."""
    return jsonschema.Draft202012Validator({**shared_schema(), "required": [], "anyOf": [{}]})


@pytest.mark.parametrize(
    "text",
    [block for page in ("README.md", "docs/tutorial.md", *GUIDE) for block in blocks(page, "yaml")],
)
def test_every_section_of_a_desk_that_is_shown_fits_the_schema(text: str) -> None:
    shown = read(text)
    if "cases" in shown:
        jsonschema.validate(shown, cases_schema())
        return
    validator = section_validator()
    known = {key: value for key, value in shown.items() if key in validator.schema["properties"]}
    validator.validate(known)


@pytest.mark.parametrize("page", PAGES)
def test_every_link_of_a_page_leads_to_a_page_and_a_heading_that_exist(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if "://" in target:
            continue
        file, _, heading = target.partition("#")
        linked = (ROOT / page).parent / file if file else ROOT / page
        assert linked.exists(), target
        assert not heading or heading in headings(linked), target


def headings(page: Path) -> set[str]:
    """The anchors that a Markdown renderer gives the headings of a page."""
    titles = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles}


def test_the_desk_of_the_readme_loads_and_works(cli: Cli, tmp_path: Path) -> None:
    folder = tmp_path / "shown"
    folder.mkdir()
    (desk, *_), (tools, *_) = blocks("README.md", "yaml"), blocks("README.md", "python")
    folder.joinpath("desk.yaml").write_text(str(desk.values[0]), encoding="utf-8")
    folder.joinpath("tools.py").write_text(str(tools.values[0]), encoding="utf-8")
    said = cli("flow", "show", "shown", "--json")
    assert (said.code, said.err) == (0, "")
