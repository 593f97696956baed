"""Replies that no LLM writes: our templates, verbatim quotes with their source, literal facts,
and nothing else."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

from deskhand.config.yaml import read_yaml
from deskhand.knowledge.prose import unwrapped
from deskhand.model.placeholders import ANSWER

Tone = Literal["professional", "empathetic", "friendly"]

LANGUAGES = ("en", "cs", "de", "es", "fr")
LONGEST_QUOTE = 900
LONGEST_ASK = 240
OPEN = f"{{{ANSWER}}}"
"""Where a person must write: no reply leaves while it stands in it."""
_TEXTS = Path(__file__).with_name("replies.yaml")
_TONES: Mapping[str, Tone] = {
    "professional": "professional",
    "formal": "professional",
    "neutral": "professional",
    "empathetic": "empathetic",
    "apologetic": "empathetic",
    "understanding": "empathetic",
    "friendly": "friendly",
    "warm": "friendly",
    "casual": "friendly",
}
_NAME = re.compile(r"[^\W\d_]+(?:[ '’.\-]{1,2}[^\W\d_]+){0,4}\.?")
_SENTENCE_END = re.compile(r"[.!?…][\"'”»)]*(?=\s|$)|\n")


@dataclass(frozen=True, slots=True)
class ArticleQuote:
    """A passage of an article, word for word."""

    title: str
    text: str
    source: str
    language: str | None


@dataclass(frozen=True, slots=True)
class AnsweredAsks:
    """What a customer asked in his own words, and the passage for it."""

    asks: tuple[str, ...]
    quote: ArticleQuote | None
    is_open: bool = False
    """Whether a person must write the answer; the quote is then what comes nearest."""
    confidence: float = 1.0


@dataclass(frozen=True, slots=True)
class ReplyParts:
    """What a reply says. Without answers, facts, statements and questions a colleague is
    announced."""

    answers: Sequence[AnsweredAsks] = ()
    facts: Sequence[tuple[str, str]] = ()
    statements: Sequence[str] = ()
    """The desk's own words, with values filled in."""
    questions: Sequence[str] = ()

    @property
    def says_something(self) -> bool:
        return bool(self.answers or self.facts or self.statements or self.questions)


def compose(
    parts: ReplyParts,
    *,
    language: str,
    tone: str | None = None,
    name: str = "",
    signature: str = "",
    opening: str | None = None,
    is_letter: bool = True,
) -> str:
    """The whole reply in a language of LANGUAGES. What is no letter, as a line in a chat, has
    neither salutation nor signature."""
    texts = _texts()[language]
    words = texts["tones"][tone_of(tone)]
    blocks: list[str] = []
    if is_letter:
        blocks = [_greeting(words, name), (opening or words["opening"]).strip()]
    elif opening is not None:
        blocks = [opening.strip()]
    blocks += parts.statements
    if parts.facts:
        rows = [texts["fact"].format(field=field, value=value) for field, value in parts.facts]
        blocks.append(_listed(texts["facts"], rows))
    for_a_person = any(answer.is_open for answer in parts.answers)
    for answer in parts.answers:
        blocks += _answered(texts, answer, language, repeats_asks=for_a_person)
    if parts.questions:
        blocks.append(_listed(texts["question"], parts.questions))
    if not parts.says_something:
        blocks.append(texts["hand_over"])
    if is_letter:
        blocks.append("\n".join(filter(None, (words["closing"], signature.strip()))))
    return "\n\n".join(blocks)


def _listed(heading: str, items: Sequence[str]) -> str:
    return "\n".join([heading, *(f"- {item}" for item in items)])


def _greeting(words: Mapping[str, str], name: str) -> str:
    shown = greeted_name(name)
    return words["greeting"].format(name=shown) if shown else words["greeting_unnamed"]


def greeted_name(name: str) -> str:
    """The sender's name if it looks like one: whoever writes it could write anything there."""
    name = " ".join(name.split())
    return name if len(name) <= 50 and _NAME.fullmatch(name) else ""


def _answered(
    texts: Mapping[str, Any], answer: AnsweredAsks, language: str, *, repeats_asks: bool
) -> list[str]:
    """The passage; in a draft for a person below the asks, and for an open one the place where
    the answer is to be written."""
    blocks: list[str] = []
    if repeats_asks and answer.asks:
        blocks.append("\n".join(f"“{_one_line(ask)}”" for ask in answer.asks))
    if answer.is_open:
        blocks.append(OPEN)
    if answer.quote is not None:
        nearest = []
        if answer.is_open:
            nearest = [texts["nearest"].format(confidence=f"{answer.confidence:.2f}")]
        blocks += [*nearest, *_quoted(texts, answer.quote, language)]
    return blocks


def _one_line(ask: str) -> str:
    text = " ".join(ask.split())
    return text if len(text) <= LONGEST_ASK else f"{text[:LONGEST_ASK].rpartition(' ')[0]} …"


def _quoted(texts: Mapping[str, Any], quote: ArticleQuote, language: str) -> list[str]:
    """Introduced, quoted, cited; an article in another language is said to be in one."""
    same_language = quote.language is None or quote.language == language
    called = texts["languages"].get(quote.language or "", texts["languages"]["other"])
    lead = texts["quote" if same_language else "quote_other"].format(
        title=quote.title, language=called
    )
    lines = "\n".join(f"> {line}".rstrip() for line in unwrapped(quote.text).splitlines())
    return [f"{lead}\n\n{lines}", texts["source"].format(source=quote.source)]


def tone_of(tone: str | None) -> Tone:
    return _TONES.get((tone or "").strip().lower(), "professional")


def reply_language(code: str | None, desk: Sequence[str]) -> str:
    """The customer's language if the desk answers in it, else the desk's first; always one we
    have words for."""
    codes = [language.partition("-")[0].lower() for language in desk]
    offered = [language for language in codes if language in LANGUAGES] or ["en"]
    primary = (code or "").partition("-")[0].lower()
    return primary if primary in offered else offered[0]


def shortened_quote(text: str, limit: int = LONGEST_QUOTE) -> str:
    """As many whole sentences from the beginning of the text as fit; cut within one only if the
    first is longer than that."""
    text = text.strip()
    if len(text) <= limit:
        return text
    ends = [end.end() for end in _SENTENCE_END.finditer(text, 0, limit)]
    cut = text[: ends[-1]] if ends else text[:limit].rpartition(" ")[0] or text[:limit]
    return f"{cut.rstrip()}\n[…]"


def facts_in(
    data: Any, only: Sequence[str] | None = None, *, most: int = 20
) -> list[tuple[str, str]]:
    """A tool's result as field and value, literally; `only` names the fields a customer may
    read."""
    facts: list[tuple[str, str]] = []
    _collect(data, "", facts)
    if only is not None:
        order = {name: place for place, name in enumerate(only)}
        allowed = [(field, value) for field, value in facts if field in order]
        facts = sorted(allowed, key=lambda fact: order[fact[0]])
    return [(field.replace("_", " "), value) for field, value in facts[:most]]


def _collect(value: Any, path: str, facts: list[tuple[str, str]]) -> None:
    if isinstance(value, Mapping):
        for key, item in value.items():
            _collect(item, f"{path}.{key}" if path else str(key), facts)
    elif isinstance(value, list | tuple):
        plain = [literal(item) for item in value if isinstance(item, str | int | float)]
        if path and plain and len(plain) == len(value):
            facts.append((path, ", ".join(plain)))
    elif value is not None and path:
        facts.append((path, literal(value)))


def literal(value: Any) -> str:
    """A value as one line of text, nothing added."""
    text = str(value).lower() if isinstance(value, bool) else str(value)
    return " ".join(text.split())[:300]


@cache
def _texts() -> dict[str, Any]:
    return dict(read_yaml(_TEXTS).data)
