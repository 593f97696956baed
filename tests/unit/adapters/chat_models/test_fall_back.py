"""`models: {good: [a/x, b/y]}`: who is asked where the first cannot be."""

from collections.abc import AsyncIterator

import pytest

from deskhand.adapters.chat_models.circuit_breaker import Circuits, GuardedChatModel
from deskhand.adapters.chat_models.fall_back import FallBackChatModel
from deskhand.errors import (
    DeskhandError,
    ModelAnswerInvalid,
    ModelAway,
    ModelNotUsable,
    ModelRefused,
    ModelUnavailable,
    SpendingCapReached,
)
from deskhand.model.chat import ChatRequest, Chunk, Completion

FALL_BACKS = {"a/x": ("b/y", "c/z")}
MESSAGES = ({"role": "user", "content": "Hi"},)


class TestClock:
    __test__ = False

    def __init__(self) -> None:
        self.time = 1000.0

    def now(self) -> float:
        return self.time

    async def sleep(self, seconds: float) -> None:
        self.time += seconds


class Models:
    """Answers with the model's name, or fails as told."""

    def __init__(self, **faults: DeskhandError) -> None:
        self.faults = {name.replace("_", "/"): fault for name, fault in faults.items()}
        self.asked: list[str] = []

    async def complete(self, request: ChatRequest) -> Completion:
        self.asked.append(request.model)
        if request.model in self.faults:
            raise self.faults[request.model]
        return Completion(f"from {request.model}", request.model)

    async def stream(self, request: ChatRequest) -> AsyncIterator[Chunk]:
        whole = await self.complete(request)
        yield Chunk(whole.text, whole)


def away(model: str, until: float) -> ModelAway:
    return ModelAway(f"{model} is away", model=model, until=until, asked=True)


@pytest.mark.parametrize(
    "fault",
    [ModelUnavailable("503"), away("a/x", 9.0), ModelNotUsable("a/x needs a key")],
    ids=["unavailable", "away", "no key"],
)
async def test_the_next_model_is_asked_where_one_cannot_be(fault: DeskhandError) -> None:
    models = Models(a_x=fault)
    completion = await FallBackChatModel(models, FALL_BACKS).complete(ChatRequest(MESSAGES, "a/x"))
    assert (completion.text, completion.model) == ("from b/y", "b/y")
    assert models.asked == ["a/x", "b/y"]
    chunks = [
        chunk
        async for chunk in FallBackChatModel(models, FALL_BACKS).stream(
            ChatRequest(MESSAGES, "a/x")
        )
    ]
    assert chunks[-1].text == "from b/y"


@pytest.mark.parametrize(
    "fault",
    [
        ModelRefused("content filter"),
        ModelAnswerInvalid("nonsense"),
        SpendingCapReached("the cap is reached"),
    ],
    ids=["content", "answer", "cap"],
)
async def test_what_is_no_outage_is_not_asked_of_another_model(fault: DeskhandError) -> None:
    models = Models(a_x=fault)
    with pytest.raises(type(fault)):
        await FallBackChatModel(models, FALL_BACKS).complete(ChatRequest(MESSAGES, "a/x"))
    assert models.asked == ["a/x"]


async def test_where_all_are_away_the_first_to_come_back_is_waited_for() -> None:
    models = Models(a_x=away("a/x", 90.0), b_y=away("b/y", 30.0), c_z=ModelNotUsable("no key"))
    with pytest.raises(ModelAway) as caught:
        await FallBackChatModel(models, FALL_BACKS).complete(ChatRequest(MESSAGES, "a/x"))
    assert (caught.value.model, caught.value.until) == ("b/y", 30.0)


async def test_a_model_that_is_left_alone_is_passed_over_without_asking() -> None:
    models = Models(a_x=ModelUnavailable("503", retry_after=60))

    async def back(model: str) -> None:
        return None

    guarded = GuardedChatModel(models, Circuits(TestClock(), back))
    chat = FallBackChatModel(guarded, FALL_BACKS)
    for _ in range(3):
        assert (await chat.complete(ChatRequest(MESSAGES, "a/x"))).model == "b/y"
    assert models.asked == ["a/x", "b/y", "b/y", "b/y"]
