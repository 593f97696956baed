"""`from deskhand import ...`: complete, silent, quick."""

import subprocess
import sys

import pytest

import deskhand

_INSIDE = {"Router": "MessageRouter"}
"""Public names that differ from the name in the package."""


@pytest.mark.parametrize("name", [name for name in deskhand.__all__ if name != "__version__"])
def test_every_public_name_can_be_imported(name: str) -> None:
    assert getattr(deskhand, name).__name__ == _INSIDE.get(name, name)


def test_the_names_of_the_design_are_there() -> None:
    wanted = {
        (
            "Envelope AgentSpec FlowSpec Outcome Message Address Reply Plan ToolResult"
            " ToolErrorDetails ToolResultData"
        ),
        (
            "normalize_tool_result Agent Parts ToolRegistry tool service before after Context"
            " ToolError Gate"
        ),
        "ScriptedBrain LlmBrain Desk read_desk open_desk",
    }
    assert {name for line in wanted for name in line.split()} <= set(deskhand.__all__)
    assert set(deskhand.__all__) <= set(dir(deskhand))


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'Nonsense'"):
        _ = deskhand.Nonsense


def test_a_star_import_brings_everything() -> None:
    code = "from deskhand import *; assert Agent and tool and Envelope"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_importing_is_silent_and_brings_no_library_along() -> None:
    code = (
        "import sys, deskhand;assert not {'pydantic', 'sqlalchemy', 'aiohttp', 'fastapi', 'typer',"
        " 'rich', 'jinja2'} & set(sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_mail_is_there_without_a_further_import() -> None:
    code = "import deskhand; assert deskhand.mail.visible_reply('Hi\\n-- \\nAnn') == 'Hi'"
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True)
