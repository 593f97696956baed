"""A flow as a picture (Mermaid) and as an outline for a terminal."""

from collections.abc import Iterator
from typing import NamedTuple

from deskhand.conditions import compile_condition
from deskhand.model.outcome import Outcome
from deskhand.model.spec import END, AgentSpec, FlowSpec, RoutingRule

_CUSTOMER = "the customer's answer"
_REVIEWER = "a reviewer's decision"
_PERSON = "a person"


class _Edge(NamedTuple):
    """A way out of a stage: in which case, where to, and whether the run goes on there by
    itself."""

    case: str
    target: str
    is_stage: bool = True
    usual: bool = True


def flow_mermaid(flow: FlowSpec) -> str:
    """A `graph TD` that any Mermaid renderer draws; stages' names never clash with its reserved
    words."""
    lines = ["graph TD", f'    begin(["start"]) --> {_node(flow.start)}']
    outside: dict[str, str] = {}
    edges: list[str] = []
    for stage in flow.stages.values():
        lines.append(
            f'    {_node(stage.name)}["{"<br/>".join(_escape(line) for line in _title(stage))}"]'
        )
        for edge in _edges(stage):
            target = (
                _node(edge.target)
                if edge.is_stage
                else outside.setdefault(edge.target, f"wait{len(outside)}")
            )
            arrow = "-->" if edge.usual else "-.->"
            label = f'|"{_escape(edge.case)}"|' if edge.case else ""
            edges.append(f"    {_node(stage.name)} {arrow}{label} {target}")
    lines += [f'    {node}(["{_escape(words)}"])' for words, node in outside.items()]
    if any(line.endswith(f" {_node(END)}") for line in edges):
        lines.append(f'    {_node(END)}(["end"])')
    return "\n".join([*lines, *edges]) + "\n"


def flow_text(flow: FlowSpec) -> str:
    """An outline: every stage, what it does, and where it leads in which case."""
    version = f", version {flow.version}" if flow.version else ""
    lines = [f"{flow.name}: starts with {flow.start}, at most {flow.max_hops} hops{version}"]
    width = len(str(len(flow.stages)))
    for order, stage in enumerate(flow.stages.values(), start=1):
        name, *details = _title(stage)
        lines.append(f"{order:>{width + 2}}. {name}: {', '.join(details)}")
        for edge in _edges(stage):
            case = f"{edge.case} " if edge.case else ""
            lines.append(" " * (width + 4) + f"{case}→ {edge.target}")
    return "\n".join(lines) + "\n"


def _title(stage: AgentSpec) -> Iterator[str]:
    yield stage.name
    if stage.task:
        yield f"task {stage.task}" + (f" into {', '.join(stage.choices)}" if stage.choices else "")
    if stage.prompt_key:
        yield f"prompt {stage.prompt_key}"
    if stage.service:
        yield f"service {stage.service}"
    if stage.profile:
        yield f"agent {stage.profile}"
    if stage.tools:
        yield f"tools {', '.join(stage.tools)}"
    if stage.model_role:
        yield f"model {stage.model_role}"
    if stage.max_visits:
        yield f"at most {stage.max_visits} visit{'s' if stage.max_visits > 1 else ''}"


def _edges(stage: AgentSpec) -> Iterator[_Edge]:
    for rule in stage.routing_rules:
        yield from _route(stage, rule)
    loops = any(
        rule.outcome is not None and rule.outcome.requires_loop for rule in stage.routing_rules
    )
    if stage.loop_to and not loops:
        yield _Edge("to go back", stage.loop_to, usual=False)
    yield _Edge("otherwise" if stage.routing_rules else "", stage.default_next or END)
    if stage.error_next:
        yield _Edge("on error", stage.error_next, usual=False)


def _route(stage: AgentSpec, rule: RoutingRule) -> Iterator[_Edge]:
    words = str(compile_condition(rule.when))
    case = words if rule.outcome is None else f"{words}: {rule.outcome.value}"
    match rule.outcome:
        case Outcome.CLARIFY:
            resume = stage.resume_at or stage.replan_at or stage.name
            yield _Edge(f"{case}, then {resume}", _CUSTOMER, is_stage=False)
            if resume != stage.name:
                yield _Edge("after the answer", resume, usual=False)
        case Outcome.CONFIRM:
            yield _Edge(case, _REVIEWER, is_stage=False)
        case Outcome.ERROR if stage.error_next is None:
            yield _Edge(case, _PERSON, is_stage=False)
        case Outcome.ERROR:
            yield _Edge(case, stage.error_next or END)
        case Outcome.TERMINATE:
            yield _Edge(case, END)
        case Outcome.REPLAN | Outcome.LOOP_BACK:
            yield _Edge(case, stage.loop_to or END)
        case _:
            yield _Edge(case, rule.target or stage.default_next or END)


def _node(name: str) -> str:
    return f"stage_{name}" if name != END else "finish"


def _escape(text: str) -> str:
    for sign, written in (
        ("#", "#35;"),
        ('"', "#quot;"),
        ("<", "#lt;"),
        (">", "#gt;"),
        ("\n", " "),
    ):
        text = text.replace(sign, written)
    return text
