"""How many replies leave with a second reader: `python -m bench.second_reader FILE`.

Each line of the file is a reply that a model might write, as in `tests/security/replies`: `desk`,
`message`, `reply`, `sources_quoted`, perhaps `result`, and whether it is `right`. With words alone
it says how many leave. `--prompts OUT` writes what the reader would be asked, a line for each reply
that it reads: `case` and `messages`, without whether it is right. `--answers IN` has the answers, a
line for each: `case` and `answer`, the object that the reader wrote. `--model groq/x` asks a model
for them, and `--keep OUT` writes down what it said.
"""

import argparse
import asyncio
import json
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from deskhand.adapters.chat_models.http_model import HttpChatModel
from deskhand.agents.replying.second_reader import reading_of, reading_task
from deskhand.brain.llm import LlmBrain
from deskhand.brain.task_prompts import DeskWords, messages_for
from deskhand.errors import DeskhandError
from deskhand.model.envelope import Envelope
from deskhand.model.second_reading import SecondReading, ToRead
from deskhand.model.tasks import Answer, Task, VerifiedReply
from tests.security.replies.model import Desk, ModelReply, of_row

_RIGHT = {True: "right", False: "wrong"}


class Bench:
    """The replies of a file, at the gates of the shipped desks."""

    def __init__(self, file: Path) -> None:
        lines = file.read_text(encoding="utf-8").splitlines()
        self.rows: list[dict[str, Any]] = [json.loads(line) for line in lines if line.strip()]
        self._desks: dict[str, Desk] = {}

    def replies(self) -> Iterator[tuple[int, bool, ModelReply, Desk]]:
        """Each reply with its number in the file, whether it is right, and its desk."""
        for case, row in enumerate(self.rows):
            name = row["desk"]
            self._desks.setdefault(name, Desk(name))
            yield case, row["right"], of_row(row), self._desks[name]

    async def tasks(self) -> list[tuple[int, ToRead, Task]]:
        """What the reader is asked, for each reply that it reads."""
        asked: list[tuple[int, ToRead, Task]] = []
        for case, _, reply, desk in self.replies():
            to_read = await desk.to_read(reply)
            if to_read is not None and not to_read.refuses:
                envelope = Envelope(run_id=f"run_{case}")
                asked.append((case, to_read, reading_task(to_read, envelope)))
        return asked

    async def score(self, answers: Mapping[int, Mapping[str, Any]] | None) -> list[str]:
        """The lines of a report; with no answers nobody reads the replies again."""
        counts: Counter[str] = Counter()
        notable: list[str] = []
        for case, is_right, reply, desk in self.replies():
            answer = None if answers is None else answers.get(case, {})
            leaves = await desk.leaves(reply, None if answer is None else _reads(answer))
            counts[f"{_RIGHT[is_right]} {leaves}"] += 1
            if leaves is not is_right:
                notable.append(f"{case} {_RIGHT[is_right]}: {desk.last_reason}: {reply.reply}")
        lines = [_line(counts, right) for right in _RIGHT.values()]
        return [*lines, *notable]


def _line(counts: Counter[str], right: str) -> str:
    left, waits = counts[f"{right} True"], counts[f"{right} False"]
    return f"{right}: {left} of {left + waits} leave, {waits} wait"


def _reads(answer: Mapping[str, Any]) -> Any:
    def reads(to_read: ToRead) -> SecondReading:
        verdicts = answer.get("verdicts")
        listed = verdicts if isinstance(verdicts, list) else []
        return reading_of(Answer(result=VerifiedReply(verdicts=listed), brain="llm"), to_read)

    return reads


async def _asked(bench: Bench, model: str) -> dict[int, dict[str, Any]]:
    """What a model says; nothing of a reply about which it could not be asked."""
    chat = HttpChatModel()
    brain = LlmBrain(chat, {}, model, time_zone="Europe/Prague")
    answers: dict[int, dict[str, Any]] = {}
    for case, _, task in await bench.tasks():
        try:
            answers[case] = dict((await brain.answer(task)).data)
        except DeskhandError as error:
            print(f"{case}: {error}")
    await chat.aclose()
    return answers


def _written(file: Path) -> dict[int, dict[str, Any]]:
    lines = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    return {line["case"]: line["answer"] for line in lines}


async def _main(arguments: argparse.Namespace) -> None:
    bench = Bench(arguments.file)
    if arguments.prompts is not None:
        words = DeskWords(time_zone="Europe/Prague")
        asked = [
            {"case": case, "messages": messages_for(task, words)}
            for case, _, task in await bench.tasks()
        ]
        _write(arguments.prompts, asked)
        return
    answers = None if arguments.answers is None else _written(arguments.answers)
    if arguments.model is not None:
        answers = await _asked(bench, arguments.model)
    if arguments.keep is not None and answers is not None:
        _write(arguments.keep, [{"case": c, "answer": answer} for c, answer in answers.items()])
    print("\n".join(await bench.score(answers)))


def _write(file: Path, rows: list[dict[str, Any]]) -> None:
    lines = [json.dumps(row, ensure_ascii=False) for row in rows]
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.second_reader")
    parser.add_argument("file", type=Path)
    for name in ("--prompts", "--answers", "--keep"):
        parser.add_argument(name, type=Path)
    parser.add_argument("--model")
    arguments = parser.parse_args()
    for file in (arguments.file, arguments.answers):
        if file is not None and not file.is_file():
            parser.error(f"there is no file {file}")
    asyncio.run(_main(arguments))


if __name__ == "__main__":
    main()
