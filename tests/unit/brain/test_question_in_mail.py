"""The question that articles are searched with."""

from typing import Any

import pytest

from deskhand.brain.question_in_mail import asked_in
from deskhand.brain.task_inputs import said_in
from deskhand.model.tasks import TaskKind
from tests.embedded_desk import a_task


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        (
            "Hello, when are you open on Fridays, and can I drop by?\n\nAnn Baker",
            "when are you open on Fridays, and can I drop by?",
        ),
        (
            "Good afternoon,\n\ndo you deliver to Norway?\n\nBest regards\nOle Berg\nFjord Ltd.",
            "do you deliver to Norway?",
        ),
        (
            "Dobrý den,\n\njaká je splatnost faktur?\n\nDěkuji\nJana Malá",
            "jaká je splatnost faktur?",
        ),
        (
            (
                "Sehr geehrte Damen und Herren,\nwas kostet die Wartung?\n\nMit freundlichen"
                " Grüßen\nKarl Maier"
            ),
            "was kostet die Wartung?",
        ),
        ("Buenos días:\n\n¿Qué sillas tienen?\n\nUn saludo,\nMarta Gil", "¿Qué sillas tienen?"),
        ("Hi, thanks!", "A question to you\nHi, thanks!"),
        ("Which desks do you have?", "Which desks do you have?"),
    ],
)
def test_greetings_and_closings_are_no_part_of_a_question(text: str, asked: str) -> None:
    assert asked_in(task(text)) == asked


def test_a_mail_that_is_passed_on_as_an_attachment_is_read() -> None:
    attached = {
        "type": "message/rfc822",
        "text": "From: Tom\nSubject: Lamp\n\nThe lamp flickers. Is that covered?",
    }
    passed_on = task(
        "One of our customers wrote this.", subject="Fwd: Lamp flickers", attachments=[attached]
    )
    assert (
        said_in(passed_on)
        == "One of our customers wrote this.\nThe lamp flickers. Is that covered?"
    )
    answered = task("See below, thanks.", subject="Re: Lamp flickers", attachments=[attached])
    assert said_in(answered) == "See below, thanks."


def task(text: str, subject: str = "A question to you", **fields: Any) -> Any:
    made = a_task(TaskKind.DRAFT, text, subject=subject)
    sender = {"name": "Ann Baker" if "Ann" in text else ""}
    message = {**made.inputs["message"], "subject": subject, "sender": sender, **fields}
    return made.changed(inputs={**made.inputs, "message": message})
