"""Telemetry of a desk at work: its teller and its sinks."""

from contextlib import AsyncExitStack

from deskhand.adapters.stores.telemetry_feed import SqlTelemetryFeed
from deskhand.adapters.stores.telemetry_sink import SqlSink
from deskhand.config.desk import DeskSpec
from deskhand.telemetry.sinks import JsonLinesSink, PrintSink
from deskhand.telemetry.teller import Teller, ToldSink
from deskhand.telemetry.telling import RunTeller
from deskhand.wiring.databases import Database, open_database


def telemetry_feed(database: Database, desk: str) -> SqlTelemetryFeed:
    """What a desk's rows have to tell, and how far each sink has been told."""
    return SqlTelemetryFeed(database, desk)


async def open_teller(closing: AsyncExitStack, spec: DeskSpec, database: Database) -> Teller | None:
    """The teller of a desk, not started yet; None where nobody is told anything."""
    sinks = await _sinks(closing, spec, database)
    if not sinks:
        return None
    teller = Teller(spec.name, telemetry_feed(database, spec.name), RunTeller.of(spec), sinks)
    closing.push_async_callback(teller.stop)
    return teller


async def _sinks(
    closing: AsyncExitStack, spec: DeskSpec, database: Database
) -> dict[str, ToldSink]:
    written = spec.telemetry
    sinks: dict[str, ToldSink] = {}
    if written.print:
        sinks["print"] = ToldSink(PrintSink(), from_start=False)
    sql = written.sql_sink
    if sql is not None:
        target = database
        if sql.database is not None:
            target = await closing.enter_async_context(open_database(sql.database))
        sinks["sql"] = ToldSink(SqlSink(target, spec.name), from_start=sql.begin == "start")
    lines = written.json_lines_sink
    if lines is not None:
        path = spec.folder / lines.path
        sinks["json_lines"] = ToldSink(JsonLinesSink(path), from_start=lines.begin == "start")
    collector = written.opentelemetry_sink
    if collector is not None:
        from deskhand.adapters.opentelemetry import OpenTelemetrySink

        sink = OpenTelemetrySink(
            collector.endpoint,
            spec.name,
            service=collector.service,
            headers_env=collector.headers_env,
        )
        begins = collector.begin == "start"
        sinks["opentelemetry"] = ToldSink(sink, from_start=begins, with_calls=True)
    return sinks
