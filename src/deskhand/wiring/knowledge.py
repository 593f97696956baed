"""Articles and earlier messages: what a desk's stages look things up in."""

from collections.abc import Callable

from deskhand.agents.office_sources import calendar_source, contact_source
from deskhand.agents.remembering import (
    conversation_source,
    knowledge_source,
    own_source,
    similar_source,
)
from deskhand.agents.retrieval import Source
from deskhand.config.desk import DeskSpec
from deskhand.knowledge.search import KnowledgeBase
from deskhand.ports import SearchesKnowledge
from deskhand.tools.office import Office
from deskhand.wiring.databases import Database, DeskStore, exchanges_of
from deskhand.wiring.models import embedder, embedder_name


def open_knowledge(database: Database, desk: str) -> KnowledgeBase:
    """A desk's articles, to be searched."""
    return KnowledgeBase(database.knowledge_store(desk), embedder)


def context_sources(
    database: Database, store: DeskStore, knowledge: SearchesKnowledge, office: Office
) -> list[Source]:
    """Where the service `retrieve` looks, in order of importance."""
    exchanges = exchanges_of(database, store.desk)
    return [
        knowledge_source(knowledge),
        conversation_source(store, exchanges),
        contact_source(office.contacts),
        calendar_source(office.calendar, office.spec, office.now),
        own_source(exchanges),
        similar_source(exchanges, embedder),
    ]


async def index_articles(
    database: Database, spec: DeskSpec, progress: Callable[[int, int], None] | None = None
) -> None:
    """Index the desk's new and changed articles, unless its brain is scripted and reads none.

    The specialists of a triage desk look at them in any case.
    """
    home = spec.folder / "knowledge"
    reads_none = spec.brain.kind == "scripted" and spec.triage is None
    if reads_none or not home.is_dir():
        return
    from deskhand.knowledge.ingest import Indexer

    store = database.knowledge_store(spec.name)
    await Indexer(store, home, embedder(), embedder_name(), progress).add([home])
