from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.conformance.adapters import ACTIVE_STORES, ADAPTERS, ActiveStores, Stores


@pytest.fixture(params=sorted(ADAPTERS))
async def stores(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Stores]:
    async with ADAPTERS[request.param](tmp_path) as opened:
        yield opened


@pytest.fixture(params=sorted(ACTIVE_STORES))
async def active(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[ActiveStores]:
    async with ACTIVE_STORES[request.param](tmp_path) as opened:
        yield opened
