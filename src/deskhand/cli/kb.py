"""`deskhand kb`: a desk's knowledge base."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from deskhand.cli import options
from deskhand.cli.failures import NO, problem_document
from deskhand.cli.terminal import (
    complain,
    console,
    print_json,
    print_table,
    printable,
    run_async,
    shortened,
    when,
)

if TYPE_CHECKING:
    from deskhand.knowledge.changed_answers import ChangedAnswer
    from deskhand.knowledge.ingest import Indexer, Report
    from deskhand.model.knowledge import Hit, StoredArticle
    from deskhand.ports import KnowledgeStore

app = typer.Typer(
    help="A desk's knowledge base: articles that answers are found in.", no_args_is_help=True
)


@app.command("add")
def add(
    desk: options.Desk,
    paths: Annotated[
        list[Path] | None,
        typer.Argument(
            help="Articles or folders of them; the desk's knowledge/ by default.",
            metavar="[FILE|FOLDER]...",
        ),
    ] = None,
    database: options.Database = None,
    as_json: options.Json = False,
) -> None:
    """Index articles (Markdown, HTML, PDF, text); what is unchanged costs nothing."""

    async def work(indexer: "Indexer") -> "Report":
        return await indexer.add(paths or [indexer.home])

    _tell(run_async(_indexed(desk, database, work, quiet=as_json)), as_json)


@app.command("rebuild")
def rebuild(
    desk: options.Desk,
    everything: Annotated[
        bool, typer.Option("--all", help="Embed unchanged articles again, too.")
    ] = False,
    database: options.Database = None,
    as_json: options.Json = False,
) -> None:
    """Bring the index up to date with the files: new, changed and deleted ones."""

    async def work(indexer: "Indexer") -> "Report":
        return await indexer.rebuild(everything=everything)

    _tell(run_async(_indexed(desk, database, work, quiet=as_json)), as_json)


@app.command("list")
def list_articles(
    desk: options.Desk, database: options.Database = None, as_json: options.Json = False
) -> None:
    """List the articles in the index."""
    articles = run_async(_list(desk, database))
    if as_json:
        print_json({"articles": [_article_document(indexed) for indexed in articles]})
        return
    if not articles:
        console().print(
            "no articles; put some into the desk's knowledge/ and index them: deskhand kb rebuild"
            " DESK"
        )
        return
    rows = [_row(indexed) for indexed in articles]
    print_table(("article", "language", "chunks", "", "indexed"), ("category", "title"), rows)


@app.command("search")
def search(
    desk: options.Desk,
    query: Annotated[str, typer.Argument(help="A question or a few words.", metavar="QUERY")],
    category: Annotated[
        str | None, typer.Option("--category", help="Only articles of this category.")
    ] = None,
    language: Annotated[
        str | None, typer.Option("--language", help="Only articles in this language.")
    ] = None,
    limit: Annotated[
        int, typer.Option("--limit", min=1, max=50, help="How many passages at most.")
    ] = 5,
    database: options.Database = None,
    as_json: options.Json = False,
) -> None:
    """Find passages by words and by meaning, in whatever language they are."""
    from deskhand.errors import ConfigError

    if not query.strip():
        raise ConfigError("the query is empty", fix="write a question or a few words")
    hits = run_async(_search(desk, database, query, category, language, limit))
    if as_json:
        print_json({"query": query[:1000], "hits": [_hit_document(hit) for hit in hits]})
        return
    if not hits:
        console().print("nothing found")
    for hit in hits:
        console().print(f"{hit.score:.2f}  {printable(hit.citation)}", style="bold", markup=False)
        console().print(shortened(hit.text, 400), markup=False)
        console().print()


@app.command("changed")
def changed(
    desk: options.Desk, database: options.Database = None, as_json: options.Json = False
) -> None:
    """List past answers whose articles were edited or removed since."""
    outdated_answers = run_async(_changed(desk, database))
    if as_json:
        print_json({"answers": [_change_document(outdated) for outdated in outdated_answers]})
        return
    if not outdated_answers:
        console().print("no answer used an article that has changed since")
        return
    rows = []
    for outdated in outdated_answers:
        used = outdated.used
        article = f"{used.article}: {outdated.title}" if outdated.title else used.article
        rows.append((used.run_id, when(used.at), str(outdated.change), _cell(article, 80)))
    print_table(("run", "answered", "article is"), ("article",), rows)


def _row(indexed: "StoredArticle") -> tuple[str, ...]:
    import time

    article = indexed.article
    is_expired = article.valid_until and article.valid_until <= time.time()
    return (
        _cell(article.id, 40),
        article.language or "",
        str(indexed.chunks),
        "[red]expired[/]" if is_expired else "",
        when(indexed.updated_at),
        _cell(article.category or "", 30),
        _cell(article.title, 80),
    )


def _cell(text: str, length: int) -> str:
    return shortened(text, length).replace("[", r"\[")


# --- the work


class DeskArticles:
    """A desk's index and the folder of its own articles."""

    def __init__(self, store: "KnowledgeStore", home: Path) -> None:
        self.store, self.home = store, home


@asynccontextmanager
async def _opened(
    desk: str, url: str | None, *, create: bool = False
) -> AsyncIterator[DeskArticles]:
    from deskhand.cli.databases import opened_database
    from deskhand.knowledge.article_files import FOLDER
    from deskhand.wiring import desk_name, find_desk, knowledge_store, open_database

    folder = find_desk(desk)
    opening = open_database(url or options.DEFAULT_DATABASE) if create else opened_database(url)
    async with opening as database:
        yield DeskArticles(knowledge_store(database, desk_name(folder)), folder / FOLDER)


async def _indexed(
    desk: str, url: str | None, work: "Callable[[Indexer], Awaitable[Report]]", *, quiet: bool
) -> "Report":
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bars

    from deskhand.knowledge.ingest import Indexer
    from deskhand.wiring import embedder, embedder_name

    words = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    with Bars(*words, console=Console(stderr=True), disable=quiet) as bars:
        task = bars.add_task("chunks", total=None)

        def progress(done: int, total: int) -> None:
            bars.update(task, completed=done, total=total)

        async with _opened(desk, url, create=True) as place:
            report = await work(
                Indexer(place.store, place.home, embedder(), embedder_name(), progress)
            )
            bars.update(task, completed=report.chunks, total=report.chunks)
            return report


async def _list(desk: str, url: str | None) -> "list[StoredArticle]":
    async with _opened(desk, url) as place:
        return await place.store.articles()


async def _search(
    desk: str, url: str | None, query: str, category: str | None, language: str | None, limit: int
) -> "list[Hit]":
    from deskhand.knowledge.search import KnowledgeBase
    from deskhand.wiring import embedder

    async with _opened(desk, url) as place:
        base = KnowledgeBase(place.store, embedder)
        return await base.search(query, category=category, language=language, limit=limit)


async def _changed(desk: str, url: str | None) -> "list[ChangedAnswer]":
    from deskhand.knowledge.changed_answers import changed_answers

    async with _opened(desk, url) as place:
        return await changed_answers(place.store, place.home)


# --- what is shown


def _tell(report: "Report", as_json: bool) -> None:
    """Exit 1 when a file was left out."""
    if as_json:
        print_json(_report_document(report))
    else:
        for problem in report.problems:
            complain(str(problem))
        counts = ("added", "changed", "unchanged", "removed")
        summary = ", ".join(f"{len(getattr(report, name))} {name}" for name in counts)
        console().print(f"{summary}; {report.chunks} chunks embedded")
    if report.problems:
        raise typer.Exit(NO)


def _report_document(report: "Report") -> dict[str, Any]:
    return {
        "added": report.added,
        "changed": report.changed,
        "unchanged": report.unchanged,
        "removed": report.removed,
        "chunks": report.chunks,
        "problems": [problem_document(problem) for problem in report.problems],
    }


def _article_document(stored: "StoredArticle") -> dict[str, Any]:
    from deskhand.model.documents import document, iso_at

    return document(stored.article) | {
        "chunks": stored.chunks,
        "updated_at": iso_at(stored.updated_at),
    }


def _hit_document(hit: "Hit") -> dict[str, Any]:
    from deskhand.model.documents import document

    return document(hit) | {"citation": hit.citation}


def _change_document(outdated: "ChangedAnswer") -> dict[str, Any]:
    from deskhand.model.documents import iso_at

    used, change = outdated.used, str(outdated.change)
    return {
        "run": used.run_id,
        "article": used.article,
        "title": outdated.title,
        "change": change,
        "at": iso_at(used.at),
    }
