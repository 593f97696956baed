"""A tool whose result is declared: what a reply says of it is checked before it runs."""

import shutil
from pathlib import Path

import pytest

import deskhand
from deskhand.errors import ConfigErrors
from deskhand.wiring import read_desk

SHIPPED = Path(deskhand.__file__).parent / "desks"
DESK = """
desk: shop
brain: {{scripted: brain.yaml}}
flows:
  answer:
    stages:
      understand: {{task: classify, categories: [order], next: act}}
      act: {{task: decide, output: plan}}
plans:
  order:
    steps: [{{tool: find_order}}]
    reply: "It is {{results.find_order.{field}}}."
"""
TOOLS = """
from typing import Any, TypedDict

from deskhand import tool


class Order(TypedDict):
    status: str
    day: str


@tool(effect="read")
async def find_order() -> {returned}:
    \"\"\"Find the order.\"\"\"
    return {{"status": "on its way", "day": "Monday"}}
"""


def desk(folder: Path, field: str, returned: str = "Order") -> str:
    (folder / "brain.yaml").write_text("rules: [{answer: {category: order, confidence: 1.0}}]\n")
    (folder / "desk.yaml").write_text(DESK.format(field=field).lstrip())
    (folder / "tools.py").write_text(TOOLS.format(returned=returned))
    return str(folder)


def test_a_field_that_the_result_does_not_have_is_told(tmp_path: Path) -> None:
    with pytest.raises(ConfigErrors) as caught:
        read_desk(desk(tmp_path, "statu"))
    [told] = caught.value.problems
    assert told.problem == (
        "`{results.find_order.statu}`: the result of `find_order` has no field `statu`"
    )
    assert told.fix == "did you mean `status`?"
    assert (told.file, told.line) == (tmp_path / "desk.yaml", 11)


def test_declared_fields_pass_and_undeclared_ones_are_left_to_the_run(tmp_path: Path) -> None:
    assert read_desk(desk(tmp_path, "day")).spec.name == "shop"
    assert read_desk(desk(tmp_path, "anything", "dict[str, Any]")).spec.name == "shop"


def test_a_field_that_an_office_tool_does_not_return_is_told(tmp_path: Path) -> None:
    folder = Path(shutil.copytree(SHIPPED / "inbox", tmp_path / "inbox"))
    text = (folder / "desk.yaml").read_text()
    assert "results.check_calendar.none_fits" in text
    wrong = text.replace("results.check_calendar.none_fits", "results.check_calendar.fiting")
    (folder / "desk.yaml").write_text(wrong)
    with pytest.raises(ConfigErrors) as caught:
        read_desk(str(folder))
    [told] = caught.value.problems
    assert "the result of `check_calendar` has no field `fiting`" in told.problem
    assert told.fix == "did you mean `fitting`?"
    assert wrong.splitlines()[(told.line or 0) - 1].strip().startswith("- {given: results")


def test_times_in_words_stand_beside_the_declared_fields(tmp_path: Path) -> None:
    assert read_desk(desk(tmp_path, "in_words")).spec.name == "shop"
