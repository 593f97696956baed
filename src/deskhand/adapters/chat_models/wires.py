"""The wire protocols by name."""

from deskhand.adapters.chat_models import chat_completions, messages, ollama, responses
from deskhand.adapters.chat_models.providers import Api
from deskhand.adapters.chat_models.sse import EventReader, LineReader
from deskhand.adapters.chat_models.wire import Wire

WIRES: dict[Api, Wire] = {
    "chat_completions": Wire(
        chat_completions.request_body,
        chat_completions.read_completion,
        chat_completions.ChatCompletionStream,
        EventReader,
    ),
    "responses": Wire(
        responses.request_body,
        responses.read_completion,
        responses.ResponseStream,
        EventReader,
    ),
    "messages": Wire(
        messages.request_body, messages.read_completion, messages.MessageStream, EventReader
    ),
    "ollama": Wire(ollama.request_body, ollama.read_completion, ollama.OllamaStream, LineReader),
}
