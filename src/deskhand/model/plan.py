"""What is to be done about a message: one plan shape for every desk."""

from enum import StrEnum
from typing import Annotated, Any, Literal, NamedTuple, Self, cast

from pydantic import Field, ValidationError

from deskhand.model.frozen import Frozen
from deskhand.model.results import ToolResult

PLAN = "plan"
"""The output under which a stage leaves its plan to the stage that walks it."""

SAID = "said"
"""The field of that stage's output with what the plan said."""

TURN = "turn"
"""The field of that stage's output with what the customer's last turn did."""

SKIPPED = "skipped"
"""The status of a planned call that was not made, since what it needs of an earlier one was not
found."""


class StepStatus(StrEnum):
    PENDING = "pending"
    IN_PROGRESS = "in_progress"
    COMPLETED = "completed"
    FAILED = "failed"


class _PlanStep(Frozen):
    status: StepStatus = StepStatus.PENDING
    started_at: float | None = None
    finished_at: float | None = None


class Respond(_PlanStep):
    """Say something: before the tools run (`pre`) or after (`post`)."""

    type: Literal["respond"] = "respond"
    when: Literal["pre", "post"] = "post"
    message: str = ""


class ToolCall(_PlanStep):
    """Call one tool by its exact name."""

    type: Literal["tool_call"] = "tool_call"
    tool: str = Field(min_length=1)
    parameters: dict[str, Any] = Field(default_factory=dict)
    optional: bool = False
    """Whether the reply is as good without what it finds."""


class AskUser(_PlanStep):
    """Ask the customer for a missing parameter and stop until the answer comes."""

    type: Literal["ask_user"] = "ask_user"
    param: str = Field(min_length=1)
    prompt: str = Field(min_length=1)
    expects: str = ""
    """What a good answer looks like, said to an answer that is none."""
    why: str = ""
    """Why it is needed, for a customer who asks."""
    at_most: int | None = Field(default=None, ge=1)
    """How often it is asked before a person takes over; the usual number where it is None."""


class StepRecord(Frozen):
    """How far one step of a plan is, as rows tell it."""

    place: int
    """Where in the plan it stands, from 0."""
    type: str
    name: str = ""
    """The tool that is called, or the parameter that is asked for."""
    status: StepStatus = StepStatus.PENDING
    started_at: float | None = None
    finished_at: float | None = None
    done_before: str | None = None
    """The hash of a call that was not made, since it had been carried out before the customer was
    asked."""


class DoneCall(NamedTuple):
    """A call of a plan that took effect before the customer was asked."""

    tool: str
    call_hash: str
    result: ToolResult


PlanStep = Annotated[Respond | ToolCall | AskUser, Field(discriminator="type")]


def name_of(step: Respond | ToolCall | AskUser) -> str:
    """What a step is known by: the tool that is called, the parameter that is asked for, or when
    something is said."""
    if isinstance(step, ToolCall):
        return step.tool
    return step.param if isinstance(step, AskUser) else str(step.when)


class Plan(Frozen):
    intent_id: str | None = None
    reasoning: str = ""
    steps: tuple[PlanStep, ...] = ()

    @classmethod
    def parse(cls, data: Any) -> Self:
        """Read a plan as any of our sources write it; a ValueError says which step is wrong and
        why.

        Accepts `{intent_id, steps: [{type, ...}]}`, `{steps: [{tool, parameters}], reasoning}`,
        `{tools: [name, ...]}` and a bare list of steps or tool names.
        """
        if isinstance(data, list):
            data = {"steps": data}
        if not isinstance(data, dict):
            raise ValueError(f"a plan is a mapping with `steps`, not {type(data).__name__}")
        raw = cast(dict[str, Any], data)
        steps = raw.get("steps", raw.get("tools"))
        if not isinstance(steps, list):
            raise ValueError("a plan needs `steps`, a list of {tool, parameters}")
        parsed = [_shaped(step, number) for number, step in enumerate(steps, 1)]
        try:
            return cls.model_validate(
                {
                    "intent_id": raw.get("intent_id"),
                    "reasoning": raw.get("reasoning") or "",
                    "steps": parsed,
                }
            )
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(str(part) for part in first["loc"])
            raise ValueError(f"plan {where}: {first['msg']}") from None

    @property
    def tool_calls(self) -> tuple[ToolCall, ...]:
        return tuple(step for step in self.steps if isinstance(step, ToolCall))

    @property
    def selected_tools(self) -> list[str]:
        return [step.tool for step in self.tool_calls]


def _shaped(step: Any, number: int) -> dict[str, Any]:
    if isinstance(step, str):
        return {"type": "tool_call", "tool": step}
    if not isinstance(step, dict):
        raise ValueError(f"plan step {number} is {type(step).__name__}; write {{tool, parameters}}")
    fields = dict(cast(dict[str, Any], step))
    if "type" in fields:
        return fields
    if "tool" in fields:
        parameters = fields.get("parameters", fields.get("params", fields.get("arguments")))
        parameters = {} if parameters is None else parameters
        return {
            "type": "tool_call",
            "tool": fields["tool"],
            "parameters": parameters,
            "optional": fields.get("optional") is True,
        }
    if "param" in fields:
        return fields | {"type": "ask_user"}
    raise ValueError(f"plan step {number} has neither `tool` nor `type`")
