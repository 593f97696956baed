from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.conformance.adapters import ADAPTERS, Stores


@pytest.fixture(params=sorted(ADAPTERS))
async def stores(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Stores]:
    async with ADAPTERS[request.param](tmp_path) as opened:
        yield opened
