"""An eval's report as one HTML page that needs nothing else: no script, no font, no picture from
anywhere."""

from importlib.resources import files

from jinja2 import Environment, StrictUndefined

from deskhand.engine.story import Document
from deskhand.evals.report_words import shown

_PAGE = "report.html.j2"


def html_of(report: Document) -> str:
    """Failed cases first and open; light or dark as the reader's system is."""
    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters["shown"] = shown
    template = environment.from_string(
        (files("deskhand.evals") / _PAGE).read_text(encoding="utf-8")
    )
    cases = sorted(report["cases"], key=lambda case: case["passed"])
    return template.render(report=report, cases=cases)
