from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.conformance.adapters import ACTIVE_STORES, ADAPTERS, ActiveStores, Stores


@pytest.fixture(params=sorted(ADAPTERS))
def adapter(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
async def stores(adapter: str, tmp_path: Path) -> AsyncIterator[Stores]:
    async with ADAPTERS[adapter](tmp_path) as opened:
        yield opened


@pytest.fixture(params=sorted(ACTIVE_STORES))
async def active(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[ActiveStores]:
    async with ACTIVE_STORES[request.param](tmp_path) as opened:
        yield opened
