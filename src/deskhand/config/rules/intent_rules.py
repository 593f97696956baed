"""What makes a desk's intents wrong: a label that no category has and no rule asks for."""

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from deskhand.config.rules.finding import ConfigFinding, ConfigFindings, DeskDraft
from deskhand.config.sections.routing import MatchSection
from deskhand.config.suggestions import did_you_mean
from deskhand.config.yaml import read_shared_yaml
from deskhand.errors import ConfigError

_FILE, _FOLDER = "intents.yaml", "intents"
_OTHER = "other"


def intent_findings(draft: DeskDraft) -> ConfigFindings:
    """Labels of examples that nothing in desk.yaml knows: such a message would be `other`."""
    categories = {*draft.categories()}
    if not categories or draft.is_damaged(("flows",)):
        return
    asked_for = {*_routed(draft), *_values_of("intent", draft.source.data.get("policy"))}
    known_labels = {*categories, *asked_for, _OTHER}
    reported: set[str] = set()
    for label, file, line in intent_labels(draft.folder):
        if label in known_labels or label in reported:
            continue
        reported.add(label)
        fix = did_you_mean(
            label, sorted(categories), otherwise="add it to the `categories` of a stage"
        )
        problem = f"no stage gives the category `{label}`"
        yield ConfigFinding((), problem, fix, file=file, line=line)


def intent_labels(folder: Path) -> Iterator[tuple[str, Path, int | None]]:
    """Every label that has examples or a description, with its file and line.

    Files that cannot be read are left to whoever learns from them.
    """
    for path in [folder / _FILE, *sorted((folder / _FOLDER).glob("*"))]:
        try:
            if path.suffix == ".csv":
                yield from _in_csv(path)
            elif path.suffix == ".yaml" and path.is_file():
                yield from _in_yaml(path)
        except (ConfigError, OSError, UnicodeDecodeError, csv.Error):
            continue


def _in_yaml(path: Path) -> Iterator[tuple[str, Path, int | None]]:
    source = read_shared_yaml(path)
    intents = source.data.get("intents")
    for label in intents if isinstance(intents, dict) else ():
        yield str(label), path, source.line(("intents", label))


def _in_csv(path: Path) -> Iterator[tuple[str, Path, int | None]]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = csv.DictReader(file)
        rows.fieldnames = [column.strip().lower() for column in rows.fieldnames or ()]
        for row in rows:
            label = (row.get("label") or "").strip()
            if label:
                yield label, path, rows.line_num


def _routed(draft: DeskDraft) -> Iterator[str]:
    for rule in draft.desk.routing.rules:
        yield from _intents_in(rule.match)


def _intents_in(match: MatchSection) -> Iterator[str]:
    if match.intent is not None:
        yield match.intent
    for inner in match.any or ():
        yield from _intents_in(inner)
    if match.not_ is not None:
        yield from _intents_in(match.not_)


def _values_of(key: str, written: Any) -> Iterator[str]:
    """Every text that stands under a key, however deep."""
    if isinstance(written, dict):
        for name, value in written.items():
            yield from _texts_in(value) if name == key else _values_of(key, value)
    elif isinstance(written, list):
        for item in written:
            yield from _values_of(key, item)


def _texts_in(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _texts_in(item)
