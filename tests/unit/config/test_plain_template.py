"""What is taken for a plain template is one that Jinja2 reads, and includes no other."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jinja2 import TemplateSyntaxError, meta
from jinja2.sandbox import SandboxedEnvironment

from deskhand.config.plain_template import is_plain_template

DESKS = Path(__file__).parents[3] / "src" / "deskhand" / "desks"
PIECES = (
    "{{", "}}", "{%", "%}", "{#", "#}", "{", "}", "%", "-", " ", "\n", ".", "|", ",", "(", ")",
    "'", '"', "\\", "a", "outputs.act", "tojson", "0.5", "if", "else", "elif", "endif", "is", "not",
    "and", "in", "defined", "include", "raw", "for", "none", "{{ a }}", "{% if a %}", "{% endif %}",
    "{% else %}", "{{ a.b | f('x', b) }}", "{% if a.b is not defined %}", "words",
)  # fmt: skip


@pytest.mark.parametrize(
    "text",
    [
        "",
        "no marks, { or }} either",
        "{{ tone }} and {{outputs.order.number}}",
        "{{ found | rejectattr('source', \"equalto\") | list | tojson | as_data('context') }}",
        "{{ '%.2f' | format(confidence) }}",
        "{% if a is defined %}{% if not_b %}x{% else %}y{% endif %}{% endif %}",
    ],
)
def test_everyday_templates_are_plain(text: str) -> None:
    assert is_plain_template(text)


@pytest.mark.parametrize("path", sorted(DESKS.glob("*/prompts/*")), ids=lambda path: path.name)
def test_the_prompts_of_shipped_desks_are_plain(path: Path) -> None:
    assert is_plain_template(path.read_text())


@pytest.mark.parametrize(
    "text",
    [
        "{% include 'other' %}",
        "{{{ a }}",
        "{{ a",
        "{{ a. }}",
        "{{ not }}",
        "{{ a | }}",
        "{# a note",
        "{% if a %}",
        "{% endif %}",
        "{% else %}",
        "{% if a %}{% else %}{% else %}{% endif %}",
        "{% raw %}{{{% endraw %}",
        "{% if a %}" * 500 + "{% endif %}" * 500,
    ],
)
def test_the_rest_is_left_to_jinja(text: str) -> None:
    assert not is_plain_template(text)


@given(st.lists(st.sampled_from(PIECES), max_size=12).map("".join))
def test_a_plain_template_is_right_and_includes_nothing(text: str) -> None:
    if not is_plain_template(text):
        return
    try:
        tree = SandboxedEnvironment().parse(text)
    except TemplateSyntaxError as error:
        raise AssertionError(text) from error
    assert list(meta.find_referenced_templates(tree)) == []
