"""Services and hooks: how a desk's tools.py brings stages and touches of its own to a flow."""

import inspect
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import Field

from deskhand.mail.preprocess import BUILT_IN, Preprocess
from deskhand.model.envelope import Ask, Envelope
from deskhand.model.frozen import Frozen
from deskhand.model.outcome import Outcome
from deskhand.model.plan import StepRecord
from deskhand.ports import PostHook, PreHook, StageContext
from deskhand.tools.declared import SourcePlace, declare, place_of
from deskhand.tools.shapes import BUILT_IN_SERVICES as BUILT_IN_SERVICES

"""The services that every desk has."""


class ServiceResult(Frozen):
    """A service's output together with where the run goes; a plain dict means success and the
    stage's default."""

    output: dict[str, Any] = Field(default_factory=dict)
    also: dict[str, Any] = Field(default_factory=dict)
    """Further outputs, by the names they are kept under."""
    draft: dict[str, Any] | None = None
    """A brain's draft that becomes the run's reply."""
    outcome: Outcome = Outcome.SUCCESS
    ask: Ask | None = None
    status: str | None = None
    """The run's final status, where the service knows better than `done`."""
    reason: str | None = None
    next: str | None = None
    resume: str | None = None
    answered: dict[str, Any] | None = None
    """Who answered, where a brain was asked."""
    starts_anew: bool = False
    """Whether the run forgets what earlier stages found: the message begins another matter."""
    plan_steps: tuple[StepRecord, ...] = ()
    """How far each step of a plan is, where the stage walked one."""


ServiceFunction = Callable[
    [Envelope, StageContext, Mapping[str, Any]], Awaitable[dict[str, Any] | ServiceResult]
]


def reads_only(service: ServiceFunction) -> ServiceFunction:
    """Mark a service of ours that changes nothing in the envelope it is given: it needs no copy of
    its own."""
    setattr(service, _READS_ONLY, True)
    return service


def may_change(service: ServiceFunction) -> bool:
    """Whether a service may change its envelope in place, as code that is not ours might."""
    return not getattr(service, _READS_ONLY, False)


_READS_ONLY = "reads_only"


@dataclass(frozen=True, slots=True)
class Service:
    """What `service: name` in a desk.yaml refers to."""

    name: str
    function: ServiceFunction
    place: SourcePlace

    async def __call__(
        self, envelope: Envelope, ctx: StageContext, settings: Mapping[str, Any]
    ) -> dict[str, Any] | ServiceResult:
        return await self.function(envelope, ctx, settings)


@dataclass(frozen=True, slots=True)
class Hook:
    """A function that changes the envelope before or after one stage."""

    when: Literal["before", "after"]
    stage: str
    function: Callable[..., Any]
    place: SourcePlace

    def __call__(self, *arguments: Any) -> Any:
        return self.function(*arguments)


@dataclass(frozen=True, slots=True)
class Preprocessor:
    """What `preprocess: name` in a routing rule or profile refers to."""

    name: str
    function: Preprocess
    place: SourcePlace


def preprocessor(name: str) -> Callable[[Preprocess], Preprocessor]:
    """Make a function `(message) -> Prepared | None` what reads messages before agents do; None:
    it cannot read it."""

    def decorate(function: Preprocess) -> Preprocessor:
        place = place_of(function)
        if inspect.iscoroutinefunction(function):
            raise place.error(f"preprocessor {name!r} must be a plain function, not async")
        if name in BUILT_IN:
            raise place.error(
                f"{name!r} is a preprocessor that every desk has already", fix="choose another name"
            )
        _check_arity(function, ("message",), f"preprocessor {name!r}", place)
        return declare(Preprocessor(name, function, place))

    return decorate


def service(name: str) -> Callable[[ServiceFunction], Service]:
    """Make a stage's work of an async function `(envelope, ctx, settings)`."""

    def decorate(function: ServiceFunction) -> Service:
        place = place_of(function)
        if not inspect.iscoroutinefunction(function):
            raise place.error(f"service {name!r} must be an async function")
        _check_arity(function, ("envelope", "ctx", "settings"), f"service {name!r}", place)
        return declare(Service(name, function, place))

    return decorate


def before(stage: str) -> Callable[[PreHook], Hook]:
    """Run `(envelope) -> envelope` before the stage of this name."""

    def decorate(function: PreHook) -> Hook:
        place = place_of(function)
        _check_arity(function, ("envelope",), f"hook before {stage!r}", place)
        return declare(Hook("before", stage, function, place))

    return decorate


def after(stage: str) -> Callable[[PostHook], Hook]:
    """Run `(envelope, output) -> envelope` after the stage of this name."""

    def decorate(function: PostHook) -> Hook:
        place = place_of(function)
        _check_arity(function, ("envelope", "output"), f"hook after {stage!r}", place)
        return declare(Hook("after", stage, function, place))

    return decorate


def _check_arity(
    function: Callable[..., Any], names: tuple[str, ...], what: str, place: SourcePlace
) -> None:
    try:
        inspect.signature(function).bind(*names)
    except TypeError:
        raise place.error(
            f"{what} takes {len(names)} argument(s)", fix=f"write `({', '.join(names)})`"
        ) from None
