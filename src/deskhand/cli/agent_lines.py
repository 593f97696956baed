"""An agent's work in a terminal: a turn in a line, and its words while the model writes them, which
are a draft until the gate let them pass."""

from collections.abc import Mapping, Sequence
from textwrap import wrap
from typing import Any

from rich.text import Text

from deskhand.agents.last_words import draft_so_far
from deskhand.cli.terminal import printable, shortened
from deskhand.model.envelope import StageResult
from deskhand.model.events import (
    AgentEvent,
    AgentStarted,
    LoopEnded,
    TextDelta,
    TextDropped,
    ToolAsked,
    TurnBegun,
)

TURNS = ".turns"
UNCHECKED = "draft, not checked yet"
"""Stands over what a model writes until the gate has looked at it."""
_MOST_LINES = 12
_NARROWEST = 20


def turn_words(result: StageResult) -> str | None:
    """What the model said in a turn and asked for; None for a step that is no turn."""
    if (result.answered or {}).get("brain") != "agent":
        return None
    outputs = [
        output.get("turns") for output in result.delta.outputs.values() if isinstance(output, dict)
    ]
    appended = [items for key, items in result.delta.append.items() if key.endswith(TURNS)]
    turn = next((items[-1] for items in (*appended, *outputs) if items), None)
    if turn is None:
        return None
    asked = ", ".join(str(call["tool"]) for call in turn["calls"])
    words = [shortened(str(turn["text"]), 60)] if turn["text"] else []
    words += [f"asks for {asked}"] if asked else []
    words += [_trimmed(turn["trimmed"])] if turn.get("trimmed") else []
    model = (result.answered or {}).get("model")
    return printable("; ".join(words) or "says nothing") + (f"  {model}" if model else "")


def _trimmed(entries: Sequence[Mapping[str, Any]]) -> str:
    """What of earlier results the model was not shown, so that the rest fits its window."""
    left_out = sum(not entry["kept"] for entry in entries)
    counted = ((len(entries) - left_out, "shortened"), (left_out, "left out"))
    words = [
        f"{number} earlier result{'s' * (number != 1)} {what}" for number, what in counted if number
    ]
    saved = sum(int(entry.get("tokens_saved", 0)) for entry in entries)
    return f"{', '.join(words)} (about {saved:,} tokens saved)"


class DraftView:
    """What is shown of an agent at work: the draft that it writes, or the tool that it calls."""

    def __init__(self, width: int = 80) -> None:
        self._text = ""
        self._width = max(width - 6, _NARROWEST)

    def shown(self, event: AgentEvent) -> Text | None:
        """None where there is nothing new to show."""
        match event:
            case AgentStarted():
                return _doing(f"{event.agent} …")
            case TurnBegun() | TextDropped():
                self._text = ""
                return _doing(f"{event.agent}, turn {event.iteration} …")
            case TextDelta():
                self._text += event.text
                return self._draft(f"{event.agent}, turn {event.iteration}: ")
            case ToolAsked():
                return _doing(f"{event.agent}, turn {event.iteration}: {event.tool} …")
            case LoopEnded():
                return self._ended(event)
            case _:
                return None

    def _draft(self, head: str) -> Text:
        words = printable(draft_so_far(self._text)).strip()
        if not words:
            return _doing(f"{head}…")
        shown = _doing(head).append(UNCHECKED, style="bold yellow not dim")
        return self._with_words(shown, words)

    def _ended(self, event: LoopEnded) -> Text:
        """The draft stays in view while the gate looks at it."""
        shown = _doing(f"{event.agent}: {event.status}")
        words = printable(draft_so_far(self._text)).strip()
        if not words or event.status != "completed":
            return shown
        shown.append("; ").append(UNCHECKED, style="bold yellow not dim")
        return self._with_words(shown, words)

    def _with_words(self, shown: Text, words: str) -> Text:
        lines = [piece for line in words.splitlines() for piece in wrap(line, self._width) or [""]]
        for line in lines[-_MOST_LINES:]:
            shown.append("\n  ┆ ", style="yellow not dim").append(line, style="italic")
        return shown


def _doing(words: str) -> Text:
    return Text(words, style="dim")
