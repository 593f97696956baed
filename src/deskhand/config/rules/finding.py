"""What a check sees, and how it says what it found."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from deskhand.config.fact_types import Kind
from deskhand.config.intents import ReadIntents
from deskhand.config.prompts import PromptFile
from deskhand.config.reply_texts import ReplyFile, ReplyFiles
from deskhand.config.sections.desk_file import DeskSection, FlowSection
from deskhand.config.sections.stage import StageSection
from deskhand.config.tool_shape import ToolShape
from deskhand.config.yaml import YamlFile, YamlPlace
from deskhand.errors import ConfigError
from deskhand.model.message import PREPROCESSORS


class ConfigFinding(NamedTuple):
    """Something wrong with a desk: where, what, and what to write instead."""

    place: YamlPlace
    problem: str
    fix: str
    echo_of: YamlPlace | None = None
    """Where something that could not be read would explain the finding, so that it need not be
    told."""
    file: Path | None = None
    """The file it is about, where that is not desk.yaml itself."""
    line: int | None = None
    """The line of that file."""

    def error(self, source: YamlFile) -> ConfigError:
        """The finding as an error with its file and line."""
        if self.file is None:
            return source.problem(self.place, self.problem, self.fix)
        return ConfigError(self.problem, file=self.file, line=self.line, fix=self.fix)


ConfigFindings = Iterator[ConfigFinding]


@dataclass(frozen=True)
class DeskDraft:
    """A desk that has been read but not yet checked as a whole, and everything its names may
    refer to."""

    source: YamlFile
    folder: Path
    desk: DeskSection
    prompts: Mapping[str, PromptFile]
    tools: Collection[str]
    services: AbstractSet[str]
    damaged: AbstractSet[YamlPlace] = frozenset()
    """Places that were written but could not be read."""
    shapes: Mapping[str, ToolShape] = field(default_factory=dict[str, ToolShape])
    """The tools' arguments; empty when only their names are known."""
    message_facts: Mapping[str, Kind] = field(default_factory=dict[str, Kind])
    """What the desk's own code tells of messages, by name."""
    preprocessors: Collection[str] = PREPROCESSORS
    reply_files: ReplyFiles = field(default_factory=dict[str, Mapping[str, ReplyFile]])
    """The texts in the folder `replies`."""
    own_tools: Collection[str] = ()
    """Those that no server brings."""
    intents: Sequence[ReadIntents] = ()
    """The files of intents, as far as they could be read."""

    def names_at(self, *place: str) -> list[str]:
        """The keys written at a place, readable or not: a stage with a mistake in it is still a
        known stage."""
        here: Any = self.source.data
        for part in place:
            here = here.get(part) if isinstance(here, dict) else None
        return list(here) if isinstance(here, dict) else []

    def stages(self) -> Iterator[StageSection]:
        """The stages of all flows."""
        for flow in self.desk.flows.values():
            yield from flow.stages.values()

    def categories(self) -> list[str]:
        """The categories that stages choose from, in the order they are written."""
        return [category for stage in self.stages() for category in stage.categories or ()]

    def damaged_keys(self, place: YamlPlace) -> set[str | int]:
        """The keys directly under a place of which something could not be read."""
        depth = len(place)
        return {hurt[depth] for hurt in self.damaged if len(hurt) > depth and hurt[:depth] == place}

    def is_damaged(self, place: YamlPlace) -> bool:
        """Whether something at, inside or around a place could not be read."""
        return any(
            hurt[: len(place)] == place or place[: len(hurt)] == hurt for hurt in self.damaged
        )


class FlowDraft(NamedTuple):
    """One flow of a draft."""

    draft: DeskDraft
    name: str
    flow: FlowSection

    @property
    def place(self) -> YamlPlace:
        return ("flows", self.name)

    @property
    def stage_names(self) -> list[str]:
        return self.draft.names_at("flows", self.name, "stages")
