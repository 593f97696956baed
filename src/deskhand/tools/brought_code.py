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
    services: "dict[str, Service]" = field(default_factory=dict)
    before: "dict[str, PreHook]" = field(default_factory=dict)
    after: "dict[str, PostHook]" = field(default_factory=dict)
    resolvers: "tuple[Resolver, ...]" = ()
    message_facts: "tuple[MessageFact, ...]" = ()
    preprocessors: "dict[str, Preprocess]" = field(default_factory=dict)
    declared: "tuple[Declared, ...]" = ()
    """Everything the file decorates, also what other rooms have decorators for."""
