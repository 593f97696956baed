"""An agent at work in a terminal: a turn in a line, and what it is doing right now."""

from collections.abc import Mapping, Sequence
from typing import Any

from deskhand.cli.terminal import printable, shortened
from deskhand.model.envelope import StageResult
from deskhand.model.events import (
    AgentEvent,
    AgentStarted,
    LoopEnded,
    TextDelta,
    ToolAsked,
    TurnBegun,
)

TURNS = ".turns"


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


class Doing:
    """What a spinner shows of an agent: the end of the text it writes, or the tool it called."""

    def __init__(self) -> None:
        self._text = ""

    def words(self, event: AgentEvent) -> str | None:
        """None where there is nothing new to show."""
        match event:
            case AgentStarted():
                return f"{event.agent} …"
            case TurnBegun():
                self._text = ""
                return f"{event.agent}, turn {event.iteration} …"
            case TextDelta():
                self._text += event.text
                return f"{event.agent}, turn {event.iteration}: {printable(self._text)[-60:]}"
            case ToolAsked():
                return f"{event.agent}, turn {event.iteration}: {event.tool} …"
            case LoopEnded():
                return f"{event.agent}: {event.status}"
            case _:
                return None
