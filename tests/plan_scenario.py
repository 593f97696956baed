"""A plan that does something, asks the customer and goes on with the answer, worked to rest after
any crash.

The planner never words a plan the same way twice, as a model might.
"""

from typing import Any
from uuid import uuid4

from deskhand.agents.parts import Parts
from deskhand.agents.replying.sending import Sending
from deskhand.agents.replying.services import dispatch_through
from deskhand.config.desk import with_planner
from deskhand.engine.audit import verify_desk
from deskhand.engine.loop import Flow
from deskhand.model.envelope import Envelope
from deskhand.model.message import Reply
from deskhand.model.run import RunStatus
from deskhand.model.spec import AgentSpec
from deskhand.tools.gate import Gate
from tests.crash_scenario import Scene
from tests.kit import a_flow, a_message

QUESTION = "Which colour shall we paint it?"
MESSAGES = (
    a_message(1, conversation="paint", body="Please paint my fence.").changed(channel="chat"),
    a_message(2, conversation="paint", body="blue").changed(channel="chat"),
)


def plan_flow(gate: Gate) -> Flow:
    async def plan(env: Envelope, ctx: Any, settings: Any) -> dict[str, Any]:
        return {
            "steps": [
                {"type": "respond", "when": "pre", "message": "One moment, please."},
                {"tool": "charge", "parameters": {"text": f"deposit {uuid4()}"}},
                {"type": "ask_user", "param": "colour", "prompt": QUESTION},
                {"tool": "post", "parameters": {"text": "{slots.colour}"}},
            ]
        }

    async def reply(env: Envelope, ctx: Any, settings: Any) -> dict[str, Any]:
        assert env.message is not None
        return Reply.to_message(env.message, "It is painted.").model_dump(mode="json")

    stages = {
        "plan": AgentSpec(name="plan", service="plan", output_key="plan", default_next="act"),
        "act": AgentSpec(
            name="act",
            has_tools=True,
            tools=("charge", "post"),
            output_key="act",
            default_next="write",
        ),
        "write": AgentSpec(name="write", service="reply", output_key="reply", default_next="send"),
        "send": AgentSpec(name="send", service="dispatch", output_key="send"),
    }
    services = {"plan": plan, "reply": reply, "dispatch": dispatch_through(gate)}
    parts = Parts(tools=gate, services=services, sending=Sending())
    return a_flow(with_planner(stages), parts)


class PlanScene(Scene):
    """One process's life: the message, the question, the answer."""

    build = staticmethod(plan_flow)

    async def work(self) -> None:
        """Hand in the message and then the answer, as a mailbox would that heard nothing."""
        await self.dispatcher.start()
        for message in MESSAGES:
            accepted = await self.dispatcher.submit(message)
            await self.dispatcher.wait(accepted.run_id)

    async def check(self) -> None:
        """Everything was said once, charged once and asked once, and the answer used once."""
        runs = sorted(await self.store.runs(), key=lambda run: run.position)
        first, second = (run.id for run in runs)
        happened = [
            (kind, key.partition(".")[0], text) for kind, key, text in self.world.happened()
        ]
        deposits = [run for kind, run, _ in happened if kind == "charge"]
        assert deposits == [first], f"charged {len(deposits)} times: {happened}"
        assert [(run, text) for kind, run, text in happened if kind == "post"] == [(second, "blue")]
        assert [(run, text) for kind, run, text in happened if kind == "mail"] == [
            (first, "m1"),  # a word in between
            (first, "m1"),  # the question
            (second, "m2"),
        ]
        assert [run.status for run in runs] == [RunStatus.DONE, RunStatus.SENT], runs
        for run in runs:
            steps = [row.name for row in await self.store.rows(run.id) if "/" in row.name]
            assert len(steps) == len(set(steps)), steps
        report = await verify_desk(self.store)
        assert report.ok, report.problems
