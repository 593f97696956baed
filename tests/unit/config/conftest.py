"""A desk in a folder, as an engineer writes one."""

from collections.abc import Callable, Mapping
from pathlib import Path
from textwrap import dedent
from typing import Protocol

import pytest

from deskhand.config.desk import DeskSpec, load_desk
from deskhand.errors import ConfigError, ConfigErrors

TOOLS = frozenset({"get_contact", "check_calendar"})
SERVICES = frozenset({"retrieve_context", "review", "dispatch"})
PROMPTS = {
    "decide.j2": "Choose for {{ message.subject }}.",
    "reply.md": "Answer.",
    "clarify.txt": "Ask.",
}

INBOX = """\
# yaml-language-server: $schema=../desk.schema.json
desk: acme
languages: [en, cs]

models:
  fast: gemini/gemini-3.8-flash
  good: gemini/gemini-4-argon

providers:
  gemini:
    key_env: GEMINI_API_KEY
    prices: {gemini-4-argon: {input: 1.25, output: 10}}
    timeout: 30
  local: {base_url: "http://localhost:11434/v1", key_file: secrets/local}

flows:
  inbox:
    start: classify
    stages:
      classify:
        task: classify
        categories: [inquiry, meeting_request, complaint, follow_up, spam, other]
        output: classification
        required: [category, confidence]
        model: fast
        routes:
          - when: {category: spam, confidence: {at_least: 0.95}}
            to: end
          - {condition: needs_clarification, value: true, target: clarify}
          - when: {confidence: {below: 0.3}}
            outcome: clarify
            ask: What is this about, {{ message.sender }}?
        next: retrieve
      clarify: {prompt: clarify, next: end}
      retrieve: {service: retrieve_context, with: {limit: 5}, next: decide}
      decide:
        task: decide
        prompt: decide
        output: plan
        temperature: 0
        max_tokens: 500
        max_visits: 3
        attempts: 2
        timeout: 20
        next: execute_tools
        on_error: review
      execute_tools:
        tools: [get_contact, check_calendar]
        loop_to: decide
        routes: [{when: {complete: false}, outcome: replan}]
        next: generate
      generate:
        task: draft
        prompt: reply
        tone: {complaint: empathetic, follow_up: friendly, else: professional}
        next: review
      review: {service: review, auto_send_at: 0.8, always_ask: [complaint], next: dispatch}
      dispatch: {service: dispatch}

limits: {max_in_flight: 8}
"""

Files = Mapping[str, str | bytes]
Load = Callable[[str], DeskSpec]


class Desk(Protocol):
    def __call__(self, text: str, files: Files | None = None) -> Path: ...


class Refuse(Protocol):
    def __call__(self, text: str, files: Files | None = None) -> list[ConfigError]: ...


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    def write(text: str, files: Files | None = None) -> Path:
        (tmp_path / "prompts").mkdir(exist_ok=True)
        (tmp_path / "desk.yaml").write_text(dedent(text))
        for name, content in {
            **{f"prompts/{key}": value for key, value in PROMPTS.items()},
            **(files or {}),
        }.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return tmp_path

    return write


@pytest.fixture
def load(desk: Desk) -> Load:
    return lambda text: load_desk(desk(text), tools=TOOLS, services=SERVICES)


@pytest.fixture
def refuse(desk: Desk) -> Refuse:
    def refused(text: str, files: Files | None = None) -> list[ConfigError]:
        with pytest.raises(ConfigErrors) as caught:
            load_desk(desk(text, files), tools=TOOLS, services=SERVICES)
        for problem in caught.value.problems:
            assert problem.file, str(problem)
            assert problem.fix, str(problem)
        return caught.value.problems

    return refused
