"""The brain that asks a large language model."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from typing import Any

from deskhand.brain.fencing import shortened_data
from deskhand.brain.json_answer import AnswerProblem, EmptyAnswer, parse_object
from deskhand.brain.results import result_of, schema_of
from deskhand.brain.task_prompts import DeskWords, messages_for, repair_messages
from deskhand.errors import ConfigError, ContextTooLong, ModelAnswerInvalid
from deskhand.model.chat import ChatRequest, Completion, Origin
from deskhand.model.codes import ErrorCode
from deskhand.model.tasks import Answer, Task, TaskKind, TaskResult
from deskhand.ports import ChatModel

log = logging.getLogger("deskhand.brain")

SHARES = (0.5, 0.25, 0.12)
"""How much of a request is kept when the model's context is too small for it, one try after
another."""
SHORTENED = "shortened"
"""The field of a row: which data were cut to fit into the model's context."""


class LlmBrain:
    """Asks the model of the task's role, shows it a wrong answer once, and gives up after that."""

    def __init__(
        self,
        chat: ChatModel,
        models: Mapping[str, str],
        default_model: str,
        *,
        meanings: Mapping[str, str] | None = None,
        examples: Sequence[tuple[str, str]] = (),
        time_zone: str = "UTC",
        name: str = "llm",
    ) -> None:
        """`meanings` are categories in words, for the model that chooses among them, `examples`
        messages with their category. Messages are dated in `time_zone`."""
        self.name = name
        self._words = DeskWords(dict(meanings or {}), tuple(examples), time_zone)
        self._chat, self._models, self._default_model = chat, dict(models), default_model

    def model_for(self, role: str | None) -> str:
        """The model name of a role; ConfigError for a role that the desk does not define."""
        if role is None:
            return self._default_model
        if role in self._models:
            return self._models[role]
        near = get_close_matches(role, self._models, n=1)
        roles = ", ".join(sorted(self._models)) or "none"
        fix = (
            f"did you mean {near[0]!r}?"
            if near
            else f"define the role under `models`; known roles: {roles}"
        )
        raise ConfigError(f"model role {role!r} is not defined", fix=fix)

    async def answer(self, task: Task) -> Answer:
        request = ChatRequest(
            messages=messages_for(task, self._words),
            model=self.model_for(task.model_role),
            schema=schema_of(task),
            temperature=task.temperature,
            max_tokens=task.max_tokens,
            origin=Origin(run_id=task.run_id, stage=task.stage, call_type=task.kind.value),
            private=_private(task),
        )
        completion, request, cut = await self._complete(request)
        try:
            return _marked(self._answer(_read(task, completion), completion), task, cut)
        except AnswerProblem as problem:
            what_is_wrong = str(problem)
        repaired = await self._chat.complete(_repair(request, completion, what_is_wrong))
        try:
            return _marked(self._answer(_read(task, repaired), completion, repaired), task, cut)
        except AnswerProblem as problem:
            last = _quotable(task, repaired, problem)
        raise _invalid(task, request.model, repaired, last)

    async def _complete(self, request: ChatRequest) -> tuple[Completion, ChatRequest, list[str]]:
        """The answer, the request that got it, and the names of the data that were cut for it."""
        asked, cut = request, list[str]()
        for share in (*SHARES, None):
            try:
                return await self._chat.complete(asked), asked, cut
            except ContextTooLong as error:
                if share is None:
                    raise
                messages = [dict(message) for message in request.messages]
                shorter, cut = shortened_data(messages, share)
                if not cut or tuple(shorter) == asked.messages:
                    raise
                log.warning(
                    "%s is asked with less of %s: %s",
                    request.model,
                    ", ".join(dict.fromkeys(cut)),
                    error,
                    extra={"run_id": request.origin.run_id},
                )
                asked = replace(request, messages=tuple(shorter))
        raise AssertionError("the last try returns or raises")

    def _answer(self, result: TaskResult, *completions: Completion) -> Answer:
        cost = sum(completion.usage.cost for completion in completions)
        return Answer(result=result, brain=self.name, model=completions[-1].model, cost=cost)


def _marked(answer: Answer, task: Task, cut: Sequence[str]) -> Answer:
    """The answer with a word on what its model was not shown. A reply to a message that was cut
    waits for a person."""
    if not cut:
        return answer
    names = list(dict.fromkeys(cut))
    marked = answer.changed(note={**answer.note, SHORTENED: names})
    if task.kind is not TaskKind.DRAFT or "message" not in names:
        return marked
    reason = "the message is longer than the model can read; it saw the beginning and the end"
    fields = {**answer.data, "hand_over": True, "reason": reason}
    return marked.changed(result=type(answer.result).model_validate(fields))


def _private(task: Task) -> tuple[str, ...]:
    """What names the customer: hidden from the model when the desk redacts."""
    message = task.inputs.get("message")
    if not isinstance(message, dict):
        return task.private
    sender = message.get("sender")
    named: list[Any] = [task.sender_name]
    prepared = message.get("prepared")
    if isinstance(prepared, dict):
        named += [prepared.get("name"), prepared.get("address")]
    if isinstance(sender, dict):
        named += [sender.get("name"), sender.get("address")]
    principal = message.get("principal")
    proven = (
        [principal.get("customer_id"), principal.get("address")]
        if isinstance(principal, dict)
        else []
    )
    return tuple(
        name for name in (*task.private, *named, *proven) if isinstance(name, str) and name.strip()
    )


def _quotable(task: Task, completion: Completion, problem: AnswerProblem) -> AnswerProblem:
    """The problem in words without personal data: found once more in the answer as the model
    wrote it."""
    if completion.redacted is None or isinstance(problem, EmptyAnswer):
        return problem
    try:
        _read(task, replace(completion, text=completion.redacted))
    except AnswerProblem as without_values:
        return without_values
    return AnswerProblem("the answer does not fit once the hidden values are back in it")


def _read(task: Task, completion: Completion) -> TaskResult:
    try:
        return result_of(task, parse_object(completion.text))
    except EmptyAnswer:
        raise
    except AnswerProblem as problem:
        if completion.finish_reason != "length":
            raise
        cut = AnswerProblem(
            f"{problem} (the answer was cut off at max_tokens, so keep it shorter or allow more)"
        )
    raise cut


def _repair(request: ChatRequest, completion: Completion, problem: str) -> ChatRequest:
    asked = tuple(dict(message) for message in request.messages)
    origin = Origin(run_id=request.origin.run_id, stage=request.origin.stage, call_type="repair")
    return ChatRequest(
        messages=repair_messages(asked, completion.text, problem),
        model=request.model,
        schema=request.schema,
        temperature=request.temperature,
        max_tokens=request.max_tokens,
        origin=origin,
        private=request.private,
    )


def _invalid(
    task: Task, model: str, completion: Completion, problem: AnswerProblem
) -> ModelAnswerInvalid:
    where = (
        f"{model} did not answer the {task.kind.value} task of stage {task.stage!r} usefully, even"
        " when shown why"
    )
    if isinstance(problem, EmptyAnswer):
        return ModelAnswerInvalid(f"{where}: {problem}", ErrorCode.MODEL_ANSWER_EMPTY)
    shown = completion.text if completion.redacted is None else completion.redacted
    return ModelAnswerInvalid(f"{where}: {problem}. It came back with: {shown[:200]!r}")
