"""Reads a desk's golden cases; everything wrong with them is said at once, by file and line."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from deskhand.config.desk import DeskSpec
from deskhand.config.parse import parse_as
from deskhand.config.yaml import YamlFile, read_yaml
from deskhand.errors import ConfigError, ConfigErrors
from deskhand.evals.case_rules import DeskNames, case_problems
from deskhand.evals.case_sections import (
    CaseSection,
    CasesSection,
    ExpectSection,
    GivenSection,
    MessageSection,
    ReviewerSection,
    TurnSection,
)
from deskhand.evals.given import GivenTicket, completion_of
from deskhand.mail.authentication import MailTrust, who_wrote
from deskhand.mail.message_files import MessageInvalid, message_from, read_messages
from deskhand.model.chat import Completion
from deskhand.model.message import Message
from deskhand.model.results import ToolResult, normalize_tool_result
from deskhand.model.run import Decision
from deskhand.model.ticket_state import TicketState

AUTHOR = "author"
"""The tag of cases that carry none: written by somebody who knows the desk."""
USUAL_SENDER = "customer@example.com"
NAMED_CONVERSATION = "of the case: "
"""Before the name of a conversation that a turn names."""


@dataclass(frozen=True, slots=True)
class Stub:
    """A result given for calls of a tool with these arguments."""

    tool: str
    when: Mapping[str, Any]
    result: ToolResult

    def fits(self, tool: str, arguments: Mapping[str, Any]) -> bool:
        return tool == self.tool and all(
            arguments.get(name) == value for name, value in self.when.items()
        )


@dataclass(frozen=True, slots=True)
class CaseRuling:
    """What a reviewer decides in a turn."""

    decision: Decision
    note: str | None = None
    text: str | None = None


@dataclass(frozen=True, slots=True)
class CaseTurn:
    """The customer writes (`message`) or a person decides (`ruling`); then `expect` must hold."""

    message: Message | None
    ruling: CaseRuling | None
    given: tuple[Stub, ...]
    expect: Mapping[str, Any]
    said: tuple[Completion, ...] = ()
    """What the agent's model says from this turn on."""


@dataclass(frozen=True, slots=True)
class Case:
    id: str
    tags: tuple[str, ...]
    turns: tuple[CaseTurn, ...]
    file: Path
    line: int
    why: str | None = None
    mode: str | None = None
    """The mode in which the desk answers; None for its own."""
    known_failure: str | None = None
    """Why the desk does not meet it yet."""
    tickets: tuple[GivenTicket, ...] = ()
    """Those that there are before the first turn."""

    @property
    def says(self) -> bool:
        """Whether it brings what the agent's model says."""
        return any(turn.said for turn in self.turns)

    @property
    def first_at(self) -> datetime:
        """When the first message comes."""
        return next(turn.message.received_at for turn in self.turns if turn.message is not None)


@dataclass(frozen=True, slots=True)
class CaseDesk:
    """What cases may speak of: the desk, its tools, and the scorers it brings."""

    spec: DeskSpec
    tools: frozenset[str] = frozenset()
    scorers: frozenset[str] = frozenset()


def case_files(folder: Path) -> list[Path]:
    """`evals.yaml` and everything under `evals/`, in order of name."""
    single = [folder / "evals.yaml"] if (folder / "evals.yaml").is_file() else []
    return [*single, *sorted((folder / "evals").glob("**/*.yaml"))]


def load_cases(desk: CaseDesk) -> list[Case]:
    """Returns every case of a desk, in order.

    ConfigErrors with all problems; ConfigError where the desk has no cases at all.
    """
    files = case_files(desk.spec.folder)
    if not files:
        raise ConfigError(
            "the desk has no cases",
            file=desk.spec.folder,
            fix=(
                "write evals/NAME.yaml with `cases:`, or make one of a recorded run with `deskhand"
                " eval add RUN`"
            ),
        )
    problems: list[ConfigError] = []
    cases: list[Case] = []
    seen: dict[str, str] = {}
    for path in files:
        for made in _file(path, desk):
            if isinstance(made, ConfigError):
                problems.append(made)
                continue
            place = f"{made.file}:{made.line}"
            if (first := seen.setdefault(made.id, place)) != place:
                fix = "give one of them another id"
                problems.append(
                    ConfigError(
                        f"there is a case `{made.id}` already, at {first}",
                        file=path,
                        line=made.line,
                        fix=fix,
                    )
                )
            cases.append(made)
    if problems:
        raise ConfigErrors(problems)
    return cases


def _file(path: Path, desk: CaseDesk) -> Iterator[Case | ConfigError]:
    try:
        source = read_yaml(path)
    except ConfigError as error:
        yield error
        return
    parsed = parse_as(CasesSection, source)
    yield from parsed.problems
    if parsed.read is None or parsed.problems:
        return
    names = DeskNames.of(desk.spec, desk.tools, desk.scorers)
    for index, section in enumerate(parsed.read.cases):
        place = ("cases", index)
        findings = [
            source.problem(where, problem, fix)
            for where, problem, fix in case_problems(section, place, names)
        ]
        yield from findings
        if not findings:
            try:
                yield _case(source, place, section, parsed.read, desk.spec)
            except ConfigError as error:
                yield error


def _case(
    source: YamlFile,
    place: tuple[str, int],
    section: CaseSection,
    whole: CasesSection,
    spec: DeskSpec,
) -> Case:
    given = _stubs(section.given)
    if section.turns:
        turns = tuple(_turns(source, place, section, given, spec))
    else:
        assert section.message is not None
        message = _message(source, (*place, "message"), section.message, section, spec)
        turns = (CaseTurn(message, None, given, _expected(section.expect), _said(section.given)),)
    every = tuple(dict.fromkeys([*whole.tags, *section.tags])) or (AUTHOR,)
    line = source.line(place)
    mode = section.mode or whole.mode
    failure = section.known_failure
    tickets = _tickets(section.given)
    return Case(section.id, every, turns, source.path, line, section.why, mode, failure, tickets)


def _tickets(section: GivenSection | None) -> tuple[GivenTicket, ...]:
    given: list[GivenTicket] = []
    for ticket in [] if section is None else section.tickets:
        fields = ticket.model_dump()
        fields |= {"messages": tuple(ticket.messages), "state": TicketState(ticket.state)}
        given.append(GivenTicket(**fields))
    return tuple(given)


def _turns(
    source: YamlFile,
    place: tuple[str, int],
    section: CaseSection,
    given: tuple[Stub, ...],
    spec: DeskSpec,
) -> Iterator[CaseTurn]:
    said = _said(section.given)
    for number, turn in enumerate(section.turns):
        here = (*place, "turns", number)
        given = (*_stubs(turn.given), *given)
        now = (*said, *_said(turn.given))
        said = ()
        expect = dict(_expected(turn.expect))
        if turn is section.turns[-1]:
            expect |= _expected(section.expect)
        if turn.customer is None:
            yield CaseTurn(None, _ruling(turn), given, expect, now)
            continue
        customer = turn.customer
        if isinstance(customer, str):
            customer = MessageSection.model_validate({"body": customer})
        message = _message(source, (*here, "customer"), customer, section, spec)
        yield CaseTurn(message, None, given, expect, now)


def _ruling(turn: TurnSection) -> CaseRuling:
    reviewer = turn.reviewer
    assert reviewer is not None
    if isinstance(reviewer, ReviewerSection):
        return CaseRuling(Decision(reviewer.decision), reviewer.note, reviewer.text)
    return CaseRuling(Decision(reviewer))


def _expected(section: ExpectSection | None) -> dict[str, Any]:
    """What a case expects, as it was written, without what was left out."""
    if section is None:
        return {}
    return section.model_dump(exclude_unset=True, by_alias=True)


def _stubs(section: GivenSection | None) -> tuple[Stub, ...]:
    if section is None:
        return ()
    stubs: list[Stub] = []
    for tool, given in section.tools.items():
        if isinstance(given, list):
            stubs += [Stub(tool, case.when, normalize_tool_result(case.result)) for case in given]
        else:
            stubs.append(Stub(tool, {}, normalize_tool_result(given)))
    return tuple(stubs)


def _said(section: GivenSection | None) -> tuple[Completion, ...]:
    return () if section is None else tuple(map(completion_of, section.agent))


def _message(
    source: YamlFile,
    place: tuple[str | int, ...],
    written: MessageSection | str,
    case: CaseSection,
    spec: DeskSpec,
) -> Message:
    """The message written in the case, or the one in the file it names."""
    trust = spec.mail_trust
    if isinstance(written, str):
        return _message_file(source, place, spec.folder / written, trust)
    data = written.model_dump(exclude_unset=True, by_alias=True, exclude={"name", "authenticated"})
    sender = {
        "address": data.pop("from", None) or case.from_ or USUAL_SENDER,
        "name": written.name or "",
    }
    data = {"subject": case.subject or "", "body": "", **data, "sender": sender}
    if written.conversation is not None:
        data["conversation"] = NAMED_CONVERSATION + written.conversation
    try:
        message = message_from(data, vouched_by="the case")
    except MessageInvalid as error:
        where = (*place, error.field.split(".")[0])
        fix = "write it as the guide's section on evals shows"
        raise source.problem(where, error.problem, fix) from None
    if written.authenticated:
        proven = who_wrote(message, message.sender.address, "the case says so", trust)
        if message.principal.customer_id is None:
            return message.changed(principal=proven)
    return message


def _message_file(
    source: YamlFile, place: tuple[str | int, ...], path: Path, trust: MailTrust
) -> Message:
    try:
        messages, is_conversation = read_messages(path, trust=trust)
    except ConfigError as error:
        raise source.problem(
            place, f"{path}: {error.problem}", error.fix or "name a message file"
        ) from None
    if is_conversation:
        raise source.problem(
            place, f"{path} holds a conversation", "name a file of one message, or write `turns:`"
        )
    return messages[0]
