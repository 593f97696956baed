"""The one agent class: what it refuses, its four modes, hooks, required fields, routes, events
and logs."""

import asyncio
import json
import logging
from collections.abc import Callable
from typing import Any

import pytest

from deskhand.agents.agent import Agent
from deskhand.agents.parts import Parts
from deskhand.agents.prompts import PromptRegistry
from deskhand.brain.llm import LlmBrain
from deskhand.brain.scripted import ScriptedBrain, ScriptedChatModel
from deskhand.errors import ConfigError, ModelAnswerInvalid, PermanentError, RetryableError
from deskhand.model.codes import ErrorCode
from deskhand.model.envelope import Ask, Envelope, StageResult
from deskhand.model.events import AgentCompleted, AgentEvent, AgentStarted
from deskhand.model.outcome import Outcome
from deskhand.model.spec import AgentSpec, RoutingRule
from deskhand.tools import Gate, ToolRegistry, tool
from deskhand.tools.services import ServiceResult, after, before
from tests.kit import a_message
from tests.memory_ledger import FixedContext, MemoryLedger

PLAN = {
    "steps": [{"tool": "read_file", "parameters": {"path": "main.go"}}],
    "reasoning": "Test plan",
}


@tool(effect="read")
async def read_file(path: str) -> dict[str, Any]:
    """Read a file."""
    return {"content": f"text of {path}"}


def gate() -> Gate:
    return Gate(ToolRegistry([read_file]), MemoryLedger(), desk="test")


def spec(**fields: Any) -> AgentSpec:
    return AgentSpec(**{"name": "planner", "output_key": "plan", **fields})


def serving(made: Any, **fields: Any) -> Agent:
    """An agent whose service gives what it is told to."""

    async def serve(envelope: Envelope, ctx: Any, settings: Any) -> Any:
        return made(envelope) if callable(made) else made

    events = fields.pop("events", None)
    hooks = {key: fields.pop(key) for key in ("pre_process", "post_process") if key in fields}
    return Agent(
        spec(service="serve", **fields), Parts(services={"serve": serve}, events=events), **hooks
    )


async def processed(agent: Agent, envelope: Envelope | None = None) -> tuple[StageResult, Envelope]:
    """The result, and the envelope it leads to."""
    first = envelope or Envelope(raw_input="Analyze authentication flow")
    result = await agent.process(first)
    return result, first.apply(result.delta)


# --- the constructor


@pytest.mark.parametrize(
    ("fields", "parts", "problem", "fix"),
    [
        (
            {"has_llm": True, "task": "decide"},
            Parts(),
            "has_llm but was given no brain",
            "Parts(brain=...)",
        ),
        (
            {"has_tools": True, "tools": ("read_file",)},
            Parts(),
            "has_tools but was given no gate",
            "Parts(tools=Gate",
        ),
        (
            {"has_policies": True},
            Parts(tools=gate()),
            "has_policies but its gate has no policy",
            "policy=",
        ),
        (
            {"has_llm": True, "prompt_key": "plan"},
            Parts(brain=ScriptedBrain([])),
            "names prompt 'plan' but was given no prompts",
            "Parts(prompts=PromptRegistry(...))",
        ),
        (
            {"service": "serve"},
            Parts(services={}),
            "'serve', which nobody brought",
            '@service("serve")',
        ),
        (
            {"routing_rules": (RoutingRule(when={"a": {"near": 1}}, target="x"),)},
            Parts(),
            "a route of stage 'planner'",
            "",
        ),
    ],
)
def test_an_agent_without_what_it_needs_is_refused_with_what_to_write(
    fields: dict[str, Any], parts: Parts, problem: str, fix: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        Agent(spec(**fields), parts)
    assert problem in str(caught.value)
    assert fix in str(caught.value)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"name": "No Name"}, "name"),
        ({"has_llm": True}, "write `prompt:` or `task:`"),
        ({"has_tools": True}, "write `tools: [name, ...]`"),
        ({"attempts": 0}, "attempts"),
        ({"temperature": 3.0}, "temperature"),
    ],
)
def test_a_bad_spec_is_refused_even_if_nobody_had_checked_it(
    changes: dict[str, Any], words: str
) -> None:
    with pytest.raises(ConfigError, match="agent spec") as caught:
        Agent(spec().changed(**changes))
    assert words in str(caught.value)


# --- modes


def every_mode(**fields: Any) -> Agent:
    async def serve(envelope: Envelope, ctx: Any, settings: Any) -> dict[str, Any]:
        return {"mode": "service"}

    parts = Parts(
        brain=ScriptedBrain(lambda task: {"mode": "llm"}),
        tools=gate(),
        prompts=PromptRegistry({"p": "hi"}),
        services={"serve": serve},
    )
    mock = {key: fields.pop(key) for key in ("use_mock", "mock_handler") if key in fields}
    return Agent(spec(output_key="out", **fields), parts, **mock)


LLM: dict[str, Any] = {"has_llm": True, "prompt_key": "p"}
TOOLS: dict[str, Any] = {"has_tools": True, "tools": ("read_file",)}
MOCK: dict[str, Any] = {"use_mock": True, "mock_handler": lambda envelope: {"mode": "mock"}}


@pytest.mark.parametrize(
    ("fields", "mode"),
    [
        ({**LLM, **TOOLS, **MOCK}, "mock"),
        ({**LLM, **TOOLS}, "llm"),
        ({**LLM, **TOOLS, **MOCK, "use_mock": False}, "llm"),
        ({**LLM, **TOOLS, "use_mock": True}, "llm"),
        ({**TOOLS, "service": "serve"}, "tools"),
        ({"service": "serve"}, "service"),
    ],
)
async def test_mock_goes_before_llm_before_tools_before_service(
    fields: dict[str, Any], mode: str
) -> None:
    envelope = Envelope(outputs={"plan": PLAN})
    _, left = await processed(every_mode(**fields), envelope)
    assert left.outputs["out"].get("mode", "tools") == mode
    assert (mode == "tools") is ("results" in left.outputs["out"])


async def test_without_a_service_the_output_is_empty_and_hooks_add_to_it() -> None:
    result, left = await processed(Agent(spec()))
    assert (result.outcome, left.outputs, left.hops) == (Outcome.SUCCESS, {"plan": {}}, 1)


async def test_a_mock_may_be_async() -> None:
    async def mock(envelope: Envelope) -> dict[str, Any]:
        return {"saw": envelope.raw_input}

    _, left = await processed(Agent(spec(), mock_handler=mock, use_mock=True))
    assert left.outputs == {"plan": {"saw": "Analyze authentication flow"}}


async def test_the_seeds_planner_works_by_itself() -> None:
    """Seed 003's usage examples, one after the other."""
    rule = RoutingRule.model_validate(
        {"condition": "needs_clarification", "value": True, "target": "clarification"}
    )
    chat = ScriptedChatModel([json.dumps(PLAN)])
    planner = Agent(
        spec(
            stage_order=1,
            has_llm=True,
            model_role="planner",
            prompt_key="planner_prompt",
            required_output_fields=("steps", "reasoning"),
            default_next="executor",
            routing_rules=(rule,),
        ),
        Parts(
            brain=LlmBrain(chat, {"planner": "house/large"}, "house/small"),
            prompts=PromptRegistry(
                {"planner_prompt": "Plan this: {{ raw_input }}{{ metadata.enhanced }}"}
            ),
        ),
    )

    def enhance(envelope: Envelope) -> Envelope:
        envelope.metadata["enhanced"] = True
        return envelope

    def check(envelope: Envelope, output: dict[str, Any]) -> Envelope:
        if not output["steps"]:
            raise PermanentError("empty plan")
        return envelope

    planner.pre_process, planner.post_process = enhance, check
    result, left = await processed(planner)
    assert len(left.output("plan")["steps"]) == 1
    assert left.metadata == {"enhanced": True, "model_wrote": True}
    assert (result.next, left.hops) == ("executor", 1)
    assert chat.requests[0].model == "house/large"
    assert "Analyze authentication flow\n</data" in chat.requests[0].messages[1]["content"]

    planner.use_mock, planner.mock_handler = (
        True,
        lambda envelope: {**PLAN, "needs_clarification": True},
    )
    result, left = await processed(planner)
    assert result.next == "clarification"
    planner.mock_handler = lambda envelope: {"steps": [], "reasoning": ""}
    with pytest.raises(PermanentError, match="empty plan"):
        await planner.process(Envelope())


# --- LLM mode


def thinking(
    *script: str | Exception, prompt: str = "Classify {{ raw_input }}", **fields: Any
) -> Any:
    chat = ScriptedChatModel(script)
    parts = Parts(brain=LlmBrain(chat, {}, "house/model"), prompts=PromptRegistry({"p": prompt}))
    return Agent(
        spec(**{"has_llm": True, "prompt_key": "p", "output_key": "found", **fields}), parts
    ), chat


async def test_a_prompt_is_rendered_over_the_envelope_and_the_answer_is_the_output() -> None:
    agent, chat = thinking(
        '{"a": 1, "b": [true]}', prompt="{{ outputs.before.word }} {{ metadata.x }} {{ hops }}"
    )
    _, left = await processed(agent, Envelope(outputs={"before": {"word": "w"}}, metadata={"x": 5}))
    assert left.outputs["found"] == {"a": 1, "b": [True]}
    assert "w 5 1" in chat.requests[0].messages[1]["content"]


async def test_an_undefined_name_in_a_prompt_is_an_error_before_any_model_is_asked() -> None:
    agent, chat = thinking("{}", prompt="{{ raw_inptu }}")
    with pytest.raises(PermanentError, match="raw_inptu") as caught:
        await agent.process(Envelope())
    assert caught.value.code is ErrorCode.PROMPT_INVALID
    assert chat.calls == 0


async def test_a_wrong_answer_is_shown_to_the_model_once_and_mended() -> None:
    agent, chat = thinking('{"steps": [', '{"steps": []}', required_output_fields=("steps",))
    _, left = await processed(agent)
    assert left.outputs["found"] == {"steps": []}
    again = chat.requests[1].messages
    assert again[-2] == {"role": "assistant", "content": '{"steps": ['}
    assert "not valid JSON" in again[-1]["content"]


@pytest.mark.parametrize(
    ("answer", "words", "code"),
    [
        ("<html><body>502 Bad Gateway</body></html>", "web page", ErrorCode.MODEL_ANSWER_INVALID),
        ('{"steps": ["half', "not valid JSON", ErrorCode.MODEL_ANSWER_INVALID),
        ("", "empty", ErrorCode.MODEL_ANSWER_EMPTY),
        ("[1, 2]", "a list", ErrorCode.MODEL_ANSWER_INVALID),
        ('{"other": 1}', "'steps' is missing", ErrorCode.MODEL_ANSWER_INVALID),
    ],
)
async def test_an_answer_that_stays_useless_is_a_clear_failure(
    answer: str, words: str, code: ErrorCode
) -> None:
    agent, chat = thinking(answer, answer, '{"steps": []}', required_output_fields=("steps",))
    with pytest.raises(ModelAnswerInvalid, match=words) as caught:
        await agent.process(Envelope(raw_input="x"))
    assert caught.value.code is code
    assert "stage 'planner'" in str(caught.value)
    assert chat.calls == 2


async def test_a_draft_becomes_the_reply_in_the_tone_of_its_category() -> None:
    seen: list[Any] = []

    def draft(task: Any) -> dict[str, Any]:
        seen.append(task.inputs["tone"])
        return {"text": "Sorry, Ann", "language": "en"}

    fields: dict[str, Any] = {
        "has_llm": True,
        "task": "draft",
        "tone": {"complaint": "humble", "else": "kind"},
    }
    agent = Agent(spec(**fields, output_key="draft"), Parts(brain=ScriptedBrain(draft)))
    for outputs in ({"found": {"category": "complaint"}}, {"found": {"category": "thanks"}}, {}):
        first = Envelope.of(a_message()).changed(outputs=outputs)
        left = first.apply((await agent.process(first)).delta)
    assert seen == ["humble", "kind", "kind"]
    assert left.outputs["reply"] == {
        "to": "ann@example.com",
        "subject": "Re: My parcel",
        "text": "Sorry, Ann",
        "language": "en",
        "in_reply_to": "m1",
        "invitation": None,
    }


# --- service mode


@pytest.mark.parametrize("junk", [[1], "text", 5, (), "", 0, False])
async def test_a_service_that_returns_junk_says_so(junk: Any) -> None:
    with pytest.raises(
        PermanentError, match=f"'planner' gave {type(junk).__name__}; return a dict"
    ):
        await serving(junk).process(Envelope())


async def test_a_service_may_return_nothing() -> None:
    _, left = await processed(serving(None))
    assert left.outputs == {"plan": {}}


async def test_a_service_gets_its_settings() -> None:
    async def serve(envelope: Envelope, ctx: Any, settings: Any) -> dict[str, Any]:
        return {"limit": settings["limit"], "run": bool(ctx.run_id)}

    _, left = await processed(
        Agent(spec(service="s", settings={"limit": 3}), Parts(services={"s": serve}))
    )
    assert left.outputs == {"plan": {"limit": 3, "run": True}}


@pytest.mark.parametrize("output", [{"x": object()}, {"x": {"y": {1: print}}}])
async def test_an_output_that_cannot_be_stored_is_refused(output: dict[str, Any]) -> None:
    with pytest.raises(PermanentError, match="the output cannot be stored"):
        await serving(output).process(Envelope())


async def test_a_service_that_changes_the_envelope_in_place_changes_nothing() -> None:
    def meddle(envelope: Envelope) -> dict[str, Any]:
        envelope.outputs["before"]["list"].append("live only")
        envelope.metadata.clear()
        return {}

    first = Envelope(outputs={"before": {"list": []}}, metadata={"kept": 1})
    _, left = await processed(serving(meddle), first)
    assert left.outputs == {"before": {"list": []}, "plan": {}}
    assert left.metadata == first.metadata == {"kept": 1}


# --- hooks


async def _async_pre(envelope: Envelope) -> Envelope:
    return envelope.with_metadata(pre=True)


async def _async_post(envelope: Envelope, output: dict[str, Any]) -> Envelope:
    return envelope.with_metadata(post=sorted(output))


@pytest.mark.parametrize(
    ("pre", "post"),
    [
        (
            lambda env: env.with_metadata(pre=True),
            lambda env, out: env.with_metadata(post=sorted(out)),
        ),
        (_async_pre, _async_post),
        (before("planner")(_async_pre), after("planner")(_async_post)),
    ],
)
async def test_hooks_may_be_plain_or_async_and_their_changes_are_in_the_delta(
    pre: Any, post: Any
) -> None:
    agent = serving(lambda env: {"saw": env.metadata["pre"]}, pre_process=pre, post_process=post)
    result, left = await processed(agent)
    assert result.delta.metadata == {"pre": True, "post": ["saw"]}
    assert left.outputs == {"plan": {"saw": True}}


async def test_hooks_may_remove_keys_and_rewrite_the_input() -> None:
    def pre(envelope: Envelope) -> Envelope:
        outputs = {key: value for key, value in envelope.outputs.items() if key != "secret"}
        return envelope.changed(raw_input="shorter", outputs=outputs)

    def post(envelope: Envelope, output: dict[str, Any]) -> Envelope:
        del envelope.metadata["trail"]
        return envelope

    agent = serving(
        lambda env: {"saw": env.raw_input, "keys": sorted(env.outputs)},
        pre_process=pre,
        post_process=post,
    )
    first = Envelope(raw_input="long", outputs={"secret": 1, "kept": 2}, metadata={"trail": 1})
    result, left = await processed(agent, first)
    assert left.outputs == {"kept": 2, "plan": {"saw": "shorter", "keys": ["kept"]}}
    assert (left.raw_input, left.metadata) == ("shorter", {})
    assert set(result.delta.gone) == {"outputs.secret", "metadata.trail"}


async def test_what_a_hook_changes_in_place_is_in_the_delta_too() -> None:
    def pre(envelope: Envelope) -> Envelope:
        envelope.metadata["enhanced"] = True
        envelope.outputs["list"].append(2)
        return envelope

    def post(envelope: Envelope, output: dict[str, Any]) -> Envelope:
        output["checked"] = True
        return envelope

    first = Envelope(outputs={"list": [1]})
    _, left = await processed(serving({"a": 1}, pre_process=pre, post_process=post), first)
    assert left.outputs == {"list": [1, 2], "plan": {"a": 1, "checked": True}}
    assert left.metadata == {"enhanced": True}
    assert first == Envelope(outputs={"list": [1]})


async def test_routes_look_at_the_output_as_the_post_hook_left_it() -> None:
    def post(envelope: Envelope, output: dict[str, Any]) -> Envelope:
        return envelope.with_output("plan", {"size": "large"})

    rule = RoutingRule(when={"size": "large"}, target="big")
    result, _ = await processed(
        serving({"size": "small"}, post_process=post, routing_rules=(rule,))
    )
    assert result.next == "big"


@pytest.mark.parametrize("returned", [None, {"metadata": {}}, "envelope", 5])
@pytest.mark.parametrize("which", ["pre_process", "post_process"])
async def test_a_hook_that_returns_nonsense_is_named(which: str, returned: Any) -> None:
    def forgetful(*arguments: Any) -> Any:
        return returned

    with pytest.raises(PermanentError, match="hook 'forgetful' of 'planner' returned") as caught:
        await serving({}, **{which: forgetful}).process(Envelope())
    assert caught.value.code is ErrorCode.HOOK_FAILED


async def test_a_hook_cannot_exchange_the_run() -> None:
    def another(envelope: Envelope) -> Envelope:
        return Envelope(raw_input="a fresh one")

    with pytest.raises(PermanentError, match="another run's envelope") as caught:
        await serving({}, pre_process=another).process(Envelope.of(a_message(), run_id="run_1"))
    assert caught.value.code is ErrorCode.HOOK_FAILED


# --- required fields


@pytest.mark.parametrize("output", [{}, {"steps": None, "reasoning": "x"}, {"steps": []}])
async def test_a_missing_required_field_fails_the_attempt_and_names_it(
    output: dict[str, Any],
) -> None:
    agent = serving(output, required_output_fields=("steps", "reasoning"))
    with pytest.raises(RetryableError, match=r"gave no (steps|reasoning)") as caught:
        await agent.process(Envelope())
    assert caught.value.code is ErrorCode.OUTPUT_MISSING_FIELDS


async def test_empty_values_are_values_and_questions_need_none() -> None:
    fields = ("steps", "reasoning")
    await serving({"steps": [], "reasoning": ""}, required_output_fields=fields).process(Envelope())
    asking = ServiceResult(outcome=Outcome.CONFIRM, reason="unsure")
    result, _ = await processed(serving(asking, required_output_fields=fields))
    assert result.outcome is Outcome.CONFIRM


# --- routes


RULES = (
    RoutingRule.model_validate(
        {"condition": "needs_clarification", "value": True, "target": "clarification"}
    ),
    RoutingRule(when={"confidence": {"at_least": 0.9}}, target="fast"),
    RoutingRule(when={"confidence": {"at_least": 0.5}}, target="slow"),
)


@pytest.mark.parametrize(
    ("output", "target"),
    [
        ({"needs_clarification": True, "confidence": 1.0}, "clarification"),
        ({"needs_clarification": 1}, "executor"),
        ({"needs_clarification": False, "confidence": 0.95}, "fast"),
        ({"confidence": 0.6}, "slow"),
        ({"confidence": 0.1}, "executor"),
        ({}, "executor"),
    ],
)
async def test_the_first_rule_that_fits_wins_and_the_default_is_last(
    output: dict[str, Any], target: str
) -> None:
    result, _ = await processed(serving(output, routing_rules=RULES, default_next="executor"))
    assert (result.next, result.outcome) == (target, Outcome.SUCCESS)


async def test_what_the_stage_itself_decides_wins_over_rules() -> None:
    made = ServiceResult(output={"confidence": 1.0}, next="elsewhere")
    result, _ = await processed(serving(made, routing_rules=RULES, default_next="executor"))
    assert result.next == "elsewhere"


async def test_fields_of_an_output_cannot_hide_the_envelope_from_a_question() -> None:
    rule = RoutingRule(when={"unsure": True}, outcome=Outcome.CONFIRM, ask="Look")
    output = {"unsure": True, "outputs": 5, "metadata": None}
    result, _ = await processed(serving(output, routing_rules=(rule,)))
    assert result.ask is not None
    assert result.ask.payload["plan"] == output


@pytest.mark.parametrize(
    ("outcome", "target"),
    [(Outcome.REPLAN, "planning"), (Outcome.LOOP_BACK, "planning"), (Outcome.TERMINATE, "next")],
)
async def test_a_rule_may_give_an_outcome(outcome: Outcome, target: str) -> None:
    rule = RoutingRule(when={"again": True}, outcome=outcome)
    agent = serving({"again": True}, routing_rules=(rule,), default_next="next", loop_to="planning")
    result, _ = await processed(agent)
    assert (result.outcome, result.next) == (outcome, target)


async def test_a_clarifying_rule_renders_its_question_and_sends_it() -> None:
    gate_ = _RecordingGate()
    rule = RoutingRule(
        when={"order": None}, outcome=Outcome.CLARIFY, ask="Which order, {{ message.sender.name }}?"
    )

    async def serve(envelope: Envelope, ctx: Any, settings: Any) -> dict[str, Any]:
        return {"order": None}

    parts = Parts(tools=gate_, prompts=PromptRegistry({}), services={"serve": serve})
    result, left = await processed(
        Agent(spec(service="serve", routing_rules=(rule,)), parts),
        Envelope.of(a_message(), run_id="run_1"),
    )
    assert result.outcome is Outcome.CLARIFY
    assert result.ask is not None
    assert result.ask.text == "Which order, Ann?"
    assert [(name, sent["text"]) for name, sent in gate_.calls] == [
        ("deliver_reply", "Which order, Ann?")
    ]
    assert left.outputs["reply"]["to"] == "ann@example.com"


class _RecordingGate(Gate):
    def __init__(self) -> None:
        super().__init__(ToolRegistry([]), MemoryLedger(), desk="test")
        self.calls: list[tuple[str, Any]] = []

    async def call(self, tool: str, parameters: Any, **more: Any) -> Any:
        self.calls.append((tool, parameters))
        return await Gate(ToolRegistry([_deliver]), MemoryLedger(), desk="test").call(
            tool, parameters, **more
        )


@tool(effect="keyed", name="deliver_reply")
async def _deliver(
    to: str,
    subject: str,
    text: str,
    language: str | None = None,
    in_reply_to: str | None = None,
    invitation: str | None = None,
) -> dict[str, Any]:
    """Deliver."""
    return {"delivered": "here"}


@pytest.mark.parametrize("ask", [None, Ask(kind="question", reason="r", text=" ")])
async def test_a_question_without_words_is_refused_rather_than_sent(ask: Ask | None) -> None:
    """Otherwise the run would wait for an answer to something nobody asked."""
    with pytest.raises(PermanentError, match="write `ask:`"):
        await serving(ServiceResult(outcome=Outcome.CLARIFY, ask=ask)).process(Envelope())


async def test_whoever_wants_a_person_without_saying_why_gets_a_hand_over() -> None:
    """Otherwise the run would wait for a review that does not exist."""
    result, _ = await processed(serving(ServiceResult(outcome=Outcome.CONFIRM)))
    assert result.ask is not None
    assert (result.ask.kind, result.reason) == ("hand_over", "planner asks a person")


# --- events and logs


class Events:
    def __init__(self, fail: bool = False) -> None:
        self.seen: list[AgentEvent] = []
        self.fail = fail

    def emit(self, event: AgentEvent) -> None:
        self.seen.append(event)
        if self.fail:
            raise OSError("the sink is full")


def failing(envelope: Envelope) -> Any:
    raise RetryableError("no carrier")


async def test_an_agent_announces_start_and_completion() -> None:
    events = Events()
    await serving({}, events=events).process(Envelope(run_id="run_1"))
    started, completed = events.seen
    assert isinstance(started, AgentStarted)
    assert isinstance(completed, AgentCompleted)
    assert (
        (started.run_id, started.agent)
        == (completed.run_id, completed.agent)
        == ("run_1", "planner")
    )
    assert (completed.status, completed.error) == ("success", None)
    assert completed.duration_ms >= 0
    assert completed.at >= started.at


@pytest.mark.parametrize(
    ("made", "status"), [({}, "success"), (ServiceResult(outcome=Outcome.SKIP), "skip")]
)
async def test_the_status_is_the_outcome(made: Any, status: str) -> None:
    events = Events()
    await serving(made, events=events).process(Envelope())
    assert getattr(events.seen[-1], "status", None) == status


async def test_a_failure_is_announced_with_its_words() -> None:
    events = Events()
    with pytest.raises(RetryableError):
        await serving(failing, events=events).process(Envelope())
    completed = events.seen[-1]
    assert isinstance(completed, AgentCompleted)
    assert (completed.status, completed.error) == ("error", "no carrier")


async def test_an_agent_that_is_cut_off_is_announced_as_failed() -> None:
    events = Events()

    async def hang(envelope: Envelope, ctx: Any, settings: Any) -> dict[str, Any]:
        await asyncio.sleep(60)
        return {}

    agent = Agent(spec(service="hang"), Parts(services={"hang": hang}, events=events))
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.01):
            await agent.process(Envelope())
    completed = events.seen[-1]
    assert isinstance(completed, AgentCompleted)
    assert (completed.status, completed.error) == ("error", "CancelledError")


@pytest.mark.parametrize("made", [{}, failing])
async def test_a_sink_that_raises_changes_nothing_for_the_run(
    made: Any, caplog: pytest.LogCaptureFixture
) -> None:
    events = Events(fail=True)
    try:
        result = await serving(made, events=events).process(Envelope())
    except RetryableError:
        assert made is failing
    else:
        assert result.outcome is Outcome.SUCCESS
    assert len(events.seen) == 2
    assert "the event sink failed" in caplog.text


def fields_of(record: logging.LogRecord) -> dict[str, Any]:
    return {
        key: getattr(record, key, None) for key in ("agent", "stage_order", "run_id", "duration_ms")
    }


@pytest.mark.parametrize(("made", "level"), [({}, logging.INFO), (failing, logging.WARNING)])
async def test_log_records_carry_agent_run_and_duration(
    made: Any, level: int, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "deskhand.agent")
    agent = serving(made, stage_order=3)
    run: Callable[[], Any] = lambda: agent.process(Envelope(run_id="run_1"))  # noqa: E731
    if made is failing:
        with pytest.raises(RetryableError):
            await run()
    else:
        await run()
    [record] = [record for record in caplog.records if record.name == "deskhand.agent"]
    found = fields_of(record)
    assert record.levelno == level
    assert (found["agent"], found["stage_order"], found["run_id"]) == ("planner", 3, "run_1")
    assert found["duration_ms"] >= 0


# --- with a context of its own


async def test_with_a_context_the_context_says_what_the_state_is() -> None:
    ctx = FixedContext()
    ctx.envelope = Envelope(run_id="run_1", outputs={"before": 1}, hops=4)
    result = await serving(lambda env: {"saw": env.outputs["before"]}).process(ctx.envelope, ctx)
    assert result.delta.outputs == {"plan": {"saw": 1}}
    assert result.delta.hops == 1
