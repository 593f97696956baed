"""Nothing is left of a triage request whose customer is erased: neither his words, nor what was
given with them, nor what the desk made of them."""

import sqlite3
from contextlib import closing
from pathlib import Path

from deskhand.wiring.erasing import erase_person
from tests.integration.test_api_triage import served_triage, ticket

WORDS = (
    "My account was hacked! Somebody logged in and changed swordfish.",
    "How do I change my password swordfish? And where are the settings of swordfish?",
)


def places_with(word: str, file: Path) -> list[str]:
    """Every table and column of the database that holds the word."""
    places: set[str] = set()
    with closing(sqlite3.connect(file)) as database:
        tables = database.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
        for (table,) in tables:
            rows = database.execute(f'SELECT * FROM "{table}"')
            columns = [column[0] for column in rows.description]
            for row in rows:
                for column, value in zip(columns, row, strict=True):
                    held = value if isinstance(value, bytes) else str(value).encode()
                    if word.encode() in held.lower():
                        places.add(f"{table}.{column}")
    return sorted(places)


async def test_nothing_is_left_of_a_request(tmp_path: Path) -> None:
    async with served_triage(tmp_path, "draft") as served:
        client = await served.client()
        for words in WORDS:
            turns = [
                {"role": "customer", "content": words},
                {"role": "agent", "content": "Is swordfish yours?"},
            ]
            body = ticket(
                customer_id="CUST-Swordfish", messages=turns, metadata={"crm": "swordfish"}
            )
            answer = await client.post("/api/triage", json=body)
            assert answer.status_code == 200, answer.text
        assert len(places_with("swordfish", tmp_path / "d.db")) > 5
        erased = await erase_person(served.database, "triage", "CUST-Swordfish", "eve")
        assert (erased.runs, erased.mentions) == (2, [])
        assert places_with("swordfish", tmp_path / "d.db") == []
        assert (await client.get("/api/tickets")).json()["items"] == []
        assert (await client.get("/api/customers/CUST-Swordfish")).status_code == 404
