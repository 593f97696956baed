"""Telemetry as written in desk.yaml: who is told what the stages of conversations do."""

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, Tag

from deskhand.config.sections.section import DeskFile, Section

Begin = Literal["start", "now"]


class SqlSinkSection(Section):
    """Events as rows: `{database: sqlite:///telemetry.db}`."""

    database: str | None = Field(default=None, min_length=1)
    """Another database, as `postgresql://...` or a path; the desk's own if absent."""
    begin: Begin = "start"
    """Whether a sink that is new is told everything that is kept (`start`), or what comes `now`."""


class JsonLinesSinkSection(Section):
    """Events as lines of a file: `{path: telemetry.jsonl}`."""

    path: DeskFile = Path("telemetry.jsonl")
    """The file, relative to the desk's folder."""
    begin: Begin = "start"
    """Whether a sink that is new is told everything that is kept (`start`), or what comes `now`."""


class OpenTelemetrySinkSection(Section):
    """Events as traces and metrics: `{endpoint: http://localhost:4318}`."""

    endpoint: str = Field(default="http://localhost:4318", pattern=r"^https?://\S+$")
    """Where a collector takes OTLP over HTTP."""
    headers_env: dict[str, str] = Field(default_factory=dict)
    """Headers by name, each with the environment variable that holds its value:
    `{Authorization: OTLP_TOKEN}`."""
    service: str | None = Field(default=None, min_length=1)
    """The name of the service in traces; the desk's name if absent."""
    begin: Begin = "now"
    """Whether a sink that is new is told everything that is kept (`start`), or what comes `now`."""


def _form(value: Any) -> str:
    return "switch" if isinstance(value, bool) else "settings"


SqlSink = Annotated[
    Annotated[bool, Tag("switch")] | Annotated[SqlSinkSection, Tag("settings")],
    Discriminator(_form),
]
JsonLinesSink = Annotated[
    Annotated[bool, Tag("switch")] | Annotated[JsonLinesSinkSection, Tag("settings")],
    Discriminator(_form),
]
OpenTelemetrySink = Annotated[
    Annotated[bool, Tag("switch")] | Annotated[OpenTelemetrySinkSection, Tag("settings")],
    Discriminator(_form),
]


class TelemetrySection(Section):
    """Who is told what the stages of conversations do: `{print: true, sql: true}`."""

    print: bool = False
    """Whether `deskhand serve` prints each event."""
    sql: SqlSink = False
    """`true` for rows in the desk's own database; or settings."""
    json_lines: JsonLinesSink = False
    """`true` for the file telemetry.jsonl beside desk.yaml; or settings."""
    opentelemetry: OpenTelemetrySink = False
    """`true` for a collector on this machine; or settings."""

    @property
    def sql_sink(self) -> SqlSinkSection | None:
        if isinstance(self.sql, bool):
            return SqlSinkSection() if self.sql else None
        return self.sql

    @property
    def json_lines_sink(self) -> JsonLinesSinkSection | None:
        if isinstance(self.json_lines, bool):
            return JsonLinesSinkSection() if self.json_lines else None
        return self.json_lines

    @property
    def opentelemetry_sink(self) -> OpenTelemetrySinkSection | None:
        if isinstance(self.opentelemetry, bool):
            return OpenTelemetrySinkSection() if self.opentelemetry else None
        return self.opentelemetry
