"""Which questions a desk's articles answer, as written in `questions/*.yaml`.

    answers:
      refunds: [How long does a refund take?, When do I get my money back?]
    unanswered: [Do you refund the customs duty?]

The embedded brain answers by itself only what is like a question under an article, and unlike the
unanswered ones, which sound as if an article answered them. `unanswered` may also be a mapping of
the articles that they sound like, which is learned better.
"""

from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from deskhand.config.suggestions import did_you_mean
from deskhand.config.yaml import YamlFile, YamlPlace, read_shared_yaml
from deskhand.errors import ConfigError, ConfigErrors

QUESTIONS_FOLDER = "questions"
_TOP = ("answers", "unanswered")
UNANSWERED = "?"
"""Before the article that a question sounds like, though nothing answers it."""


@dataclass(frozen=True)
class QuestionExamples:
    """Empty when a desk has no such files."""

    labelled: list[tuple[str, str]] = field(default_factory=list)
    """Question and the id of the article that answers it; the id after UNANSWERED where none
    does."""

    @property
    def articles(self) -> set[str]:
        """Those that answer something."""
        return {label for _, label in self.labelled if not label.startswith(UNANSWERED)}


def load_questions(folder: Path, articles: Collection[str] | None = None) -> QuestionExamples:
    """Read a desk's questions; raises one ConfigErrors for everything wrong, with file and line.

    `articles` are the ids that a question may name; None where they are not known.
    """
    questions = QuestionExamples()
    problems: list[ConfigError] = []
    for path in sorted((folder / QUESTIONS_FOLDER).glob("*.yaml")):
        try:
            problems += _read(read_shared_yaml(path), questions, articles)
        except ConfigError as error:
            problems.append(error)
    if problems:
        raise ConfigErrors(problems)
    return questions


def _read(
    source: YamlFile, collected: QuestionExamples, articles: Collection[str] | None
) -> list[ConfigError]:
    problems: list[ConfigError] = []
    for key in source.data:
        if key not in _TOP:
            fix = did_you_mean(key, _TOP, otherwise="remove it")
            problems.append(source.problem((key,), f"unknown key `{key}`", fix))
    for key in _TOP:
        written = source.data.get(key) or {}
        if isinstance(written, list) and key == "unanswered":
            written = {"": written}
        if not isinstance(written, dict):
            fix = "write ids of articles, and below each a list of questions"
            problems.append(source.problem((key,), f"`{key}` is no mapping", fix))
            continue
        for article, texts in written.items():
            place: YamlPlace = (key, article) if article else (key,)
            if article and articles is not None and str(article) not in articles:
                problems.append(_unknown_article(source, place, str(article), articles))
            questions, wrong = _texts(source, place, texts)
            problems += wrong
            label = str(article) if key == "answers" else f"{UNANSWERED}{article}"
            collected.labelled.extend((text, label) for text in questions)
    return problems


def _unknown_article(
    source: YamlFile, place: YamlPlace, article: str, articles: Collection[str]
) -> ConfigError:
    original = article.rpartition(".")[0]
    if original in articles:
        fix = f"write the id of the original: `{original}`"
    else:
        fix = did_you_mean(article, articles, otherwise="name an article, or write one")
    return source.problem(place, f"there is no article `{article}` in knowledge/", fix)


def _texts(source: YamlFile, place: YamlPlace, texts: Any) -> tuple[list[str], list[ConfigError]]:
    if not isinstance(texts, list):
        name = place[-1]
        return [], [source.problem(place, f"`{name}` has no list of questions", "write one")]
    questions: list[str] = []
    problems: list[ConfigError] = []
    for number, text in enumerate(texts):
        if isinstance(text, str) and text.strip():
            questions.append(text)
        else:
            fix = "write it between quotation marks"
            problems.append(source.problem((*place, number), "a question must be text", fix))
    return questions, problems
