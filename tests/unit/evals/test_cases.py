"""Every mistake in a file of cases is told with its line and what to write instead."""

import json
from pathlib import Path

import jsonschema
import pytest

from deskhand.config.yaml import read_yaml
from deskhand.errors import ConfigError, ConfigErrors
from deskhand.evals.case_sections import cases_schema
from deskhand.model.principal import PrincipalKind
from deskhand.wiring import desk_cases, find_desk, read_desk
from tests.eval_kit import a_desk

MISTAKES = {
    "cases:\n- id: a\n  message: {body: hi}\n  expect: {statsu: sent}": (
        4,
        "did you mean `status`?",
    ),
    "cases:\n- id: a\n  message: {body: hi}\n  expect: {status: snet}": (4, "did you mean `sent`?"),
    "cases:\n- id: a\n  message: {body: hi}\n  expect:\n    tools:\n    - find_ordr": (
        6,
        "did you mean `find_order`?",
    ),
    "cases:\n- id: a\n  message: {body: hi}\n  expect:\n    verdict: {refnd: hold}": (
        5,
        "did you mean `refund`?",
    ),
    "cases:\n- id: a\n  message: {body: hi}\n  expect:\n    stages: [clasify]": (
        5,
        "did you mean `classify`?",
    ),
    "cases:\n- id: a\n  message: {body: hi}\n  expect: {flow: mian}": (4, "did you mean `main`?"),
    "cases:\n- id: a\n  message: {body: hi}\n  expect: {category: refnd}": (
        4,
        "did you mean `refund`?",
    ),
    "cases:\n- id: a\n  message: {body: hi}\n  expect: {slots: {ordr: P-1}}": (
        4,
        "did you mean `order`?",
    ),
    "cases:\n- id: a\n  message: {body: hi}\n  expect: {score: {polite: true}}": (
        4,
        "no scorer `polite`",
    ),
    "cases:\n- id: a\n  turns: [{customer: hi, given: {tickets: [{id: TKT-7Q2M4XK9, customer_id: C, messages: [hi]}]}, expect: {status: sent}}]": (  # noqa: E501
        3,
        "tickets are given before the first turn",
    ),
    "cases:\n- id: a\n  message: {body: hi}\n  given: {tools: {find: {a: 1}}}\n  expect: {status: sent}": (  # noqa: E501
        4,
        "tool `find`",
    ),
    "cases:\n- id: a\n  message: {body: hi}\n  expect: {reply: {matches: '(a'}}": (4, "RE2"),
    "cases:\n- id: a\n  message: {body: hi}\n  expect: {reply: {}}": (4, "says nothing"),
    "cases:\n- id: a\n  message: {body: hi}\n  expect: {holds: {a: {at_last: 1}}}": (4, "at_least"),
    "cases:\n- id: a\n  message: {body: hi}": (2, "could never fail"),
    "cases:\n- id: a\n  expect: {status: sent}": (2, "says nothing"),
    "cases:\n- id: a\n  message: {body: hi}\n  turns: [{customer: hi}]\n  expect: {status: sent}": (
        2,
        "both",
    ),
    "cases:\n- id: a\n  turns:\n  - {reviewer: approve, expect: {status: sent}}": (
        4,
        "begin with `customer:`",
    ),
    "cases:\n- id: a\n  turns:\n  - customer: hi\n  - {}\n  expect: {status: sent}": (
        5,
        "`customer:` or `reviewer:`",
    ),
    "cases:\n- id: a\n  turns:\n  - customer: hi\n  - reviewer: edit\n  expect: {status: sent}": (
        5,
        "text: ...",
    ),
    "cases:\n- id: a\n  message: samples/none.eml\n  expect: {status: sent}": (3, "none.eml"),
    "cases:\n- id: a\n  message: {body: hi, received_at: soon}\n  expect: {status: sent}": (
        3,
        "datetime",
    ),
    "cases:\n- id: a b\n  message: {body: hi}\n  expect: {status: sent}": (2, "`id` cannot be"),
    "cases:\n- message: {body: hi}\n  expect: {status: sent}": (2, "`id` is missing"),
    "cases: []": (1, "is empty"),
    "case:\n- id: a": (1, "did you mean `cases`?"),
    "cases:\n- id: a\n  message: {body: hi}\n  expect: {status: sent}\n- id: a\n  message: {body: hi}\n  expect: {status: sent}": (  # noqa: E501
        5,
        "already",
    ),
}


@pytest.mark.parametrize("text", MISTAKES)
def test_a_mistake_is_told_with_its_line(text: str, tmp_path: Path) -> None:
    line, words = MISTAKES[text]
    folder = a_desk(tmp_path / "desk", text)
    with pytest.raises(ConfigErrors) as caught:
        desk_cases(read_desk(str(folder)))
    [problem] = caught.value.problems
    assert (problem.file, problem.line) == (folder / "evals.yaml", line)
    assert words in str(problem)


def test_all_mistakes_of_all_files_are_told_at_once(tmp_path: Path) -> None:
    folder = a_desk(
        tmp_path / "desk",
        "cases:\n- id: a\n  message: {body: hi}\n  expect: {statsu: sent, langauge: en}",
    )
    (folder / "evals").mkdir()
    (folder / "evals" / "more.yaml").write_text("cases: 3")
    with pytest.raises(ConfigErrors) as caught:
        desk_cases(read_desk(str(folder)))
    assert len(caught.value.problems) == 3


def test_a_desk_without_cases_is_told_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="deskhand eval add RUN"):
        desk_cases(read_desk(str(a_desk(tmp_path / "desk"))))


def test_cases_without_a_tag_are_the_authors(tmp_path: Path) -> None:
    text = (
        "tags: [slow]\ncases:\n- {id: a, tags: [blind], message: {body: hi}, expect: {status:"
        " sent}}"
    )
    folder = a_desk(
        tmp_path / "desk", "cases:\n- {id: b, message: {body: hi}, expect: {status: sent}}"
    )
    (folder / "evals").mkdir()
    (folder / "evals" / "more.yaml").write_text(text)
    cases, _ = desk_cases(read_desk(str(folder)))
    assert {case.id: case.tags for case in cases} == {"b": ("author",), "a": ("slow", "blind")}


def test_the_sender_of_a_case_is_who_he_would_be_in_a_mailbox(tmp_path: Path) -> None:
    """A trusted forwarder speaks for the customer it names; a mail file is believed as the
    desk's `mail:` says."""
    passed_on = (
        '{from: help@desk.example, authenticated: true, body: "Name: Ann\\nEmail:'
        ' ann@example.com\\n\\nhi"}'
    )
    folder = a_desk(
        tmp_path / "desk",
        f"cases:\n- {{id: a, message: {passed_on}, expect: {{status: sent}}}}\n- {{id: b, message:"
        " {from: bob@example.com, authenticated: true, body: hi}, expect: {status: sent}}\n-"
        " {id: c, message: c.eml, expect: {status: sent}}\n",
    )
    with (folder / "desk.yaml").open("a") as desk:
        desk.write("mail: {trusted_servers: [mx.acme.example], forwarders: [help@desk.example]}\n")
    proof = "Authentication-Results: mx.acme.example; dmarc=pass header.from=example.com"
    (folder / "c.eml").write_text(f"{proof}\nFrom: carla@example.com\n\nHello")
    cases, _ = desk_cases(read_desk(str(folder)))
    principals = [
        case.turns[0].message.principal for case in cases if case.turns[0].message is not None
    ]
    assert [(one.kind, one.address) for one in principals] == [
        (PrincipalKind.FORWARDED, "ann@example.com"),
        (PrincipalKind.SENDER, "bob@example.com"),
        (PrincipalKind.SENDER, "carla@example.com"),
    ]


@pytest.mark.parametrize("name", ["author.yaml", "blind.yaml"])
def test_the_schema_takes_the_shipped_cases(name: str) -> None:
    schema = cases_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(read_yaml(find_desk("sample") / "evals" / name).data, schema)


@pytest.mark.parametrize(
    "text", [text for text in MISTAKES if "statsu" in text or "snet" in text or "a b" in text]
)
def test_the_schema_refuses_what_the_file_alone_shows_to_be_wrong(
    text: str, tmp_path: Path
) -> None:
    (tmp_path / "cases.yaml").write_text(text)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(
            json.loads(json.dumps(read_yaml(tmp_path / "cases.yaml").data)), cases_schema()
        )


def test_at_least_a_third_of_the_sample_desks_cases_is_blind() -> None:
    cases, _ = desk_cases(read_desk("sample"))
    blind = [case for case in cases if "blind" in case.tags]
    assert len(cases) == 30
    assert len(blind) / len(cases) >= 0.3
