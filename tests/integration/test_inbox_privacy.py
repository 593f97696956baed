"""What a model that drafts for the inbox desk is shown of other customers: nothing that was only
theirs."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from deskhand import wiring
from deskhand.brain.scripted import ScriptedBrain
from deskhand.config.sections.brain import BrainSpec
from deskhand.engine.learner import Learner
from deskhand.model.message import Address, Message
from deskhand.model.principal import ANONYMOUS, Principal, PrincipalKind
from deskhand.model.queue import ReviewFilter
from deskhand.model.run import Decision, ReviewState, Verdict
from deskhand.model.tasks import Task
from deskhand.wiring import serving, surroundings

SHARED = "Returns are free of charge within thirty days of delivery."
PRIVATE = "Your late husband's chair of 3 May lies at our depot in Leeds."
ASKED = "Hello, could you please tell me whether I may return the chair that I ordered from you?"


@dataclass
class Company:
    """The live desk, and every prompt that its model was given."""

    desk: wiring.Desk
    learner: Learner
    prompts: list[str] = field(default_factory=list[str])

    async def write(self, sender: str, body: str = ASKED, *, proven: bool = True) -> str:
        """Work a message; the prompt of its draft."""
        principal = Principal(kind=PrincipalKind.SENDER, address=sender) if proven else ANONYMOUS
        number = len(self.prompts)
        message = Message(
            id=f"m{number}",
            conversation=f"c{number}",
            sender=Address(address=sender),
            principal=principal,
            subject="A chair",
            body=body,
            received_at=datetime.now(UTC),
        )
        accepted = await self.desk.dispatcher.submit(message)
        await self.desk.dispatcher.wait(accepted.run_id)
        return self.prompts[-1]

    async def answer(self, text: str) -> None:
        """A colleague rewrites what waits, and the desk learns of it."""
        [review] = await self.desk.store.find_reviews(ReviewFilter(state=ReviewState.OPEN))
        verdict = Verdict(
            Decision.EDIT, "eve", review.version, review.payload_hash, edit={"text": text}
        )
        await self.desk.store.decide(review.id, verdict)
        await self.desk.dispatcher.wait(review.run_id)
        assert await self.learner.learn(review.run_id) is True


@asynccontextmanager
async def company(folder: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Company]:
    prompts: list[str] = []

    def said(task: Task) -> Mapping[str, Any]:
        match task.stage:
            case "classify":
                return {"category": "inquiry", "confidence": 0.9}
            case "decide":
                return {"steps": [], "reasoning": ""}
            case _:
                prompts.append(str(task.prompt))
                return {"text": "A draft.", "language": "en"}

    monkeypatch.setattr(serving, "build_brain", lambda *args, **more: ScriptedBrain(said))
    # this test decides when the desk learns
    monkeypatch.setattr(surroundings, "remembers", lambda spec: False)
    loaded = wiring.read_desk("inbox")
    loaded = replace(
        loaded, spec=loaded.spec.model_copy(update={"brain": BrainSpec(kind="scripted")})
    )
    async with (
        wiring.open_database(str(folder / "inbox.db")) as database,
        wiring.open_desk(loaded, database, outbox=folder / "outbox") as desk,
    ):
        learner = Learner(desk.store, wiring.exchanges_of(database, "inbox"), wiring.embedder)
        yield Company(desk, learner, prompts)


async def test_a_prompt_holds_of_other_customers_only_what_several_were_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with company(tmp_path, monkeypatch) as acme:
        for sender in ("ann@a.example", "bob@b.example", "cid@c.example"):
            prompt = await acme.write(sender)
            assert SHARED not in prompt
            await acme.answer(
                f"Dear customer,\n\n{SHARED}\n{PRIVATE if sender.startswith('ann') else ''}\nAcme"
            )
        prompt = await acme.write("dan@d.example")
        assert SHARED in prompt
        assert "similar_messages" in prompt
        for secret in ("husband", "Leeds", "ann@a.example", "bob@b.example"):
            assert secret not in prompt


async def test_only_the_proven_owner_is_reminded_of_his_own_affairs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with company(tmp_path, monkeypatch) as acme:
        await acme.write("ann@a.example")
        await acme.answer(f"{PRIVATE} Shall we send it?")
        assert "husband" not in await acme.write("ann@a.example", proven=False)
        assert "husband" in await acme.write("ann@a.example")
        await acme.desk.store.erase("ann@a.example", "operator")
        assert "husband" not in await acme.write("ann@a.example")
