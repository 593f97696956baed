"""One rule of a desk is changed in whatever way: the replay lists exactly the messages it
concerns."""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.replay_kit import recording, replayed, verdicts

TOOLS = """
from deskhand import service


@service("read")
async def read(envelope, ctx, settings):
    category, points = envelope.raw_input.split()
    return {"category": category, "points": int(points)}


@service("note")
async def note(envelope, ctx, settings):
    return {}
"""
CATEGORIES = ("order", "refund", "praise")
TARGETS = ("north", "south", "end")
MESSAGES = [f"{category} {points}" for category in CATEGORIES for points in (0, 3, 5, 8)]
Rule = tuple[str, int, str]
"""Category, the least points, and where to."""
RULES: list[Rule] = [
    ("order", 5, "north"),
    ("order", 0, "south"),
    ("refund", 3, "south"),
    ("praise", 8, "end"),
]


def write_desk(folder: Path, rules: list[Rule]) -> Path:
    routes = [
        {"when": {"category": category, "points": {"at_least": least}}, "to": target}
        for category, least, target in rules
    ]
    read: dict[str, Any] = {"service": "read", "next": "north"}
    stages = {"read": read | ({"routes": routes} if routes else {}), "north": {"service": "note"}}
    if any(target == "south" for _, _, target in rules):
        stages["south"] = {"service": "note"}
    folder.mkdir(exist_ok=True)
    text = json.dumps({"desk": "mutants", "flows": {"main": {"stages": stages}}})
    (folder / "desk.yaml").write_text(text)
    (folder / "tools.py").write_text(TOOLS)
    return folder


def target_of(message: str, rules: list[Rule]) -> str:
    """What the rules mean, said once more in the plainest way."""
    category, points = message.split()
    return next(
        (to for name, least, to in rules if name == category and int(points) >= least), "north"
    )


async def record(folder: Path) -> dict[str, str]:
    async with recording(write_desk(folder / "desk", RULES), folder / "desk.db") as desk:
        return {await desk.say(message): message for message in MESSAGES}


@pytest.fixture(scope="module")
def recorded() -> Iterator[tuple[Path, dict[str, str]]]:
    with TemporaryDirectory() as folder:
        yield Path(folder), asyncio.run(record(Path(folder)))


a_rule = st.tuples(st.sampled_from(CATEGORIES), st.integers(0, 9), st.sampled_from(TARGETS))
a_place = st.integers(0, len(RULES) - 1)
mutations = st.one_of(
    st.tuples(st.just("replace"), a_place, a_rule),
    st.tuples(st.just("insert"), a_place, a_rule),
    st.tuples(st.just("remove"), a_place, a_rule),
    st.tuples(st.just("move"), a_place, a_rule),
)


def mutated(kind: str, place: int, rule: Rule) -> list[Rule]:
    rules = list(RULES)
    if kind == "insert":
        rules.insert(place, rule)
    elif kind == "replace":
        rules[place] = rule
    else:
        taken = rules.pop(place)
        if kind == "move":
            rules.append(taken)
    return rules


@settings(max_examples=12, deadline=None)
@given(mutation=mutations)
@pytest.mark.slow
def test_the_replay_lists_exactly_the_affected_messages(
    recorded: tuple[Path, dict[str, str]], mutation: tuple[str, int, Rule]
) -> None:
    folder, runs = recorded
    rules = mutated(*mutation)
    found, _ = asyncio.run(replayed(folder / "desk.db", write_desk(folder / "changed", rules)))
    affected = {
        run for run, text in runs.items() if target_of(text, rules) != target_of(text, RULES)
    }
    assert {run for run, verdict in verdicts(found).items() if verdict == "changed"} == affected
    assert len(found.runs) == len(MESSAGES)
