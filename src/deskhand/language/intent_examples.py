"""A desk's intents as written: `intents.yaml`, and `intents/*.yaml` and `*.csv` for those who have
many.

    intents:
      order_status:
        description: Where a parcel is and when it comes
        examples: [Where is my parcel?, Kde je můj balík?]
    out_of_scope: [What is the capital of France?]

A CSV file has the columns `text` and `label`; a row without a label is out of scope.
"""

import csv
import io
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from deskhand.config.sections.intents import (
    EXAMPLE_KEYS,
    OUT_OF_SCOPE,
    IntentSection,
    IntentsFile,
)
from deskhand.config.suggestions import did_you_mean
from deskhand.config.yaml import YamlFile, YamlPlace, read_shared_yaml, read_text
from deskhand.errors import ConfigError, ConfigErrors

_FILE, _FOLDER = "intents.yaml", "intents"
_TOP = (*IntentsFile.model_fields, OUT_OF_SCOPE)
_KEYS = (*EXAMPLE_KEYS, *IntentSection.model_fields)
_LARGEST_CSV = 100_000_000


@dataclass(frozen=True)
class IntentExamples:
    """What IntentModel.fit takes. Empty when a desk declares no intents."""

    examples: list[tuple[str, str]] = field(default_factory=list)
    descriptions: dict[str, str] = field(default_factory=dict)
    out_of_scope: list[str] = field(default_factory=list)

    @property
    def labels(self) -> list[str]:
        return sorted({label for _, label in self.examples} | set(self.descriptions))

    def __bool__(self) -> bool:
        return bool(self.examples or self.descriptions)


def load_intents(folder: Path) -> IntentExamples:
    """Read a desk's intents; raises one ConfigErrors for everything wrong, with file and line."""
    examples = IntentExamples()
    problems: list[ConfigError] = []
    for path in intent_files(folder):
        try:
            if path.suffix == ".csv":
                problems += _read_csv(path, examples)
            else:
                problems += _read_yaml(path, examples)
        except ConfigError as error:
            problems.append(error)
    if problems:
        raise ConfigErrors(problems)
    return examples


def read_questions(path: Path) -> list[tuple[str, str | None]]:
    """Questions to test with, from a CSV file as above; None for those out of scope."""
    collected = IntentExamples()
    if problems := _read_csv(path, collected):
        raise ConfigErrors(problems)
    return [*collected.examples, *((text, None) for text in collected.out_of_scope)]


def intent_files(folder: Path) -> list[Path]:
    parts = folder / _FOLDER
    entries = parts.iterdir() if parts.is_dir() else ()
    inside = sorted(path for path in entries if path.suffix in (".yaml", ".csv"))
    own = folder / _FILE
    return [own, *inside] if own.is_file() else inside


def _read_yaml(path: Path, collected: IntentExamples) -> list[ConfigError]:
    source = read_shared_yaml(path)
    problems = [
        source.problem(
            (key,), f"unknown key `{key}`", did_you_mean(key, _TOP, otherwise="remove it")
        )
        for key in source.data
        if key not in _TOP
    ]
    intents = source.data.get("intents", {})
    if not isinstance(intents, dict):
        return [
            *problems,
            source.problem(
                ("intents",), "`intents` is no mapping", "write `intents:` and below it names"
            ),
        ]
    for name, intent in intents.items():
        problems += _read_intent(source, name, intent, collected)
    texts, wrong = _texts(source, ("out_of_scope",), source.data.get("out_of_scope", []))
    collected.out_of_scope.extend(texts)
    return problems + wrong


def _read_intent(
    source: YamlFile, name: str, intent: Any, collected: IntentExamples
) -> list[ConfigError]:
    place: YamlPlace = ("intents", name)
    if not name.strip():
        return [source.problem(place, "an intent has no name", "write a name, as `order_status:`")]
    if isinstance(intent, list):  # the short form: nothing but examples
        texts, problems = _texts(source, place, intent)
        collected.examples.extend((text, name) for text in texts)
        return problems
    if not isinstance(intent, dict):
        return [
            source.problem(
                place, f"intent `{name}` holds nothing", "give it `examples:`, or a `description:`"
            )
        ]
    problems = [
        source.problem(
            (*place, key), f"unknown key `{key}`", did_you_mean(key, _KEYS, otherwise="remove it")
        )
        for key in intent
        if key not in _KEYS
    ]
    description = intent.get("description")
    if isinstance(description, str) and description.strip():
        collected.descriptions[name] = description
    elif "description" in intent:
        problems.append(
            source.problem((*place, "description"), "a description is a text", "write a sentence")
        )
    texts, wrong = _texts(source, (*place, "examples"), intent.get("examples", []))
    collected.examples.extend((text, name) for text in texts)
    if not texts and name not in collected.descriptions and not problems and not wrong:
        fix = "give it `examples:`, or a `description:`"
        problems.append(
            source.problem(place, f"intent `{name}` has neither examples nor a description", fix)
        )
    return problems + wrong


def _texts(source: YamlFile, place: YamlPlace, value: Any) -> tuple[list[str], list[ConfigError]]:
    if not isinstance(value, list):
        return [], [
            source.problem(
                place,
                f"`{place[-1]}` is no list of texts",
                "write one text a line, each after `- `",
            )
        ]
    good = [item for item in value if isinstance(item, str) and item.strip()]
    problems = [
        source.problem(
            (*place, index),
            f"this example is not a text: {item!r}",
            "put it in quotes, or remove it",
        )
        for index, item in enumerate(value)
        if not isinstance(item, str) or not item.strip()
    ]
    return good, problems


def _read_csv(path: Path, collected: IntentExamples) -> list[ConfigError]:
    rows = csv.DictReader(io.StringIO(read_text(path, largest=_LARGEST_CSV)), strict=True)
    problems: list[ConfigError] = []
    try:
        columns = [column.strip().lower() for column in rows.fieldnames or ()]
        if not {"text", "label"} <= set(columns):
            fix = "let the first line be `text,label`"
            return [
                ConfigError(
                    "the columns `text` and `label` are missing", file=path, line=1, fix=fix
                )
            ]
        rows.fieldnames = columns
        for row in rows:
            text, label = (row.get("text") or "").strip(), (row.get("label") or "").strip()
            if None in row or not text:
                what = "there is no text" if not text else "there are more values than columns"
                fix = "remove the line" if not text else "put a text with commas in double quotes"
                problems.append(ConfigError(what, file=path, line=rows.line_num, fix=fix))
            elif label:
                collected.examples.append((text, label))
            else:
                collected.out_of_scope.append(text)
    except csv.Error as error:
        fix = "put a text with commas, quotes or line breaks in double quotes"
        problems.append(
            ConfigError(
                f"this is not CSV: {error}", file=path, line=rows.reader.line_num or 1, fix=fix
            )
        )
    return problems
