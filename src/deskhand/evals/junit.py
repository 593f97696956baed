"""An eval's report as JUnit XML, the form that CI servers read."""

from xml.etree import ElementTree as Xml

from deskhand.engine.story import Document
from deskhand.evals.report_words import failed_scores, score_words, without_control


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
            _case(suite, case, report["desk"])
    Xml.indent(root)
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n' + Xml.tostring(root, encoding="unicode") + "\n"
    )


def _case(suite: Xml.Element, case: Document, desk: str) -> None:
    file = without_control(case["file"])
    made = Xml.SubElement(
        suite, "testcase", name=case["id"], classname=desk, file=file, line=str(case["line"])
    )
    failed = failed_scores(case)
    if failed:
        message = without_control(", ".join(failed))
        failure = Xml.SubElement(made, "failure", message=message, type="expectation")
        failure.text = without_control(
            "\n".join(score_words(name, score) for name, score in failed.items())
        )
