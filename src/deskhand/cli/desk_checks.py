"""What `deskhand doctor` finds out about a desk: its files, its keys, and what it connects to."""

from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from deskhand.errors import ConfigError
    from deskhand.wiring import LoadedDesk


class Check(NamedTuple):
    name: str
    ok: bool
    found: str
    fix: str | None = None
    warning: bool = False
    """It works, but somebody should look."""


async def desk_checks(desk: str, database: str) -> list[Check]:
    """A desk's configuration, what it may send by itself, and everything outside that it names."""
    from deskhand.errors import ConfigError
    from deskhand.wiring import read_desk

    try:
        loaded = read_desk(desk)
    except ConfigError as error:
        return list(_problems(error))
    return [
        *_configuration(loaded),
        await _replies(loaded, database),
        *await _channels(loaded),
        *await _calendar(loaded),
        *await _servers(desk, loaded),
    ]


def _problems(error: "ConfigError") -> Iterator[Check]:
    """Everything that is wrong with a desk."""
    from deskhand.errors import ConfigErrors

    problems = error.problems if isinstance(error, ConfigErrors) else [error]
    for problem in problems:
        where = ""
        if problem.line:
            where = f"{problem.file}:{problem.line}: "
        elif problem.file:
            where = f"{problem.file}: "
        yield Check("desk", False, where + problem.problem, problem.fix)


def _configuration(loaded: "LoadedDesk") -> Iterator[Check]:
    stages = sum(len(flow.stages) for flow in loaded.spec.flows.values())
    tools = len(loaded.code.tools)
    counted = f"{stages} stage{'s' * (stages != 1)}, {tools} tool{'s' * (tools != 1)}"
    yield Check("desk", True, f"{loaded.spec.name}: {counted}")
    yield from _tools(loaded)
    yield from _models(loaded)
    yield from _agents(loaded)


def _agents(loaded: "LoadedDesk") -> Iterator[Check]:
    """Every agent needs a model to ask, or a flow that does without."""
    spec = loaded.spec
    if not spec.profiles:
        return
    from deskhand.wiring import without_models

    unusable = without_models(spec)
    for name, profile in spec.profiles.items():
        tools = f"{len(profile.tools)} tools"
        if name not in unusable:
            yield Check(
                "agent",
                True,
                f"{name}: {profile.choose_model(None, None, spec.default_model)}, {tools}",
            )
        elif profile.without_model is not None:
            summary = f"{name}: {profile.without_model} works its messages ({unusable[name]})"
            yield Check("agent", True, summary, warning=True)
        else:
            fix = "mend that, or name a flow that does without under `without_model:`"
            yield Check("agent", False, f"{name} has no model to ask: {unusable[name]}", fix)


def _tools(loaded: "LoadedDesk") -> Iterator[Check]:
    """Parameters that give authority in plain text work, but nobody can check whose the thing
    is: worth a look."""
    from deskhand.wiring import server_tools

    every = (*loaded.code.tools, *server_tools(loaded))
    if not every:
        return
    from deskhand.tools.plain_authority import concerns

    tool_concerns = [(tool, concern) for tool in every for concern in concerns(tool)]
    for tool, concern in tool_concerns:
        yield Check("tool", True, f"{tool.name} ({tool.place}): {concern}", warning=True)


def _models(loaded: "LoadedDesk") -> Iterator[Check]:
    """Every model a stage would ask must have an address and a key; nothing is called."""
    spec = loaded.spec
    if spec.brain.kind == "scripted":
        yield Check("brain", True, f"scripted, {Path(spec.brain.file or '').name}: no key needed")
        return
    if spec.brain.reads:
        yield Check(
            "brain", True, f"{spec.brain.kind}: the embedded brain needs no key and no network"
        )
        yield from _intents(loaded)
    if spec.brain.kind == "embedded":
        return
    from deskhand.errors import DeskhandError
    from deskhand.wiring import check_model

    yield from _caps(loaded)
    for name in sorted({*spec.models.values(), *chain.from_iterable(spec.fall_backs.values())}):
        try:
            yield Check("model", True, f"{name} at {check_model(spec, name)}")
        except DeskhandError as error:
            problem, _, fix = str(error).partition("\n  fix: ")
            yield Check("model", False, problem, fix or None)


def _caps(loaded: "LoadedDesk") -> Iterator[Check]:
    """A cap on money needs prices."""
    from deskhand.errors import ConfigError
    from deskhand.wiring import require_prices

    try:
        require_prices(loaded.spec)
    except ConfigError as error:
        yield Check("prices", False, error.problem, error.fix)


async def called_models(desk: str) -> list[Check]:
    """Every model of the desk is asked twice: with a schema, and with a tool."""
    from deskhand.errors import ConfigError
    from deskhand.wiring import call_models, read_desk

    try:
        spec = read_desk(desk).spec
    except ConfigError:
        return []  # the check of the desk tells
    checks: list[Check] = []
    for model, trials in (await call_models(spec)).items():
        for trial in trials:
            usage = trial.usage
            tokens = f"{usage.prompt_tokens} tokens in, {usage.completion_tokens} out"
            words = f"{model}, {trial.request}: {trial.problem or tokens}"
            checks.append(Check("call", trial.problem is None, words, trial.fix))
    if not checks:
        checks.append(Check("call", True, "the desk names no model"))
    return checks


def _intents(loaded: "LoadedDesk") -> Iterator[Check]:
    """The embedded brain never finds a category without examples once others have some."""
    from deskhand.errors import ConfigError
    from deskhand.language.intent_examples import load_intents
    from deskhand.model.tasks import OTHER

    try:
        intents = load_intents(loaded.spec.folder)
    except ConfigError as error:
        yield Check("intents", False, error.problem, error.fix)
        return
    stages = [stage for flow in loaded.spec.flows.values() for stage in flow.stages.values()]
    named = dict.fromkeys(
        choice for stage in stages if stage.task == "classify" for choice in stage.choices
    )
    missing = [name for name in named if name not in (OTHER, *intents.labels)]
    if intents and missing:
        yield Check(
            "intents",
            True,
            f"never found, for want of examples: {', '.join(missing)}",
            warning=True,
        )


async def _replies(loaded: "LoadedDesk", url: str) -> Check:
    """What may leave without a person, by the modes in force."""
    from deskhand.engine.trust_report import unattended_replies
    from deskhand.errors import DeskhandError
    from deskhand.wiring import database_file, first_modes, opened_modes

    try:
        file = database_file(url)
        if file is None or file.exists():
            async with opened_modes(loaded.spec, url) as modes:
                return Check("replies", True, await unattended_replies(modes))
    except DeskhandError:
        pass  # the check of the database tells
    return Check("replies", True, await unattended_replies(first_modes(loaded.spec)))


async def _servers(desk: str, loaded: "LoadedDesk") -> list[Check]:
    """Every MCP server is started and asked for its tools, which must be what was accepted."""
    spec = loaded.spec.mcp
    if not spec.servers:
        return []
    from deskhand.errors import ConfigError
    from deskhand.wiring import described, pin_changes

    checks: list[Check] = []
    try:
        answers = await described(spec.servers)
    except ConfigError as error:
        return [Check("mcp", False, error.problem, error.fix)]
    for name, said in answers.items():
        own = [tool for tool in spec.tools if tool.server == name]
        if not isinstance(said, dict):
            problem = str(said).partition("\n")[0]
            checks.append(
                Check(
                    "mcp", False, f"{name}: {problem}", "check its `command` or `url`, and its key"
                )
            )
            continue
        changed = pin_changes({tool.tool: tool.pin for tool in own}, said)
        checks.append(Check("mcp", True, f"{name}: {len(own)} of {len(said)} tools offered"))
        for tool in own:
            told_of = f"{tool.name} ({name}.{tool.tool}): {tool.effect}, {tool.risk} risk"
            why = changed.get(tool.tool)
            if why is not None:
                fix = f"look at it, then: deskhand mcp accept {desk}"
                checks.append(Check("mcp", False, f"{told_of}: {why}", fix))
            else:
                checks.append(Check("mcp", True, told_of))
    return checks


async def _channels(loaded: "LoadedDesk") -> list[Check]:
    """Every channel is tried: connected to and logged in, no more."""
    if not loaded.spec.channels:
        return []
    from deskhand.wiring import check_channels

    checks: list[Check] = []
    for name, said in (await check_channels(loaded.spec)).items():
        problem, _, fix = str(said).partition("\n  fix: ")
        advice = (
            None
            if isinstance(said, str)
            else fix
            or getattr(said, "fix", None)
            or "check host, port, security, user and secret in desk.yaml"
        )
        checks.append(Check("channel", isinstance(said, str), f"{name}: {problem}", advice))
    return checks


async def _calendar(loaded: "LoadedDesk") -> list[Check]:
    """A calendar that lies elsewhere is looked at, no more."""
    spec = loaded.spec
    if spec.calendar.caldav is None and not spec.calendar.ics:
        return []
    from deskhand.errors import DeskhandError
    from deskhand.wiring import check_calendar

    try:
        return [Check("calendar", True, await check_calendar(spec))]
    except DeskhandError as error:
        problem, _, fix = str(error).partition("\n  fix: ")
        return [
            Check(
                "calendar",
                False,
                problem,
                fix or "check url, user and secret under `calendar` in desk.yaml",
            )
        ]
