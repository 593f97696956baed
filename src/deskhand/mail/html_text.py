"""HTML to the text a reader would see. What is hidden from him is hidden from the model, too."""

import re
from collections.abc import Iterator
from typing import Any

from deskhand.charsets import clean

LONGEST = 300_000
MAX_DEPTH = 200
_DATA = re.compile(r"(?i)data:[a-z]+/[^\"'\s>]{200,}")
NEVER_TEXT = (
    "script",
    "style",
    "template",
    "noscript",
    "iframe",
    "object",
    "svg",
    "math",
    "select",
    "textarea",
)
"""Elements that hold no text a reader would see, in a mail or any other page."""
_UNSEEN = re.compile(
    r"display:none|visibility:(?:hidden|collapse)|opacity:0?\.?0*(?:;|!|$)|mso-hide:all"
    r"|font-size:(?:0|1px|1pt|0?\.\d+[a-z%]*)(?![\d.])|(?:max-)?(?:height|width):0(?:px|pt|em|%)?(?:;|!|$)"
    r"|text-indent:-\d{3,}|(?:left|top|right|margin-left|margin-top):-\d{3,}|clip:rect\(0|clip-path:inset\((?:50|100)%"
    r"|transform:scale\(0|color:transparent|rgba\([^)]*,0?\.?0*\)"
)
_BRACE = re.compile(r"[{}]")
_LONGEST_RULE = 2000
_SIMPLE = re.compile(r"^(?:[a-z0-9*]*)([.#])([\w-]{1,80})$", re.I)
_COLOUR = re.compile(r"(?:^|;)color:([^;!]{1,40})")
_GROUND = re.compile(r"(?:^|;)background(?:-color)?:([^;!]{1,60})")
_NAMED = {
    "white": "#ffffff",
    "black": "#000000",
    "rgb(255,255,255)": "#ffffff",
    "rgb(0,0,0)": "#000000",
}
_BLANKS = re.compile(r"\n{3,}")


def html_text(html: str) -> str:
    """Text in lines, from a page however broken; empty where there is none."""
    from lxml.etree import LxmlError

    page = _page(html)
    if not page.strip():
        return ""
    try:
        tree = _tree(page)
        _drop_unseen(tree)
        _flatten(tree)
        return _layout(tree)
    except (
        LxmlError,
        ValueError,
        AssertionError,
        RecursionError,
    ):  # nothing in it, or nothing that can be read
        return text_without_tags(page)


def text_without_tags(html: str) -> str:
    """The words between the tags of a page, as they stand; for pages that are not laid out."""
    words = [piece.rpartition(">")[2] for piece in html[:LONGEST].split("<")]
    return clean(" ".join(words)).strip()


def hidden_text(html: str) -> str:
    """The words of a page that its reader does not see: for a check, never for a model."""
    from lxml.etree import LxmlError, strip_elements

    page = _page(html)
    if not page.strip():
        return ""
    try:
        tree = _tree(page)
        strip_elements(tree, *NEVER_TEXT, "head", "title", with_tail=False)
        every = _words(tree)
        seen = _tree(page)
        _drop_unseen(seen)
        left = iter([*_words(seen), ""])
    except (LxmlError, ValueError, AssertionError, RecursionError):
        return ""
    hidden: list[str] = []
    expected = next(left)
    for word in every:  # what is dropped leaves the rest in order
        if word == expected:
            expected = next(left)
        else:
            hidden.append(word)
    return " ".join(hidden)


def _page(html: str) -> str:
    page = _DATA.sub("", html[: 20 * LONGEST])[:LONGEST]
    return re.sub(r"\A\s*<\?xml[^>]{0,300}\?>", "", page)


def _tree(page: str) -> Any:
    from lxml.html import HTMLParser, document_fromstring

    return document_fromstring(page, parser=HTMLParser(remove_comments=True, remove_pis=True))


def _words(tree: Any) -> list[str]:
    return [word for text in tree.itertext() for word in str(text).split()]


def _layout(tree: Any) -> str:
    from inscriptis.css_profiles import STRICT_CSS_PROFILE
    from inscriptis.html_engine import Inscriptis
    from inscriptis.model.config import ParserConfig

    text = Inscriptis(tree, ParserConfig(css=STRICT_CSS_PROFILE)).get_text()
    lines = (line.replace("\N{NO-BREAK SPACE}", " ").rstrip() for line in clean(text).split("\n"))
    return _BLANKS.sub("\n\n", "\n".join(lines)).strip("\n")


def _drop_unseen(tree: Any) -> None:
    """A browser shows none of this; instructions hidden in a mail live here."""
    from lxml.etree import strip_elements

    classes, ids = _hidden_names(tree)
    strip_elements(tree, *NEVER_TEXT, "head", "title", with_tail=False)
    gone = [
        element
        for element in tree.iter()
        if isinstance(element.tag, str) and _is_unseen(element, classes, ids)
    ]
    for element in gone:
        parent = element.getparent()
        if parent is not None:
            _drop(element, parent)
    _drop_invisible_ink(tree)


def _hidden_names(tree: Any) -> tuple[set[str], set[str]]:
    classes: set[str] = set()
    ids: set[str] = set()
    for style in tree.iter("style"):
        for selectors, body in _style_rules((style.text or "")[:200_000]):
            if _UNSEEN.search(_squeezed(body)):
                for selector in selectors.split(","):
                    if simple := _SIMPLE.match(selector.strip()):
                        (classes if simple[1] == "." else ids).add(simple[2])
    return classes, ids


def _style_rules(sheet: str) -> Iterator[tuple[str, str]]:
    """Selectors and body of each plain rule, in one pass.

    Rules for small screens or paper (`@media ...`) hide nothing here, so they are left out.
    """
    depth = begin = opened = 0
    for brace in _BRACE.finditer(sheet):
        if brace[0] == "{":
            depth += 1
            opened = brace.end() if depth == 1 else opened
            continue
        if depth == 1:
            selectors = sheet[begin : opened - 1].rpartition(";")[2].strip()
            if not selectors.startswith("@") and len(selectors) <= _LONGEST_RULE:
                yield selectors, sheet[opened : brace.start()][:_LONGEST_RULE]
        depth = max(depth - 1, 0)
        begin = brace.end() if depth == 0 else begin


def _squeezed(style: str) -> str:
    return re.sub(r"\s+", "", style.lower())


def _is_unseen(element: Any, classes: set[str], ids: set[str]) -> bool:
    return (
        element.get("hidden") is not None
        or element.get("aria-hidden", "").lower() == "true"
        or bool(_UNSEEN.search(_squeezed(element.get("style", "")[:5000])))
        or not classes.isdisjoint(element.get("class", "").split())
        or element.get("id") in ids
        or (element.tag == "input" and element.get("type", "").lower() == "hidden")
    )


def _drop_invisible_ink(tree: Any) -> None:
    """Text in the colour of what is behind it: white on white, mostly."""
    grounds: dict[Any, str] = {}
    gone: list[Any] = []
    for element in tree.iter():
        style = _squeezed(element.get("style", "")[:5000])
        ground = _GROUND.search(style)
        own_ground = ground[1] if ground else element.get("bgcolor", "")
        behind = _colour(own_ground) or grounds.get(element.getparent(), "#ffffff")
        grounds[element] = behind
        written = _colour(_ink(element, style))
        if written and written == behind:
            gone.append(element)
    for element in gone:
        _hide_own_text(element)


def _ink(element: Any, style: str) -> str:
    """The colour that an element sets for its own text, as it is written."""
    colour = _COLOUR.search(style)
    if colour is not None:
        return str(colour[1])
    return str(element.get("color", "")) if element.tag == "font" else ""


def _colour(written: str) -> str:
    """A colour as six hexadecimal digits; empty for what is not read as one."""
    name = written.strip().lower()
    name = _NAMED.get(name, name)
    if re.fullmatch(r"#[0-9a-f]{3}", name):
        return "#" + "".join(digit * 2 for digit in name[1:])
    return name if re.fullmatch(r"#[0-9a-f]{6}", name) else ""


def _hide_own_text(element: Any) -> None:
    """The element's words, and those of its children that keep its colour."""
    element.text = None
    for child in element:
        child.tail = None
        if not _COLOUR.search(_squeezed(child.get("style", "")[:5000])):
            _hide_own_text(child)


def _drop(element: Any, parent: Any) -> None:
    before, tail = element.getprevious(), element.tail or ""
    if before is not None:
        before.tail = (before.tail or "") + tail
    else:
        parent.text = (parent.text or "") + tail
    parent.remove(element)


def _flatten(tree: Any) -> None:
    """Pages nested without end are told, not drawn: the layout engine calls itself for every
    level."""
    for element in list(_too_deep(tree)):
        element.text = " ".join(element.itertext())
        for child in list(element):
            element.remove(child)


def _too_deep(tree: Any) -> Iterator[Any]:
    waiting = [(tree, 0)]
    while waiting:
        element, depth = waiting.pop()
        if depth >= MAX_DEPTH:
            yield element
        else:
            waiting += [(child, depth + 1) for child in element]
