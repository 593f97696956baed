"""`deskhand run`: one message or one conversation, and its story."""

from pathlib import Path

import pytest

from tests.cli_kit import (
    BROKEN_DESK,
    BROKEN_RULES,
    SAMPLES,
    TOOL_CODE,
    TOOL_DESK,
    TOOL_RULES,
    Cli,
    write_desk,
    write_message,
)

PROMISED = {
    "run",
    "status",
    "route",
    "profile",
    "flow",
    "outputs",
    "tool_calls",
    "review",
    "reply",
    "steps",
}


def test_a_message_gives_one_document_with_the_promised_fields(cli: Cli, parcels: Path) -> None:
    said = cli("run", SAMPLES / "order-status.eml", "--desk", parcels, "--json")
    story = said.json
    assert said.code == 0
    assert said.err == ""
    assert story.keys() >= PROMISED
    assert (story["status"], story["route"], story["profile"], story["flow"]) == (
        "sent",
        "pipeline",
        None,
        "parcels",
    )
    assert story["outputs"]["classification"] == {"category": "order_status", "confidence": 0.95}
    assert story["tool_calls"] == [
        {
            "tool": "find_order",
            "arguments": {"order": "P-1001"},
            "verdict": "allow",
            "ok": True,
            "rule": "allowed",
            "origin": {"order": "message"},
            "read": {"order": "exact"},
        }
    ]
    assert story["review"] is None
    assert story["reply"]["to"] == "ann@example.com"
    assert story["reply"]["subject"] == "Re: Where is my parcel?"
    assert story["reply"]["language"] == "en"
    assert "Thursday" in story["reply"]["text"]
    stages = [step["name"] for step in story["steps"] if "/" not in step["name"]]
    assert stages == ["classify", "find_number", "decide", "act", "draft", "review", "dispatch"]
    assert all(step["outcome"] == "success" and step["latency_ms"] >= 0 for step in story["steps"])


def test_without_live_nothing_is_carried_out_and_nothing_is_left_behind(
    cli: Cli, parcels: Path, tmp_path: Path
) -> None:
    said = cli("run", SAMPLES / "refund.eml", "--desk", parcels, "--json")
    assert said.json["status"] == "waiting_review"
    assert said.json["outputs"]["act"]["results"][1]["data"] == {"captured": True}
    assert (
        cli("run", SAMPLES / "order-status.eml", "--desk", parcels, "--json").json["delivery"][
            "captured"
        ]
        is True
    )
    assert list(tmp_path.iterdir()) == []


def test_live_carries_effects_out(cli: Cli, parcels: Path, tmp_path: Path) -> None:
    said = cli("run", SAMPLES / "order-status.eml", "--desk", parcels, "--live", "--json")
    left = Path(said.json["delivery"]["delivered"])
    assert left.parent == Path("outbox")
    assert "Thursday" in (tmp_path / left).read_text()
    assert (tmp_path / "deskhand.db").is_file()


def test_what_waits_for_a_person_says_how_to_decide_it(cli: Cli) -> None:
    said = cli("run", SAMPLES / "refund.eml", "--desk", "sample", "--live").out
    (review,) = cli("reviews", "list", "--json").json["reviews"]
    assert f" reviews show {review['review']}" in said
    assert "deskhand reviews show" not in cli("run", SAMPLES / "refund.eml", "--desk", "sample").out


def test_the_same_message_again_is_the_same_run(cli: Cli, parcels: Path, tmp_path: Path) -> None:
    first = cli("run", SAMPLES / "order-status.eml", "--desk", parcels, "--live", "--json").json
    again = cli("run", SAMPLES / "order-status.eml", "--desk", parcels, "--live", "--json").json
    assert again["run"] == first["run"]
    assert len(list((tmp_path / "outbox").glob("*.eml"))) == 1


def test_a_conversation_asks_and_goes_on_with_the_answer(cli: Cli, parcels: Path) -> None:
    said = cli("run", SAMPLES / "which-parcel.json", "--desk", parcels, "--json")
    first, second = said.json["turns"]
    assert said.code == 0
    assert first["status"] == "waiting_user"
    assert "which parcel" in first["reply"]["text"]
    assert second["status"] == "sent"
    assert second["conversation"] == first["conversation"]
    assert [step["name"] for step in second["steps"]][:2] == ["@adopt", "find_number"]
    assert "P-1003" in second["reply"]["text"]


def test_spam_is_not_answered(cli: Cli) -> None:
    story = cli("run", SAMPLES / "spam.eml", "--desk", "sample", "--json").json
    assert (story["status"], story["reply"], story["tool_calls"]) == ("done", None, [])


def test_a_refund_waits_for_a_person(cli: Cli) -> None:
    said = cli("run", SAMPLES / "refund.eml", "--desk", "sample", "--json")
    assert said.code == 0
    assert said.json["status"] == "waiting_review"
    assert said.json["review"]["kind"] == "reply"
    assert said.json["review"]["reason"] == "refund is always looked at by a person"


def test_a_failed_look_up_is_told_and_the_run_goes_on(cli: Cli, parcels: Path) -> None:
    story = cli("run", SAMPLES / "unknown-number.eml", "--desk", parcels, "--json").json
    assert story["tool_calls"][0]["verdict"] == "allow"
    assert story["tool_calls"][0]["ok"] is False
    assert story["status"] == "sent"
    assert "no parcel with the number P-9999" in story["reply"]["text"]


def test_bytes_that_are_no_text_are_worked_all_the_same(cli: Cli, parcels: Path) -> None:
    said = cli("run", SAMPLES / "broken-bytes.eml", "--desk", parcels, "--json")
    assert (said.code, said.json["status"]) == (0, "sent")


def test_the_story_is_told_in_words(cli: Cli) -> None:
    said = cli("run", SAMPLES / "refund.eml", "--desk", "sample")
    for words in (
        "Teapot arrived broken",
        "✓ classify",
        "refund, confidence 0.93",
        "→ open_return",
        "order=P-1002 reason=damaged (guessed)  allow, ok",
        "asks a person: refund is always looked at by a person",
        "Re: Teapot arrived broken  to carla@example.com",
        "│ we are sorry about parcel P-1002",
        "waiting_review",
    ):
        assert words in said.out


def test_a_run_that_needs_a_person_exits_with_1(cli: Cli, tmp_path: Path) -> None:
    desk = write_desk(tmp_path / "failing", BROKEN_DESK, BROKEN_RULES)
    said = cli("run", write_message(tmp_path / "m.json"), "--desk", desk, "--json")
    assert said.code == 1
    assert said.json["status"] == "needs_review"
    assert said.json["review"]["kind"] == "hand_over"
    assert said.json["error_code"] == "model_answer_invalid"
    assert "no rule fits it" in said.json["steps"][0]["error"]


def test_a_held_call_is_a_tool_call_that_waits(cli: Cli, tmp_path: Path) -> None:
    desk = write_desk(tmp_path / "tooled", TOOL_DESK, TOOL_RULES, TOOL_CODE)
    story = cli("run", write_message(tmp_path / "m.json"), "--desk", desk, "--json").json
    assert story["status"] == "waiting_review"
    (call,) = story["tool_calls"]
    assert (call["tool"], call["arguments"], call["verdict"]) == (
        "give_money",
        {"amount": 5},
        "hold",
    )
    assert (call["ok"], call["origin"]) == (False, {"amount": "model"})
    assert call["reason"]
    assert story["review"]["kind"] == "tool_call"


def test_a_call_of_a_tool_that_is_not_listed_is_denied(cli: Cli, tmp_path: Path) -> None:
    desk = write_desk(tmp_path / "tooled", TOOL_DESK, TOOL_RULES, TOOL_CODE)
    story = cli(
        "run",
        write_message(tmp_path / "m.json", body="the forbidden thing"),
        "--desk",
        desk,
        "--json",
    ).json
    (call,) = story["tool_calls"]
    assert (call["tool"], call["verdict"], call["rule"], call["ok"]) == (
        "burn_down",
        "deny",
        "not_listed",
        False,
    )
    told = " ".join(cli("run", tmp_path / "m.json", "--desk", desk).out.split())
    assert f"burn_down deny, {call['reason'][:30]}" in told


def test_unfinished_runs_of_a_named_database_are_not_worked_without_effects(
    cli: Cli, tmp_path: Path
) -> None:
    cli("run", SAMPLES / "refund.eml", "--desk", "sample", "--live")
    parked = cli("run", SAMPLES / "spam.eml", "--desk", "sample", "--database", "deskhand.db")
    assert (parked.code, "waiting_review" in parked.err) == (1, True)
    review = cli("reviews", "list", "--json").json["reviews"][0]["review"]
    cli("reviews", "approve", review)
    said = cli("run", SAMPLES / "spam.eml", "--desk", "sample", "--database", "deskhand.db")
    assert said.code == 1
    assert "without --live must not touch it" in said.err
    assert not (tmp_path / "outbox").exists()


# --- mistakes


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"{", "m.json:1: not JSON"),
        (b'{"body": "x"}', "a message needs `from`"),
        (b'{"turns": []}', "`turns` is a list of at least one message"),
        (b"\xff\xfe{}", "m.json"),
        (b"42", "a message is a mapping"),
    ],
)
def test_a_message_file_with_a_mistake_is_a_usage_error(
    cli: Cli, tmp_path: Path, content: bytes, words: str
) -> None:
    (tmp_path / "m.json").write_bytes(content)
    said = cli("run", "m.json", "--desk", "sample")
    assert said.code == 2
    assert words in said.err
    assert "fix: " in said.err
    assert said.out == ""


def test_a_missing_file_is_a_usage_error(cli: Cli) -> None:
    said = cli("run", "nowhere.eml", "--desk", "sample")
    assert said.code == 2
    assert "nowhere.eml: cannot be read: No such file or directory" in said.err


def test_a_message_that_is_too_large_is_refused_with_the_limit(cli: Cli, tmp_path: Path) -> None:
    desk = write_desk(
        tmp_path / "small", BROKEN_DESK + "limits: {max_message_bytes: 50}\n", BROKEN_RULES
    )
    said = cli("run", write_message(tmp_path / "m.json", body="x" * 100), "--desk", desk)
    assert said.code == 2
    assert "limits.max_message_bytes" in said.err


def test_mistakes_in_a_desk_come_with_file_line_and_fix(cli: Cli, tmp_path: Path) -> None:
    desk = write_desk(
        tmp_path / "wrong",
        BROKEN_DESK.replace("attempts: 1", "next: nowhere, colour: red"),
        BROKEN_RULES,
    )
    message = write_message(tmp_path / "m.json")
    said = cli("run", message, "--desk", desk)
    assert said.code == 2
    assert "desk.yaml:7: " in said.err
    assert "colour" in said.err
    assert "nowhere" in said.err
    told = cli("run", message, "--desk", desk, "--json")
    assert told.code == 2
    problems = told.json["error"]["problems"]
    assert {problem["line"] for problem in problems} == {7}
    assert all(problem["fix"] for problem in problems)


def test_a_desk_that_does_not_exist_is_a_usage_error_that_lists_the_shipped_ones(cli: Cli) -> None:
    said = cli("run", SAMPLES / "spam.eml", "--desk", "nope")
    assert said.code == 2
    assert "there is no desk 'nope'" in said.err
    assert "sample" in said.err


def test_a_database_that_is_none_is_one_clear_line(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "text.db").write_text("this is not a database, however long it may be " * 40)
    said = cli("run", SAMPLES / "spam.eml", "--desk", "sample", "--live", "--database", "text.db")
    assert said.code == 1
    assert said.err.count("\n") == 1
    assert "not a SQLite file" in said.err


def test_a_database_of_another_kind_is_a_usage_error(cli: Cli) -> None:
    said = cli(
        "run", SAMPLES / "spam.eml", "--desk", "sample", "--live", "--database", "mysql://x/y"
    )
    assert said.code == 2
    assert "sqlite:///FILE" in said.err


def test_what_a_customer_writes_cannot_command_the_terminal(cli: Cli, tmp_path: Path) -> None:
    evil = "\x1b[2J\x1b]0;owned\x07 [bold]parcel[/nonsense] \u202ereversed P-1001"
    message = write_message(
        tmp_path / "m.json", subject=evil, body=evil, **{"from": {"address": "a@b.c", "name": evil}}
    )
    story = cli("run", message, "--desk", "sample", "--live", "--json").json
    assert story["status"] == "waiting_review"  # the reply would greet with escape sequences
    for said in (
        cli("run", message, "--desk", "sample"),
        cli("runs", "show", story["run"]),
        cli("runs", "list"),
    ):
        assert said.code == 0
        assert not {"\x1b", "\x07", "\u202e"} & set(said.out)
    assert "[bold]parcel[/nonsense]" in cli("runs", "list").out
