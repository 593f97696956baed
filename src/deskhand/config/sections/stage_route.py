"""A route as written in desk.yaml, in our form and in the short form of seed 003."""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field

from deskhand.config.sections.section import Section
from deskhand.model.outcome import Outcome
from deskhand.model.spec import RoutingRule


class RouteSection(Section):
    """Where a run goes when a condition holds: `{when, to}`, `{when, outcome}` or `{condition,
    value, target}`."""

    when: dict[str, Any] | None = None
    """A condition over what the stage put out, as `{category: spam, confidence: {at_least:
    0.95}}`."""
    to: str | None = None
    """The stage the run goes to, or `end`."""
    outcome: Annotated[Outcome | None, Field(strict=False)] = None
    """How the stage ends instead: `clarify`, `confirm`, `terminate`, `replan`, `loop_back`,
    `skip`, ..."""
    ask: str | None = None
    """With `clarify` or `confirm`: the question, a Jinja2 template over the envelope."""
    condition: str | None = None
    """Short form: the name of one fact."""
    value: Any = True
    """Short form: what that fact must be."""
    target: str | None = None
    """Short form: the stage the run goes to, or `end`."""

    @classmethod
    def may_be_null(cls) -> tuple[str, ...]:
        return ("value",)

    @property
    def is_short(self) -> bool:
        return "condition" in self.model_fields_set

    @property
    def goes_to(self) -> str | None:
        return self.to if self.to is not None else self.target

    @property
    def test(self) -> Mapping[str, Any] | None:
        """The condition, whichever way it was written."""
        if self.condition is None:
            return self.when
        return {self.condition: {"is": self.value} if isinstance(self.value, list) else self.value}

    def compile(self) -> RoutingRule:
        return RoutingRule(
            when=dict(self.test or {}), target=self.goes_to, outcome=self.outcome, ask=self.ask
        )
