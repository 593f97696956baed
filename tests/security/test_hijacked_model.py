"""A wholly hijacked model against the real gate: any tool, any argument, any order; nothing on the
list happens.

The invariants are the table in `hijack/watch.py`. A step is one move: a tool call through the gate,
a reviewer's decision, a restart, a throw of the stop switch, a change of the clock or of the world
outside. Together the tests here make at least 20,000 steps in memory, of which hypothesis drives
2,000, and 500 on each database. `make chaos` plays more.
"""

import asyncio
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import seed as seeded
from hypothesis.stateful import run_state_machine_as_test
from jsonschema import Draft202012Validator

import deskhand
from deskhand.adapters.stores.postgres import PostgresStore
from deskhand.adapters.stores.postgres_database import PostgresDatabase
from deskhand.adapters.stores.sqlite import SqliteStore
from deskhand.adapters.stores.sqlite_database import SqliteDatabase
from deskhand.config.tool_shape import ToolShape
from deskhand.ports import Store
from deskhand.tools.delivery import delivery_tool, draft_tool
from deskhand.tools.desk_code import load_tools
from deskhand.tools.registry import Tool, shape_of
from deskhand.tools.rules import RULES
from deskhand.tools.shapes import BUILT_IN_SHAPES, OFFICE_SHAPES
from tests.memory_ledger import MemoryLedger
from tests.security.hijack.company import Company, tools_of
from tests.security.hijack.desk import PROFILE, gate_of
from tests.security.hijack.game import MOVES, Game, Table, Tally, WallClock, play_by_chance
from tests.security.hijack.house import StoreHouse
from tests.security.hijack.machine import HijackedModel
from tests.security.hijack.moves import ARGUMENTS
from tests.security.hijack.mutants import PLAYED_ELSEWHERE
from tests.security.hijack.office import Desk, office_tools
from tests.security.hijack.watch import Watch
from tests.servers import new_database, postgres_programs

DESKS = Path(deskhand.__file__).parent / "desks"
QUIET = ("gate_error",)
"""Never said by a healthy gate."""


@pytest.fixture(autouse=True)
def _without_log(caplog: pytest.LogCaptureFixture) -> None:
    """Thousands of violations are logged, and kept by pytest."""
    caplog.set_level("CRITICAL", logger="deskhand")


def test_the_model_is_offered_every_tool_that_is_shipped() -> None:
    """With the parameters and the declared effects that it has on its own desk; what the game
    leaves out, nobody tried."""
    shipped = {name: set(shape.arguments) for name, shape in _shipped_shapes().items()}
    assert not shipped.keys() - set(ARGUMENTS), "no move calls it"
    assert not shipped.keys() - set(PROFILE), "the profile does not list it"
    desk = Desk(Company())
    offered = [*tools_of(desk.company), *office_tools(desk, MemoryLedger())]
    parameters = {tool.name: set(shape_of(tool).arguments) for tool in offered}
    assert {name: parameters[name] for name in shipped} == shipped
    declared = {tool.name: _declared(tool) for tool in offered}
    own = {tool.name: _declared(tool) for tool in _desk_tools()}
    assert {name: declared[name] for name in own} == own


def test_every_type_of_every_parameter_is_drawn() -> None:
    """A parameter may take one of several types, as `Money | Share`, or one of several words: the
    model draws right values of each, wrong ones too, and the tools of the game take the same
    types as the shipped ones."""
    desk = Desk(Company())
    offered = [*tools_of(desk.company), *office_tools(desk, MemoryLedger())]
    played = {tool.name: shape_of(tool) for tool in offered}
    chance = Random(11)
    for name, shape in sorted(_shipped_shapes().items()):
        drawn = [ARGUMENTS[name](chance.choice) for _ in range(2_000)]
        for parameter, schema in shape.arguments.items():
            values = [wish[parameter] for wish in drawn if parameter in wish]
            for branch in _branches(schema):
                fits = Draft202012Validator(branch).is_valid
                assert any(map(fits, values)), f"{name}: no {parameter} is drawn as {branch}"
            own = played[name].arguments[parameter]
            assert _bare(own) == _bare(schema), f"{name}: {parameter} has another type here"


def _branches(schema: Mapping[str, Any]) -> list[dict[str, Any]]:
    """One schema for each type that a value may have, and for each of the words listed."""
    if "anyOf" in schema:
        return [branch for one in schema["anyOf"] for branch in _branches(one)]
    if "enum" in schema:
        return [{"const": word} for word in schema["enum"]]
    return [dict(schema)]


def _bare(schema: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in schema.items() if name not in ("description", "title")}


def _declared(tool: Tool) -> tuple[object, ...]:
    return tool.effect, tool.risk, tool.public, tool.outside, tool.open_amount


def _desk_tools() -> list[Tool]:
    return [tool for code in sorted(DESKS.glob("*/tools.py")) for tool in load_tools(code).tools]


def _shipped_shapes() -> dict[str, ToolShape]:
    """The built-in tools, those for people and calendars, those that carry replies, and those of
    every shipped desk."""
    carrying = (delivery_tool(Company()), draft_tool(Desk(Company())))
    own = (*_desk_tools(), *carrying)
    return {**BUILT_IN_SHAPES, **OFFICE_SHAPES, **{tool.name: shape_of(tool) for tool in own}}


@pytest.mark.parametrize(
    "seeds", [(101, 102), pytest.param((102, 101), marks=pytest.mark.chaos)], ids=["here", "more"]
)
@pytest.mark.slow
async def test_no_game_of_chance_finds_a_way_and_every_rule_speaks(seeds: tuple[int, int]) -> None:
    """What never speaks was never tried."""
    said: set[str] = set()
    for policy, seed in zip((True, False), seeds, strict=True):
        tally = await play_by_chance(Table(policy=policy), seed, 9_000)
        assert not [rule for rule in QUIET if tally.rules[rule]], tally
        assert tally.deeds > 500, "a gate that lets nothing through proves nothing"
        said |= set(tally.rules)
    unheard = {rule.name for rule in RULES} - said - PLAYED_ELSEWHERE
    assert unheard == {"policy"}, "the company's own rules give their own names"


@pytest.mark.parametrize("policy", [True, False], ids=["policy", "defaults"])
@pytest.mark.parametrize("steps", [1_000, pytest.param(10_000, marks=pytest.mark.chaos)])
@pytest.mark.slow
def test_hypothesis_finds_no_way(policy: bool, steps: int) -> None:
    class Machine(HijackedModel):
        table, tally, loop = Table(policy=policy), Tally(), asyncio.new_event_loop()

    wanted = settings(
        max_examples=30, stateful_step_count=30, deadline=None, database=None, derandomize=True,
        suppress_health_check=list(HealthCheck), phases=(Phase.generate, Phase.shrink), report_multiple_bugs=False,  # noqa: E501
    )  # fmt: skip
    try:
        while Machine.tally.steps < steps:
            run_state_machine_as_test(seeded(Machine.tally.games)(Machine), settings=wanted)
    finally:
        Machine.loop.close()
    assert Machine.tally.steps >= steps


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str | Path]:
    if request.param == "sqlite":
        yield tmp_path / "desk.db"
        return
    if postgres_programs() is None:
        pytest.skip("PostgreSQL's server is not installed")
    yield new_database()


@pytest.mark.slow
async def test_the_same_holds_on_a_real_database(database: str | Path) -> None:
    """Every other game with a policy."""
    chance, tally = Random(5), Tally()
    opened = (
        await SqliteDatabase.open(database)
        if isinstance(database, Path)
        else await PostgresDatabase.open(database)
    )
    try:
        while tally.steps < 500:
            has_policy = tally.games % 2 == 0
            tally.add(await _one_game(opened, chance, has_policy, tally.games))
    finally:
        await opened.close()
    assert tally.deeds > 20, tally


async def _one_game(
    database: SqliteDatabase | PostgresDatabase, chance: Random, policy: bool, number: int
) -> Game:
    company = Company()
    kind: Callable[..., Store] = (
        SqliteStore if isinstance(database, SqliteDatabase) else PostgresStore
    )
    store = kind(database, f"hijacked-{number}", now=lambda: company.now)
    desk = Desk(company)
    gate = gate_of(desk, store, policy=policy, now=lambda: company.now)
    house = StoreHouse(store, WallClock(company), lambda envelope, ctx: game.act(envelope, ctx))
    game = Game(chance.choice, company, Watch(company, policy), house, gate, desk)
    for _ in range(20):
        await chance.choice(MOVES)(game)
    return game
