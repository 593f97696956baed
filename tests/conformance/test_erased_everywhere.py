"""An erased person is gone from all that is theirs, and the rest is told."""

import json
from typing import Any

import sqlalchemy as sa

from deskhand.adapters.stores import tables as t
from deskhand.adapters.stores.mentions import find_mentions
from deskhand.engine.audit import verify_desk
from deskhand.model.message import Address
from deskhand.model.principal import Principal
from deskhand.model.run import NewReview, ReviewKind, RunStatus
from tests.conformance.adapters import Stores
from tests.kit import a_message

CARLA = "carla@example.com"
UNPROVEN = Principal()


async def worked(store: Any, sender: str, body: str = "Hello", **headers: str) -> str:
    """A claimed run of somebody's message."""
    people = {"sender": Address(address=sender), "principal": UNPROVEN}
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    message = a_message(1, body=body).model_copy(update={**people, "headers": named})
    accepted = await store.accept(message, flow="flow")
    await store.claim(accepted.run_id, {"flow": "v1"})
    return str(accepted.run_id)


async def mentions(store: Any) -> list[str]:
    return list(
        await store._database.read_in_transaction(
            lambda core: find_mentions(core, store.desk, CARLA)
        )
    )


async def test_responses_for_repeated_requests_go_with_the_person(stores: Stores) -> None:
    store = await stores()
    run_id = await worked(store, CARLA)
    await store.finish(run_id, RunStatus.DONE)
    await store.remember_response("request:order 5", "d", json.dumps({"id": "<5@x>"}).encode())
    await store.remember_response("response:order 5", "d", json.dumps({"run": run_id}).encode())
    await store.remember_response("request:by Carla@Example.com", "d", b"{}")
    await store.remember_response("request:other", "d", b"{}")

    assert await store.erase(CARLA, "eva") == 1

    read = sa.select(t.responses.c.key)
    keys = await store._database.read_core(lambda core: list(core.execute(read).scalars()))
    assert keys == ["request:other"]
    assert await mentions(store) == []
    assert (await verify_desk(store)).problems == []


async def test_mail_that_a_contact_form_passed_on_goes_by_its_reply_to(stores: Stores) -> None:
    store = await stores()
    named = "Carla Rossi <Carla@example.com>"
    form = await worked(store, "form@shop.example", reply_to=named)
    await store.finish(form, RunStatus.DONE)

    assert await store.erase(CARLA, "eva") == 1

    assert await store.message(form) is None
    assert await mentions(store) == []


async def test_what_others_say_about_the_person_is_told_with_its_place(stores: Stores) -> None:
    store = await stores()
    quoting = await worked(store, "bob@example.com", "As CARLA@example.com told me")
    review = NewReview(ReviewKind.REPLY, "why", {"reply": {"text": f"Ask {CARLA}"}}, 0)
    await store.finish(quoting, RunStatus.WAITING_REVIEW, review=review)
    assign = t.reviews.update().values(assignee=CARLA)
    await store._database.write_core(lambda core: core.execute(assign))

    await store.erase(CARLA, "eva")

    told = await mentions(store)
    assert f"messages.body of {quoting}" in told
    [of_review] = [place for place in told if place.startswith("reviews.")]
    assert "payload" in of_review
    assert "assignee" in of_review
    assert of_review.endswith(quoting)
