"""`web_search` of desk.yaml: the search engine that the tool of this name asks."""

from pydantic import Field

from deskhand.config.sections.section import Section
from deskhand.model.frozen import Frozen


class WebSearchSection(Section):
    """A search engine that answers as SearXNG does: `{url: http://localhost:8888}`."""

    url: str = Field(pattern=r"^https?://[^\s/@?#]+(/[^\s?#]*)?$")
    """Where it is, as `http://localhost:8888`; its settings must allow the format `json`."""
    limit: int = Field(default=5, ge=1, le=20)
    """How many results an agent is shown."""
    timeout: float = Field(default=10, gt=0, le=60)
    """Seconds a search may take."""


class WebSearchSpec(Frozen):
    url: str
    limit: int
    timeout: float


def web_search_spec(section: WebSearchSection) -> WebSearchSpec:
    url = section.url.rstrip("/")
    return WebSearchSpec(
        url=url if url.endswith("/search") else f"{url}/search",
        limit=section.limit,
        timeout=section.timeout,
    )
