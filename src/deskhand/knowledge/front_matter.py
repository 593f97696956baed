"""What an article says about itself between two lines of `---`."""

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

from deskhand.config.suggestions import near
from deskhand.config.yaml import YamlFile, parse_yaml
from deskhand.errors import ConfigError, ConfigErrors
from deskhand.knowledge.text_normalization import clean, primary_language

KEYS = ("id", "translation_of", "title", "category", "language", "valid_until")
_FENCE = re.compile(r"---[ \t]*")
_ID = re.compile(r"[^\s\x00-\x1f]{1,200}")
_LANGUAGE = re.compile(r"[A-Za-z]{2,3}([-_][A-Za-z0-9]{2,8})*")
_LONGEST = 500


@dataclass(frozen=True, slots=True)
class FrontMatter:
    id: str | None = None
    title: str | None = None
    category: str | None = None
    language: str | None = None
    valid_until: float | None = None


def split_front_matter(path: Path, text: str) -> tuple[FrontMatter, str, int]:
    """The front matter, the text after it, and the number of that text's first line."""
    lines = text.split("\n")
    if not lines or not _FENCE.fullmatch(lines[0]):
        return FrontMatter(), text, 1
    end = next((number for number, line in enumerate(lines[1:], 1) if _FENCE.fullmatch(line)), None)
    if end is None:
        fix = "close it with a line `---` before the text begins"
        raise ConfigError(
            "the front matter that begins here never ends", file=path, line=1, fix=fix
        )
    body = "\n".join(lines[end + 1 :])
    if not any(line.strip() for line in lines[1:end]):
        return FrontMatter(), body, end + 2
    written = "\n".join(["", *lines[1:end]])  # the empty line keeps the numbers right
    return (
        _checked(parse_yaml(path, written, what="the front matter", example="id: refund-policy")),
        body,
        end + 2,
    )


def _checked(source: YamlFile) -> FrontMatter:
    """Other tools' keys are left alone; one that is nearly ours is a slip that would be missed."""
    problems: list[ConfigError] = []
    values: dict[str, Any] = {}
    for written, value in source.data.items():
        key = re.sub(r"[ -]", "_", written.lower())
        if key not in KEYS:
            meant = near(key, KEYS)
            if meant is not None:
                problems.append(
                    source.problem(
                        (written,), f"`{written}` means nothing here", f"write `{meant}`"
                    )
                )
            continue
        try:
            values[key] = read_value(key, value)
        except ValueError as error:
            problem, fix = error.args
            problems.append(source.problem((written,), problem, fix))
    if problems:
        raise problems[0] if len(problems) == 1 else ConfigErrors(problems)
    return FrontMatter(**_named_as_translation(source, values))


def _named_as_translation(source: YamlFile, values: dict[str, Any]) -> dict[str, Any]:
    """A translation has its original's id with its language behind it: `platby.en`."""
    original, language = values.pop("translation_of", None), values.get("language")
    if original is None:
        return values
    if language is None:
        raise source.problem(
            ("translation_of",),
            f"this is a translation of `{original}`, but into which language?",
            "write `language:` below it, such as `language: de`",
        )
    named = f"{original}.{language}"
    if values.setdefault("id", named) != named:
        raise source.problem(
            ("id",), f"a translation of `{original}` has another id", f"write `id: {named}`"
        )
    return values


def read_value(key: str, value: Any) -> Any:
    """One value of the front matter; ValueError(problem, fix) when it cannot be used."""
    if (
        isinstance(value, bool)
        or not isinstance(value, str | int | float)
        or not str(value).strip()
    ):
        raise ValueError(
            f"`{key}` must be text", "write one line of text after the colon, or leave the key out"
        )
    text = " ".join(clean(str(value)).split())
    if len(text) > _LONGEST:
        raise ValueError(f"`{key}` is longer than {_LONGEST} characters", "shorten it")
    if key in ("id", "translation_of") and not _ID.fullmatch(text):
        raise ValueError(
            f"`{text[:60]}` cannot be an id",
            "write up to 200 characters without spaces: `refund-policy`",
        )
    if key == "language":
        if not _LANGUAGE.fullmatch(text):
            raise ValueError(
                f"`{text[:60]}` is not a language", "write its tag, such as `en`, `cs` or `de`"
            )
        return primary_language(text)
    return _end(text) if key == "valid_until" else text


def _end(text: str) -> float:
    """A day is valid to its end (UTC), a time to that moment."""
    try:
        if re.fullmatch(r"\d{4}-\d{2}-\d{2}", text):
            day = datetime.combine(date.fromisoformat(text), datetime.min.time(), UTC)
            return (day + timedelta(days=1)).timestamp()
        moment = datetime.fromisoformat(text)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        fix = "write a day, as 2027-01-31, or a time, as 2027-01-31T18:00+01:00"
        raise ValueError(f"`{text[:60]}` is not a date", fix) from None
