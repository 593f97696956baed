"""Whatever schemathesis makes of the API's own description, nothing answers with a 5xx."""

import hashlib
import json
import pickle
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx
import hypothesis
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import Unsatisfiable
from schemathesis.core.result import Ok
from schemathesis.generation import GenerationMode

from deskhand.language.vector_cache import SqliteVectorCache
from deskhand.private_files import cache_folder
from tests.api_kit import Client, Served, served

EXAMPLES = 5
"""Of each operation, of each kind: as described, and not as described."""
BOUNDED = settings(
    max_examples=EXAMPLES,
    deadline=None,
    database=None,
    derandomize=True,
    phases=(Phase.generate,),
    suppress_health_check=list(HealthCheck),
)


@pytest.fixture
async def shop(tmp_path: Path) -> AsyncIterator[Served]:
    async with served(tmp_path, approvals=True) as running:
        yield running


def remembered_requests(document: dict[str, Any]) -> list[dict[str, Any]]:
    """Those for this description, remembered between runs of the tests.

    Making them takes most of the time, and gives the same as long as the description, this file
    and the programs that make them are the same.
    """
    versions = (schemathesis.__version__, hypothesis.__version__, sys.version)
    made_from = json.dumps([document, versions]).encode() + Path(__file__).read_bytes()
    key = hashlib.sha256(made_from).digest()
    cache = SqliteVectorCache(cache_folder() / "requests-of-tests.sqlite3")
    known = cache.read([key]).get(key)
    if known is None:
        known = pickle.dumps(list(requests_for(document)))
        cache.write({key: known})
    cache.close()
    return list(pickle.loads(known))


def requests_for(document: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The same requests every time, of every operation in the document."""
    for result in schemathesis.openapi.from_dict(document).get_all_operations():
        assert isinstance(result, Ok), result
        for mode in (GenerationMode.POSITIVE, GenerationMode.NEGATIVE):
            yield from _examples(result.ok(), mode)


def _examples(operation: Any, mode: GenerationMode) -> list[dict[str, Any]]:
    made: list[dict[str, Any]] = []

    @BOUNDED
    @given(case=operation.as_strategy(generation_mode=mode))
    def collect(case: Any) -> None:
        made.append(case.as_transport_kwargs(base_url="http://desk.test"))

    with suppress(Unsatisfiable):  # nothing in it could be wrong
        collect()
    return made


async def _sent(client: Client, request: dict[str, Any]) -> httpx.Response | None:
    """The answer; None where no HTTP client would send such a request."""
    fields = {name: value for name, value in request.items() if name not in ("cookies", "data")}
    if "data" in request:
        fields["content"] = request["data"]
    headers = {**(fields.pop("headers", None) or {}), **client.headers}
    try:
        built = client.build_request(**fields, headers=headers)
    except (httpx.InvalidURL, UnicodeError, TypeError, ValueError):
        return None
    return await client.send(built)


@pytest.mark.slow
async def test_no_request_of_the_schema_brings_the_api_down(shop: Served) -> None:
    """Each is sent with a key, and one of each kind without."""
    known, stranger = await shop.client(), shop.stranger()
    document = (await known.get("/openapi.json")).json()
    requests = remembered_requests(document)
    for client, every in ((known, 1), (stranger, EXAMPLES)):
        answers = []
        for request in requests[::every]:
            answer = await _sent(client, request)
            if answer is not None:
                answers.append((answer.status_code, request["method"], request["url"]))
        failed = [answer for answer in answers if answer[0] >= 500]
        assert failed == []
        asked = {(method, httpx.URL(url).path) for _, method, url in answers}
        assert every * len(answers) > 5 * len(document["paths"]), f"only {len(asked)} were asked"
