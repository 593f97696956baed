"""Chat models with the limits around them, and the embedding model."""

from typing import TYPE_CHECKING

from deskhand.adapters.chat_models.endpoints import endpoint_for
from deskhand.adapters.chat_models.on_demand import ChatModelOnDemand
from deskhand.adapters.chat_models.providers import provider_table
from deskhand.config.desk import DeskSpec
from deskhand.ports import ChatModel, Clock, Embeds

if TYPE_CHECKING:  # these take long to import: only for those who ask a model
    from deskhand.adapters.chat_models.circuit_breaker import Circuits
    from deskhand.adapters.chat_models.http_model import HttpChatModel
    from deskhand.adapters.chat_models.rate_limit import SharedRate
    from deskhand.wiring.databases import DeskStore


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
        return HttpChatModel(table, retries=retries)

    return ChatModelOnDemand(make)


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
