"""Chat models and brains, with the limits and records around them."""

from datetime import datetime
from zoneinfo import ZoneInfo

from deskhand.adapters.chat_models.providers import endpoint_for, provider_table
from deskhand.brain.build import unusable_profiles
from deskhand.config.desk import DeskSpec
from deskhand.ports import (
    Clock,
    Embeds,
)
from deskhand.wiring.databases import DeskStore


def own_providers(spec: DeskSpec) -> dict[str, dict[str, object]]:
    return {
        name: provider.model_dump(exclude_none=True) for name, provider in spec.providers.items()
    }


def without_models(spec: DeskSpec) -> dict[str, str]:
    """The desk's profiles that have no model to ask, each with the reason."""
    table = provider_table(own_providers(spec))

    def reach(model: str) -> None:
        endpoint_for(model, table)

    return unusable_profiles(spec, reach)


def check_model(spec: DeskSpec, name: str) -> str:
    """Where a desk's model would be asked, without asking it; ConfigError or ModelRefused says
    what is missing."""
    return endpoint_for(name, provider_table(own_providers(spec))).shown_url


def embedder() -> Embeds:
    """The embedding model that comes with the package."""
    from deskhand.language.embed import shared_embedder

    return shared_embedder()


def embedder_name() -> str:
    """What tells vectors of one model from those of another."""
    from deskhand.language.embed import MAX_TOKENS, MODEL

    return f"{MODEL}/{MAX_TOKENS}"


async def spent_today(store: DeskStore, spec: DeskSpec, clock: Clock) -> float:
    now = datetime.fromtimestamp(clock.now(), ZoneInfo(spec.time_zone))
    return await store.spent(now.replace(hour=0, minute=0, second=0, microsecond=0).timestamp())
