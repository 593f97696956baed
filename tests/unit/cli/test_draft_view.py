"""What a terminal shows of an agent at work."""

import json

from deskhand.agents.last_words import draft_so_far, last_words
from deskhand.cli.agent_lines import UNCHECKED, DraftView
from deskhand.model.events import LoopEnded, TextDelta, TextDropped, ToolAsked, TurnBegun

REPLY = 'Dobrý den,\n\nvaše zásilka "P-1" je na cestě. \N{WAVING HAND SIGN}'


def delta(text: str) -> TextDelta:
    return TextDelta("run_1", "agent", 2, text)


def words_of(view: DraftView, event: object) -> str:
    shown = view.shown(event)  # type: ignore[arg-type]
    return "" if shown is None else shown.plain


def test_the_reply_is_read_from_an_object_that_has_not_come_whole() -> None:
    for escapes in (True, False):
        whole = json.dumps({"text": REPLY, "confidence": 0.5}, ensure_ascii=escapes)
        seen = [draft_so_far(whole[:length]) for length in range(len(whole) + 1)]
        assert all(REPLY.startswith(words) for words in seen[1:] if words != "")
        assert seen == sorted(seen, key=len)
        assert seen[-1] == REPLY == (last_words(whole) or {})["text"]


def test_plain_words_and_fences_are_drafts_too() -> None:
    assert draft_so_far("Good day") == "Good day"
    assert draft_so_far('```json\n{"text": "Good d') == "Good d"
    assert draft_so_far('{"hand_over": true, "text": "A coll') == "A coll"
    assert draft_so_far('{"hand_over": true') == ""


def test_a_draft_is_marked_as_one() -> None:
    view = DraftView(60)
    assert words_of(view, TurnBegun("run_1", "agent", 2, 0.0)) == "agent, turn 2 …"
    assert words_of(view, delta('{"te')) == "agent, turn 2: …"
    assert words_of(view, delta('xt": "Good')) == f"agent, turn 2: {UNCHECKED}\n  ┆ Good"
    ended = LoopEnded("run_1", "agent", "completed", 2, 0.0)
    assert words_of(view, ended) == f"agent: completed; {UNCHECKED}\n  ┆ Good"


def test_what_broke_off_is_no_longer_shown() -> None:
    view = DraftView(60)
    view.shown(delta("You get 900 EUR"))
    assert words_of(view, TextDropped("run_1", "agent", 2)) == "agent, turn 2 …"
    assert "900" not in words_of(view, delta("Good day"))


def test_a_terminal_obeys_nothing_of_a_draft() -> None:
    shown = words_of(DraftView(60), delta("Hello\x1b[2J\x07 \u202eevil"))
    assert "\x1b" not in shown
    assert "\x07" not in shown
    assert "\u202e" not in shown


def test_a_long_draft_shows_its_end() -> None:
    view = DraftView(60)
    shown = words_of(view, delta("\n".join(f"line {number}" for number in range(100))))
    assert shown.endswith("line 99")
    assert len(shown.splitlines()) < 20


def test_a_call_is_shown_by_its_name() -> None:
    asked = ToolAsked("run_1", "agent", 1, "find_order", "{}")
    assert words_of(DraftView(), asked) == "agent, turn 1: find_order …"
