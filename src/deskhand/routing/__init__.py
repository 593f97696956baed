"""Which way a message goes: rules of desk.yaml, compiled, and what is wrong with them as a
whole."""

from deskhand.routing.rules import Router

__all__ = ["Router"]
