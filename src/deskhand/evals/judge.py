"""A model as judge: whether a reply meets a criterion that was written in words."""

from deskhand.engine.story import Document
from deskhand.errors import DeskhandError
from deskhand.evals.scorers import Score
from deskhand.model.tasks import Judged, Task, TaskKind
from deskhand.ports import Brain


async def judge_run(run: Document, criteria: list[str], brain: Brain | None) -> list[Score]:
    """One score a criterion. Without a brain, or where it cannot answer, the score is skipped
    and says so."""
    scores = []
    for number, criterion in enumerate(criteria, 1):
        name = "judge" if len(criteria) == 1 else f"judge {number}"
        scores.append(await _one(run, name, criterion, brain))
    return scores


async def _one(run: Document, name: str, criterion: str, brain: Brain | None) -> Score:
    reply = run["reply"]
    if brain is None:
        return Score(
            name, True, criterion, why="nobody judged; name a model with --judge", skipped=True
        )
    if reply is None:
        return Score(name, False, criterion, why="there is no reply to judge")
    inputs = {"criterion": criterion, "message": run["message"], "tool_calls": run["tool_calls"]}
    task = Task(kind=TaskKind.JUDGE, stage="judge", text=str(reply["text"]), inputs=inputs)
    try:
        answer = await brain.answer(task)
    except DeskhandError as error:
        return Score(
            name, True, criterion, why=f"the judge could not answer: {error}", skipped=True
        )
    verdict = answer.result
    assert isinstance(verdict, Judged)
    return Score(
        name, verdict.passed, criterion, verdict.passed, float(verdict.passed), verdict.reason
    )
