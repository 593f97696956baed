"""The words of the console: every phrase that is shown exists in every language, with the same
values, and no template says anything by itself."""

import ast
import re
import string
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from jinja2 import Environment, nodes

from deskhand.adapters.stores import openid_logins
from deskhand.engine.descriptions import ACTIONS, ACTORS, DECIDED
from deskhand.model.access import Role
from deskhand.model.figures import Looked
from deskhand.model.ticket_state import AskStatus, Rating, TicketState, UrgencyLevel
from deskhand.model.value_readings import DOUBTS
from deskhand.trust.standing import MODES
from deskhand.web.console import (
    labels,
    login_pages,
    metrics_pages,
    notices,
    openid_pages,
    policy_page,
    search_pages,
    ticket_list,
    user_pages,
    webhook_pages,
)
from deskhand.web.console.review_page import snoozes
from deskhand.web.console.runs_pages import STATUSES
from deskhand.web.console.translation import (
    FOLDER,
    LANGUAGES,
    OWN,
    PLURALS,
    Phrase,
    language_of,
    translator,
)

CONSOLE = FOLDER.parent
TEMPLATES = sorted((CONSOLE / "templates").glob("*.html"))
SHOWN = re.compile(r">([^<>]*)<")
ATTRIBUTES = re.compile(r'\b(?:title|aria-label|placeholder|alt|data-over)="([^"]*)"')
WORD = re.compile(r"[^\W\d_]{2,}")
NOT_WORDS = {
    "Deskhand",
    "deskhand users add NAME --desk DESK",
    "deskhand audit verify",
    "TKT-…",
    "500 EUR",
    "· Deskhand",
    "CSV",
    "https://hooks.example.com/deskhand",
    "desk.yaml",
}
"""What is the same in every language: names, commands, and how something is written down."""


def _from_constants() -> Iterator[str]:
    """Phrases that templates look up by a name of Python."""
    yield from labels.CAUSES.values()
    yield from labels.KINDS.values()
    yield from labels.LANES.values()
    yield from labels.WRITTEN_IN.values()
    yield from (said.words for said in notices.SAID.values())
    yield from (said.words for said in notices.SAID_OF_MANY.values())
    yield from labels.FALLBACKS.values()
    yield from labels.ORIGINS.values()
    yield from DOUBTS.values()
    yield from ACTIONS.values()
    yield from ACTORS.values()
    yield from DECIDED.values()
    yield from MODES
    yield from UrgencyLevel
    yield from TicketState
    yield from AskStatus
    yield from Rating
    yield from Role
    yield from user_pages.ROLES.values()
    yield from policy_page.EFFECTS.values()
    yield from webhook_pages.MEANINGS.values()
    yield from openid_pages.WORDS
    yield from openid_logins.WORDS
    yield login_pages.NO_PASSWORDS
    yield from (words for words, _ in STATUSES.values())
    yield from (words for _, _, words in labels.RISKS.values())
    yield from (words for words, _, _ in ticket_list.STATES.values())
    yield from ticket_list.TARGETS.values()
    yield from ticket_list.VIEWS.values()
    yield from (words for _, words, _ in metrics_pages.SERIES)
    yield from metrics_pages.PERIODS.values()
    yield from metrics_pages.DIMENSIONS.values()
    yield from metrics_pages.EVERY.values()
    yield from metrics_pages.HEADINGS.values()
    yield from metrics_pages.TILES
    yield from (metrics_pages.RIGHT, metrics_pages.LATE)
    yield from (metrics_pages.RIGHT_ONES, metrics_pages.WRONG_ONES, metrics_pages.IN_TIME)
    yield from (metrics_pages.TOO_LATE, metrics_pages.FIRST_REPLIES)
    yield from Looked
    yield from (heading for _, heading, _ in search_pages.GROUPS)
    yield from (words for _, words in snoozes(1_800_000_000.0, "Europe/Prague"))
    yield from ("allow", "hold", "deny", "late", "soon", "You", "Mailbox", "Model", "Try it")
    yield from ("no end", "expired", "expires soon", "fresh", "in approval", "body", "this")
    yield from ("snoozed", "back in the queue", "approved, and waits for a second person")
    yield from ("the name or the password is wrong", "the desk", "a deadline")
    yield from ("model", "tool", "desk")


def _in_python() -> Iterator[str]:
    """What is written as `Phrase("...")`, or handed to a translator."""
    for path in CONSOLE.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call) or not node.args:
                continue
            called = node.func.id if isinstance(node.func, ast.Name) else ""
            first = node.args[0]
            if called in ("Phrase", "say", "t") and isinstance(first, ast.Constant):
                yield str(first.value)


def _strings(node: nodes.Node) -> Iterator[str]:
    if isinstance(node, nodes.Const) and isinstance(node.value, str):
        yield node.value
    for inner in node.find_all(nodes.Const):
        if isinstance(inner.value, str):
            yield inner.value


def _in_template(tree: nodes.Template) -> Iterator[str]:
    """What is written inside of `t(...)`, and what is chosen there from a table."""
    for call in tree.find_all(nodes.Call):
        if not isinstance(call.node, nodes.Name) or call.node.name != "t" or not call.args:
            continue
        first = call.args[0]
        if isinstance(first, nodes.Const):
            yield str(first.value)
        elif isinstance(first, nodes.Getitem) and isinstance(first.node, nodes.Dict):
            for pair in first.node.items:
                yield from _strings(pair.value)


def used_phrases() -> set[str]:
    environment = Environment(autoescape=True)
    found = {*_from_constants(), *_in_python()}
    for path in TEMPLATES:
        found.update(_in_template(environment.parse(path.read_text(encoding="utf-8"))))
    return {phrase for phrase in found if phrase}


def fields_in(words: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(words) if name}


def forms_of(written: str | Mapping[str, str]) -> list[str]:
    return [written] if isinstance(written, str) else list(written.values())


def test_every_phrase_that_is_shown_is_in_the_english_file() -> None:
    known = set(language_of(OWN).phrases)

    assert sorted(used_phrases() - known) == []


@pytest.mark.parametrize("code", LANGUAGES)
def test_a_language_has_the_phrases_of_english_and_no_others(code: str) -> None:
    english = set(language_of(OWN).phrases)
    own = set(language_of(code).phrases)

    assert sorted(english - own) == [], f"write these into interface/{code}.toml"
    assert sorted(own - english) == [], "nothing shows these"


@pytest.mark.parametrize("code", LANGUAGES)
def test_every_form_has_the_values_of_its_phrase(code: str) -> None:
    language = language_of(code)
    for phrase, written in language.phrases.items():
        for form in forms_of(written):
            assert form.strip(), phrase
            assert fields_in(form) | {"count"} == fields_in(phrase) | {"count"}, (phrase, form)


@pytest.mark.parametrize("code", LANGUAGES)
def test_what_counts_has_every_form_of_its_language(code: str) -> None:
    language = language_of(code)
    forms = {PLURALS[language.plural](number) for number in range(101)}
    for phrase, written in language_of(OWN).phrases.items():
        own = language.phrases[phrase]
        assert isinstance(written, str) == isinstance(own, str), phrase
        if not isinstance(own, str):
            assert set(own) == forms, phrase


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.name)
def test_a_template_holds_no_words_of_its_own(path: Path) -> None:
    tree = Environment(autoescape=True).parse(path.read_text(encoding="utf-8"))
    text = ""
    for output in tree.find_all(nodes.Output):
        for part in output.nodes:
            text += part.data if isinstance(part, nodes.TemplateData) else "\0"
    pieces = [*SHOWN.findall(text), *ATTRIBUTES.findall(text)]
    said = [" ".join(piece.replace("\0", " ").split()) for piece in pieces]
    bare = [words for words in said if WORD.search(words) and words not in NOT_WORDS]

    assert bare == []


def test_czech_counts_as_people_do() -> None:
    say = translator("cs")

    assert [say("{count} desks", count=number) for number in (1, 2, 5)] == [
        "1 desk",
        "2 desky",
        "5 desků",
    ]
    assert say("{count} desks", count=1234) == "1\N{NO-BREAK SPACE}234 desků"


def test_a_phrase_is_said_in_english_and_in_the_readers_language() -> None:
    waits = Phrase("due in {age}", age=Phrase("{count} h", count=5))

    assert waits == "due in 5 h"
    assert translator("cs")(waits) == "za 5 h"
    assert translator("xx")(waits) == "due in 5 h", "a language without a file is English"


def test_numbers_are_written_as_the_language_writes_them() -> None:
    assert language_of("en").number(1234.5, 1) == "1,234.5"
    assert language_of("cs").number(1234.5, 1) == "1\N{NO-BREAK SPACE}234,5"
