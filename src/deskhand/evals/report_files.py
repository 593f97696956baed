"""An eval's report as a file for others to read: JUnit XML for CI servers, HTML for people."""

import re
from importlib.resources import files
from xml.etree import ElementTree as Xml

from deskhand.engine.story import Document
from deskhand.evals.outcomes import IN_WORDS
from deskhand.evals.report import failed_scores, score_in_words, value_in_words

_PAGE = "report.html.j2"
_NOT_IN_XML = re.compile("[^\\t\\n\\r\\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_XML_DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>\n'


def junit_of(report: Document) -> str:
    """One suite a split; a case with several tags stands in the suite of its first."""
    root = Xml.Element(
        "testsuites", name=f"deskhand eval {report['desk']}", tests=str(report["total"])
    )
    root.set("failures", str(report["failed"]))
    for tag in dict.fromkeys(case["tags"][0] for case in report["cases"]):
        cases = [case for case in report["cases"] if case["tags"][0] == tag]
        failed = sum(not case["passed"] for case in cases)
        suite = Xml.SubElement(
            root, "testsuite", name=tag, tests=str(len(cases)), failures=str(failed), errors="0"
        )
        for case in cases:
            _add_case(suite, case, report["desk"])
    Xml.indent(root)
    return f"{_XML_DECLARATION}{Xml.tostring(root, encoding='unicode')}\n"


def _add_case(suite: Xml.Element, case: Document, desk: str) -> None:
    file = _for_xml(case["file"])
    element = Xml.SubElement(
        suite, "testcase", name=case["id"], classname=desk, file=file, line=str(case["line"])
    )
    failed = failed_scores(case)
    if failed:
        message = _for_xml(", ".join(failed))
        lines = [score_in_words(name, score) for name, score in failed.items()]
        failure = Xml.SubElement(element, "failure", message=message, type="expectation")
        failure.text = _for_xml("\n".join(lines))


def _for_xml(text: str) -> str:
    """The text without characters that XML cannot hold."""
    return _NOT_IN_XML.sub("\N{REPLACEMENT CHARACTER}", text)


def html_of(report: Document) -> str:
    """One page that loads nothing else: no script, no font, no picture. Failed cases come first."""
    from jinja2 import Environment, StrictUndefined

    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters["shown"] = value_in_words
    page = (files("deskhand.evals") / _PAGE).read_text(encoding="utf-8")
    cases = sorted(report["cases"], key=lambda case: case["passed"])
    return environment.from_string(page).render(report=report, cases=cases, outcome_words=IN_WORDS)
