"""A small desk with a bit of everything, and golden cases for it."""

import json
from pathlib import Path
from typing import Any

DESK = """
desk: shop
mode: auto
brain: {scripted: brain.yaml}
flows:
  main:
    stages:
      classify:
        task: classify
        categories: [order, refund, other]
        routes:
          - when: {category: other}
            to: draft
        next: slots
      slots: {task: extract, slots: [order], output: found, next: number}
      number:
        service: number
        routes:
          - when: {order: {exists: false}}
            outcome: clarify
            ask: Which order is it?
        next: decide
      decide: {task: decide, output: plan, next: act}
      act: {tools: [find_order, refund], next: draft}
      draft: {task: draft, next: review}
      review: {service: review, auto_send_at: 0.8, next: dispatch}
      dispatch: {service: dispatch}
slots:
  order: {type: order_number, prefix: [P]}
"""
BRAIN = """
rules:
  - when: {stage: classify, contains: [money back]}
    answer: {category: refund, confidence: 0.95}
  - when: {stage: classify, contains: [order, P-]}
    answer: {category: order, confidence: 0.95}
  - when: {stage: classify}
    answer: {category: other, confidence: 0.3}
  - when: {stage: slots, contains: [P-1]}
    answer: {values: {order: P-1}, missing: []}
  - when: {stage: slots, contains: [P-2]}
    answer: {values: {order: P-2}, missing: []}
  - when: {stage: slots}
    answer: {values: {}, missing: [order]}
  - when: {stage: decide, inputs: {outputs.classify.category: refund}}
    answer:
      steps:
        - {tool: find_order, parameters: {order: "{{ inputs.outputs.number.order }}"}}
        - {tool: refund, parameters: {order: "{{ inputs.outputs.number.order }}", amount: 5}}
  - when: {stage: decide}
    answer: {steps: [{tool: find_order, parameters: {order: "{{ inputs.outputs.number.order }}"}}]}
  - when: {stage: draft, contains: [česky]}
    answer: {language: cs, text: "Dobrý den, vaše zásilka už je na cestě a zítra bude u vás doma. Děkujeme, váš."}
  - when: {stage: draft}
    answer:
      language: en
      text: |
        Hello, thank you for writing to us about your parcel.
        {%- if inputs.outputs.act is defined %} It is {{ inputs.outputs.act.results[0].data.status }}.{% endif %}
        The shop
"""  # noqa: E501
TOOLS = '''
from deskhand import ToolError, service, tool

ORDERS = {"P-1": "on its way", "P-2": "lost"}


@service("number")
async def number(envelope, ctx, settings):
    found = (envelope.output("found") or {}).get("values", {}).get("order")
    if found is None and "P-1" in envelope.raw_input:
        found = "P-1"
    return {"order": found} if found else {}


@tool(effect="read")
async def find_order(order: str) -> dict:
    """Look an order up."""
    if order not in ORDERS:
        raise ToolError("not_found", f"There is no order {order}.")
    return {"order": order, "status": ORDERS[order]}


@tool(effect="irreversible", risk="high", public=True)
async def refund(order: str, amount: int) -> dict:
    """Pay an order back."""
    raise AssertionError("an eval must never get here")
'''


def a_desk(folder: Path, cases: list[dict[str, Any]] | str = "", scorers: str = "") -> Path:
    folder.mkdir(parents=True)
    for name, text in (
        ("desk.yaml", DESK),
        ("brain.yaml", BRAIN),
        ("tools.py", TOOLS),
        ("evals.py", scorers),
    ):
        if text:
            (folder / name).write_text(text, encoding="utf-8")
    text = (
        cases if isinstance(cases, str) else json.dumps({"cases": list(cases)}, ensure_ascii=False)
    )
    if cases:
        (folder / "evals.yaml").write_text(text, encoding="utf-8")
    return folder


def a_case(
    expect: dict[str, Any], body: str = "Where is my order P-1?", **fields: Any
) -> dict[str, Any]:
    return {
        "id": "it",
        "message": {"from": "ann@example.com", "customer_id": "ann", "body": body},
        "expect": expect,
        **fields,
    }
