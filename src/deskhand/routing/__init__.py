"""Which way a message goes: the compiled routing rules of a desk, and what is wrong with them."""

from deskhand.routing.message_router import MessageRouter

Router = MessageRouter
"""The public name: `deskhand.Router`."""

__all__ = ["MessageRouter", "Router"]
