"""HTML to sections: what a reader of the page would see, and nothing else."""

import re
from pathlib import Path
from typing import Any

from deskhand.charsets import codec_of
from deskhand.errors import ConfigError
from deskhand.knowledge.article_sections import Outline, ParsedArticle, decoded
from deskhand.knowledge.front_matter import KEYS, read_value
from deskhand.knowledge.text_normalization import clean
from deskhand.mail.html_text import NEVER_TEXT

_CHARSET = re.compile(
    rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?\s*([A-Za-z0-9_:.-]{1,40})", re.IGNORECASE
)
_UNSEEN = re.compile(
    r"display\s*:\s*none|visibility\s*:\s*(hidden|collapse)|opacity\s*:\s*0(\.0+)?\s*(;|$)|font-size\s*:\s*0"
)
_LEVELS = {f"h{level}": [f"h{level}"] for level in range(1, 7)}


def read_html(path: Path, raw: bytes) -> ParsedArticle:
    """Title, language and `<meta name=...>` from the head, the visible text by its headings."""
    from lxml.etree import LxmlError, ParserError
    from lxml.html import HTMLParser, document_fromstring

    text = clean(decoded(path, raw, _encoding(raw)))
    try:
        tree = document_fromstring(
            re.sub(r"\A\s*<\?xml[^>]*\?>", "", text), parser=HTMLParser(huge_tree=True)
        )
        head = _head(path, tree)
        _drop_unseen(tree)
        sections = _outline(tree).sections()
    except ParserError:  # as lxml says that nothing is there
        return ParsedArticle([])
    except (LxmlError, ValueError) as error:
        raise ConfigError(
            f"this is not HTML: {error}", file=path, fix="save the page again"
        ) from None
    except RecursionError:
        raise ConfigError(
            "its elements are nested too deeply", file=path, fix="simplify the page"
        ) from None
    return ParsedArticle(sections, **head)


def _encoding(raw: bytes) -> str:
    """As the page declares it, where that is a codec of text; UTF-8 otherwise."""
    declared = _CHARSET.search(raw[:4096])
    if declared is None or raw.startswith(b"\xef\xbb\xbf"):
        return "utf-8-sig"
    codec = codec_of(declared[1].decode())
    return "utf-8-sig" if codec in (None, "utf_8") else codec


def _head(path: Path, tree: Any) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for meta in tree.iter("meta"):
        key = re.sub(r"[ -]", "_", str(meta.get("name", "")).lower()).removeprefix("article_")
        if key in KEYS and str(meta.get("content", "")).strip():
            values.setdefault(key, (meta.get("content"), meta.sourceline))
    language = str(tree.get("lang", "")).strip()
    if language:
        values.setdefault("language", (language, tree.sourceline))
    for tag in ("title", "h1"):
        words = (
            " ".join("".join(tree.find(f".//{tag}").itertext()).split())
            if tree.find(f".//{tag}") is not None
            else ""
        )
        if words:
            values.setdefault("title", (words[:500], None))
    return {key: _value(path, key, *written) for key, written in values.items()}


def _value(path: Path, key: str, value: str, line: int | None) -> Any:
    try:
        return read_value(key, value)
    except ValueError as error:
        problem, fix = error.args
        raise ConfigError(problem, file=path, line=line, fix=fix) from None


def _drop_unseen(tree: Any) -> None:
    """Elements that a browser does not show: an instruction hidden in them must reach neither a
    model nor a reply."""
    from lxml.etree import strip_elements

    strip_elements(tree, *NEVER_TEXT, with_tail=False)
    for element in list(tree.iter()):
        if not isinstance(element.tag, str) or (
            element.get("hidden") is not None
            or element.get("aria-hidden", "").lower() == "true"
            or _UNSEEN.search(element.get("style", "").lower())
        ):
            _drop(element)


def _drop(element: Any) -> None:
    parent = element.getparent()
    if parent is None:
        return
    before = element.getprevious()
    tail = element.tail or ""
    if before is not None:
        before.tail = (before.tail or "") + tail
    else:
        parent.text = (parent.text or "") + tail
    parent.remove(element)


def _outline(tree: Any) -> Outline:
    """inscriptis lays the page out as text and says which spans of it are headings."""
    from inscriptis.html_engine import Inscriptis
    from inscriptis.model.config import ParserConfig

    page = Inscriptis(tree, ParserConfig(annotation_rules=_LEVELS))
    text = page.get_text()
    outline, at = Outline(), 0
    spans = sorted((span.start, span.end, span.metadata) for span in page.get_annotations())
    for start, end, tag in spans:
        heading = " ".join(text[start:end].split())
        if start < at or not heading:
            continue
        _add_lines(outline, text[at:start])
        outline.heading(int(tag[1]), heading)
        at = end
    _add_lines(outline, text[at:])
    return outline


def _add_lines(outline: Outline, text: str) -> None:
    for line in text.split("\n"):
        outline.line(line.strip())
