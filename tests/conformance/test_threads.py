"""What every store knows of conversations, so that a mail finds its own."""

from typing import Any

from deskhand.mail.threads import placed
from deskhand.model.message import DELIVER, Message
from deskhand.model.principal import Principal, PrincipalKind
from deskhand.model.run import EffectKey
from tests.conformance.adapters import Stores
from tests.kit import a_message


def mail(number: int, **more: Any) -> Message:
    principal = Principal(kind=PrincipalKind.SENDER, address="ann@example.com", how="DMARC")
    return a_message(number).model_copy(
        update={"channel": "support", "principal": principal, **more}
    )


async def test_a_message_is_known_by_its_id_on_its_channel_and_desk(stores: Stores) -> None:
    store, other = await stores(), await stores("other")
    accepted = await store.accept(mail(1), flow="flow")
    known = await store.message_known("support", "m1")
    assert (known.run.id, known.message.principal.address) == (accepted.run_id, "ann@example.com")
    assert await store.message_known("chat", "m1") is None
    assert await store.message_known("support", "m2") is None
    assert await other.message_known("support", "m1") is None


async def test_a_delivery_is_known_by_its_key(stores: Stores) -> None:
    store, other = await stores(), await stores("other")
    accepted = await store.accept(mail(1), flow="flow")
    await store.claim(accepted.run_id, {"flow": "v1"})
    key = EffectKey(accepted.run_id, 3, 0)
    await store.intend(key, DELIVER, "hash")
    await store.intend(EffectKey(accepted.run_id, 4, 0), "find_order", "hash")
    assert (await store.reply_sent(key)).run.id == accepted.run_id
    assert await store.reply_sent(EffectKey(accepted.run_id, 4, 0)) is None
    assert await store.reply_sent(EffectKey(accepted.run_id, 3, 1)) is None
    assert await store.reply_sent(EffectKey("run_nobody", 3, 0)) is None
    assert await other.reply_sent(key) is None


async def test_a_senders_latest_messages_come_first(stores: Stores) -> None:
    store = await stores()
    runs = [(await store.accept(mail(number), flow="flow")).run_id for number in range(5)]
    found = await store.messages_from("ANN@example.com ", since=0, limit=3)
    assert [turn.run.id for turn in found] == [runs[4], runs[3], runs[2]]
    assert await store.messages_from("bob@example.com", since=0) == []
    assert await store.messages_from("ann@example.com", since=9e12) == []


async def test_what_was_erased_is_not_known(stores: Stores) -> None:
    store = await stores()
    accepted = await store.accept(mail(1), flow="flow")
    await store.cancel(accepted.run_id, "me")
    await store.erase("ann@example.com", "me")
    assert await store.message_known("support", "m1") is None
    assert await store.messages_from("ann@example.com", since=0) == []


async def test_a_mail_is_placed_with_what_the_store_knows(stores: Stores) -> None:
    store = await stores()
    first = await placed(mail(1, id="<one@example.com>"), store)
    await store.accept(first, flow="flow")
    answer = mail(2, headers={"references": "<one@example.com>"})
    assert (await placed(answer, store)).conversation == first.conversation
    stranger = answer.model_copy(update={"principal": Principal()})
    assert (await placed(stranger, store)).conversation != first.conversation
