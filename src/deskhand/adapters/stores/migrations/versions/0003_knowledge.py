"""The knowledge base: articles, their chunks, each database's own full-text index, and which
answers used what."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

POSITION = sa.BigInteger().with_variant(sa.Integer(), "sqlite")

# Words are folded before they are stored; the index only has to split them at spaces.
SQLITE = (
    (
        "CREATE VIRTUAL TABLE kb_words USING fts5(words, content='kb_chunks',"
        " content_rowid='position', tokenize=\"unicode61 remove_diacritics 0 categories 'L* N* M*"
        " Co'\")"
    ),
    (
        "CREATE TRIGGER kb_chunks_added AFTER INSERT ON kb_chunks BEGIN"
        " INSERT INTO kb_words(rowid, words) VALUES (new.position, new.words); END"
    ),
    (
        "CREATE TRIGGER kb_chunks_removed AFTER DELETE ON kb_chunks BEGIN INSERT INTO"
        " kb_words(kb_words, rowid, words) VALUES ('delete', old.position, old.words); END"
    ),
)
POSTGRESQL = (
    (
        "CREATE TABLE kb_words (chunk bigint PRIMARY KEY REFERENCES kb_chunks(position) ON DELETE"
        " CASCADE, desk text NOT NULL, lexemes tsvector NOT NULL)"
    ),
    "CREATE INDEX kb_words_lexemes ON kb_words USING gin (lexemes)",
    (
        "CREATE FUNCTION kb_chunk_added() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO"
        " kb_words(chunk, desk, lexemes) VALUES (new.position, new.desk, to_tsvector('simple',"
        " new.words)); RETURN new; END $$"
    ),
    (
        "CREATE TRIGGER kb_chunks_added AFTER INSERT ON kb_chunks FOR EACH ROW EXECUTE FUNCTION"
        " kb_chunk_added()"
    ),
)


def upgrade() -> None:
    op.create_table(
        "kb_articles",
        sa.Column("position", POSITION, nullable=False, autoincrement=True),
        sa.Column("desk", sa.Text(), nullable=False),
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("category", sa.Text()),
        sa.Column("language", sa.Text()),
        sa.Column("valid_until", sa.Float()),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("content_hash", sa.Text(), nullable=False),
        sa.Column("built_with", sa.Text(), nullable=False),
        sa.Column("chunks", sa.Integer(), nullable=False),
        sa.Column("updated_at", sa.Float(), nullable=False),
        sa.PrimaryKeyConstraint("position"),
        sqlite_autoincrement=True,
    )
    op.create_index("kb_articles_id", "kb_articles", ["desk", "id"], unique=True)
    op.create_table(
        "kb_chunks",
        sa.Column("position", POSITION, nullable=False, autoincrement=True),
        sa.Column("desk", sa.Text(), nullable=False),
        sa.Column("article", POSITION, nullable=False),
        sa.Column("heading_path", sa.Text(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("words", sa.Text(), nullable=False),
        sa.Column("vector", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("position"),
        sqlite_autoincrement=True,
    )
    op.create_index("kb_chunks_article", "kb_chunks", ["article"])
    op.create_table(
        "kb_versions",
        sa.Column("desk", sa.Text(), nullable=False),
        sa.Column("version", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("desk"),
    )
    op.create_table(
        "answer_sources",
        sa.Column("run", POSITION, nullable=False),
        sa.Column("article", sa.Text(), nullable=False),
        sa.Column("desk", sa.Text(), nullable=False),
        sa.Column("content_hash", sa.Text(), nullable=False),
        sa.Column("at", sa.Float(), nullable=False),
        sa.PrimaryKeyConstraint("run", "article"),
    )
    op.create_index("answer_sources_article", "answer_sources", ["desk", "article", "content_hash"])
    for statement in SQLITE if op.get_bind().dialect.name == "sqlite" else POSTGRESQL:
        op.execute(statement)


def downgrade() -> None:
    if op.get_bind().dialect.name == "sqlite":
        op.execute("DROP TABLE kb_words")
    else:
        op.execute("DROP TABLE IF EXISTS kb_vectors")
        op.execute("DROP TABLE kb_words")
        op.execute("DROP TRIGGER kb_chunks_added ON kb_chunks")
        op.execute("DROP FUNCTION kb_chunk_added()")
    for name in ("answer_sources", "kb_versions", "kb_chunks", "kb_articles"):
        op.drop_table(name)
