"""How a value in a file of golden cases may be written: alone, or in a list."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, Tag

from deskhand.config.sections.section import Section

Text = Annotated[str, Field(min_length=1)]


def form_of(value: Any) -> str:
    if isinstance(value, Mapping | Section):
        return "mapping"
    if isinstance(value, bool):
        return "bool"
    return "list" if isinstance(value, list) else "text"


Texts = Annotated[
    Annotated[Text, Tag("text")] | Annotated[list[Text], Field(min_length=1), Tag("list")],
    Discriminator(form_of),
]
Call = Annotated[
    Annotated[Text, Tag("text")]
    | Annotated[dict[str, dict[str, Any]], Field(min_length=1, max_length=1), Tag("mapping")],
    Discriminator(form_of),
]
"""A tool's name, or `{name: {argument: value}}`."""
Urgency = Literal["critical", "high", "medium", "low"]
Department = Literal["billing", "technical", "general"]
Action = Literal["auto_respond", "route_specialist", "escalate_human"]
Feeling = Literal["positive", "neutral", "confused", "frustrated", "angry", "urgent"]
Evidence = Literal["conversation", "answered", "cited", "reference", "follow_up", "meaning", "none"]
Urgencies = Annotated[
    Annotated[Urgency, Tag("text")] | Annotated[list[Urgency], Field(min_length=1), Tag("list")],
    Discriminator(form_of),
]
Departments = Annotated[
    Annotated[Department, Tag("text")]
    | Annotated[list[Department], Field(min_length=1), Tag("list")],
    Discriminator(form_of),
]
Actions = Annotated[
    Annotated[Action, Tag("text")] | Annotated[list[Action], Field(min_length=1), Tag("list")],
    Discriminator(form_of),
]
Feelings = Annotated[
    Annotated[Feeling, Tag("text")] | Annotated[list[Feeling], Field(min_length=1), Tag("list")],
    Discriminator(form_of),
]
Evidences = Annotated[
    Annotated[Evidence, Tag("text")] | Annotated[list[Evidence], Field(min_length=1), Tag("list")],
    Discriminator(form_of),
]
