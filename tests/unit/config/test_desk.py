"""A desk's folder becomes a DeskSpec."""

from pathlib import Path

import pytest

from deskhand.config.desk import load_desk
from deskhand.config.sections.brain import BrainSpec
from deskhand.config.sections.desk_file import Limits, ModelPrice
from deskhand.errors import ConfigErrors
from deskhand.model.outcome import Outcome
from deskhand.model.spec import RoutingRule
from tests.unit.config.conftest import INBOX, SERVICES, TOOLS, Desk, Load

SMALL = """\
desk: small
flows: {main: {stages: {work: {service: dispatch}}}}
"""


def test_a_full_desk_loads(load: Load, tmp_path: Path) -> None:
    spec = load(INBOX)
    assert (spec.name, spec.folder, spec.languages) == ("acme", tmp_path, ("en", "cs"))
    assert spec.models == {"fast": "gemini/gemini-3.8-flash", "good": "gemini/gemini-4-argon"}
    assert spec.default_flow == "inbox"
    assert spec.prompts["reply"] == "Answer."
    assert spec.limits == Limits(max_message_bytes=25_000_000, max_in_flight=8, max_backlog=10_000)
    gemini, local = spec.providers["gemini"], spec.providers["local"]
    assert (gemini.key_env, gemini.timeout) == ("GEMINI_API_KEY", 30)
    assert gemini.prices == {"gemini-4-argon": ModelPrice(input=1.25, output=10)}
    assert (local.base_url, local.key_file) == (
        "http://localhost:11434/v1",
        tmp_path / "secrets/local",
    )


def test_stages_become_agent_specs(load: Load) -> None:
    stages = load(INBOX).flows["inbox"].stages
    assert [stage.stage_order for stage in stages.values()] == list(range(1, 9))
    classify, retrieve, decide = stages["classify"], stages["retrieve"], stages["decide"]
    assert (classify.has_llm, classify.task, classify.prompt_key) == (True, "classify", None)
    assert classify.choices[-1] == "other"
    assert (classify.output_key, classify.required_output_fields) == (
        "classification",
        ("category", "confidence"),
    )
    assert (retrieve.has_llm, retrieve.has_tools, retrieve.service) == (
        False,
        False,
        "retrieve_context",
    )
    assert retrieve.settings == {"limit": 5}
    assert (decide.temperature, decide.max_tokens, decide.max_visits, decide.attempts) == (
        0,
        500,
        3,
        2,
    )
    assert (decide.timeout, decide.error_next, decide.model_role) == (20, "review", None)
    assert (stages["execute_tools"].has_tools, stages["execute_tools"].loop_to) == (True, "decide")
    assert stages["generate"].tone["else"] == "professional"
    assert stages["review"].settings == {"auto_send_at": 0.8, "always_ask": ["complaint"]}
    assert stages["review"].output_key == "review"


def test_both_forms_of_a_route_become_rules(load: Load) -> None:
    spam, short, ask = load(INBOX).flows["inbox"].stages["classify"].routing_rules
    assert spam == RoutingRule(
        when={"category": "spam", "confidence": {"at_least": 0.95}}, target="end"
    )
    assert short == RoutingRule(when={"needs_clarification": True}, target="clarify")
    assert (ask.outcome, ask.ask) == (Outcome.CLARIFY, "What is this about, {{ message.sender }}?")


def test_the_end_of_a_flow_is_an_absent_next_or_end(load: Load) -> None:
    stages = load(INBOX).flows["inbox"].stages
    assert stages["dispatch"].default_next is None
    assert stages["clarify"].default_next is None


def test_a_brain_stage_may_be_offered_tools(load: Load) -> None:
    text = (
        SMALL.replace("service: dispatch", "task: decide, tools: [get_contact]")
        + "models: {fast: a/b}\n"
    )
    work = load(text).flows["main"].stages["work"]
    assert (work.has_llm, work.has_tools, work.tools) == (True, False, ("get_contact",))


def test_small_desks_need_little(load: Load) -> None:
    spec = load(SMALL)
    assert (spec.default_flow, spec.flows["main"].start, spec.languages) == (
        "main",
        "work",
        ("en",),
    )
    assert (spec.default_model, spec.brain) == (None, BrainSpec(kind="embedded"))


@pytest.mark.parametrize(
    ("models", "expected"),
    [("{a: p/first, b: p/second}", "p/first"), ("{a: p/first, default: p/second}", "p/second")],
)
def test_the_default_model_is_the_one_called_so_else_the_first(
    load: Load, models: str, expected: str
) -> None:
    spec = load(SMALL + f"models: {models}\n")
    assert spec.default_model == expected


def test_a_scripted_brain_is_found_in_the_desks_folder(desk: Desk) -> None:
    folder = desk(SMALL + "brain: {scripted: rules.yaml}\n", {"rules.yaml": "rules: []\n"})
    spec = load_desk(folder, tools=TOOLS, services=SERVICES)
    assert spec.brain == BrainSpec(kind="scripted", file=folder / "rules.yaml")


def test_prompts_of_all_three_endings_are_read_and_other_files_are_not(desk: Desk) -> None:
    folder = desk(
        SMALL,
        {
            "prompts/notes.pdf": b"\xff",
            "prompts/.hidden.txt": b"\xff",
            "prompts/crlf.txt": "a\r\nb",
        },
    )
    prompts = load_desk(folder, services=SERVICES).prompts
    assert set(prompts) == {"decide", "reply", "clarify", "crlf"}
    assert prompts["crlf"] == "a\nb"


# --- the version
# ------------------------------------------------------------------------------------------------------  # noqa: E501


def version(load: Load, text: str) -> str:
    return load(text).flows["inbox"].version


def test_the_version_ignores_formatting_comments_and_the_order_of_keys(load: Load) -> None:
    inline = "      retrieve: {service: retrieve_context, with: {limit: 5}, next: decide}\n"
    block = (
        "      # look it up\n      retrieve:\n        next: decide\n        with:\n          limit:"
        ' 5\n        service: "retrieve_context"\n'
    )
    moved = INBOX.replace(inline, "").replace(
        "      dispatch: {service: dispatch}\n", "      dispatch: {service: dispatch}\n" + block
    )
    assert moved != INBOX
    assert (
        version(load, INBOX) == version(load, INBOX.replace(inline, block)) == version(load, moved)
    )


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("at_least: 0.95", "at_least: 0.9"),
        ("limit: 5", "limit: 6"),
        ("value: true", "value: false"),
        ("start: classify", "start: classify\n    max_hops: 9"),
        ("model: fast", "model: good"),
        ("[get_contact, check_calendar]", "[check_calendar, get_contact]"),
    ],
)
def test_the_version_changes_with_behaviour(load: Load, before: str, after: str) -> None:
    assert before in INBOX
    assert version(load, INBOX) != version(load, INBOX.replace(before, after))


def test_the_version_changes_with_a_prompt_the_flow_uses_and_with_no_other(desk: Desk) -> None:
    def version_with(**prompts: str) -> str:
        folder = desk(INBOX, {f"prompts/{name}.j2": text for name, text in prompts.items()})
        return load_desk(folder, tools=TOOLS, services=SERVICES).flows["inbox"].version

    first = version_with(decide="One.", unused="x")
    assert version_with(decide="One.", unused="y") == first
    assert version_with(decide="Two.", unused="y") != first
    included = version_with(decide="{% include 'part.j2' %}", part="one")
    assert version_with(decide="{% include 'part.j2' %}", part="two") != included


def test_the_version_does_not_depend_on_other_flows_or_models(load: Load) -> None:
    other = INBOX.replace(
        "flows:\n", "default_flow: inbox\nflows:\n  other: {stages: {work: {service: dispatch}}}\n"
    )
    other = other.replace("gemini-3.8-flash", "gemini-4-hydrogen")
    assert version(load, INBOX) == version(load, other)


# --- no desk at all
# ---------------------------------------------------------------------------------------------------  # noqa: E501


def test_a_missing_folder_or_file_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(ConfigErrors, match="no such folder"):
        load_desk(tmp_path / "absent")
    with pytest.raises(ConfigErrors, match=r"there is no desk\.yaml"):
        load_desk(tmp_path)
    (tmp_path / "desk.yml").touch()
    with pytest.raises(ConfigErrors, match=r"rename desk\.yml"):
        load_desk(tmp_path)


def test_a_role_may_name_models_to_fall_back_on(load: Load) -> None:
    listed = INBOX.replace(
        "good: gemini/gemini-4-argon", "good: [gemini/gemini-4-argon, openai/gpt-6-sol]"
    )
    spec = load(listed)
    assert spec.models["good"] == "gemini/gemini-4-argon"
    assert spec.fall_backs == {"gemini/gemini-4-argon": ("openai/gpt-6-sol",)}
    twice = INBOX.replace("good: gemini/gemini-4-argon", "good: [gemini/x, gemini/x]")
    with pytest.raises(ConfigErrors, match="names a model twice"):
        load(twice)
    two = listed.replace("fast: gemini/gemini-3.8-flash", "fast: [gemini/gemini-4-argon, a/b]")
    with pytest.raises(ConfigErrors, match="different fall-backs for `gemini/gemini-4-argon`"):
        load(two)


def test_params_may_not_write_what_deskhand_writes(load: Load) -> None:
    own = INBOX.replace("    timeout: 30\n", "    params: {x: {messages: []}}\n")
    with pytest.raises(ConfigErrors, match="Deskhand writes `messages` itself"):
        load(own)
