"""`routing` and `mail` of desk.yaml: what loads, and what is told about what does not."""

from pathlib import Path

import pytest

from deskhand.config.desk import load_desk
from deskhand.errors import ConfigErrors

DESK = "desk: shop\nflows:\n  inbox: {stages: {a: {task: summarise}}}\n"


def load(tmp_path: Path, text: str) -> object:
    (tmp_path / "desk.yaml").write_text(DESK + text)
    return load_desk(tmp_path)


def rule(match: str, more: str = "") -> str:
    return f"routing:\n  rules:\n    - name: one\n      match: {match}\n{more}"


@pytest.mark.parametrize(
    ("text", "problem", "line"),
    [
        (rule("{all: true}", "      route: agent\n"), "goes to an agent without saying which", 6),
        (
            rule("{all: true}", "      route: agent\n      profile: x\n"),
            "there is no profile `x`",
            9,
        ),
        (rule("{all: true}", "      profile: inbox\n"), "`profile` has no effect", 8),
        (rule("{all: true}", "      flow: inbux\n"), "there is no flow `inbux`", 8),
        (rule("{all: false}"), "`all` can only be true", 7),
        (rule("{sender_email: ann}"), "`ann` is no address", 7),
        (rule("{sender_domain: '@x.cz'}"), "a domain has no @", 7),
        (rule("{header_match: {X-A: 'a(?=b)'}}"), "the pattern of `X-A` is none", 7),
        (rule("{any: [{header_match: {X-A: '('}}]}"), "the pattern of `X-A` is none", 7),
        (rule("{channel: suport}"), "there is no channel `suport`", 7),
        (rule("{intent: refund}"), "the desk has learned no intents", 7),
        (rule("{sender: a@x.cz}"), "unknown key `sender`", 7),
        (
            rule("{all: true}", "    - name: one\n      match: {all: true}\n"),
            "there are two rules `one`",
            8,
        ),
        ("mail: {forwarders: [crisp]}\n", "`crisp` is no address", 4),
    ],
)
def test_a_mistake_is_told_with_its_line(
    tmp_path: Path, text: str, problem: str, line: int
) -> None:
    with pytest.raises(ConfigErrors) as caught:
        load(tmp_path, text)
    (told,) = caught.value.problems
    assert problem in told.problem
    assert told.line == line
    assert told.fix


def test_an_empty_match_loads(tmp_path: Path) -> None:
    load(tmp_path, rule("{}"))


def test_trust_loads(tmp_path: Path) -> None:
    load(
        tmp_path, "mail: {trusted_servers: [mx.example.com], forwarders: [notify@crisp.example]}\n"
    )


AGENT_ONLY = """\
desk: shop
agent:
  profiles:
    helper: {system_prompt_file: p.txt, tools: [escalate], model: p/m}
routing:
  rules:
    - name: one
      match: {all: true}
"""
BOTH = AGENT_ONLY.replace(
    "agent:\n", "flows: {inbox: {stages: {a: {task: summarise}}}}\nagent:\n", 1
)


def load_agent(tmp_path: Path, text: str) -> object:
    (tmp_path / "p.txt").write_text("You help.")
    (tmp_path / "desk.yaml").write_text(text)
    return load_desk(tmp_path, tools={"escalate"})


@pytest.mark.parametrize(
    ("text", "problem", "fix", "line"),
    [
        (
            AGENT_ONLY + "      route: pipeline\n",
            "rule `one` says pipeline without a flow, and the default is the agent `helper`",
            "write `route: agent` and `profile: helper`, or a flow under `flows:`",
            9,
        ),
        (AGENT_ONLY, "rule `one` says pipeline without a flow", "`profile: helper`", 7),
        (
            BOTH + "      route: pipeline\ndefault_flow: helper\n",
            "and the default is the agent `helper`",
            "or `flow: inbox`",
            10,
        ),
        (
            BOTH + "      flow: helper\n",
            "rule `one` says pipeline, and `helper` is an agent",
            "or `flow: inbox`",
            10,
        ),
    ],
)
def test_a_rule_for_a_flow_that_would_go_to_an_agent_is_told(
    tmp_path: Path, text: str, problem: str, fix: str, line: int
) -> None:
    with pytest.raises(ConfigErrors) as caught:
        load_agent(tmp_path, text)
    (told,) = caught.value.problems
    assert problem in told.problem
    assert fix in (told.fix or "")
    assert (told.file, told.line) == (tmp_path / "desk.yaml", line)


@pytest.mark.parametrize(
    "text",
    [
        BOTH + "      route: pipeline\n",
        BOTH + "      flow: inbox\ndefault_flow: helper\n",
        AGENT_ONLY + "      route: agent\n      profile: helper\n",
        AGENT_ONLY.partition("routing:")[0],
    ],
)
def test_a_rule_that_says_where_it_goes_loads(tmp_path: Path, text: str) -> None:
    load_agent(tmp_path, text)
