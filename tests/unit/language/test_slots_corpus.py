"""What customers write in six languages, and what the slots find in it."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from deskhand.config.sections.slots import SlotSection
from deskhand.config.yaml import read_yaml
from deskhand.language.slots import SlotExtractor, SlotValue

FILE = Path(__file__).parents[2] / "data" / "slots.yaml"
DATA = read_yaml(FILE).data
NOW = datetime(2025, 3, 12, 10, 0, tzinfo=UTC)
CASES = [
    pytest.param(*case[:3], list(map(str, case[3:])), id=f"{part}-{index + 1}-{case[1]}")
    for part in DATA
    if part != "slots"
    for index, case in enumerate(DATA[part])
]
EXTRACTORS = {
    name: SlotExtractor([SlotSection.model_validate(slot).compile(name, FILE.parent)])
    for name, slot in DATA["slots"].items()
}


def in_short(value: Any) -> str:
    return " ".join(value.values()) if isinstance(value, dict) else str(value)


def found(slot: str, text: str, language: str | None) -> SlotValue:
    return EXTRACTORS[slot].extract(text, language=language, now=NOW, time_zone="Europe/Prague")[
        slot
    ]


@pytest.mark.parametrize(("language", "slot", "text", "wanted"), CASES)
def test_the_corpus(language: str | None, slot: str, text: str, wanted: list[str]) -> None:
    value = found(slot, text, language)
    candidates = {in_short(candidate) for candidate in value.candidates}
    assert sorted(candidates) == sorted(wanted), value.matches
    assert value.ambiguous == (len(wanted) > 1)
    assert (value.value is not None) == (len(wanted) == 1)
    for match in value.matches:
        assert match.text == text[match.start : match.end]
        assert 0 < match.confidence <= 1


def test_the_corpus_is_large_and_speaks_six_languages() -> None:
    cases = [case for part, rows in DATA.items() if part != "slots" for case in rows]
    assert len(cases) >= 150
    for language in ("en", "cs", "de", "es", "fr", "pl"):
        assert sum(case[0] == language for case in cases) >= 15, language
