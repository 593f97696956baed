"""A desk's prompts: Jinja2 templates by key, compiled once."""

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from pathlib import PurePath
from typing import Any

from jinja2 import Template, TemplateSyntaxError

from deskhand.brain.templates import place_of, template_environment
from deskhand.errors import ConfigError, ConfigErrors, PermanentError
from deskhand.model.codes import ErrorCode


class PromptRegistry:
    """Renders prompts in a sandbox, where a name that the context lacks is an error.

    `{% include "other" %}` takes a key or a file name. Beside Jinja's own there are the filters
    `tojson` (plain JSON) and `as_data` (fences untrusted text in).
    """

    def __init__(self, prompts: Mapping[str, str]) -> None:
        self._environment = template_environment(
            lambda name: prompts.get(name, prompts.get(PurePath(name).stem))
        )
        self._templates: dict[str, Template] = {}
        problems = [problem for key in prompts if (problem := self._compile(key)) is not None]
        if problems:
            raise ConfigErrors(problems)

    def __contains__(self, key: object) -> bool:
        return key in self._templates

    def __iter__(self) -> Iterator[str]:
        return iter(self._templates)

    def render(self, key: str, context: Mapping[str, Any]) -> str:
        """PermanentError (`prompt_invalid`) with key and line when the prompt is unknown or
        cannot be rendered."""
        template = self._templates.get(key)
        if template is None:
            raise PermanentError(
                f"prompt {key!r} does not exist; {self._hint(key)}", ErrorCode.PROMPT_INVALID
            )
        try:
            return template.render(context)
        except Exception as error:  # a template can raise whatever the values in it raise
            name, line = place_of(error)
            problem = str(error) or type(error).__name__
        where = f"prompt {name or key!r}" + (f", line {line}" if line is not None else "")
        names = ", ".join(sorted(context)) or "none"
        raise PermanentError(
            f"{where}: {problem} (names it may use: {names})", ErrorCode.PROMPT_INVALID
        )

    def render_text(self, text: str, context: Mapping[str, Any]) -> str:
        """Render a short template written in the flow itself, such as a question."""
        try:
            return self._environment.from_string(text).render(context)
        except Exception as error:
            raise PermanentError(
                f"the text {text[:80]!r}: {error}", ErrorCode.PROMPT_INVALID
            ) from None

    def _compile(self, key: str) -> ConfigError | None:
        try:
            self._templates[key] = self._environment.get_template(key)
        except TemplateSyntaxError as error:
            return ConfigError(
                f"prompt {key!r}, line {error.lineno}: {error.message}",
                fix="correct the Jinja2 template",
            )
        except (
            RecursionError,
            SyntaxError,
        ):  # what Jinja makes of it is more than Python can compile
            return ConfigError(f"prompt {key!r} is nested too deeply", fix="write it flatter")
        return None

    def _hint(self, key: str) -> str:
        near = get_close_matches(key, self._templates, n=3)
        if near:
            return "did you mean " + " or ".join(repr(name) for name in near) + "?"
        return "known prompts: " + (", ".join(sorted(self._templates)) or "none")
