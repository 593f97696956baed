"""What all screens share: templates, static files, the language, and what stands around a page."""

import asyncio
import re
from collections.abc import Mapping
from datetime import date, datetime
from functools import cache, partial
from hashlib import sha256
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined, pass_context
from jinja2.runtime import Context
from markupsafe import Markup, escape
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from deskhand.errors import NotFound
from deskhand.knowledge.prose import unwrapped
from deskhand.model.message import Address
from deskhand.model.queue import ReviewFilter
from deskhand.model.run import ReviewState
from deskhand.web.console.draft_changes import letter_blocks
from deskhand.web.console.labels import (
    CAUSES,
    KINDS,
    LOOKS,
    as_sentence,
    as_yaml,
    condition_lines,
    customer_for,
    due,
    duration,
    file_size,
    gaps,
    gravest,
    initials,
    iso,
    only_name,
    quotes_as_prose,
    spaced,
    visible,
    written_in,
)
from deskhand.web.console.notices import read_notice
from deskhand.web.console.queue_page import NOBODY, path_of
from deskhand.web.console.session import HOME, LOGIN, POLICY, Visit, chat_path
from deskhand.web.console.translation import (
    LANGUAGES,
    InterfaceLanguage,
    Translator,
    chosen_language,
    chosen_zone,
    language_of,
    moment_words,
    translator,
)
from deskhand.web.file_response import is_shown

HERE = Path(__file__).parent
STATIC = {
    "console.css": "text/css",
    "case.js": "text/javascript",
    "compose.js": "text/javascript",
    "console.js": "text/javascript",
    "live.js": "text/javascript",
    "tickets.js": "text/javascript",
    "icons.svg": "image/svg+xml",
    "icon.svg": "image/svg+xml",
}
HEADERS = {
    "Content-Security-Policy": POLICY,
    # with none at all, a browser would not say where our own forms come from
    "Referrer-Policy": "same-origin",
}
THEMES = ("light", "dark")
_CODE = re.compile(r"`([^`]*)`")
_UNNAMED = "chat_"
"""How the address of a visitor begins who did not log in."""


@pass_context
def named(context: Context, person: Address) -> str:
    """How somebody is called: by name, else by address; a visitor of the chat has neither."""
    if person.name:
        return person.name
    if person.address.startswith(_UNNAMED) and "@" not in person.address:
        say: Translator = context["t"]
        return say("Visitor")
    return person.address


@pass_context
def called(context: Context, title: str) -> str:
    """What a hit is called; a visitor of the chat has no name."""
    return named(context, Address(address=title)) if title.startswith(_UNNAMED) else title


@pass_context
def clock(context: Context, at: float) -> str:
    """A moment in the reader's zone; a script shows it nearer."""
    return moment_words(at, context["written"], context["zone"])


@pass_context
def day_of(context: Context, at: float) -> str:
    """The day of a moment in the reader's zone, with its year."""
    written: InterfaceLanguage = context["written"]
    day = datetime.fromtimestamp(at, context["zone"])
    return f"{day.strftime(written.day)} {day.year}"


@pass_context
def day_words(context: Context, day: date) -> str:
    """A day of this year, as the reader's language writes it."""
    written: InterfaceLanguage = context["written"]
    return day.strftime(written.day)


@pass_context
def number(context: Context, value: float, digits: int = 0) -> str:
    """A number as the reader's language writes it."""
    written: InterfaceLanguage = context["written"]
    return written.number(value, digits)


def coded(words: str) -> Markup:
    """Words of ours, with what stands between backticks shown as code."""
    return Markup(_CODE.sub(r"<code>\1</code>", str(escape(words))))  # noqa: S704


def merged(query: Mapping[str, str], more: Mapping[str, str]) -> dict[str, str]:
    """What an address says, with something changed."""
    return {**query, **more}


_FILTERS = {
    "named": named,
    "called": called,
    "spaced": spaced,
    "as_sentence": as_sentence,
    "only_name": only_name,
    "gaps": gaps,
    "blocks": letter_blocks,
    "condition_lines": condition_lines,
    "as_yaml": as_yaml,
    "visible": visible,
    "initials": initials,
    "iso": iso,
    "clock": clock,
    "number": number,
    "day_of": day_of,
    "day_words": day_words,
    "coded": coded,
    "prose": unwrapped,
    "quotes_as_prose": quotes_as_prose,
    "size": file_size,
    "is_shown": is_shown,
    "duration": duration,
    "merged": merged,
}


@cache
def _templates() -> Environment:
    """The templates, compiled once in a process however many consoles it shows."""
    templates = Environment(
        loader=FileSystemLoader(HERE / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.filters |= _FILTERS
    templates.globals |= {
        "home": HOME,
        "login_path": LOGIN,
        "causes": CAUSES,
        "kinds": KINDS,
        "looks": LOOKS,
        "gravest": gravest,
        "fresh": _fresh(),
        "languages": LANGUAGES,
        "due_words": due,
        "written_in": written_in,
        "customer_for": customer_for,
        "path_of": path_of,
        "chat_path": chat_path,
        "nobody": NOBODY,
    }
    return templates


class Frame:
    """Renders pages of the console."""

    async def static(self, request: Request) -> Response:
        name = request.path_params["name"]
        if name not in STATIC:
            raise NotFound("there is no such file")
        body = (HERE / "static" / name).read_bytes()
        headers = {**HEADERS, "Cache-Control": "max-age=86400"}
        return Response(body, media_type=STATIC[name], headers=headers)

    def failed(self, request: Request, status: int, detail: str) -> Response:
        return self.html(request, "failed.html", status, detail=detail)

    def html(
        self, request: Request, template: str, status: int = 200, /, **values: Any
    ) -> Response:
        """A page in the language and the colours that its reader chose."""
        language = chosen_language(request)
        say = translator(language)
        shared = {
            "t": say,
            "sure": partial(sureness, say),
            "written": language_of(language),
            "zone": chosen_zone(request),
            "language": language,
            "theme": _theme(request.cookies),
            "single_keys": request.cookies.get("deskhand_keys") != "off",
        }
        page = _templates().get_template(template).render(shared | values)
        return HTMLResponse(page, status, HEADERS)

    async def around(
        self, visit: Visit, screen: str, waiting: Mapping[str, int] | None = None
    ) -> dict[str, Any]:
        """What every screen shows: who looks, what waits, and what keeps a desk from working.

        `waiting` is how many reviews wait on each desk, where that was counted before.
        """
        if waiting is None:
            waiting = await count_waiting(visit)
        stops, away = await asyncio.gather(
            visit.of_each_desk(lambda desk: desk.store.stopped()),
            visit.of_each_desk(lambda desk: desk.store.models_away()),
        )
        return {
            "me": visit.name,
            "role": visit.role,
            "csrf": visit.session.csrf,
            "screen": screen,
            "here": visit.request.url.path,
            "mark": visit.mark,
            "desks": sorted(visit.desks),
            "stops": {name: stops[name] for name in sorted(stops) if stops[name] is not None},
            "away": away,
            "waiting": waiting,
            "done": None,
            "notice": read_notice(visit),
        }


async def count_waiting(visit: Visit) -> dict[str, int]:
    """How many reviews wait on each desk of this person."""
    wanted = ReviewFilter(state=ReviewState.OPEN, snoozed=False, leaving=False)
    return await visit.of_each_desk(lambda desk: desk.store.count_reviews(wanted))


def sureness(say: Translator, facts: Mapping[str, Any]) -> str:
    """How sure the desk is, and of what: "category 0.98, answer 0.71"; empty where unknown."""
    sure_parts: list[str] = []
    if facts.get("confidence") is not None:
        sure_parts.append(say("category {value}", value=f"{facts['confidence']:.2f}"))
    if facts.get("answer_confidence") is not None:
        sure_parts.append(say("answer {value}", value=f"{facts['answer_confidence']:.2f}"))
    return ", ".join(sure_parts)


def _theme(cookies: Mapping[str, str]) -> str:
    """The theme that somebody chose; empty for that of the system."""
    chosen = cookies.get("deskhand_theme", "")
    return chosen if chosen in THEMES else ""


def _fresh() -> str:
    """A digest of our static files, part of their addresses: browsers load changed files anew."""
    files = [(HERE / "static" / name).read_bytes() for name in sorted(STATIC)]
    return sha256(b"".join(files)).hexdigest()[:12]
