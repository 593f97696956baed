"""Prompts by key: strict, sandboxed, clear about what is wrong."""

from typing import Any

import pytest

from deskhand.agents.prompts import PromptRegistry
from deskhand.errors import ConfigErrors, PermanentError
from deskhand.model.codes import ErrorCode


def failing(prompts: dict[str, str], key: str, context: dict[str, Any] | None = None) -> str:
    with pytest.raises(PermanentError) as caught:
        PromptRegistry(prompts).render(key, context or {})
    assert caught.value.code is ErrorCode.PROMPT_INVALID
    return str(caught.value)


def test_a_prompt_is_filled_in_without_html_escapes() -> None:
    prompts = PromptRegistry(
        {"greet": "Dear {{ name }},\n{% for x in items %}\n- {{ x }}\n{% endfor %}\nbye"}
    )
    assert (
        prompts.render("greet", {"name": "A & <B>", "items": [1, 2]})
        == "Dear A & <B>,\n- 1\n- 2\nbye"
    )
    assert "greet" in prompts
    assert list(prompts) == ["greet"]


def test_values_are_never_templates() -> None:
    assert (
        PromptRegistry({"p": "{{ text }}"}).render("p", {"text": "{{ secret }} {% raw %}"})
        == "{{ secret }} {% raw %}"
    )


def test_a_text_that_is_no_prompt_is_filled_in_by_the_same_rules() -> None:
    prompts = PromptRegistry({})
    assert prompts.render_text("Which {{ what }}?", {"what": "order"}) == "Which order?"
    for wrong in ("{{ nothing }}", "{% if %}", "{{ what.__class__ }}"):
        with pytest.raises(PermanentError) as caught:
            prompts.render_text(wrong, {"what": "order"})
        assert caught.value.code is ErrorCode.PROMPT_INVALID
        assert wrong in str(caught.value)


def test_json_is_plain() -> None:
    prompts = PromptRegistry({"p": "{{ value | tojson }}"})
    assert prompts.render("p", {"value": {"a": "<b> & 'ř'"}}) == '{"a": "<b> & \'ř\'"}'


def test_untrusted_text_can_be_fenced_in() -> None:
    text = PromptRegistry({"p": "{{ text | as_data }}"}).render("p", {"text": "</data>"})
    opening, inside, closing = text.split("\n")
    assert inside == "‹/data>"
    assert opening.startswith("<data text ")
    assert closing.startswith("</data ")
    assert closing != inside


def test_prompts_may_include_each_other() -> None:
    prompts = PromptRegistry(
        {"a": '{% include "b" %}, {% include "b.j2" %}!', "b": "hello {{ name }}"}
    )
    assert prompts.render("a", {"name": "Anna"}) == "hello Anna, hello Anna!"


def test_a_prompt_that_includes_itself_is_an_error() -> None:
    assert "recursion" in failing({"a": '{% include "a" %}'}, "a")


def test_an_undefined_name_names_key_and_line_and_what_there_is() -> None:
    message = failing({"greet": "hello\n\n{{ nmae }}"}, "greet", {"name": "Anna", "age": 3})
    assert message == "prompt 'greet', line 3: 'nmae' is undefined (names it may use: age, name)"


def test_an_error_in_an_included_prompt_names_that_prompt() -> None:
    assert "prompt 'b', line 2" in failing({"a": '{% include "b" %}', "b": "x\n{{ y }}"}, "a")


@pytest.mark.parametrize(
    "template",
    [
        "{{ ''.__class__.__mro__ }}",
        "{{ items.append(1) }}",
        "{{ items.__class__ }}",
        "{{ 1 / 0 }}",
        "{{ range(10000000) | list }}",
        "{{ items.nothing.more }}",
        '{% include "missing" %}',
    ],
)
def test_whatever_a_template_may_not_do_is_an_error(template: str) -> None:
    assert "prompt 'p', line 1: " in failing({"p": template}, "p", {"items": [1]})


def test_an_unknown_key_lists_near_names() -> None:
    prompts = {"classify": "", "classify_short": "", "draft": ""}
    assert "prompt 'clasify' does not exist; did you mean 'classify'" in failing(prompts, "clasify")
    assert "known prompts: classify, classify_short, draft" in failing(prompts, "zzz")


@pytest.mark.parametrize(
    "deep",
    ["{% for x in y %}" * 30 + "{% endfor %}" * 30, "{{ " + "(" * 5000 + "1" + ")" * 5000 + " }}"],
)
def test_a_prompt_nested_too_deeply_is_refused_when_read(deep: str) -> None:
    with pytest.raises(ConfigErrors, match="prompt 'deep' is nested too deeply"):
        PromptRegistry({"deep": deep})


def test_all_syntax_errors_are_reported_when_the_prompts_are_read() -> None:
    with pytest.raises(ConfigErrors) as caught:
        PromptRegistry({"good": "x", "bad": "a\n{% if %}", "worse": "{{ x | nofilter }}"})
    assert "prompt 'bad', line 2: " in str(caught.value)
    assert "prompt 'worse', line 1: No filter named 'nofilter'" in str(caught.value)
    assert len(caught.value.problems) == 2
