"""What came of a game of the black box."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

from deskhand.engine.audit import verify_desk
from deskhand.model.queue import ReviewFilter
from deskhand.model.run import ReviewState, Run, RunStatus
from deskhand.wiring.databases import DeskStore

AT_REST = (
    RunStatus.SENT,
    RunStatus.DONE,
    RunStatus.FAILED,
    RunStatus.WAITING_REVIEW,
    RunStatus.NEEDS_REVIEW,
)
TIME = re.compile(r"^\d\d:\d\d:\d\d ")
NUMBERED = re.compile(r"\w*\d\w*")
ERRORS = re.compile(
    r"^\d\d:\d\d:\d\d (?:error|critical) .*|^\w+(?:\.\w+)*(?:Error|Exception|Fenced)\b.*"
)
"""Lines of a log that say that something went wrong."""


@dataclass
class Findings:
    """What came of it; every number before `with_a_person` is to be 0."""

    lost: int = 0
    doubled: int = 0
    out_of_order: int = 0
    stuck: int = 0
    broken: list[str] = field(default_factory=list)
    """What the audit found."""
    died: list[str] = field(default_factory=list)
    """Processes that ended by themselves, or did not end well when they were told to."""
    with_a_person: int = 0
    failed: int = 0
    """Those of them that were in five crashes."""
    kills: int = 0
    in_flight: int = 0
    """Runs that were at work when a process was killed, all kills together."""
    errors: dict[str, int] = field(default_factory=dict)
    """What the processes logged as errors, and how often."""
    outages: int = 0
    seconds: float = 0.0

    @property
    def is_well(self) -> bool:
        counted = (self.lost, self.doubled, self.out_of_order, self.stuck)
        return not any((*counted, self.broken, self.died))


@dataclass
class HandedIn:
    """What customers may expect an answer to."""

    posted: set[str] = field(default_factory=set)
    """The runs of messages that were accepted over HTTP."""
    mails: set[str] = field(default_factory=set)
    """The ids of mails in the desk's mailbox."""


@dataclass(frozen=True)
class Answers:
    """How many customers have, counted where they find them."""

    sent: Counter[str]
    """By run, to messages over HTTP."""
    mailed: Counter[str]
    """By the id of the mail that is answered."""


async def count_findings(
    findings: Findings, handed_in: HandedIn, answers: Answers, store: DeskStore
) -> None:
    """What has neither an answer nor an open review is lost."""
    runs = await store.runs(limit=100_000)
    is_open = ReviewFilter(state=ReviewState.OPEN)
    reviewed = {review.run_id for review in await store.find_reviews(is_open, limit=100_000)}
    messages = await store.messages(sorted(reviewed))
    reviewed_mails = {message.id for message in messages.values()}
    findings.with_a_person = len(reviewed)
    findings.failed = sum(run.status is RunStatus.FAILED for run in runs)

    findings.lost += len(handed_in.posted - answers.sent.keys() - reviewed)
    findings.lost += len(handed_in.mails - answers.mailed.keys() - reviewed_mails)
    counts = (*answers.sent.values(), *answers.mailed.values())
    findings.doubled += sum(count - 1 for count in counts)
    findings.out_of_order = _out_of_order(runs)
    findings.stuck = sum(run.status not in AT_REST for run in runs)
    report = await verify_desk(store)
    findings.broken = [str(problem) for problem in report.problems]


def at_rest(counts: Counter[RunStatus]) -> int:
    """How many of these runs have ended or wait for a person."""
    return sum(counts[status] for status in AT_REST)


def errors_in(log: Path) -> dict[str, int]:
    """Lines that say that something went wrong, without what differs from one to the next."""
    errors: Counter[str] = Counter()
    for line in log.read_text(errors="replace").splitlines():
        if ERRORS.match(line):
            said = TIME.sub("", line)
            errors[NUMBERED.sub("*", said)[:300]] += 1
    return dict(errors)


def _out_of_order(runs: Sequence[Run]) -> int:
    """Runs that ended before an earlier one of their conversation did."""
    lanes: dict[str, list[Run]] = {}
    for run in sorted(runs, key=lambda run: run.position):
        lanes.setdefault(run.conversation, []).append(run)
    return sum(
        earlier.updated_at > later.updated_at
        for lane in lanes.values()
        for earlier, later in pairwise(lane)
        if earlier.status is later.status is RunStatus.SENT
    )
