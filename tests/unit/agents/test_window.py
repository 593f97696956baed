"""A conversation inside the model's window: what is cut first, what stays, and what the row says
of it."""

import json
from pathlib import Path
from typing import Any

import pytest

from deskhand.agents.shortening import NOTE, Measure, names_in, shortened
from deskhand.agents.window import CHARACTERS_A_TOKEN, fitted
from deskhand.cli.agent_lines import turn_words
from deskhand.engine.journal import result_of
from deskhand.engine.story import read_records, story_of
from deskhand.errors import PermanentError
from deskhand.model.run import RunStatus
from deskhand.tools.registry import tool
from tests.kit import a_message, engine
from tests.loop_kit import a_profile, agent_flow, asks, by_turn, says, told

CATALOGUE = {
    "hits": [{"id": f"D-{number}", "name": f"Drug number {number}"} for number in range(40)],
    "total": 40,
}


def conversation(*results: Any, arguments: str = "{}") -> list[dict[str, Any]]:
    """One call a turn, each with its result; the last call has these arguments."""
    messages: list[dict[str, Any]] = [
        {"role": "system", "content": "Help."},
        {"role": "user", "content": "Hello"},
    ]
    for number, result in enumerate(results, 1):
        given = arguments if number == len(results) else "{}"
        call = {
            "id": f"c{number}",
            "type": "function",
            "function": {"name": f"tool_{number}", "arguments": given},
        }
        messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
        messages.append(
            {"role": "tool", "tool_call_id": f"c{number}", "content": json.dumps(result)}
        )
    return messages


def shown(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [json.loads(message["content"]) for message in messages if message["role"] == "tool"]


def fit(
    messages: list[dict[str, Any]], tokens: int
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    return fitted(messages, 0, tokens, 0)


def test_what_fits_is_left_as_it_is() -> None:
    messages = conversation(CATALOGUE)
    assert fit(messages, 2000) == (messages, [])


def test_a_list_keeps_its_head_and_what_later_calls_speak_of() -> None:
    cut = json.loads(
        shortened(
            json.dumps(CATALOGUE), Measure(3, 100), names_in('{"drug_id": "D-31", "packs": 2}')
        )
    )
    *hits, more = cut["hits"]
    assert [hit["id"] for hit in hits] == ["D-0", "D-1", "D-2", "D-31"]
    assert more == "… 36 more"
    assert cut["total"] == 40
    assert "in full; call the tool again" in cut[NOTE]


def test_a_text_keeps_its_head_and_the_place_that_is_spoken_of() -> None:
    page = {
        "text": "Opening hours. "
        + "blah " * 300
        + "Voucher ABC-123 is good until May. "
        + "blah " * 300
    }
    cut = json.loads(shortened(json.dumps(page), Measure(3, 50), ["ABC-123"]))["text"]
    assert cut.startswith("Opening hours. ")
    assert "Voucher ABC-123 is good until May" in cut
    assert cut.endswith("more characters")
    assert len(cut) < 250


def test_a_mapping_of_many_fields_keeps_the_first_and_those_spoken_of() -> None:
    prices = {f"P-{number:03}": number for number in range(100)}
    cut = json.loads(shortened(json.dumps(prices), Measure(1, 50), ["P-077"]))
    assert list(cut) == [NOTE, *(f"P-{number:03}" for number in range(8)), "P-077", "…"]
    assert cut["…"] == "91 more"


def test_big_results_are_cut_before_small_ones_and_the_last_two_come_last() -> None:
    small, big = {"name": "Ann", "tier": "gold"}, {"page": "word " * 1000}
    messages = conversation(small, big, big, big)
    fitting, trimmed = fit(messages, 4000)
    first, second, *rest = shown(fitting)
    assert first == small
    assert NOTE in second
    assert rest == [big, big]
    assert [(one["result"], one["tool"]) for one in trimmed] == [(2, "tool_2")]


def test_the_oldest_are_left_out_when_shortening_is_not_enough() -> None:
    messages = conversation(*[{"page": f"{number} " + "word " * 100} for number in range(20)])
    fitting, trimmed = fit(messages, 1400)
    kept = [one["kept"] for one in trimmed]
    assert kept[0] == 0
    assert kept == sorted(kept), "the oldest first"
    assert all(
        "left out" in result[NOTE]
        for result, size in zip(shown(fitting), kept, strict=False)
        if not size
    )
    assert NOTE not in shown(fitting)[-1]


def test_the_row_says_how_many_tokens_it_saved() -> None:
    messages = conversation(CATALOGUE, CATALOGUE, {"ok": True}, {"ok": True})
    fitting, trimmed = fit(messages, 1200)
    before = sum(len(str(message["content"])) for message in messages)
    after = sum(len(str(message["content"])) for message in fitting)
    assert sum(one["tokens_saved"] for one in trimmed) == pytest.approx(
        (before - after) / CHARACTERS_A_TOKEN, abs=2
    )


def test_what_cannot_be_made_to_fit_is_refused() -> None:
    with pytest.raises(PermanentError, match="context_tokens"):
        fit([{"role": "user", "content": "long " * 2000}], 1000)


def test_it_is_the_same_every_time() -> None:
    messages = conversation(CATALOGUE, CATALOGUE, CATALOGUE, arguments='{"id": "D-17"}')
    assert fit(messages, 900) == fit(messages, 900)


@tool(effect="read")
async def list_vouchers(page: int) -> dict[str, Any]:
    """List vouchers."""
    return {"vouchers": [f"V-{page}-{number:04}" for number in range(400)]}


@tool(effect="keyed")
async def redeem(voucher: str) -> dict[str, Any]:
    """Redeem a voucher."""
    return {"redeemed": voucher}


async def test_the_gate_knows_where_a_value_came_from_though_the_model_is_shown_it_no_more(
    tmp_path: Path,
) -> None:
    """It goes by the run's results, which nothing shortens."""
    pages = [asks(("list_vouchers", {"page": page})) for page in range(1, 6)]
    chat = by_turn(
        *pages, asks(("redeem", {"voucher": "V-1-0399"})), says("Thank you for your message.")
    )
    profile = a_profile([list_vouchers, redeem], context_tokens=4600, max_tokens=500)
    flow = agent_flow(chat, (list_vouchers, redeem), profile)
    async with engine(tmp_path / "x.db", flow, tools=(list_vouchers, redeem)) as running:
        run_id = await running.work(a_message(1))
        records = await read_records(running.store, run_id)
    asked = next(request for request in chat.requests if len(told(request)) == 5)
    assert not any("V-1-0399" in result for result in told(asked)), (
        "the model is not shown it any more"
    )
    call = story_of(records)["tool_calls"][-1]
    assert (call["tool"], call["verdict"], call["origin"]) == (
        "redeem",
        "allow",
        {"voucher": "result:1"},
    )
    assert records.run.status is RunStatus.SENT
    lines = [turn_words(result_of(row)) or "" for row in records.rows]
    assert any(
        "earlier results shortened (about" in line and "tokens saved)" in line for line in lines
    )
