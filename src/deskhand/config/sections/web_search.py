"""`web_search` of desk.yaml: the search engine that the tool of this name asks."""

from pydantic import Field, field_validator

from deskhand.config.sections.section import Section


class WebSearchSpec(Section):
    """A search engine that answers as SearXNG does: `{url: http://localhost:8888}`."""

    url: str = Field(pattern=r"^https?://[^\s/@?#]+(/[^\s?#]*)?$")
    """Where it is, as `http://localhost:8888`; its settings must allow the format `json`."""
    limit: int = Field(default=5, ge=1, le=20)
    """How many results an agent is shown."""
    timeout: float = Field(default=10, gt=0, le=60)
    """Seconds a search may take."""

    @field_validator("url")
    @classmethod
    def _with_path(cls, url: str) -> str:
        """The address of the search itself, whichever of the two was written."""
        return f"{url.rstrip('/').removesuffix('/search')}/search"
