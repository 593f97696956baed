"""`brain:` and `plans:` in desk.yaml: what they become, and what is said about mistakes in them."""

from typing import Any

import pytest

from deskhand.config.sections.brain import EMBEDDED_ALWAYS, LLM_ALWAYS, BrainSpec
from deskhand.errors import ConfigError
from deskhand.model.waiting import AwayRule
from tests.unit.config.conftest import Load, Refuse

STAGES = """\
desk: d
models: {fast: p/m}
slots: {order: {type: order_number, prefix: [P]}}
flows: {main: {stages: {a: {task: classify, categories: [status, other], next: b}, b: {tools: [get_contact]}}}}
"""  # noqa: E501
PLAN = (
    "plans: {status: {needs: [order], ask: {order: Which one?}, steps: [{tool: get_contact,"
    " parameters: {}}]}}\n"
)


def only(problems: list[ConfigError]) -> ConfigError:
    assert len(problems) == 1, "\n".join(map(str, problems))
    return problems[0]


@pytest.mark.parametrize(
    ("written", "spec"),
    [
        ("", {"kind": "llm"}),
        ("brain: llm\n", {"kind": "llm"}),
        ("brain: embedded\n", {"kind": "embedded", "agents": False}),
        ("brain: cascade\n", {"kind": "cascade"}),
        ("brain: {redact: true}\n", {"kind": "llm", "redact": True}),
        (
            "brain: {redact: {order: 'P-[0-9]+'}}\n",
            {"kind": "llm", "redact": True, "patterns": {"order": "P-[0-9]+"}},
        ),
        (
            (
                "brain: {cascade: {classify: 0.9, draft: llm, match: embedded}, signature: Your"
                " shop}\n"
            ),
            {
                "kind": "cascade",
                "thresholds": {"classify": 0.9, "draft": LLM_ALWAYS, "match": EMBEDDED_ALWAYS},
                "signature": "Your shop",
            },
        ),
        (
            "brain: {use: embedded, answer_at: 0.9}\n",
            {"kind": "embedded", "answer_at": 0.9, "agents": False},
        ),
    ],
)
def test_every_way_to_write_a_brain(load: Load, written: str, spec: dict[str, Any]) -> None:
    assert load(STAGES + written).brain == BrainSpec(**spec)


@pytest.mark.parametrize(
    ("written", "rule"),
    [
        ("", AwayRule(wait=900.0, then="person")),
        ("brain: cascade\n", AwayRule(wait=900.0, then="embedded")),
        ("brain: cascade\nmodel_away: {then: person}\n", AwayRule(wait=900.0, then="person")),
        ("model_away: {wait: 2 hours, then: embedded}\n", AwayRule(wait=7200.0, then="embedded")),
        ("model_away: {wait: 0 minutes}\n", AwayRule(wait=0.0, then="person")),
    ],
)
def test_every_way_to_wait_for_a_model(load: Load, written: str, rule: AwayRule) -> None:
    assert load(STAGES + written).model_away == rule


def test_without_models_the_embedded_brain_answers(load: Load) -> None:
    text = STAGES.replace("models: {fast: p/m}\n", "")
    assert load(text).brain == BrainSpec(kind="embedded")
    assert load(text + "brain: {signature: Us}\n").brain == BrainSpec(
        kind="embedded", signature="Us"
    )


@pytest.mark.parametrize(
    ("written", "problem", "fix"),
    [
        ("model_away: {wait: a while}\n", "`wait` cannot be", "minutes"),
        ("model_away: {then: nobody}\n", "`then` cannot be", "person"),
        ("model_away: {}\nbrain: embedded\n", "`model_away` has no effect", "remove"),
        ("brain: {use: cascad}\n", "`use` cannot be", "`cascade`"),
        ("brain: {cascade: {classify: 1.5}}\n", "`classify` cannot be", "less than or equal to 1"),
        ("brain: {cascade: {clasify: 0.5}}\n", "`clasify`", "classify"),
        ("brain: {cascade: {draft: gpt}}\n", "`draft` cannot be", "embedded"),
        ("brain: {use: llm, cascade: {}}\n", "`cascade` has no effect", "remove"),
        ("brain: {use: embedded, redact: true}\n", "`redact` has no effect", "models"),
        ("brain: {redact: {order: 'P-('}}\n", "not an RE2 pattern", "single quotes"),
        ("brain: {redact: {order: 'x*'}}\n", "matches nothing", "`+`"),
        ("brain: {signatur: x}\n", "unknown key `signatur`", "`signature`"),
        (PLAN.replace("status:", "stats:"), "no stage gives the category `stats`", "`status`"),
        (PLAN.replace("[order]", "[ordr]"), "there is no slot `ordr`", "`order`"),
        (PLAN.replace("ask: {order: Which one?}, ", ""), "how to ask for `order`", "add `ask"),
        (
            PLAN.replace("get_contact", "get_contacts"),
            "there is no tool `get_contacts`",
            "`get_contact`",
        ),
        (PLAN.replace("{}}]", '{a: "{slots.mail}"}}]'), "`{slots.mail}`", "add `mail` to `needs`"),
        (PLAN.replace("{}}]", '{a: "{slot.order}"}}]'), "`{slot.order}` leads nowhere", "`slots`"),
        (
            PLAN.replace("{}}]", '{a: "{results.x.y}"}}]'),
            "not made before this one",
            "call `x` first",
        ),
        (
            PLAN.replace("{}}]", '{a: "{wish.when?}"}}]'),
            "nothing that a message says about when",
            "write one of on",
        ),
        (
            PLAN.replace("{}}]", "{}, given: wishes.moment}]"),
            "`{wishes.moment}` leads nowhere",
            "`wish`",
        ),
        (PLAN.replace("Which one?", "[x]"), "`order`", "text"),
    ],
)
def test_one_mistake_gives_one_problem(
    refuse: Refuse, written: str, problem: str, fix: str
) -> None:
    error = only(refuse(STAGES + written))
    assert problem in error.problem
    assert fix in (error.fix or "")
    assert error.line == 5


def test_an_llm_without_a_model_is_a_mistake_and_so_is_a_prompt_without_an_llm(
    refuse: Refuse,
) -> None:
    text = STAGES.replace("models: {fast: p/m}\n", "")
    assert "names no model" in only(refuse(text + "brain: cascade\n")).problem
    alone = text.replace("task: classify, categories: [status, other]", "prompt: reply")
    assert "prompt of its own" in only(refuse(alone)).problem


def test_a_plan_is_compiled_with_its_words_by_language(load: Load) -> None:
    written = PLAN.replace("Which one?", "{en: Which one?, cs: Která?}").replace(
        "steps", "reply: It is here., steps"
    )
    plan = load(STAGES + written).plans["status"]
    assert plan.ask == {"order": {"en": "Which one?", "cs": "Která?"}}
    assert (plan.steps, plan.reply) == ((("get_contact", {}),), {"": "It is here."})
