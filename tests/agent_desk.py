"""A small desk with an agent, on disk."""

from pathlib import Path

from tests.automatic import automatic

DESK = """\
desk: shop
{brain}
routing:
  rules:
    - name: parcels
      match: {{subject_contains: parcel}}
      route: agent
      profile: parcels
    - name: others
      match: {{all: true}}
agent:
  profiles:
    parcels:
      model: {model}
      system_prompt_file: config/prompts/parcels.txt
      tools: [find_parcel]
{more}
flows:
  plain: {{stages: {{note: {{service: note, next: send}}, send: {{service: dispatch}}}}}}
"""
TOOLS = '''
from deskhand import Reply, service, tool


@tool(effect="read")
async def find_parcel(number: str) -> dict:
    """Find a parcel.

    Args:
        number: As on the label.
    """
    return {"number": number, "status": "on its way"}


@service("note")
async def note(envelope, ctx, settings):
    return {"seen": True}


@service("answer")
async def answer(envelope, ctx, settings):
    return Reply.to_message(envelope.message, "A colleague will answer.").model_dump(mode="json")
'''
CHAT = """\
rules: [{answer: {text: unused}}]
chat:
  - when: {contains: [P-1001]}
    turns:
      - call: {find_parcel: {number: P-1001}}
      - say: "P-1001 is {{ results.find_parcel.status }}."
"""


def a_desk(
    folder: Path,
    *,
    brain: str = "",
    model: str = "gemini/gemini-3.8-flash",
    more: str = "",
    flow: str = "",
) -> Path:
    (folder / "config/prompts").mkdir(parents=True, exist_ok=True)
    (folder / "config/prompts/parcels.txt").write_text("You find parcels.")
    (folder / "tools.py").write_text(TOOLS)
    (folder / "brain.yaml").write_text(CHAT)
    settings = automatic(brain)
    (folder / "desk.yaml").write_text(DESK.format(brain=settings, model=model, more=more) + flow)
    return folder


STAND_IN = "      without_model: by_hand\n"
BY_HAND = """\
  by_hand:
    stages: {answer: {service: answer, output: reply, next: send}, send: {service: dispatch}}
default_flow: plain
"""
