"""What fails and is tried again verifies, however often and however it ends; whoever changes it in
between is noticed."""

from dataclasses import dataclass
from typing import Any

import pytest
import sqlalchemy as sa

from deskhand.adapters.stores import tables as t
from deskhand.engine.audit import verify_desk
from deskhand.errors import Fenced, ToolError
from deskhand.model.results import ToolResult
from deskhand.model.run import (
    Decision,
    Effect,
    EffectKey,
    EffectState,
    NewReview,
    ReviewKind,
    RunStatus,
    Verdict,
)
from deskhand.tools import tool
from deskhand.tools.effects import carry_out
from tests.conformance.adapters import Stores
from tests.conformance.test_store import VERSIONS, claimed

NOW = 1_800_000_000.0
REFUSED = ToolError("mail_server", "the server is away")
BROKEN_OFF = ConnectionResetError("in the middle")


@tool(effect="keyed")
def send() -> None:
    """Send."""


@dataclass
class Retries:
    """A run whose effect fails, waits with a person, and is tried again."""

    store: Any
    run_id: str

    @property
    def key(self) -> EffectKey:
        return EffectKey(self.run_id, 1, 0)

    async def attempt(self, failure: Exception | None = None) -> ToolResult:
        async def perform() -> ToolResult:
            if failure is not None:
                raise failure
            return ToolResult.success({"sent": True})

        return await carry_out(
            self.key, send, "hash", {}, self.store, perform, None, earlier=await self.effect()
        )

    async def effect(self) -> Effect | None:
        effects = await self.store.effects(self.run_id)
        return effects[0] if effects else None

    async def state(self) -> EffectState:
        effect = await self.effect()
        assert effect is not None
        return effect.state

    async def wait(self, kind: ReviewKind = ReviewKind.REPLY) -> None:
        """Come to rest until somebody decides."""
        payload = {"waits": "retry", "effect_key": str(self.key)}
        review = NewReview(kind, "not delivered", payload, 1)
        await self.store.finish(self.run_id, RunStatus.WAITING_REVIEW, review=review)

    async def decide(self, decision: Decision = Decision.APPROVE) -> None:
        [*_, review] = await self.store.find_reviews()
        await self.store.decide(
            review.id,
            Verdict(decision, by="eva", version=review.version, payload_hash=review.payload_hash),
        )
        assert await self.store.claim(self.run_id, VERSIONS) is not None

    async def fail(self, times: int) -> None:
        for _ in range(times):
            await self.attempt(REFUSED)
            assert await self.state() is EffectState.FAILED
            await self.wait()
            await self.decide()

    async def problems(self) -> list[str]:
        report = await verify_desk(self.store)
        return [problem.what for problem in report.problems]

    async def forge(self, **values: Any) -> None:
        """As somebody would who reaches into the database with another program."""
        statement = t.effects.update().values(**values)
        await self.store._database.write_core(lambda core: core.execute(statement).rowcount)


@pytest.fixture
async def retries(stores: Stores) -> Retries:
    store = await stores()
    run_id, _ = await claimed(store)
    return Retries(store, run_id)


async def test_what_fails_some_times_and_then_leaves_verifies(retries: Retries) -> None:
    await retries.fail(3)
    assert await retries.problems() == []
    assert (await retries.attempt()).ok
    assert await retries.problems() == []
    await retries.store.finish(retries.run_id, RunStatus.SENT)
    assert await retries.state() is EffectState.DONE
    assert await retries.problems() == []


async def test_what_fails_until_a_person_gets_it_and_sends_it_verifies(retries: Retries) -> None:
    await retries.fail(3)
    await retries.attempt(REFUSED)
    handed_over = NewReview(ReviewKind.HAND_OVER, "tried too often", {}, 1)
    await retries.store.finish(retries.run_id, RunStatus.NEEDS_REVIEW, review=handed_over)
    assert await retries.problems() == []
    await retries.decide(Decision.RETRY)
    assert (await retries.attempt()).ok
    await retries.store.finish(retries.run_id, RunStatus.SENT)
    assert await retries.problems() == []


@pytest.mark.parametrize("decision", [Decision.LEFT, Decision.SEND_AGAIN])
async def test_what_may_have_left_when_it_was_tried_again_verifies(
    retries: Retries, decision: Decision
) -> None:
    """The ledger no longer says that it failed: nobody knows."""
    await retries.fail(1)
    await retries.attempt(BROKEN_OFF)
    assert await retries.state() is EffectState.INTENDED
    await retries.wait(ReviewKind.DELIVERY)
    assert await retries.problems() == []
    await retries.decide(decision)
    assert await retries.problems() == []
    assert (await retries.attempt()).ok
    await retries.store.finish(retries.run_id, RunStatus.SENT)
    assert await retries.problems() == []


async def test_a_crash_between_two_attempts_verifies(retries: Retries) -> None:
    await retries.fail(1)
    await retries.store.reopen(retries.key)
    assert await retries.problems() == []
    await retries.store.recover()
    assert await retries.problems() == []
    assert await retries.store.claim(retries.run_id, VERSIONS) is not None
    assert (await retries.attempt()).ok
    await retries.store.finish(retries.run_id, RunStatus.SENT)
    assert await retries.problems() == []


FORGERIES: list[dict[str, Any]] = [
    {"result": b'{"status":"error","error":{"error_type":"x","message":"forged"}}'},
    {"call_hash": "forged"},
    {"tool": "refund"},
    {"updated_at": NOW},
    {"created_at": NOW},
    {"leaving_at": NOW},
    {"state": "intended"},
    {"state": "unknown"},
    {"state": "done"},
]


@pytest.mark.parametrize("values", FORGERIES, ids=str)
async def test_a_failure_that_somebody_changed_stays_noticed_after_further_attempts(
    retries: Retries, values: dict[str, Any]
) -> None:
    await retries.attempt(REFUSED)
    await retries.wait()
    await retries.forge(**values)
    assert await retries.problems() == ["effect 1.0 was changed"]
    await retries.decide()
    await retries.attempt(REFUSED)
    await retries.wait()
    assert "effect 1.0 was changed" in await retries.problems()
    await retries.decide()
    await retries.attempt()
    await retries.store.finish(retries.run_id, RunStatus.SENT)
    assert "effect 1.0 was changed" in await retries.problems()


async def test_a_success_made_a_failure_stays_noticed_when_it_is_sent_again(
    retries: Retries,
) -> None:
    await retries.attempt()
    await retries.wait()
    await retries.forge(state="failed")
    await retries.decide()
    await retries.store.reopen(retries.key)
    await retries.attempt()
    await retries.store.finish(retries.run_id, RunStatus.SENT)
    assert "effect 1.0 was changed" in await retries.problems()


async def test_another_effect_changed_while_one_is_tried_again_is_noticed(
    retries: Retries,
) -> None:
    other = EffectKey(retries.run_id, 1, 1)
    await retries.attempt(REFUSED)
    await retries.store.intend(other, "send", "hash")
    await retries.store.settle(other, EffectState.FAILED, None)
    await retries.wait()
    await retries.decide()
    forged = t.effects.update().where(t.effects.c.call == 1).values(state="intended")
    await retries.store._database.write_core(lambda core: core.execute(forged).rowcount)
    await retries.attempt()
    await retries.store.finish(retries.run_id, RunStatus.SENT)
    assert await retries.problems() == ["effect 1.1 was changed"]


async def test_a_retry_that_somebody_takes_out_of_the_statements_is_noticed(
    retries: Retries,
) -> None:
    await retries.fail(1)
    await retries.attempt()
    await retries.store.finish(retries.run_id, RunStatus.SENT)
    reopened = t.statements.c.kind == "reopened"

    def forge(core: sa.Connection) -> None:
        assert core.execute(t.statements.update().where(reopened).values(kind="changed")).rowcount

    await retries.store._database.write_core(forge)
    problems = await retries.problems()
    assert "statement 2 was changed" in problems
    assert "effect 1.0 was changed" in problems


async def test_only_who_has_the_run_tries_its_effects_again(
    retries: Retries, stores: Stores
) -> None:
    await retries.attempt(REFUSED)
    other = await stores("desk", "another owner")
    with pytest.raises(Fenced):
        await other.reopen(retries.key)
    assert await retries.state() is EffectState.FAILED
