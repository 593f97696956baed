"""A desk's files of intents: what stands in them beside the examples."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from deskhand.config.parse import parse_as
from deskhand.config.sections.intents import (
    CLARIFY_AT_MOST,
    EXAMPLE_KEYS,
    OUT_OF_SCOPE,
    ErrorTexts,
    FailureQuestionSection,
    IntentSection,
    IntentsFile,
    IntentSpec,
)
from deskhand.config.sections.reply_text import ReplyText, TextsByName
from deskhand.config.yaml import YamlFile, YamlPlace, read_shared_yaml
from deskhand.errors import ConfigError

INTENTS_FILE, INTENTS_FOLDER = "intents.yaml", "intents"


class ReadIntents(NamedTuple):
    """One file, as far as it could be read."""

    source: YamlFile
    section: IntentsFile
    damaged: frozenset[YamlPlace] = frozenset()

    @property
    def path(self) -> Path:
        return self.source.path


def read_intent_files(folder: Path) -> tuple[list[ReadIntents], list[ConfigError]]:
    """The YAML files of intents, and what is wrong with each in itself.

    Files that are no YAML at all are left to whoever learns from them, and so are examples.
    """
    files: list[ReadIntents] = []
    problems: list[ConfigError] = []
    for path in _paths(folder):
        try:
            source = _without_examples(read_shared_yaml(path))
        except ConfigError:
            continue
        parsed = parse_as(IntentsFile, source)
        problems += parsed.problems
        section = parsed.read or IntentsFile.model_validate({})
        files.append(ReadIntents(source, section, parsed.damaged))
    return files, problems


def compiled_intents(files: Sequence[ReadIntents], texts: TextsByName) -> dict[str, IntentSpec]:
    """The intents by name, with their texts."""
    intents: dict[str, IntentSpec] = {}
    at_most = clarify_at_most(files)
    errors: ErrorTexts = {}
    labels: dict[str, ReplyText] = {}
    questions: dict[str, FailureQuestionSection] = {}
    for file in files:
        errors |= file.section.errors
        labels |= file.section.labels
        questions |= file.section.failure_questions
    for file in files:
        for name, section in file.section.intents.items():
            if name in intents and section == IntentSection.model_construct():
                continue  # more examples of it
            intents[name] = section.compile(name, at_most, texts, errors, labels, questions)
    return intents


def tiers_in(files: Sequence[ReadIntents]) -> tuple[str, ...]:
    """The customers' tiers, the lowest first; none where no file lists them."""
    return tuple(next((file.section.tiers for file in files if file.section.tiers), ()))


def clarify_at_most(files: Sequence[ReadIntents]) -> int:
    """How often a customer is asked for the same thing where an intent does not say."""
    written = [
        file.section.clarify_at_most
        for file in files
        if "clarify_at_most" in file.section.model_fields_set
    ]
    return min(written, default=CLARIFY_AT_MOST)


def _paths(folder: Path) -> Iterator[Path]:
    own = folder / INTENTS_FILE
    if own.is_file():
        yield own
    yield from sorted((folder / INTENTS_FOLDER).glob("*.yaml"))


def _without_examples(source: YamlFile) -> YamlFile:
    data: dict[str, Any] = {key: value for key, value in source.data.items() if key != OUT_OF_SCOPE}
    intents = data.get("intents")
    if isinstance(intents, Mapping):
        data["intents"] = {name: _bare(intent) for name, intent in intents.items()}
    return YamlFile(source.path, data, source.lines)


def _bare(intent: Any) -> Any:
    """An intent without its examples; the short form has nothing else."""
    if isinstance(intent, list):
        return {}
    if not isinstance(intent, Mapping):
        return {}  # whoever learns from it says what is wrong
    return {key: value for key, value in intent.items() if key not in EXAMPLE_KEYS}
