"""`deskhand reviews`: what waits for a person, and deciding it."""

import re
import socket
import sqlite3
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from deskhand.cli.options import login_name
from deskhand.web.api.review_views import ReviewDocument, ReviewView
from tests.cli_kit import (
    BROKEN_DESK,
    BROKEN_RULES,
    SAMPLES,
    TOOL_CODE,
    TOOL_DESK,
    TOOL_RULES,
    Begin,
    Cli,
    write_desk,
    write_message,
)


@pytest.fixture
def waiting(cli: Cli, begin: Begin) -> dict[str, Any]:
    """A refund of the sample desk, waiting in ./deskhand.db."""

    def work() -> Any:
        return cli("run", SAMPLES / "refund.eml", "--desk", "sample", "--live", "--json").json

    story: dict[str, Any] = begin(work)
    return story


def go_on(cli: Cli, run: str) -> dict[str, Any]:
    """Have the desk take up what was queued, and look at the run."""
    cli("run", SAMPLES / "spam.eml", "--desk", "sample", "--live")
    story: dict[str, Any] = cli("runs", "show", run, "--json").json
    return story


def test_open_reviews_are_listed_and_shown_as_recorded(cli: Cli, waiting: dict[str, Any]) -> None:
    review = waiting["review"]["id"]
    assert [one["review"] for one in cli("reviews", "list", "--json").json["reviews"]] == [review]
    assert review in cli("reviews", "list").out
    shown = cli("reviews", "show", review)
    assert "Re: Teapot arrived broken  to carla@example.com" in shown.out
    assert "│ we are sorry about parcel P-1002" in shown.out
    assert "approve, edit, acknowledge, revise, reject, take-over" in shown.out
    assert (
        cli("reviews", "show", review, "--json").json["payload"]["reply"]
        == waiting["outputs"]["reply"]
    )


def test_the_list_says_who_wrote_about_what(cli: Cli, waiting: dict[str, Any]) -> None:
    shown = cli("reviews", "list").out
    assert "Carla Rossi" in shown
    assert "Teapot arrived broken" in shown


def test_the_same_names_as_over_the_api_and_nothing_of_python(
    cli: Cli, waiting: dict[str, Any]
) -> None:
    review = waiting["review"]["id"]
    [listed] = cli("reviews", "list", "--json").json["reviews"]
    assert set(listed) == set(ReviewView.model_fields)
    document = cli("reviews", "show", review, "--json").json
    assert set(document) == set(ReviewDocument.model_fields)
    assert (listed["review"], listed["run"]) == (review, waiting["run"])
    shown = cli("reviews", "show", review).out
    assert "confidence: category 0.93" in shown
    assert "find_order order=P-1002" in shown
    assert not re.search(r"[{}]|[0-9][.][0-9]{5,}", shown)


def test_a_failed_run_is_shown_in_words(cli: Cli, tmp_path: Path) -> None:
    folder = write_desk(tmp_path / "failing", BROKEN_DESK, BROKEN_RULES)
    mail = write_message(tmp_path / "mail.json")
    story = cli("run", mail, "--desk", folder, "--live", "--json").json
    shown = cli("reviews", "show", story["review"]["id"]).out
    assert "error: stage=" in shown
    assert not re.search(r"[{}]", shown)


def test_a_file_is_sent_along_with_an_edited_reply(
    cli: Cli, waiting: dict[str, Any], tmp_path: Path
) -> None:
    review = waiting["review"]["id"]
    paper = tmp_path / "label.pdf"
    missing = cli("reviews", "edit", review, "--attach", paper)
    assert (missing.code, "name a file to attach" in missing.err) == (2, True)
    paper.write_bytes(b"%PDF")
    edited = cli("reviews", "edit", review, "--attach", paper, "--by", "ann", "--json").json
    assert len(edited["edit"]["attachments"]) == 1
    assert go_on(cli, waiting["run"])["status"] == "sent"
    [mail] = [path.read_text() for path in tmp_path.rglob("*.eml") if waiting["run"] in path.name]
    assert 'filename="label.pdf"' in mail
    assert "JVBERg==" in mail


def test_a_taken_over_conversation_is_listed_and_given_back(
    cli: Cli, waiting: dict[str, Any]
) -> None:
    assert "nobody has taken" in cli("conversations", "list", "--taken-over").out
    cli("reviews", "take-over", waiting["review"]["id"], "--by", "ida")
    [taken] = cli("conversations", "list", "--taken-over", "--json").json["conversations"]
    assert (taken["taken_over_by"], taken["run"]) == ("ida", waiting["run"])
    assert taken["subject"] == "Teapot arrived broken"
    shown = cli("conversations", "list", "--taken-over").out
    assert "ida" in shown
    assert "Teapot arrived broken" in shown
    assert cli("conversations", "give-back", taken["conversation"]).code == 0
    assert cli("conversations", "list", "--taken-over", "--json").json["conversations"] == []


def test_conversations_are_listed_shown_and_cleared(cli: Cli, waiting: dict[str, Any]) -> None:
    [listed] = cli("conversations", "list", "--json").json["conversations"]
    assert (listed["run"], listed["taken_over_by"]) == (waiting["run"], None)
    assert "Teapot arrived broken" in cli("conversations", "list").out
    name = listed["conversation"]
    shown = cli("conversations", "show", name, "--json").json
    [turn] = shown["turns"]
    assert (shown["messages"], turn["run"], turn["is_open"]) == (1, waiting["run"], True)
    assert turn["said"] in cli("conversations", "show", name).out
    assert cli("conversations", "clear", name, "--by", "ida", "--json").json == {
        "conversation": name,
        "forgotten": 1,
    }
    assert cli("conversations", "show", name, "--json").json["turns"] == []
    again = cli("conversations", "clear", name)
    assert (again.code, "nothing to forget" in again.out) == (1, True)
    unknown = cli("conversations", "show", "no-such")
    assert unknown.code != 0
    assert "there is no conversation 'no-such'" in unknown.err


def test_a_holding_reply_is_acknowledged_and_leaves_a_task(cli: Cli, tmp_path: Path) -> None:
    mail = write_message(tmp_path / "mail.json", body="Do you like tea?")
    story = cli("run", mail, "--desk", "sample", "--live", "--json").json
    review = story["review"]["id"]
    wrong = cli("reviews", "acknowledge", review, "--within", "soon")
    assert "'soon' is no length of time" in wrong.err
    said = cli("reviews", "acknowledge", review, "--by", "ann", "--within", "2 days")
    assert "acknowledged and kept open by ann" in said.out
    assert go_on(cli, story["run"])["status"] == "needs_review"
    [task] = cli("reviews", "list", "--json").json["reviews"]
    assert task["kind"] == "follow_up"
    due = datetime.fromisoformat(task["due_at"]) - datetime.now(UTC)
    assert timedelta(hours=47) < due < timedelta(hours=49)
    assert "the answer is due" in cli("reviews", "show", task["review"]).out
    answered = cli("reviews", "answer", task["review"], "--text", "Very much.")
    assert answered.code == 0
    assert go_on(cli, story["run"])["status"] == "sent"


def test_nobody_decides_in_a_terminal_what_his_account_may_not_and_all_is_written_down(
    cli: Cli, waiting: dict[str, Any], tmp_path: Path
) -> None:
    review = waiting["review"]["id"]
    (tmp_path / "password").write_text("correct horse battery")
    account = ("--desk", "sample", "--password-file", tmp_path / "password")
    cli("users", "add", "carla", *account, "--mail", "Carla@example.com")
    refused = cli("reviews", "approve", review, "--by", "carla")
    assert refused.code == 1
    assert "carla asked for this; somebody else must decide it" in refused.err
    assert cli("reviews", "approve", review, "--by", "ann").code == 0

    with sqlite3.connect(tmp_path / "deskhand.db") as database:
        read = "SELECT who, client, path, status FROM console_actions ORDER BY number"
        rows = database.execute(read).fetchall()
    me, here = f"{login_name()} (command line)", f"command line on {socket.gethostname()}"
    assert rows == [
        (me, here, "users add carla", 200),
        (f"{me}, as carla", here, f"reviews approve {review}", 409),
        (f"{me}, as ann", here, f"reviews approve {review}", 200),
    ]


def test_an_approved_reply_leaves_once(cli: Cli, waiting: dict[str, Any], tmp_path: Path) -> None:
    review = waiting["review"]["id"]
    decided = cli("reviews", "approve", review, "--by", "ann", "--note", "fine", "--json").json
    assert (decided["state"], decided["decided_by"], decided["note"]) == ("decided", "ann", "fine")
    again = cli("reviews", "approve", review, "--by", "bob")
    assert again.code == 1
    assert "already decided: approved by ann" in again.err
    story = go_on(cli, waiting["run"])
    assert story["status"] == "sent"
    assert story["review"]["decided_by"] == "ann"
    assert len(list((tmp_path / "outbox").glob(f"{waiting['run']}*.eml"))) == 1


def test_a_rejected_reply_does_not_leave(cli: Cli, waiting: dict[str, Any], tmp_path: Path) -> None:
    assert (
        cli("reviews", "reject", waiting["review"]["id"], "--by", "ann", "--note", "too soft").code
        == 0
    )
    story = go_on(cli, waiting["run"])
    assert (story["status"], story["reason"]) == ("rejected", "rejected by ann: too soft")
    assert not (tmp_path / "outbox").exists()


def test_an_edited_reply_leaves_as_edited(
    cli: Cli, waiting: dict[str, Any], tmp_path: Path
) -> None:
    review = waiting["review"]["id"]
    nothing = cli("reviews", "edit", review)
    assert nothing.code == 2
    assert "--text, --file, --subject, --invitation" in nothing.err
    assert cli("reviews", "edit", review, "--text", "We are on it.").code == 0
    story = go_on(cli, waiting["run"])
    assert story["reply"]["text"] == "We are on it."
    assert "We are on it." in Path(story["delivery"]["delivered"]).read_text()


def test_an_edit_of_the_subject_alone_leaves_the_words_as_shown(
    cli: Cli, waiting: dict[str, Any]
) -> None:
    assert cli("reviews", "edit", waiting["review"]["id"], "--subject", "Your order").code == 0
    story = go_on(cli, waiting["run"])
    assert story["reply"]["subject"] == "Your order"
    assert story["reply"]["text"] == waiting["reply"]["text"]


def test_an_incomplete_decision_is_refused_as_everywhere(cli: Cli, waiting: dict[str, Any]) -> None:
    review = waiting["review"]["id"]
    blank = cli("reviews", "edit", review, "--text", "  ")
    assert (blank.code, "write the new text" in blank.err) == (1, True)
    silent = cli("reviews", "revise", review, "--note", " ")
    assert (silent.code, "do differently" in silent.err) == (1, True)
    assert cli("reviews", "show", review, "--json").json["state"] == "open"


def test_a_revised_reply_is_drafted_again_and_waits_again(
    cli: Cli, waiting: dict[str, Any]
) -> None:
    cli("reviews", "revise", waiting["review"]["id"], "--note", "Mention the voucher.")
    story = go_on(cli, waiting["run"])
    assert story["status"] == "waiting_review"
    assert "Mention the voucher." in story["reply"]["text"]
    assert story["review"]["id"] != waiting["review"]["id"]


def test_who_looked_at_an_older_version_is_refused(cli: Cli, waiting: dict[str, Any]) -> None:
    said = cli("reviews", "approve", waiting["review"]["id"], "--version", "7")
    assert said.code == 1
    assert "has changed since you looked at it" in said.err


def test_a_decision_that_does_not_fit_is_refused_with_those_that_do(
    cli: Cli, waiting: dict[str, Any]
) -> None:
    said = cli("reviews", "close", waiting["review"]["id"])
    assert said.code == 1
    assert "choose approve, edit, acknowledge, revise, reject, take_over" in said.err


def test_a_taken_over_conversation_stays_silent_until_given_back(
    cli: Cli, waiting: dict[str, Any], parcels: Path, tmp_path: Path
) -> None:
    cli("reviews", "take-over", waiting["review"]["id"], "--by", "ann")
    follow_up = {
        "conversation": waiting["conversation"],
        "from": "carla@example.com",
        "body": "Where is parcel P-1001?",
    }
    silent = cli(
        "run",
        write_message(tmp_path / "m.json", **follow_up),
        "--desk",
        parcels,
        "--live",
        "--json",
    )
    assert silent.code == 1
    assert silent.json["reason"] == "ann has taken this conversation over"
    assert cli("conversations", "give-back", waiting["conversation"]).code == 0
    assert cli("conversations", "give-back", waiting["conversation"]).code == 1
    answered = cli(
        "run",
        write_message(tmp_path / "m2.json", **follow_up),
        "--desk",
        parcels,
        "--live",
        "--json",
    )
    assert answered.json["status"] == "sent"


def test_an_approved_call_runs_and_is_told_once(cli: Cli, tmp_path: Path) -> None:
    desk = write_desk(tmp_path / "tooled", TOOL_DESK, TOOL_RULES, TOOL_CODE)
    story = cli("run", write_message(tmp_path / "m.json"), "--desk", desk, "--live", "--json").json
    shown = cli("reviews", "show", story["review"]["id"]).out
    assert "give_money" in shown
    assert "the model's own" in shown
    assert re.search(r"amount +5 ", shown)
    cli("reviews", "approve", story["review"]["id"])
    cli("run", write_message(tmp_path / "m2.json"), "--desk", desk, "--live")
    after = cli("runs", "show", story["run"], "--json").json
    assert after["status"] == "done"
    (call,) = after["tool_calls"]
    assert (call["tool"], call["arguments"], call["verdict"]) == (
        "give_money",
        {"amount": 5},
        "allow",
    )
    assert (call["rule"], call["ok"], len(call["approved_by"])) == ("allowed", True, 1)
    assert "reason" not in call
    assert after["outputs"]["act"]["results"][0]["data"] == {"given": 5}


def test_an_unknown_state_is_a_usage_error(cli: Cli, waiting: dict[str, Any]) -> None:
    said = cli("reviews", "list", "--state", "lost")
    assert said.code == 2
    assert "open, decided, stale, expired, all" in said.err


def test_the_queue_can_be_put_aside_given_to_somebody_and_talked_about(
    cli: Cli, waiting: dict[str, Any]
) -> None:
    review = waiting["review"]["id"]

    def listed(*options: str) -> list[str]:
        return [one["review"] for one in cli("reviews", "list", "--json", *options).json["reviews"]]

    assert listed("--cause", "always_ask") == [review]
    assert listed("--cause", "mode") == []
    assert "reviews list" not in cli("reviews", "list", "--cause", "nonsense").out
    nobody = cli("reviews", "assign", review, "otto", "--by", "ida")
    assert (nobody.code, "there is no user 'otto'" in nobody.err) == (1, True)
    cli("users", "add", "otto", "--desk", "sample", "--generate")
    assert "is otto's to look at" in cli("reviews", "assign", review, "otto", "--by", "ida").out
    assert (listed("--assignee", "otto"), listed("--assignee", "eve")) == ([review], [])
    assert "comes back" in cli("reviews", "snooze", review, "--for", "2 hours").out
    assert (listed(), listed("--snoozed")) == ([], [review])
    assert "is back" in cli("reviews", "snooze", review, "--wake").out
    noted = cli("reviews", "note", review, "She called.", "--by", "ida", "--json")
    assert noted.json["review"] == review
    shown = cli("reviews", "show", review).out
    assert "why: always_ask" in shown
    assert "ida noted: She called." in shown
    assert "ida gave it to otto" in shown
    document = cli("reviews", "show", review, "--json").json
    assert [event["kind"] for event in document["history"]] == [
        "assigned",
        "snoozed",
        "snoozed",
        "note",
    ]
    assert document["message"]["sender"]["address"] == "carla@example.com"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ((), "until when?"),
        (("--for", "a while"), "2 hours"),
        (("--for", "5 EUR"), "2 hours"),
        (("--until", "tomorrow"), "2026-11-16T09:00"),
    ],
)
def test_a_snooze_says_what_to_write(
    cli: Cli, waiting: dict[str, Any], options: tuple[str, ...], words: str
) -> None:
    said = cli("reviews", "snooze", waiting["review"]["id"], *options)
    assert said.code == 2
    assert words in said.err


def test_canned_replies_come_from_the_desk(cli: Cli, tmp_path: Path) -> None:
    canned = "reviews: {canned: {thanks: {en: 'Dear {name}, thank you. {reviewer}'}}}\n"
    desk = write_desk(tmp_path / "tooled", TOOL_DESK + canned, TOOL_RULES, TOOL_CODE)
    story = cli("run", write_message(tmp_path / "m.json"), "--desk", desk, "--live", "--json").json
    review = story["review"]["id"]
    assert "fill in: name" in cli("reviews", "canned", review, "--desk", desk, "--by", "ida").out
    one = cli("reviews", "canned", review, "thanks", "--desk", desk, "--by", "ida")
    assert one.out == "Dear {name}, thank you. ida\n"
    assert cli("reviews", "canned", review, "none", "--desk", desk).code == 1
    assert "--desk" in cli("reviews", "canned", review).err
    half = cli("reviews", "edit", review, "--text", "Dear {name}")
    assert (half.code, "still says {name}" in half.err) == (1, True)


def test_a_handed_over_message_is_answered_in_ones_own_words(cli: Cli, tmp_path: Path) -> None:
    desk = write_desk(tmp_path / "failing", BROKEN_DESK, BROKEN_RULES)
    story = cli("run", write_message(tmp_path / "m.json"), "--desk", desk, "--live", "--json").json
    assert story["status"] == "needs_review", story
    review = story["review"]["id"]
    empty = cli("reviews", "answer", review)
    assert (empty.code, "the answer is empty" in empty.err) == (2, True)
    (tmp_path / "answer.txt").write_text("It is lost.\n")
    decided = cli("reviews", "answer", review, "--file", tmp_path / "answer.txt", "--by", "ann")
    assert f"{review}: answered by ann; the serving process goes on" in decided.out
    assert cli("reviews", "answer", review, "--text", "Again.", "--by", "bob").code == 1
    cli("run", write_message(tmp_path / "m2.json"), "--desk", desk, "--live")
    assert cli("runs", "show", story["run"], "--json").json["status"] == "sent"
    [mail] = list((tmp_path / "outbox").glob(f"{story['run']}*.eml"))
    assert "It is lost." in mail.read_text()
