"""An article as its reader left it: what it says about itself, and its text by headings."""

from dataclasses import dataclass, field
from pathlib import Path

from deskhand.errors import ConfigError


@dataclass(frozen=True, slots=True)
class ArticleSection:
    """The text under one heading, with the headings above it."""

    heading_path: tuple[str, ...]
    text: str


@dataclass(frozen=True, slots=True)
class ParsedArticle:
    """What a reader found in a file; what it did not find is None."""

    sections: list[ArticleSection]
    title: str | None = None
    id: str | None = None
    category: str | None = None
    language: str | None = None
    valid_until: float | None = None


@dataclass(slots=True)
class Outline:
    """Collects text under headings of levels 1 to 6."""

    _path: list[tuple[int, str]] = field(default_factory=list)
    _sections: list[ArticleSection] = field(default_factory=list)
    _lines: list[str] = field(default_factory=list)

    def heading(self, level: int, text: str) -> None:
        self._close()
        while self._path and self._path[-1][0] >= level:
            self._path.pop()
        self._path.append((level, text))

    def line(self, text: str) -> None:
        self._lines.append(text)

    def sections(self) -> list[ArticleSection]:
        self._close()
        return self._sections

    def _close(self) -> None:
        text = "\n".join(self._lines).strip()
        self._lines.clear()
        if text:
            self._sections.append(ArticleSection(tuple(heading for _, heading in self._path), text))


def decoded(path: Path, raw: bytes, encoding: str = "utf-8-sig") -> str:
    """Text from bytes; a byte that is not UTF-8 is a ConfigError with its line."""
    try:
        return raw.decode(encoding)
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        problem = (
            f"byte {error.start} (0x{raw[error.start]:02x}) is not valid"
            f" {encoding.removesuffix('-sig').upper()}"
        )
        raise ConfigError(
            problem, file=path, line=line, fix="save the file with the encoding UTF-8"
        ) from None
