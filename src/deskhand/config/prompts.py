"""A desk's prompt files, and what is wrong with a template before it is ever rendered."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from deskhand.config.plain_template import is_plain_template
from deskhand.config.yaml import read_text
from deskhand.errors import ConfigError

if TYPE_CHECKING:
    from jinja2.sandbox import SandboxedEnvironment

ENDINGS = (".j2", ".txt", ".md")
_LARGEST_PROMPT = 1_000_000


@dataclass(frozen=True)
class PromptFile:
    key: str
    path: Path
    text: str


def read_prompts(folder: Path) -> tuple[dict[str, PromptFile], list[ConfigError]]:
    """All prompts of a folder by key (the name without its ending), and the problems of those
    that cannot be used."""
    prompts: dict[str, PromptFile] = {}
    problems: list[ConfigError] = []
    paths = sorted(folder.iterdir()) if folder.is_dir() else []
    for path in paths:
        if path.suffix not in ENDINGS or path.name.startswith("."):
            continue
        try:
            prompt = PromptFile(path.stem, path, read_text(path, largest=_LARGEST_PROMPT))
        except ConfigError as error:
            problems.append(error)
            prompt = PromptFile(
                path.stem, path, ""
            )  # it is there: nobody needs to hear that it is missing
        if prompt.key in prompts:
            other = prompts[prompt.key].path.name
            problem = f"the prompt `{prompt.key}` is also in {other}"
            problems.append(ConfigError(problem, file=path, fix="rename or delete one of the two"))
            continue
        prompts[prompt.key] = prompt
        if wrong := template_error(prompt.text):
            line, problem = wrong
            problems.append(
                ConfigError(f"the template is wrong: {problem}", file=path, line=line, fix=_FIX)
            )
    return prompts, problems


_FIX = (
    "close every `{{ }}` and `{% %}`, end every `if` and `for`, or write `{% raw %}` around plain"
    " braces"
)


def template_error(text: str) -> tuple[int, str] | None:
    """The line within a Jinja2 template and what is wrong there."""
    if is_plain_template(text):
        return None
    from jinja2 import TemplateSyntaxError

    try:
        _environment().parse(text)
    except TemplateSyntaxError as error:
        return error.lineno, error.message or "it cannot be understood"
    except RecursionError:
        return 1, "it is nested too deeply"
    return None


def with_included(keys: Iterable[str], prompts: Mapping[str, str]) -> dict[str, str]:
    """The prompts of these keys and everything they include, by key; a computed include may mean
    any prompt."""
    used: dict[str, str] = {}
    waiting = [key for key in keys if key in prompts]
    while waiting:
        key = waiting.pop()
        if key in used:
            continue
        used[key] = prompts[key]
        for name in _included(prompts[key]):
            named = prompts if name is None else (name, Path(name).stem)
            waiting += [other for other in named if other in prompts]
    return used


def _included(text: str) -> Iterable[str | None]:
    """The names of the templates that a template includes, None for one that it computes."""
    if is_plain_template(text):
        return ()
    from jinja2 import meta

    return meta.find_referenced_templates(_environment().parse(text))


@cache
def _environment() -> "SandboxedEnvironment":
    """Imported when a template is not plain: a tenth of the time in which a command starts."""
    from jinja2.sandbox import SandboxedEnvironment

    return SandboxedEnvironment(autoescape=False)  # prompts are text, not HTML
