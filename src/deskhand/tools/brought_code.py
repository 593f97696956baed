"""What a desk brings in Python. Most desks bring nothing, and need none of what reads it."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from deskhand.mail.preprocess import Preprocess
    from deskhand.ports import PostHook, PreHook
    from deskhand.tools.authority import Resolver
    from deskhand.tools.declared import Declared
    from deskhand.tools.message_facts import MessageFact
    from deskhand.tools.registry import Tool
    from deskhand.tools.services import Service


@dataclass(frozen=True, slots=True)
class DeskCode:
    """What a desk brings in Python, by the names its desk.yaml uses."""

    tools: "tuple[Tool, ...]" = ()
    """Functions with `@tool`, which plans and agents may call."""

    services: "dict[str, Service]" = field(default_factory=dict)
    """Functions with `@service`: the work of stages."""

    before: "dict[str, PreHook]" = field(default_factory=dict)
    """Functions that touch what a stage is given, by the stage's name."""

    after: "dict[str, PostHook]" = field(default_factory=dict)
    """Functions that touch what a stage made of it."""

    resolvers: "tuple[Resolver, ...]" = ()
    """Functions that find the thing that a key names, and whose it is."""

    message_facts: "tuple[MessageFact, ...]" = ()
    """What rules of a policy may ask about a message."""

    preprocessors: "dict[str, Preprocess]" = field(default_factory=dict)
    """What reads a message before an agent does."""

    declared: "tuple[Declared, ...]" = ()
    """Everything the file decorates, also what other rooms have decorators for."""
