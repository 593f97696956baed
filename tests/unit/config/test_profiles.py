"""`agent.profiles` of desk.yaml: what loads as written, what it becomes, and what is told about
what does not."""

from pathlib import Path

import pytest

from deskhand.config.desk import DeskSpec, load_desk
from deskhand.errors import ConfigErrors
from deskhand.model.profile import USUAL_MODEL, ProfileSpec

TOOLS = (
    "search_drugs",
    "manage_reservation",
    "web_search",
    "send_reply",
    "create_draft",
    "escalate",
)

SEED = """\
desk: shop
routing:
  rules:
    - name: pharmacy_support
      match:
        forwarded_from: "info@dostupnost-leku.cz"
      route: agent
      profile: pharmacy
    - name: default
      match:
        all: true
      route: pipeline
agent:
  profiles:
    pharmacy:
      model: gemini/gemini-3.8-flash
      max_tokens: 4096
      temperature: 0.3
      max_iterations: 10
      system_prompt_file: config/prompts/pharmacy.txt
      tools:
        - search_drugs
        - manage_reservation
        - web_search
        - send_reply
        - create_draft
        - escalate
"""
FLOWS = "flows:\n  inbox: {stages: {a: {task: summarise}}}\n"
SHORT = "agent: {profiles: {helper: {system_prompt_file: p.txt, tools: [escalate]}}}\n"


def load(folder: Path, text: str, prompts: dict[str, str] | None = None) -> DeskSpec:
    for name, words in (
        prompts or {"config/prompts/pharmacy.txt": "You work.", "p.txt": "Help {{ nobody }}."}
    ).items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(words)
    (folder / "desk.yaml").write_text(text)
    return load_desk(folder, tools=TOOLS, services={"review", "dispatch"})


def test_profiles_load_as_written_and_become_a_flow_of_their_name(tmp_path: Path) -> None:
    spec = load(tmp_path, SEED + FLOWS)
    assert spec.profiles["pharmacy"] == ProfileSpec(
        name="pharmacy",
        system_prompt="You work.",
        model="gemini/gemini-3.8-flash",
        max_tokens=4096,
        temperature=0.3,
        max_iterations=10,
        tools=TOOLS,
    )
    flow = spec.flows["pharmacy"]
    assert [(stage.name, stage.profile, stage.service) for stage in flow.stages.values()] == [
        ("agent", "pharmacy", None),
        ("review", None, "review"),
        ("dispatch", None, "dispatch"),
    ]
    assert flow.stages["agent"].tools == TOOLS
    assert spec.default_flow == "inbox"


def test_the_defaults_are_those_of_the_document(tmp_path: Path) -> None:
    profile = load(tmp_path, "desk: x\n" + FLOWS + SHORT).profiles["helper"]
    assert (profile.max_tokens, profile.temperature, profile.max_iterations) == (8192, None, 10)
    assert profile.choose_model(None, None, None) == USUAL_MODEL == "gemini/gemini-3.8-flash"


def test_a_desk_may_have_an_agent_and_no_flow(tmp_path: Path) -> None:
    assert load(tmp_path, "desk: x\n" + SHORT).default_flow == "helper"


def test_plain_text_stays_plain_text_and_a_template_is_one(tmp_path: Path) -> None:
    spec = load(tmp_path, "desk: x\n" + FLOWS + SHORT)
    assert not spec.profiles["helper"].is_template
    assert spec.profiles["helper"].system_prompt == "Help {{ nobody }}."
    spec = load(
        tmp_path,
        "desk: x\n" + FLOWS + SHORT.replace("p.txt", "p.j2"),
        {"p.j2": "Help {{ message.subject }}."},
    )
    assert spec.profiles["helper"].is_template
    assert "agent.profiles/helper" in spec.prompts


def test_the_model_goes_by_intent_then_profile_then_role_then_desk() -> None:
    bare = ProfileSpec(name="x", system_prompt="x")
    full = bare.changed(model="b/profile", model_for={"refund": "a/intent"})
    assert full.choose_model("refund", "c/role", "d/desk") == "a/intent"
    assert full.choose_model("other", "c/role", "d/desk") == "b/profile"
    assert bare.choose_model("refund", "c/role", "d/desk") == "c/role"
    assert bare.choose_model(None, None, "d/desk") == "d/desk"


def test_a_changed_prompt_or_setting_is_another_version_of_the_flow(tmp_path: Path) -> None:
    text = "desk: x\n" + FLOWS + SHORT
    first = load(tmp_path, text)
    same = load(tmp_path, text)
    other = load(tmp_path, text, {"p.txt": "Help more."})
    slower = load(
        tmp_path,
        text.replace("tools:", "max_iterations: 3, tools:"),
        {"p.txt": "Help {{ nobody }}."},
    )
    versions = [one.flows["helper"].version for one in (first, same, other, slower)]
    assert versions[0] == versions[1]
    assert len(set(versions)) == 3
    assert {one.flows["inbox"].version for one in (first, other, slower)} == {
        first.flows["inbox"].version
    }


def test_a_flow_may_have_a_stage_that_a_profile_works(tmp_path: Path) -> None:
    flows = (
        "flows:\n  inbox: {stages: {a: {profile: helper, model: fast, next: b}, b: {service:"
        " dispatch}}}\n"
    )
    stage = (
        load(tmp_path, "desk: x\nmodels: {fast: a/b}\n" + flows + SHORT).flows["inbox"].stages["a"]
    )
    assert (stage.profile, stage.tools, stage.model_role, stage.timeout) == (
        "helper",
        ("escalate",),
        "fast",
        600,
    )


@pytest.mark.parametrize(
    ("text", "problem", "fix", "line"),
    [
        (SHORT.replace("p.txt", "q.txt"), "there is no file `q.txt`", "create it", 3),
        (SHORT.replace("p.txt", "empty.txt"), "`empty.txt` is empty", "say in it", 3),
        (SHORT.replace("p.txt", "broken.j2"), "`broken.j2`, line 2", "Jinja2", 3),
        (
            SHORT.replace("[escalate]", "[escalade]"),
            "there is no tool `escalade`",
            "did you mean `escalate`?",
            3,
        ),
        (SHORT.replace("[escalate]", "[]"), "`tools` is empty", "exact names", 3),
        (SHORT.replace(", tools: [escalate]", ""), "`tools` is missing", "write `tools:`", 3),
        (SHORT.replace("tools:", "model: gpt, tools:"), "`model` cannot be", "gemini", 3),
        (
            SHORT.replace("tools:", "max_iterations: 0, tools:"),
            "`max_iterations` cannot be",
            "1 to 100",
            3,
        ),
        (
            SHORT.replace("tools:", "budget: {dollars: 3}, tools:"),
            "unknown key `dollars`",
            "tokens",
            3,
        ),
        (
            SHORT.replace("tools:", "without_model: inbux, tools:"),
            "there is no flow `inbux`",
            "`inbox`",
            3,
        ),
        (
            SHORT.replace("tools:", "without_model: looped, tools:"),
            "cannot stand in",
            "without a `profile:`",
            3,
        ),
        (SHORT.replace("tools:", "name: other, tools:"), "calls itself `other`", "name: helper", 3),
        (
            SHORT
            + "routing: {rules: [{name: a, match: {all: true}, route: agent, profile: helpr}]}\n",
            "there is no profile `helpr`",
            "did you mean `helper`?",
            4,
        ),
    ],
)
def test_a_mistake_is_told_with_its_line(
    tmp_path: Path, text: str, problem: str, fix: str, line: int
) -> None:
    prompts = {"p.txt": "Help.", "empty.txt": " \n", "broken.j2": "Help\n{% if %}"}
    flows = (
        "flows: {inbox: {stages: {a: {task: summarise}}}, looped: {stages: {a: {profile:"
        " helper}}}}\n"
        if "looped" in text
        else "flows: {inbox: {stages: {a: {task: summarise}}}}\n"
    )
    head = "desk: x\n" + flows + ("default_flow: inbox\n" if "looped" in text else "")
    with pytest.raises(ConfigErrors) as caught:
        load(tmp_path, head + text, prompts)
    (told,) = caught.value.problems
    assert problem in told.problem
    assert fix in (told.fix or "")
    assert told.line == line + ("looped" in text)


@pytest.mark.parametrize(
    ("stage", "problem"),
    [
        ("{profile: helpr}", "there is no profile `helpr`"),
        ("{profile: helper, tools: [escalate]}", "both `profile` and `tools`"),
        ("{profile: helper, task: summarise}", "both `profile` and `task`"),
        ("{profile: helper, temperature: 0.5}", "`temperature` has no effect here"),
    ],
)
def test_a_stage_says_what_is_wrong_with_its_profile(
    tmp_path: Path, stage: str, problem: str
) -> None:
    with pytest.raises(ConfigErrors) as caught:
        load(tmp_path, f"desk: x\nflows: {{inbox: {{stages: {{a: {stage}}}}}}}\n" + SHORT)
    assert [problem in told.problem for told in caught.value.problems] == [True]
