"""Personal data stays here: a model sees placeholders, its answer has the values again."""

import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deskhand.brain.llm import LlmBrain
from deskhand.brain.personal_data import Placeholders, RedactionRules
from deskhand.brain.redacting_chat import EXPLANATION, RedactingChatModel, redaction_rules
from deskhand.brain.scripted import ScriptedChatModel
from deskhand.errors import ConfigError, ModelAnswerInvalid
from deskhand.model.chat import ChatRequest, Chunk, Completion, ToolRequest
from deskhand.model.tasks import Task, TaskKind

MAIL = """Hello, I am Ann Nováková (ann.novakova@example.co.uk), call me: +420 777 123 456 or 0151 23456789.
Money to CZ65 0800 0000 1920 0014 5399 or 19-2000145399/0800; my card was 4111 1111 1111 1111.
It is parcel P-1001 of 2026-11-15, paid 1 250 CZK. Again: ann.novakova@example.co.uk. Regards, Ann"""  # noqa: E501
SECRETS = ("Ann", "Nováková", "novakova", "777", "23456789", "0800", "2000145399", "4111", "P-1001")
NAMES = ("Ann Nováková", "ann.novakova@example.co.uk")
ORDERS = redaction_rules({"order": r"\bP-[0-9]{4}\b"})


def request(*texts: str, **fields: Any) -> ChatRequest:
    messages = tuple({"role": "user", "content": text} for text in texts)
    return ChatRequest(messages, "house/model", **{"private": NAMES, **fields})


async def test_nothing_personal_leaves_and_the_rest_does() -> None:
    chat = ScriptedChatModel(["ok"])
    await RedactingChatModel(chat, ORDERS).complete(request(MAIL))
    sent = json.dumps(chat.requests[0].messages, ensure_ascii=False)
    assert not [secret for secret in SECRETS if secret in sent]
    assert chat.requests[0].private == ()
    for kept in (
        "2026-11-15",
        "1 250 CZK",
        "Hello, I am [NAME_1]",
        "[CARD_1]",
        "[IBAN_1]",
        "[ORDER_1]",
    ):
        assert kept in sent


async def test_one_value_has_one_placeholder_in_all_messages() -> None:
    chat = ScriptedChatModel(["ok"])
    await RedactingChatModel(chat).complete(
        request("from ann@x.example", "to bo@x.example and ann@x.example")
    )
    first, second = (message["content"] for message in chat.requests[0].messages)
    assert (first, second) == ("from [EMAIL_1]", "to [EMAIL_2] and [EMAIL_1]")


async def test_the_answer_and_its_tool_calls_have_the_values_again() -> None:
    call = ToolRequest("1", "find", '{"order": "[ORDER_1]", "mail": "[EMAIL_1]"}')
    chat = ScriptedChatModel(
        [Completion("Dear [NAME_1], [EMAIL_1], [EMAIL_9]", "house/model", (call,))]
    )
    text = "I am Ann Nováková, ann@x.example, about P-1001"
    answer = await RedactingChatModel(chat, ORDERS).complete(request(text))
    assert answer.text == "Dear Ann Nováková, ann@x.example, [EMAIL_9]"
    assert json.loads(answer.tool_calls[0].arguments) == {
        "order": "P-1001",
        "mail": "ann@x.example",
    }


async def test_a_name_with_quotes_keeps_json_valid_both_ways() -> None:
    name = 'Ann "Ace" O\'Neil\\'
    chat = ScriptedChatModel([json.dumps({"text": "Dear [NAME_1]"})])
    known = json.dumps({"sender": name})
    answer = await RedactingChatModel(chat).complete(request(known, private=(name,), schema={}))
    assert "Ace" not in chat.requests[0].messages[0]["content"]
    assert json.loads(answer.text) == {"text": f"Dear {name}"}


async def test_line_breaks_written_as_escapes_hide_nothing_from_us() -> None:
    chat = ScriptedChatModel(["[EMAIL_1]"])
    known = json.dumps(
        {"body": "Regards\nAnn\nann@x.example\n777 123 456\tNOVÁKOVÁ"}, ensure_ascii=False
    )
    answer = await RedactingChatModel(chat).complete(request(known))
    sent = chat.requests[0].messages[0]["content"]
    assert json.loads(sent) == {"body": "Regards\n[NAME_1]\n[EMAIL_1]\n[PHONE_1]\t[NAME_2]"}
    assert answer.text == "ann@x.example"


async def test_earlier_turns_and_tool_results_are_hidden_as_well() -> None:
    chat = ScriptedChatModel(["ok"])
    calls = [
        {
            "id": "c1",
            "type": "function",
            "function": {"name": "find", "arguments": '{"mail": "ann@x.example"}'},
        }
    ]
    parts = [{"type": "text", "text": "ann@x.example"}]
    messages = (
        {"role": "assistant", "content": None, "tool_calls": calls},
        {"role": "tool", "tool_call_id": "c1", "content": "ann@x.example is a customer"},
        {"role": "user", "content": parts},
    )
    await RedactingChatModel(chat).complete(ChatRequest(messages, "house/model"))
    sent = json.dumps(chat.requests[0].messages)
    assert "ann@x" not in sent
    assert '"c1"' in sent


async def test_a_placeholder_the_customer_typed_is_not_one_of_ours() -> None:
    chat = ScriptedChatModel(lambda asked: asked.messages[0]["content"])
    text = "[EMAIL_1] and ann@x.example and [EMAIL_1x1]"
    answer = await RedactingChatModel(chat).complete(request(text))
    assert chat.requests[0].messages[0]["content"] == "[EMAIL_1] and [EMAIL_2x1] and [EMAIL_1x1]"
    assert answer.text == text


@pytest.mark.parametrize("size", [1, 3, 1000])
async def test_a_stream_is_restored_wherever_it_is_cut(size: int) -> None:
    told = "Write to [EMAIL_1] [or not], [EMAIL_1]"

    class Pieces(ScriptedChatModel):
        async def stream(self, request: ChatRequest) -> Any:
            completion = await self.complete(request)
            for start in range(0, len(told), size):
                yield Chunk(told[start : start + size])
            yield Chunk(completion=completion)

    model = RedactingChatModel(Pieces([told]))
    chunks = [chunk async for chunk in model.stream(request("I am ann@x.example"))]
    assert (
        "".join(chunk.text for chunk in chunks) == "Write to ann@x.example [or not], ann@x.example"
    )
    assert chunks[-1].completion is not None
    assert chunks[-1].completion.text == "Write to ann@x.example [or not], ann@x.example"


async def test_errors_about_a_wrong_answer_do_not_tell_what_was_hidden() -> None:
    wrong = json.dumps({"category": "[EMAIL_1]", "confidence": 0.5})
    brain = LlmBrain(RedactingChatModel(ScriptedChatModel([wrong, wrong])), {}, "house/model")
    sender = {"address": "ann@x.example", "name": "Ann Nováková"}
    task = Task(
        kind=TaskKind.CLASSIFY,
        stage="s",
        text="I am Ann, ann@x.example",
        inputs={"message": {"sender": sender}},
        choices=("a", "b"),
    )
    with pytest.raises(ModelAnswerInvalid) as caught:
        await brain.answer(task)
    assert "ann@x" not in str(caught.value)
    assert "[EMAIL_1]" in str(caught.value)


def test_a_name_that_is_a_word_is_hidden_where_it_is_a_name() -> None:
    hidden = Placeholders(RedactionRules(), ("Will Summer",))
    assert hidden.hide("I will come. Will\nSUMMER time") == "I will come. [NAME_1] time"
    assert hidden.hide("Yours, Will (summer)") == "Yours, [NAME_2] ([NAME_3])"


def test_a_pattern_that_cannot_be_read_is_a_configuration_error() -> None:
    with pytest.raises(ConfigError, match="not an RE2 pattern"):
        redaction_rules({"order": "P-("})


texts = st.text() | st.text('ann@x.exmple +0123456789-/[]()_EMAIL"\\ ')


@given(st.lists(texts, max_size=3), st.lists(st.text(max_size=8), max_size=2))
def test_whatever_is_hidden_comes_back_as_it_was(parts: list[str], names: list[str]) -> None:
    hidden = Placeholders.for_texts(parts, ORDERS, names)
    assert [hidden.restore(hidden.hide(part)) for part in parts] == parts


@pytest.mark.parametrize("piece", ["a", "1 ", "a.b@c.", "Ann ", "{}@x.example "])
def test_half_a_megabyte_takes_no_time(piece: str) -> None:
    text = "".join(piece.format(number) for number in range(500_000 // len(piece)))
    begun = time.process_time()
    hidden = Placeholders.for_texts([text], ORDERS, NAMES)
    assert hidden.restore(hidden.hide(text)) == text
    assert (
        time.process_time() - begun < 30
    )  # under one second measured; quadratic work would take minutes


async def test_the_desks_own_signature_is_shown_and_marks_are_explained() -> None:
    inner = ScriptedChatModel(["Dear [NAME_1], Acme"])
    chat = RedactingChatModel(inner, redaction_rules({}, own=("Acme", "help@acme.example")))
    await chat.complete(
        ChatRequest(
            (
                {"role": "system", "content": "Sign as Acme."},
                {"role": "user", "content": "Zoe of Acme Garden wrote to help@acme.example."},
            ),
            "house/model",
            private=("Zoe Acme",),
        )
    )
    system, user = inner.requests[0].messages
    assert system["content"] == f"Sign as Acme.\n\n{EXPLANATION}"
    assert "Zoe" not in user["content"]
    assert "of Acme" in user["content"]
    assert "wrote to help@acme.example." in user["content"]


async def test_nothing_is_explained_where_nothing_is_hidden() -> None:
    inner = ScriptedChatModel(["ok"])
    plain = ChatRequest(({"role": "system", "content": "Be kind."},), "house/model")
    await RedactingChatModel(inner).complete(plain)
    assert inner.requests[0].messages[0]["content"] == "Be kind."
