"""What the shipped triage desk brings: articles, customers, tickets and golden cases."""

import json
from collections import Counter

from deskhand import wiring
from deskhand.contacts.csv_files import read_csv
from deskhand.contacts.entries import BadEntry
from deskhand.model.ticket_request import TicketRequest


def test_there_are_forty_articles_by_category_and_fifteen_in_german_and_czech() -> None:
    home = wiring.read_desk("triage").spec.folder / "knowledge"
    originals: Counter[str] = Counter()
    languages: Counter[str] = Counter()
    for file in home.glob("*.md"):
        text = file.read_text(encoding="utf-8")
        language = text.partition("language: ")[2][:2]
        languages[language] += 1
        if language == "en":
            originals[text.partition("category: ")[2].split()[0]] += 1
    assert languages == {"en": 40, "de": 15, "cs": 15}
    assert originals == {"billing": 15, "technical": 12, "general": 13}


def test_there_are_thirty_customers_and_a_hundred_tickets_of_theirs() -> None:
    home = wiring.read_desk("triage").spec.folder / "samples"
    customers = list(read_csv((home / "customers.csv").read_bytes()).rows)
    assert len(customers) == 30
    known: set[str | None] = set()
    for customer in customers:
        assert not isinstance(customer, BadEntry)
        assert customer.plan in ("enterprise", "pro", "free")
        known.add(customer.customer_id)
    lines = (home / "tickets.jsonl").read_text(encoding="utf-8").splitlines()
    assert len(lines) == 100
    for line in lines:
        fields = json.loads(line)
        fields.pop("language")
        assert TicketRequest.model_validate(fields).customer_id in known
