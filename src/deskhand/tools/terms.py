"""From a desk's configuration to what its gate goes by."""

from collections.abc import Iterable, Mapping
from typing import Any
from zoneinfo import ZoneInfo

from deskhand.config.desk import DeskSpec
from deskhand.config.sections.outgoing import OutgoingSpec
from deskhand.config.sections.plans import references_in
from deskhand.model.message import DELIVER
from deskhand.model.outcome import Outcome
from deskhand.model.spec import AgentSpec
from deskhand.model.totals import ADDRESSED_SENDS, UNPROVEN_SENDS, Limit
from deskhand.policy.rule_policy import compile_policy
from deskhand.tools.gate_call import Terms
from deskhand.tools.message_facts import MessageFact
from deskhand.tools.registry import Tool

RETRIEVE = "retrieve"
"""The service whose output quotes what customers wrote."""


def terms_of(
    spec: DeskSpec, tools: Iterable[Tool] = (), message_facts: Iterable[MessageFact] = ()
) -> Terms:
    """The terms of a desk's gate: its configuration, and what its own code brings."""
    guards = spec.safeguards
    tools = tuple(tools)
    outside = [tool.name for tool in tools if tool.outside]
    return Terms(
        policy=compile_policy(spec.policy) if spec.policy is not None else None,
        recipients=guards.recipients,
        unread=_unread(spec),
        caps=(*guards.caps, *_daily_replies(spec)),
        approval_lasts=guards.approval_lasts,
        four_eyes_over=guards.four_eyes_over,
        time_zone=ZoneInfo(spec.time_zone),
        constants=_constants(spec),
        outgoing=_with_own(spec),
        own_texts=_own_texts(spec),
        always_ask=always_asked(spec),
        own_questions=own_questions(spec),
        clauses=spec.commitments,
        effects=_effects(tools),
        outside=frozenset(outside),
        model_outputs=_model_outputs(spec),
        message_facts=tuple(message_facts),
        trusted_outputs=_trusted_outputs(spec),
    )


def _daily_replies(spec: DeskSpec) -> tuple[Limit, Limit]:
    most = spec.limits.replies_per_day
    return (
        Limit("day", UNPROVEN_SENDS, most.to_unproven, DELIVER),
        Limit("day", ADDRESSED_SENDS, most.in_all, DELIVER),
    )


def _unread(spec: DeskSpec) -> frozenset[str]:
    """Where no reply goes: the desk's own addresses, and helpdesks that pass customers' mail on."""
    addresses = (*spec.own_addresses, *spec.mail.forwarders)
    return frozenset(address.strip().casefold() for address in addresses)


def _effects(tools: Iterable[Tool]) -> dict[str, str]:
    return {tool.name: str(tool.effect) for tool in tools}


def _with_own(spec: DeskSpec) -> OutgoingSpec:
    """A desk may always name the addresses it writes from."""
    own = [channel.identity.address.lower() for channel in spec.channels.values()]
    return spec.outgoing.changed(addresses=(*spec.outgoing.addresses, *own))


_TEXTS = {"ask", "expects", "why", "reply", "replies", "opening", "pre", "post"}
"""The fields of a plan that customers read."""


def _own_texts(spec: DeskSpec) -> tuple[str, ...]:
    """Everything that the desk's owner wrote for customers or for the brain to say."""
    texts: list[str] = [*spec.prompts.values(), spec.brain.signature]
    for channel in spec.channels.values():
        texts += [channel.signature, channel.identity.name]
    for profile in spec.profiles.values():
        texts.append(profile.system_prompt)
    for plan in spec.plans.values():
        texts += _strings(plan.model_dump(include=_TEXTS))
    texts += _strings([clause.words for clause in spec.commitments])
    texts += _strings(spec.reviews.canned)
    texts += [rule.ask or "" for stage in _stages(spec) for rule in stage.routing_rules]
    if spec.brain.file is not None and spec.brain.file.is_file():
        texts.append(spec.brain.file.read_text("utf-8", "replace"))
    return tuple(dict.fromkeys(text for text in texts if text.strip()))


def _strings(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, Mapping):
        return [text for item in value.values() for text in _strings(item)]
    if isinstance(value, list | tuple):
        return [text for item in value for text in _strings(item)]
    return []


def always_asked(spec: DeskSpec) -> frozenset[str]:
    """Topics whose replies a person must approve, by all flows."""
    return frozenset[str]().union(*(flow.always_asked for flow in spec.flows.values()))


def own_questions(spec: DeskSpec) -> frozenset[str]:
    """What routes ask the customer, where desk.yaml has every word of it: nothing that anybody
    wrote goes into it."""
    asked = (
        rule.ask
        for stage in _stages(spec)
        for rule in stage.routing_rules
        if rule.outcome is Outcome.CLARIFY
    )
    return frozenset(
        text.strip() for text in asked if text and "{{" not in text and "{%" not in text
    )


def _model_outputs(spec: DeskSpec) -> frozenset[str]:
    return frozenset(stage.output_key for stage in _stages(spec) if stage.has_llm)


def _trusted_outputs(spec: DeskSpec) -> dict[str, str]:
    """What no model wrote, and no customer either: what a stage retrieved holds earlier mail."""
    untrusted = _model_outputs(spec) | {
        stage.output_key for stage in _stages(spec) if stage.service == RETRIEVE
    }
    return {
        stage.output_key: stage.name for stage in _stages(spec) if stage.output_key not in untrusted
    }


def _stages(spec: DeskSpec) -> list[AgentSpec]:
    return [stage for flow in spec.flows.values() for stage in flow.stages.values()]


def _constants(spec: DeskSpec) -> Mapping[str, Mapping[str, list[Any]]]:
    """What the desk's own plans write into a call, where it is no reference to something a
    customer said."""
    constants: dict[str, dict[str, list[Any]]] = {}
    for plan in spec.plans.values():
        for tool, parameters in plan.steps:
            for name, value in parameters.items():
                if not any(references_in(value)):
                    constants.setdefault(tool, {}).setdefault(name, []).append(value)
    return constants
