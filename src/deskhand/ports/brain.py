"""Models, and what their prompts and tools are made from."""

from collections.abc import AsyncIterator, Mapping
from typing import Any, Protocol

from deskhand.model.chat import ChatRequest, Chunk, Completion
from deskhand.model.tasks import Answer, Task


class ChatModel(Protocol):
    async def complete(self, request: ChatRequest) -> Completion: ...

    def stream(self, request: ChatRequest) -> AsyncIterator[Chunk]: ...


class Brain(Protocol):
    """Answers typed tasks; raises ModelUnavailable, ModelAnswerInvalid or ModelRefused when it
    cannot."""

    name: str

    async def answer(self, task: Task) -> Answer: ...


class SearchesWeb(Protocol):
    async def search(self, query: str) -> list[dict[str, str]]:
        """What was found, best first, each with `title`, `url` and `text`; ToolError says why
        nothing could be."""
        ...


class PromptSource(Protocol):
    def render(self, key: str, context: Mapping[str, Any]) -> str: ...

    def render_text(self, text: str, context: Mapping[str, Any]) -> str:
        """Render a short template written in the flow itself, such as a question."""
        ...
