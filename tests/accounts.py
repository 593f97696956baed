"""People with an account, for tests of what is given to somebody."""

from typing import Any

from deskhand.adapters.stores import tables as t


async def add_accounts(store: Any, *names: str, desks: str = "*") -> None:
    """Accounts that nobody logs in to, on the database of a store."""
    rows = [{"name": name, "password": "", "desks": desks, "created_at": 0.0} for name in names]
    await store._database.write_core(lambda core: core.execute(t.users.insert(), rows).rowcount)
