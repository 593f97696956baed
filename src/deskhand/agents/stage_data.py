"""The data of a stage: outputs checked and as rows keep them, copies for code that is not ours."""

from typing import Any, cast

from pydantic_core import to_jsonable_python

from deskhand.errors import PermanentError, RetryableError
from deskhand.model.codes import ErrorCode
from deskhand.model.envelope import Envelope
from deskhand.model.spec import AgentSpec
from deskhand.model.tasks import Task, TaskKind
from deskhand.model.understanding import wrong_fields

_CONTAINERS = (dict, list)


def plain(output: dict[str, Any]) -> dict[str, Any]:
    """The output as it will be read back from its row."""
    try:
        return cast(dict[str, Any], to_jsonable_python(output))
    except ValueError as error:
        raise PermanentError(f"the output cannot be stored: {error}") from None


def own_copy(envelope: Envelope) -> Envelope:
    """A copy for code that is not ours: changing it in place changes nothing here."""
    return envelope.changed(metadata=_copy(envelope.metadata), outputs=_copy(envelope.outputs))


def _copy(value: Any) -> Any:
    if isinstance(value, dict):
        copied = value.copy()
        for key, item in value.items():
            if isinstance(item, _CONTAINERS):
                copied[key] = _copy(item)
        return copied
    if isinstance(value, list):
        copies = value.copy()
        for place, item in enumerate(value):
            if isinstance(item, _CONTAINERS):
                copies[place] = _copy(item)
        return copies
    return value


def check_fields(spec: AgentSpec, output: dict[str, Any]) -> None:
    """Raise RetryableError where a reserved field holds something of another type."""
    problems = wrong_fields(output)
    if problems:
        raise RetryableError(
            f"stage {spec.name!r} gave wrong fields: {'; '.join(problems)}",
            ErrorCode.OUTPUT_INVALID_FIELDS,
        )


def require_fields(spec: AgentSpec, output: dict[str, Any]) -> None:
    """Raise RetryableError where a field is missing that the stage must give."""
    missing = [name for name in spec.required_output_fields if output.get(name) is None]
    if missing:
        raise RetryableError(
            f"stage {spec.name!r} gave no {', '.join(missing)}", ErrorCode.OUTPUT_MISSING_FIELDS
        )


def task_of(spec: AgentSpec) -> Task:
    """What a stage asks of its brain, as far as it is the same for all messages."""
    return Task.model_construct(
        kind=TaskKind(spec.task) if spec.task else TaskKind.PROMPT,
        stage=spec.name,
        required=spec.required_output_fields,
        temperature=spec.temperature,
        max_tokens=spec.max_tokens,
        knowledge_category=spec.knowledge_category,
    )
