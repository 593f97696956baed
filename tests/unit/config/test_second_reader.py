"""`outgoing: {second_reader: ROLE}` in desk.yaml, and what is said about mistakes in it."""

import pytest
from jsonschema import Draft202012Validator, ValidationError

from deskhand.errors import ConfigError
from tests.shared_schema import shared_schema
from tests.unit.config.conftest import Load, Refuse

FLOW = """\
desk: d
flows: {main: {stages: {a: {task: draft, next: b}, b: {service: dispatch}}}}
"""
MODELS = "models: {good: p/large, checker: p/small}\n"
READER = "outgoing: {second_reader: checker}\n"


def only(problems: list[ConfigError]) -> ConfigError:
    assert len(problems) == 1, "\n".join(map(str, problems))
    return problems[0]


@pytest.mark.parametrize("brain", ["", "brain: llm\n", "brain: cascade\n"])
def test_a_role_of_the_desk_reads(load: Load, brain: str) -> None:
    assert load(FLOW + MODELS + brain + READER).outgoing.second_reader == "checker"


def test_nobody_reads_where_none_is_named(load: Load) -> None:
    assert load(FLOW + MODELS).outgoing.second_reader is None


def test_a_misspelt_role_is_named_with_the_one_that_was_meant(refuse: Refuse) -> None:
    problem = only(refuse(FLOW + MODELS + "outgoing: {second_reader: cheker}\n"))
    assert "there is no model for the role `cheker`" in str(problem)
    assert "checker" in (problem.fix or "")


def test_an_unknown_role_is_named_with_what_to_write(refuse: Refuse) -> None:
    problem = only(refuse(FLOW + MODELS + "outgoing: {second_reader: somebody_else}\n"))
    assert "there is no model for the role `somebody_else`" in str(problem)
    assert "somebody_else: provider/model" in (problem.fix or "")


def test_a_model_is_no_role(refuse: Refuse) -> None:
    problem = only(refuse(FLOW + MODELS + "outgoing: {second_reader: p/small}\n"))
    assert "there is no model for the role `p/small`" in str(problem)


def test_a_desk_without_models_has_nobody_to_ask(refuse: Refuse) -> None:
    problems = refuse(FLOW + "brain: embedded\n" + READER)
    assert any("there is no model for the role `checker`" in str(problem) for problem in problems)


def test_where_no_model_writes_nobody_reads(refuse: Refuse) -> None:
    problem = only(refuse(FLOW + MODELS + "brain: embedded\n" + READER))
    assert "`second_reader` has no effect" in str(problem)


@pytest.mark.parametrize("written", ["[checker]", "{role: checker}", "3", "true"])
def test_it_is_one_name(refuse: Refuse, written: str) -> None:
    assert refuse(FLOW + MODELS + f"outgoing: {{second_reader: {written}}}\n")


def test_a_misspelt_key_is_named(refuse: Refuse) -> None:
    problem = only(refuse(FLOW + MODELS + "outgoing: {second_readr: checker}\n"))
    assert "second_reader" in str(problem) + (problem.fix or "")


def test_editors_know_it() -> None:
    validator = Draft202012Validator(shared_schema())
    desk = {
        "desk": "d",
        "models": {"checker": "p/small"},
        "flows": {"main": {"stages": {"work": {"service": "dispatch"}}}},
    }
    validator.validate({**desk, "outgoing": {"second_reader": "checker"}})
    with pytest.raises(ValidationError):
        validator.validate({**desk, "outgoing": {"second_reader": ["checker"]}})
    with pytest.raises(ValidationError):
        validator.validate({**desk, "outgoing": {"second_readr": "checker"}})
