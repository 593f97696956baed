"""Fit what each piece of evidence counts for whether an article of the inbox desk answers an ask.

    python scripts/build_answer_weights.py [en de ...]     # half an hour on one core

It learns from the mails in `training/inbox`, whose writers knew neither the desk's questions nor
its rules. It prints, by five folds of whole mails, how many would leave at each threshold, how many
of them rightly, and how many asks that no article answers would be answered; then the weights for
`src/deskhand/brain/answer_chance.py`.
"""

import asyncio
import json
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

from deskhand.brain.answer_chance import AskLikeness, Weights, likeliest, of_likeness
from deskhand.brain.ask_answers import MOST_ASKS, asks_of, likenesses
from deskhand.brain.ask_wordings import AskInMessage, all_wordings
from deskhand.brain.build import learned_questions
from deskhand.brain.task_inputs import own_subject
from deskhand.knowledge.ingest import Indexer
from deskhand.language.answerability import shared_answer_reader
from deskhand.language.asks import Part
from deskhand.language.question_examples import load_questions
from deskhand.model.knowledge import Hit
from deskhand.model.tasks import Task, TaskKind
from deskhand.wiring import embedder, embedder_name, open_database, open_knowledge, read_desk

MAILS = Path(__file__).parents[1] / "training" / "inbox"
THRESHOLDS = (0.7, 0.75, 0.8, 0.85, 0.9)
FOLDS = 5
CANDIDATES = 8
WIDE = 60
SAME = 0.5
"""The share of words in a row from which an ask is one of those that are marked."""
STRENGTH = 0.1

Vector = NDArray[np.float64]


@dataclass(frozen=True)
class Candidate:
    mail: int
    ask: int
    article: str
    evidence: tuple[float, ...]
    answers: bool


@dataclass(frozen=True)
class Mail:
    asks: int
    is_answerable: bool
    unanswered: frozenset[int]
    """Places of the asks that no article answers."""


async def read_mails(languages: Sequence[str]) -> tuple[list[Mail], list[Candidate]]:
    spec = read_desk("inbox").spec
    questions = learned_questions(spec, load_questions(spec.folder))
    mails: list[Mail] = []
    candidates: list[Candidate] = []
    with tempfile.TemporaryDirectory() as folder:
        async with open_database(f"{folder}/d.db") as database:
            knowledge = open_knowledge(database, "weights")
            home = spec.folder / "knowledge"
            await Indexer(knowledge.store, home, embedder(), embedder_name()).rebuild()
            for language in languages:
                file = MAILS / f"{language}_mails.jsonl"
                for line in file.read_text(encoding="utf-8").splitlines():
                    mail = json.loads(line)
                    task = _task(mail)
                    asks = asks_of(task, language)
                    truths = [_truth(ask.text, mail["asks"]) for ask in asks]
                    unanswered = frozenset(at for at, right in enumerate(truths) if not right)
                    is_answerable = all(ask["article"] for ask in mail["asks"])
                    for at, asked in enumerate(_asked(task, asks, language)):
                        async for article, evidence in _evidence(knowledge, questions, asked):
                            right = article in truths[at]
                            candidates.append(Candidate(len(mails), at, article, evidence, right))
                    mails.append(Mail(len(asks), is_answerable, unanswered))
    return mails, candidates


def _task(mail: dict[str, Any]) -> Task:
    inputs = {"message": {"subject": mail["subject"]}}
    return Task(kind=TaskKind.DRAFT, stage="draft", text=mail["body"], inputs=inputs)


def _asked(task: Task, asks: Sequence[Part], language: str) -> list[AskInMessage]:
    subject = own_subject(task)
    made: list[AskInMessage] = []
    for place, ask in enumerate(asks[:MOST_ASKS]):
        previous = asks[place - 1] if place else None
        made.append(AskInMessage(ask, language, previous, asks[0].context, subject))
    return made


def _truth(ask: str, marked: Sequence[dict[str, Any]]) -> set[str]:
    """The articles that answer an ask: those of the marked words that it shares most with."""
    words = ask.lower().split()
    shares = [_in_a_row(words, entry["text"].lower().split()) for entry in marked]
    best = max(range(len(marked)), key=lambda place: shares[place], default=None)
    if best is None or shares[best] < SAME or not marked[best]["article"]:
        return set()
    return {marked[best]["article"], *marked[best].get("also", ())}


def _in_a_row(left: list[str], right: list[str]) -> float:
    matcher = SequenceMatcher(None, left, right, autojunk=False)
    size = matcher.find_longest_match(0, len(left), 0, len(right)).size
    return size / max(1, min(len(left), len(right)))


async def _evidence(
    knowledge: Any, questions: Any, asked: AskInMessage
) -> AsyncIterator[tuple[str, tuple[float, ...]]]:
    alike = AskLikeness(*likenesses(questions, all_wordings(asked)))
    hits = await knowledge.search(asked.ask.text, language=asked.language, limit=WIDE)
    for article in likeliest(alike, CANDIDATES):
        hit = next((hit for hit in hits if hit.original == article), None)
        if hit is not None:
            yield article, (*of_likeness(article, alike), *_readings(asked.ask, hit))


def _readings(ask: Part, hit: Hit) -> tuple[float, float]:
    reads = shared_answer_reader().read
    passage = [f"{hit.title}. {hit.text}"]
    return reads(ask.text, passage, before=ask.context)[0], reads(ask.text, passage)[0]


def fitted(evidence: Vector, answers: Vector) -> tuple[Vector, float]:
    """The weights and the start."""
    scaler = StandardScaler().fit(evidence)
    model = LogisticRegression(C=STRENGTH, max_iter=5000)
    model.fit(scaler.transform(evidence), answers)
    weights = model.coef_[0] / scaler.scale_
    return weights, float(model.intercept_[0] - weights @ scaler.mean_)


def by_folds(candidates: Sequence[Candidate], evidence: Vector, answers: Vector) -> Vector:
    """The chance of each candidate, by weights that learned from other mails."""
    folds = np.array([candidate.mail % FOLDS for candidate in candidates])
    chances = np.zeros(len(candidates))
    for fold in range(FOLDS):
        weights, start = fitted(evidence[folds != fold], answers[folds != fold])
        chances[folds == fold] = 1 / (1 + np.exp(-(evidence[folds == fold] @ weights + start)))
    return chances


def report(
    mails: Sequence[Mail], candidates: Sequence[Candidate], chances: Vector
) -> Iterator[str]:
    best: dict[tuple[int, int], tuple[float, bool]] = {}
    for candidate, chance in zip(candidates, chances, strict=True):
        place = (candidate.mail, candidate.ask)
        if place not in best or chance > best[place][0]:
            best[place] = (float(chance), candidate.answers)
    answerable = sum(mail.is_answerable for mail in mails)
    yield f"{len(mails)} mails, {answerable} of them answered by articles"
    unanswered = [(at, ask) for at, mail in enumerate(mails) for ask in mail.unanswered]
    for threshold in THRESHOLDS:
        sent = right = 0
        for number, mail in enumerate(mails):
            asks = [best.get((number, ask), (0.0, False)) for ask in range(mail.asks)]
            if asks and min(asks)[0] >= threshold:
                sent += 1
                right += mail.is_answerable and all(answers for _, answers in asks)
        wrong = sum(best.get(place, (0.0, False))[0] >= threshold for place in unanswered)
        without = f"{wrong} of {len(unanswered)} asks without an answer"
        yield f"  {threshold}: {sent} sent, {right} right; {without} are answered"


def main() -> None:
    languages = sys.argv[1:] or ["en", "de", "cs", "es"]
    mails, candidates = asyncio.run(read_mails(languages))
    evidence = np.array([candidate.evidence for candidate in candidates])
    answers = np.array([float(candidate.answers) for candidate in candidates])
    for line in report(mails, candidates, by_folds(candidates, evidence, answers)):
        sys.stdout.write(f"{line}\n")
    weights, start = fitted(evidence, answers)
    shown = [round(float(weight), 2) for weight in (*weights, start)]
    sys.stdout.write(f"{dict(zip(Weights._fields, shown, strict=True))}\n")


if __name__ == "__main__":
    main()
