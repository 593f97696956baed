"""`deskhand modes`: what is shown, and what an operator is let do."""

import asyncio
from pathlib import Path

import pytest

from deskhand.trust.standing import first_mode
from deskhand.wiring import read_desk
from tests.cli_kit import Begin, Cli
from tests.kit import a_message
from tests.trust_kit import approve_many, decide, earning, worked, write_desk

SETTINGS = "start: draft, promote_at: 0.5, fall_back_at: 0.1, at_least: 5"


@pytest.fixture
def desk(begin: Begin, tmp_path: Path) -> Path:
    """Twelve drafts that left as they were, and one that was edited."""

    async def earn() -> None:
        async with earning(tmp_path, SETTINGS) as working:
            await approve_many(working, 12)
            run_id, _ = await worked(working, a_message(50))
            await decide(working, run_id, "edit", edit={"text": "It left for 10 EUR."})

    def work() -> None:
        asyncio.run(earn())

    begin(work)
    return tmp_path / "earning"


def test_the_figures_of_every_category(cli: Cli, desk: Path) -> None:
    told = cli("modes", "show", desk, "--json").json
    assert (told["desk"], told["earned"], told["changes"]) == ("earning", True, [])
    by_name = {one["category"]: one for one in told["categories"]}
    assert list(by_name) == ["complaint", "inquiry", "other"]
    inquiry = by_name["inquiry"]
    assert (inquiry["mode"], inquiry["ceiling"], inquiry["next"]) == ("draft", "auto", "auto")
    assert (inquiry["judged"], inquiry["good"], inquiry["justified"]) == (13, 12, True)
    assert inquiry["totals"]["unchanged"] == inquiry["languages"]["en"]["unchanged"] == 12
    assert (inquiry["totals"]["edited"], inquiry["totals"]["rejected"]) == (1, 0)
    assert 0 < inquiry["totals"]["edited_share"] < 1
    assert by_name["complaint"]["next"] is None
    shown = cli("modes", "show", desk).out
    assert "inquiry: auto is justified; 12 of 13 were good, known to be above" in shown
    assert f"deskhand modes promote {desk} inquiry" in shown
    assert "complaint: draft is the most that desk.yaml allows" in shown


def test_a_promotion_is_confirmed_and_kept_with_its_figures(cli: Cli, desk: Path) -> None:
    done = cli("modes", "promote", desk, "inquiry", "--by", "olga")
    assert done.code == 0
    assert "inquiry is in auto from now on (was draft): known to be above" in done.out
    told = cli("modes", "show", desk, "--json").json
    (change,) = told["changes"]
    assert (change["by"], change["how"], change["figures"]["judged"]) == ("olga", "promoted", 13)
    assert (
        "inquiry: 5% of the replies are looked at before they leave"
        in cli("modes", "show", desk).out
    )
    again = cli("modes", "promote", desk, "inquiry")
    assert (again.code, "the most it may have" in again.err) == (1, True)
    lowered = cli(
        "modes", "lower", desk, "inquiry", "--reason", "new prices", "--by", "olga", "--json"
    ).json
    assert (lowered["mode"], lowered["how"]) == ("draft", "lowered")


@pytest.fixture
def answering(tmp_path: Path) -> Path:
    """Replies that left by themselves, some of which people looked at before."""

    async def work() -> None:
        async with earning(tmp_path, SETTINGS) as working:
            await working.trust.promote("inquiry", "olga", force=True, reason="trying it")
            for number in range(1, 9):
                await worked(working, a_message(number))

    asyncio.run(work())
    return tmp_path / "earning"


def test_a_reply_that_left_is_right_only_if_somebody_looked(cli: Cli, answering: Path) -> None:
    def totals() -> dict[str, int]:
        categories = cli("modes", "show", answering, "--json").json["categories"]
        [inquiry] = [one for one in categories if one["category"] == "inquiry"]
        told: dict[str, int] = inquiry["totals"]
        return told

    before = totals()
    sent = before["sent"]
    assert sent >= 4
    assert (before["sent_and_right"], before["not_looked_at"]) == (0, sent)
    head = cli("modes", "show", answering).out
    assert "sent and right" in head
    assert "not looked at" in head
    drawn = cli("modes", "sample", answering, "--count", "4", "--json").json["drawn"]
    assert len(drawn) == 4
    right, also, wrong, left = (reply["run"] for reply in drawn)
    told = cli("modes", "judge", answering, right, "right").out
    assert f"the reply of {right} was right; it counts" in told
    assert cli("modes", "judge", answering, also, "right", "--json").json["drawn"] is True
    assert cli("modes", "judge", answering, wrong, "wrong", "--by", "eve").code == 0
    after = totals()
    assert (after["sent_and_right"], after["sent_and_wrong"]) == (2, 1)
    assert after["not_looked_at"] == sent - 3
    waiting = [reply["run"] for reply in cli("modes", "sample", answering, "--json").json["drawn"]]
    assert left in waiting
    assert right not in waiting


def test_only_what_left_by_itself_is_judged_afterwards(cli: Cli, desk: Path) -> None:
    assert cli("modes", "judge", desk, "run_unknown", "right").code == 1
    assert cli("modes", "judge", desk, "run_unknown", "perhaps").code == 2
    assert "somebody has looked at every reply" in cli("modes", "sample", desk).out


@pytest.mark.parametrize("shipped", ["sample", "inbox", "pharmacy"])
def test_every_shipped_desk_starts_in_draft(cli: Cli, shipped: str, tmp_path: Path) -> None:
    """And so does the desk that somebody makes of it."""
    assert cli("init", tmp_path / "mine", "--from", shipped).code == 0
    for desk in (shipped, str(tmp_path / "mine")):
        spec = read_desk(desk).spec
        for category in (None, "inquiry", "availability", "order_status"):
            assert first_mode(spec.trust, spec.mode_for(category)) == "draft"


def test_what_is_not_justified_is_refused_with_the_figures_or_forced_with_a_reason(
    cli: Cli, desk: Path
) -> None:
    refused = cli("modes", "promote", desk, "other", "--json")
    assert refused.code == 1
    assert (
        "0 of 0 judged replies were good; 0 judged of at least 5"
        in refused.json["error"]["message"]
    )
    assert "say why" in cli("modes", "promote", desk, "other", "--force").err
    forced = cli(
        "modes", "promote", desk, "other", "--force", "--reason", "launch day", "--json"
    ).json
    assert (forced["how"], forced["reason"]) == ("forced", "launch day")
    assert cli("modes", "promote", desk, "enquiry").code == 1
    assert cli("modes", "lower", desk, "other", "--to", "auto", "--reason", "x").code == 2


def test_a_desk_whose_modes_are_fixed_says_so(cli: Cli, desk: Path, tmp_path: Path) -> None:
    file = write_desk(tmp_path) / "desk.yaml"
    file.write_text(
        "\n".join(line for line in file.read_text().splitlines() if not line.startswith("trust"))
    )
    assert "modes are what desk.yaml says" in cli("modes", "show", desk).out
    told = cli("modes", "show", desk, "--json").json
    assert [one["mode"] for one in told["categories"]] == ["draft", "auto", "auto"]
