"""What all tables share."""

from sqlalchemy import BigInteger, Integer, MetaData

metadata = MetaData()

Position = BigInteger().with_variant(Integer, "sqlite")
"""A 64-bit number; SQLite gives rows their numbers by itself only in INTEGER columns."""
