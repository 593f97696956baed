"""What the corpus of the reading model claims can be checked: labels exist, values stand in the
text."""

import json
from pathlib import Path
from typing import Any

from deskhand.language.message_reader import LABELS, VALUES

CORPUS = Path(__file__).parents[2] / "training" / "reading"
LANGUAGES = {"cs", "de", "en", "es", "fr", "pl"}


def lines(part: str) -> list[dict[str, Any]]:
    written: list[dict[str, Any]] = []
    for file in sorted((CORPUS / part).glob("*.jsonl")):
        for line in file.read_text(encoding="utf-8").splitlines():
            written.append(json.loads(line))
    return written


def test_every_message_names_its_concerns() -> None:
    messages = lines("concerns")
    assert len(messages) > 1_500
    assert {message["language"] for message in messages} == LANGUAGES
    for message in messages:
        assert set(message["concerns"]) <= set(LABELS["concern"]), message
        assert message["text"].strip()


def test_every_ticket_has_facts_a_department_and_a_feeling() -> None:
    tickets = lines("tickets")
    assert len(tickets) > 1_500
    for ticket in tickets:
        assert set(ticket["facts"]) <= set(LABELS["fact"]), ticket
        assert ticket["type"] in LABELS["type"], ticket
        assert ticket["sentiment"] in LABELS["sentiment"], ticket


def test_the_values_of_a_turn_stand_in_it() -> None:
    turns = lines("turns")
    assert len(turns) > 1_000
    for turn in turns:
        assert turn["kind"] in LABELS["turn"], turn
        for name, value in turn["values"].items():
            assert name in VALUES, turn
            assert value in turn["text"], turn


def test_a_message_continues_one_of_the_tickets_or_none() -> None:
    pairs = lines("pairs")
    assert len(pairs) > 500
    for pair in pairs:
        ids = [ticket["id"] for ticket in pair["tickets"]]
        assert pair["continues"] is None or pair["continues"] in ids, pair
        assert len(set(ids)) == len(ids)


def test_no_message_stands_in_the_corpus_twice() -> None:
    for part in ("concerns", "tickets"):
        texts = [line["text"] for line in lines(part)]
        assert len(texts) == len(set(texts)), part
