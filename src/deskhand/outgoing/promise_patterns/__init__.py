"""Sentences in which companies promise or claim an action: patterns, one module a language."""

from deskhand.config.sections.outgoing import Action

ActionPatterns = tuple[tuple[Action, str], ...]
"""Actions and the patterns that show them, the most telling first."""
