"""A reply that a person approved leaves once, wherever between the click and the mail's record
the process dies."""

from pathlib import Path

import pytest

from deskhand.crashpoints import APPROVAL_POINTS, CRASH_POINTS
from tests.chaos.approvals import (
    Story,
    approved,
    approved_again,
    bench,
    edited,
    every_passage,
    revised,
    undone,
)
from tests.mail_servers import MISSING, dovecot_program
from tests.servers import new_database, postgres_programs

pytestmark = pytest.mark.skipif(dovecot_program() is None, reason=MISSING)

AT_THE_WORST = ("review.after_commit:1", "mail.after_data:1", "effect.after_perform:1")
BEFORE_A_MESSAGE_IS_IN = ("dispatch.before_accept", "dispatch.after_accept")
POINTS = tuple(
    point for point in (*APPROVAL_POINTS, *CRASH_POINTS) if point not in BEFORE_A_MESSAGE_IS_IN
)
UNDO_POINTS = (
    "review.before_commit",
    "review.after_commit",
    "journal.before_commit",
    "journal.after_commit",
)


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest) -> str | None:
    """The address of a PostgreSQL database, or none for a file."""
    if request.param == "sqlite":
        return None
    if postgres_programs() is None:
        pytest.skip("PostgreSQL's server is not installed")
    return new_database()


@pytest.mark.slow
async def test_a_death_at_the_worst_moments_sends_one_mail(
    tmp_path: Path, database: str | None
) -> None:
    async with bench(tmp_path, database) as desk:
        for point in AT_THE_WORST:
            assert await approved_again(desk, point), f"{point} was not come to"


@pytest.mark.chaos
@pytest.mark.timeout(3600)
@pytest.mark.parametrize(
    "story", [approved, approved_again, edited, revised], ids=lambda story: story.__name__
)
async def test_a_death_at_every_passage_of_every_point(
    tmp_path: Path, database: str | None, story: Story
) -> None:
    async with bench(tmp_path, database) as desk:
        for point in POINTS:
            await every_passage(desk, story, point)
        print(
            f"\n{story.__name__}: {sum(desk.kills.values())} kills, {len(desk.expected)} mails:"
            f" {dict(desk.kills)}"
        )
        assert sum(desk.kills.values()) >= 10


@pytest.mark.chaos
@pytest.mark.timeout(3600)
async def test_a_death_while_the_time_to_undo_runs_out(
    tmp_path: Path, database: str | None
) -> None:
    async with bench(tmp_path, database, undo=1) as desk:
        for point in POINTS:
            await every_passage(desk, approved, point)
        print(
            f"\nundo window over: {sum(desk.kills.values())} kills, {len(desk.expected)} mails:"
            f" {dict(desk.kills)}"
        )


@pytest.mark.chaos
@pytest.mark.timeout(3600)
async def test_a_death_while_somebody_undoes(tmp_path: Path, database: str | None) -> None:
    async with bench(tmp_path, database, undo=3600) as desk:
        for point in UNDO_POINTS:
            await every_passage(desk, undone, point, 6)
        print(
            f"\nundone: {sum(desk.kills.values())} kills, {len(desk.expected)} mails:"
            f" {dict(desk.kills)}"
        )
