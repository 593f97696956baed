"""A text for customers as written in desk.yaml: one for all, one a language, or a name of files."""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Discriminator, Field, Tag

from deskhand.config.sections.section import Section

ANY_LANGUAGE = ""
LONGEST_TEXT = 2000
TEXT_NAME = r"[a-z][a-z0-9_-]{0,59}"
LANGUAGE_CODE = r"[a-z]{2,3}"

TextsByName = Mapping[str, Mapping[str, str]]
"""The texts of a desk's files: by name, then by language (ANY_LANGUAGE for all)."""

_Text = Annotated[str, Field(min_length=1, max_length=LONGEST_TEXT)]
_Code = Annotated[str, Field(pattern=f"^{LANGUAGE_CODE}$")]


class NamedText(Section):
    """A text in files of its own: `{text: free_times}` for `replies/free_times.en.txt`."""

    text: Annotated[str, Field(pattern=f"^{TEXT_NAME}$")]
    """The name of the files in the folder `replies`, without language and ending."""


def _form(value: Any) -> str:
    if isinstance(value, NamedText):
        return "by name"
    if isinstance(value, Mapping):
        return "by name" if "text" in value else "by language"
    return "one text"


ReplyText = Annotated[
    Annotated[_Text, Tag("one text")]
    | Annotated[dict[_Code, _Text], Field(min_length=1), Tag("by language")]
    | Annotated[NamedText, Tag("by name")],
    Discriminator(_form),
]


def by_language(
    written: str | Mapping[str, str] | NamedText | None, texts: TextsByName
) -> dict[str, str]:
    """Returns the text by language; KeyError where it names files that are not there."""
    if written is None:
        return {}
    if isinstance(written, NamedText):
        return dict(texts[written.text])
    return {ANY_LANGUAGE: written} if isinstance(written, str) else dict(written)
