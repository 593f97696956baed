"""The console's desk screen: knowledge, rules, health, the stop switch, and API keys."""

import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from deskhand.adapters.stores.eval_reports import KEPT, SqlEvalReports
from deskhand.model.access import Role
from deskhand.wiring import user_accounts
from tests.api_kit import Client, Served, served
from tests.approvals_kit import PASSWORD, Person, person, words_of

TABS = ("knowledge", "intents", "routing", "policies", "evals", "health", "stop")


@pytest.fixture
async def shop(tmp_path: Path) -> AsyncIterator[Served]:
    more = "policy: [{name: ask always, then: hold}]\n"
    async with served(tmp_path, "shop", "bank", more=more, approvals=True) as running:
        yield running


async def admin(shop: Served) -> Person:
    await user_accounts(shop.database).add("ada", PASSWORD, ["*"], role=Role.ADMIN)
    ada = Person(shop)
    await ada.log_in("ada")
    return ada


async def test_every_part_of_a_desk_is_shown_to_whoever_may_see_it(shop: Served) -> None:
    ida, bert = await person(shop), await person(shop, "bert", "bank")
    assert (await ida.get("/desk/")).headers["location"] == "/desk/bank/knowledge"
    for tab in TABS:
        shown = await ida.get(f"/desk/shop/{tab}")
        assert shown.status_code == 200, tab
        assert (await bert.get(f"/desk/shop/{tab}")).status_code == 404
    asked = await ida.get("/desk/shop/knowledge?question=<b>delivery</b>")
    assert "<b>delivery</b>" not in asked.text
    assert (await ida.get("/desk/shop/nonsense")).status_code == 404


async def test_a_stuck_run_is_listed_and_goes_on(shop: Served) -> None:
    api: Client = await shop.client(desks=["shop"])
    run = await api.worked("broken", subject="It broke")
    ida = await person(shop)
    page = words_of((await ida.get("/desk/shop/health")).text)
    assert "It broke" in page
    again = await ida.post(f"/runs/shop/{run['run']}/retry", data={"csrf": ida.csrf})
    assert again.status_code == 303


async def test_only_an_admin_stops_a_desk_and_says_why(shop: Served) -> None:
    ida, ada = await person(shop), await admin(shop)
    halt, resume = "/desk/shop/switch/halt", "/desk/shop/switch/resume"
    form = {"reason": "wrong prices"}
    assert (await ida.post(halt, data={**form, "csrf": ida.csrf})).status_code == 403
    await ada.post(halt, data={"csrf": ada.csrf})
    assert await shop.desks["shop"].store.stopped() is None
    await ada.post(halt, data={**form, "csrf": ada.csrf})
    assert "wrong prices" in words_of((await ida.get("/desk/shop/stop")).text)
    await ada.post(resume, data={"csrf": ada.csrf})
    assert await shop.desks["shop"].store.stopped() is None


async def test_a_key_is_shown_once_works_at_once_and_is_revoked_at_once(shop: Served) -> None:
    ada = await admin(shop)
    form = {"csrf": ada.csrf, "name": "shop-backend", "desks": "shop", "scope:runs:read": "yes"}
    made = (await ada.post("/desk/keys", data=form)).text
    secret = re.search(r"dh_[0-9a-z]{20}_[0-9a-f]{64}", made)
    assert secret is not None
    assert secret[0] not in (await ada.get("/desk/keys")).text
    header = {"Authorization": f"Bearer {secret[0]}"}
    assert (await Person(shop).get("/api/runs", headers=header)).status_code == 200
    key = re.search(r"/desk/keys/(key_[0-9a-z]+)/revoke", made)
    assert key is not None
    await ada.post(f"/desk/keys/{key[1]}/revoke", data={"csrf": ada.csrf})
    assert (await Person(shop).get("/api/runs", headers=header)).status_code == 401
    nothing = await ada.post("/desk/keys", data={"csrf": ada.csrf, "name": "x", "desks": "shop"})
    assert nothing.status_code == 409


def a_report(passed: bool, reply: str) -> dict[str, object]:
    """A report of one case, as it is kept."""
    score = {"passed": False, "expected": "within ten days", "found": reply, "why": None}
    case = {
        "id": "delivery time",
        "tags": ["en"],
        "passed": passed,
        "scores": {} if passed else {"must_say": score},
        "facts": {"reply": reply},
    }
    intents = {"confusions": [["inquiry", "meeting_request", 4, 0.05]]}
    counts = {"total": 1, "passed": int(passed), "failed": int(not passed)}
    return {**counts, "cases": [case], "intents": intents}


async def test_two_evals_are_shown_side_by_side_with_what_got_worse(shop: Served) -> None:
    ada, reports = await admin(shop), SqlEvalReports(shop.database)
    assert "No eval yet" in (await ada.get("/desk/shop/evals")).text
    await reports.add("shop", 1_800_000_000.0, "ada", a_report(True, "It comes within ten days."))
    await reports.add("shop", 1_800_000_100.0, "ida", a_report(False, "It comes <b>soon</b>."))

    page = words_of((await ada.get("/desk/shop/evals")).text)

    assert "Worse than before 1" in page
    assert "worse delivery time" in page
    assert "It comes within ten days. It comes <b>soon</b>." in page, "as text, side by side"
    assert "Last by ida" in page
    intents = words_of((await ada.get("/desk/shop/intents")).text)
    assert "inquiry meeting request 4 5.0 %" in intents
    assert "No eval yet" in (await ada.get("/desk/bank/evals")).text, "another desk's are its own"


async def test_only_the_newest_reports_of_a_desk_are_kept(shop: Served) -> None:
    reports = SqlEvalReports(shop.database)
    for number in range(KEPT + 3):
        await reports.add("shop", 1_800_000_000.0 + number, "ada", a_report(True, "yes"))

    kept = await reports.newest("shop", 100)

    assert [report.at - 1_800_000_000.0 for report in kept] == list(range(KEPT + 2, 2, -1))


async def test_only_an_admin_starts_an_eval(shop: Served) -> None:
    ida = await person(shop)

    answer = await ida.post("/desk/shop/evals/run", data={"csrf": ida.csrf})

    assert answer.status_code == 403
    assert "Run the cases" not in (await ida.get("/desk/shop/evals")).text
