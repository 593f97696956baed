"""A desk that begins with drafts, earns `auto`, and loses it again: the real store, loop and
gate."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from deskhand.engine.trust_modes import ITSELF
from deskhand.errors import Conflict, NotFound
from deskhand.model.queue import ReviewFilter
from deskhand.wiring import open_database, open_trust, read_desk
from tests.kit import a_message
from tests.servers import new_database, postgres_programs
from tests.trust_kit import approve_many, decide, earning, worked

QUICK = "start: draft, promote_at: 0.5, fall_back_at: 0.1, at_least: 5, spot_check: 0.01"
CHECKED = QUICK.replace("spot_check: 0.01", "spot_check: 1")


def kinds(changes: list[Any]) -> list[tuple[str, str, str]]:
    return [(change.before, change.mode, change.how) for change in changes]


@pytest.fixture(params=["sqlite", "postgres"])
async def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return str(tmp_path / "deskhand.db")
    if postgres_programs() is None:
        pytest.skip("PostgreSQL's server is not installed")
    return await asyncio.to_thread(new_database)


async def test_a_category_earns_auto_and_falls_back_when_checks_fail(
    tmp_path: Path, url: str
) -> None:
    async with earning(tmp_path, CHECKED, url) as desk:
        with pytest.raises(
            Conflict,
            match="auto is not justified for inquiry: 0 of 0 judged replies were good; 0 judged",
        ):
            await desk.trust.promote("inquiry", "olga")
        await approve_many(desk, 8)
        standing = await desk.trust.standing("inquiry")
        assert (standing.judged, standing.good, standing.justified) == (8, 8, True)
        await desk.trust.promote("inquiry", "olga")
        for number in range(20, 30):
            run_id, status = await worked(desk, a_message(number))
            assert status == "waiting_review"
            (review,) = await desk.store.find_reviews(ReviewFilter(run_id=run_id))
            if review.payload["waits"] == "draft":
                break
            assert review.reason == "spot check: it could have left by itself"
            assert await decide(desk, run_id, "reject", note="wrong") == "rejected"
        else:
            pytest.fail("it never fell back")
        changes = await desk.trust.store.mode_changes("inquiry")
        assert kinds(changes) == [("draft", "auto", "promoted"), ("auto", "draft", "fell_back")]
        assert changes[-1].by == ITSELF
        assert "replies that people looked at were not good" in changes[-1].reason
        events = [event for event in await desk.store.events() if event.kind == "mode.changed"]
        assert [(event.by, event.payload["mode"]) for event in events] == [
            ("olga", "auto"),
            (ITSELF, "draft"),
        ]
        assert (await desk.trust.standing("inquiry")).current.falls == 1


async def test_in_auto_replies_leave_alone_and_another_process_sees_a_lowered_mode_at_once(
    tmp_path: Path, url: str
) -> None:
    async with earning(tmp_path, QUICK, url) as desk:
        change = await desk.trust.promote("inquiry", "olga", force=True, reason="a quiet week")
        assert (change.how, change.mode) == ("forced", "auto")
        left = [await worked(desk, a_message(number)) for number in range(5)]
        alone = [run_id for run_id, status in left if status == "sent"]
        assert len(alone) >= 4  # one in a hundred is checked
        found = await desk.trust.store.judgements("inquiry")
        assert [one.run_id for one in found] == alone
        assert {(str(one.judged), one.language) for one in found} == {("sent", "en")}
        async with open_database(url) as other:
            trust = open_trust(read_desk(str(tmp_path / "earning")).spec, other)
            await trust.lower("inquiry", "draft", "olga", "new prices")
        run_id, status = await worked(desk, a_message(50))
        assert status == "waiting_review"
        (review,) = await desk.store.find_reviews(ReviewFilter(run_id=run_id))
        assert (review.payload["waits"], review.facts["category"]) == ("draft", "inquiry")
        assert review.facts["reasons"] == {review.causes[0]: review.reason}


async def test_complaints_about_replies_that_left_alone_make_it_fall_back(tmp_path: Path) -> None:
    async with earning(tmp_path, QUICK) as desk:
        await desk.trust.promote("inquiry", "olga", force=True, reason="trying it")
        for number in range(40):
            _, status = await worked(desk, a_message(f"q{number}", conversation=f"c{number}"))
            if status != "sent":
                (review,) = await desk.store.find_reviews(ReviewFilter(run_id=_))
                if review.payload["waits"] == "draft":
                    break
                continue
            angry = a_message(
                f"a{number}", conversation=f"c{number}", body="This was a terrible answer"
            )
            assert (await worked(desk, angry))[1] == "waiting_review"
        changes = await desk.trust.store.mode_changes("inquiry")
        assert kinds(changes)[-1] == ("auto", "draft", "fell_back")
        assert "came back as bounces or complaints" in changes[-1].reason
        assert changes[-1].figures["doubt"] == 1.0


async def test_what_low_confidence_kept_does_not_count_for_auto(tmp_path: Path) -> None:
    async with earning(tmp_path, QUICK) as desk:
        run_id, _ = await worked(desk, a_message(1, body="I am unsure about this"))
        assert await decide(desk, run_id, "approve") == "sent"
        assert (await desk.trust.standing("inquiry")).judged == 0
        assert [dict(one.counts) for one in await desk.trust.store.figures()] == [{"unchanged": 1}]


async def test_an_edit_is_measured_and_counts_against_the_draft(tmp_path: Path) -> None:
    async with earning(tmp_path) as desk:
        run_id, _ = await worked(desk, a_message(1))
        edit = {"text": "It is on its way to you."}
        assert await decide(desk, run_id, "edit", edit=edit) == "sent"
        (found,) = await desk.trust.store.judgements("inquiry")
        assert (str(found.judged), found.counts, found.facts) == ("edited", True, False)
        assert found.share == 0.2  # two words of ten, the subject among them
        assert (await desk.trust.standing("inquiry")).good == 0


async def test_desk_yaml_gives_the_ceiling(tmp_path: Path) -> None:
    async with earning(tmp_path, QUICK) as desk:
        with pytest.raises(Conflict, match=r"raise its mode in desk\.yaml first"):
            await desk.trust.promote("complaint", "olga", force=True, reason="why not")
        with pytest.raises(Conflict, match="say why"):
            await desk.trust.promote("inquiry", "olga", force=True)
        with pytest.raises(NotFound, match="it has complaint, inquiry, other"):
            await desk.trust.promote("enquiry", "olga")


async def test_a_spot_check_is_the_same_for_a_run_whenever_it_is_asked(tmp_path: Path) -> None:
    async with earning(tmp_path, QUICK.replace("0.01", "0.2")) as desk:
        await desk.trust.promote("inquiry", "olga", force=True, reason="trying it")
        assert await desk.trust.mode_for("inquiry") == "auto"
        first = [await desk.trust.checks(f"run_{number}", "inquiry") for number in range(300)]
        assert first == [
            await desk.trust.checks(f"run_{number}", "inquiry") for number in range(300)
        ]
        assert 30 <= sum(first) <= 90
