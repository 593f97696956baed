"""Chat models with the limits around them, and the embedding model."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from itertools import chain
from typing import TYPE_CHECKING, Any

from deskhand.adapters.chat_models.endpoints import endpoint_for, named_provider
from deskhand.adapters.chat_models.models_table import ModelInfo as ModelInfo
from deskhand.adapters.chat_models.models_table import models_table, prices_in
from deskhand.adapters.chat_models.on_demand import ChatModelOnDemand
from deskhand.adapters.chat_models.providers import provider_table
from deskhand.config.desk import DeskSpec
from deskhand.config.sections.channels import chat_of
from deskhand.errors import ConfigError
from deskhand.ports import ChatModel, Clock, Embeds

if TYPE_CHECKING:  # these take long to import: only for those who ask a model
    from deskhand.adapters.chat_models.circuit_breaker import Circuits
    from deskhand.adapters.chat_models.http_model import HttpChatModel
    from deskhand.adapters.chat_models.rate_limit import SharedRate
    from deskhand.adapters.chat_models.trial import ModelTrial
    from deskhand.wiring.databases import DeskStore
from deskhand.wiring.desk_folders import find_desk


def own_providers(spec: DeskSpec) -> dict[str, dict[str, object]]:
    """What desk.yaml says about providers, by name."""
    providers: dict[str, dict[str, object]] = {}
    for name, provider in spec.providers.items():
        fields = provider.model_dump().items()
        providers[name] = {field: value for field, value in fields if value not in (None, {})}
    return providers


def without_models(spec: DeskSpec) -> dict[str, str]:
    """The desk's profiles that have no model to ask, each with the reason."""
    if not spec.profiles:
        return {}
    from deskhand.brain.build import unusable_profiles

    table = provider_table(own_providers(spec))

    def reach(model: str) -> None:
        endpoint_for(model, table)

    return unusable_profiles(spec, reach)


def check_model(spec: DeskSpec, name: str) -> str:
    """The address where a desk's model would be asked; nothing is asked.

    Raises ConfigError or ModelRefused with what is missing.
    """
    return endpoint_for(name, provider_table(own_providers(spec))).shown_url


async def call_models(spec: DeskSpec) -> "dict[str, list[ModelTrial]]":
    """Ask every model that the desk names, fall-backs included, for what a desk needs of it."""
    from deskhand.adapters.chat_models.trial import try_model

    agents = [profile.models(spec.default_model) for profile in spec.profiles.values()]
    names = dict.fromkeys((*spec.models.values(), *chain.from_iterable(agents)))
    for name in tuple(names):
        names |= dict.fromkeys(spec.fall_backs.get(name, ()))
    chat = open_chat(spec)
    try:
        return {name: await try_model(chat, name) for name in names}
    finally:
        await chat.aclose()


def known_models(desk: str | None = None) -> dict[str, ModelInfo]:
    """The models that the package knows, with those that a desk adds; raises ConfigError."""
    return models_table(None if desk is None else find_desk(desk))


def require_prices(spec: DeskSpec) -> None:
    """Raise ConfigError where a cap on money stands before a model whose calls cost nothing that
    we know of: it would never be reached."""
    capped = _models_under_caps(spec)
    if not capped:
        return
    table = provider_table(own_providers(spec))
    prices = prices_in(models_table(spec.folder))
    for name, cap in capped.items():
        _, provider, model = named_provider(name, table)
        if provider.costs != "by_price" or model in provider.prices or name in prices:
            continue
        raise ConfigError(
            f"{cap} limits what {name} may cost, but its price is not known",
            file=spec.folder / "desk.yaml",
            fix=(
                f"write `providers: {{{name.partition('/')[0]}: {{prices: {{{model}: {{input: ...,"
                " output: ...}}}}`, per million tokens"
            ),
        )


def _models_under_caps(spec: DeskSpec) -> dict[str, str]:
    """The models whose cost is limited, each with the limit."""
    if spec.brain.kind in ("scripted", "embedded") and not spec.brain.agents:
        return {}
    capped: dict[str, str] = {}
    if spec.brain.kind == "scripted":
        return capped
    for profile in spec.profiles.values():
        if profile.budget.money is not None:
            cap = f"`budget.money` of the agent `{profile.name}`"
            capped |= dict.fromkeys(profile.models(spec.default_model), cap)
    spending = _spending_limits(spec)
    if spending:
        agents = [profile.models(spec.default_model) for profile in spec.profiles.values()]
        every = [*spec.models.values(), *chain.from_iterable(agents)]
        capped |= dict.fromkeys(every, spending[0])
    for name, cap in tuple(capped.items()):
        capped |= dict.fromkeys(spec.fall_backs.get(name, ()), cap)
    return capped


def _spending_limits(spec: DeskSpec) -> list[str]:
    """What limits the cost of all models."""
    limits = [] if spec.safeguards.model_spend is None else ["`caps.day.model_spend`"]
    chat = chat_of(spec.channels)
    if chat is not None and chat.limits_spending:
        limits.append("`spend_per_...` of the chat")
    return limits


def embedder() -> Embeds:
    """The embedding model that comes with the package."""
    from deskhand.language.embed import shared_embedder

    return shared_embedder()


def embedder_name() -> str:
    """What tells vectors of one model from those of another."""
    from deskhand.language.embed import MAX_TOKENS, MODEL

    return f"{MODEL}/{MAX_TOKENS}"


def open_chat(spec: DeskSpec, *, insists: bool = True) -> ChatModelOnDemand:
    """The models of the desk's providers; close it in the end.

    Not to insist suits a caller who comes back later: what fails is told soon.
    """
    table = provider_table(own_providers(spec))

    def make() -> "HttpChatModel":
        from deskhand.adapters.chat_models.faults import RetryPolicy
        from deskhand.adapters.chat_models.http_model import HttpChatModel

        retries = RetryPolicy() if insists else RetryPolicy.brief()
        prices = prices_in(models_table(spec.folder))
        return HttpChatModel(table, retries=retries, prices=prices)

    return ChatModelOnDemand(make)


@asynccontextmanager
async def open_models(
    providers: Mapping[str, Mapping[str, Any]] | None = None,
) -> AsyncIterator[ChatModel]:
    """The models of all known providers, for programs that embed Deskhand without a desk.

    `providers` is what a desk writes under that word; keys come from the environment.
    """
    from deskhand.adapters.chat_models.http_model import HttpChatModel

    chat = HttpChatModel(provider_table(providers), prices=prices_in(models_table()))
    try:
        yield chat
    finally:
        await chat.aclose()


def model_circuits(store: "DeskStore", clock: Clock) -> "Circuits":
    """What leaves models alone that are away, and lets runs go on when one is back."""
    from deskhand.adapters.chat_models.circuit_breaker import Circuits

    async def wake(model: str) -> None:
        await store.wake_waiting(model, clock.now())

    return Circuits(clock, wake)


def with_fall_backs(chat: ChatModel, spec: DeskSpec) -> ChatModel:
    """The model, or those that the desk names in its place."""
    if not spec.fall_backs:
        return chat
    from deskhand.adapters.chat_models.fall_back import FallBackChatModel

    return FallBackChatModel(chat, spec.fall_backs)


def limited_chat(
    chat: ChatModel,
    spec: DeskSpec,
    store: "DeskStore",
    clock: Clock,
    rate: "SharedRate | None" = None,
) -> ChatModel:
    """The model within the workers' shared rate and the desk's cap on spending."""
    from deskhand.adapters.chat_models.rate_limit import RatedChatModel
    from deskhand.adapters.chat_models.spending_cap import CappedChatModel, spent_today

    if rate is not None:
        chat = RatedChatModel(chat, rate)
    cap = spec.safeguards.model_spend
    if cap is not None:
        chat = CappedChatModel(chat, spent_today(store.spent, clock, spec.time_zone), cap)
    return chat
