"""Alembic's entry: the connection is handed in by `migrate`, never configured here."""

from alembic import context

from deskhand.adapters.stores.tables import metadata

connection = context.config.attributes["connection"]
context.configure(connection=connection, target_metadata=metadata, transaction_per_migration=True)
with context.begin_transaction():
    context.run_migrations()
