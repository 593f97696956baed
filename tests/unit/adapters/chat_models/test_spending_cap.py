import pytest

from deskhand.adapters.chat_models.spending_cap import CappedChatModel
from deskhand.brain.scripted import ScriptedChatModel
from deskhand.errors import ModelUnavailable
from deskhand.model.chat import ChatRequest


async def test_models_are_asked_until_the_days_cap_is_reached() -> None:
    spent = 0.0

    async def spent_today() -> float:
        return spent

    model = CappedChatModel(ScriptedChatModel(["yes", "yes"]), spent_today, 2.0)
    request = ChatRequest(model="m", messages=({"role": "user", "content": "hi"},))
    assert (await model.complete(request)).text == "yes"
    spent = 2.0
    with pytest.raises(ModelUnavailable, match=r"cost 2\.00 today and the desk's cap is 2"):
        await model.complete(request)
    with pytest.raises(ModelUnavailable):
        async for _ in model.stream(request):
            pass
