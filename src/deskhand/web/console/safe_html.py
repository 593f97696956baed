"""A customer's HTML made harmless: laid out as it was sent, and nothing of it is loaded or run.

What would be loaded or opened is named as text, so that a colleague can look at the addresses.
"""

from dataclasses import dataclass, field
from html import escape

from deskhand.model.attached_files import AttachedFile
from deskhand.web.console.labels import visible

PAGE_HEADERS = {
    "Cache-Control": "private, no-store",
    "Content-Security-Policy": (
        "default-src 'none'; style-src 'unsafe-inline'; sandbox; base-uri 'none'; "
        "form-action 'none'; frame-ancestors 'self'"
    ),
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "SAMEORIGIN",
}
"""A policy of its own: even what came through by mistake could run, load and send nothing."""
MOST_ADDRESSES = 200
_LONGEST_ADDRESS = 500
_TAGS = {
    *("p", "br", "hr", "div", "span", "blockquote", "pre", "code", "center", "font", "wbr"),
    *("b", "strong", "i", "em", "u", "s", "strike", "del", "ins", "sub", "sup", "small", "big"),
    *("h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "li", "dl", "dt", "dd", "a", "img"),
    *("table", "caption", "thead", "tbody", "tfoot", "tr", "td", "th", "colgroup", "col"),
}
_WITHOUT_CONTENT = {
    *("script", "style", "title", "noscript", "template", "textarea", "select", "option"),
    *("iframe", "object", "embed", "applet", "svg", "math", "video", "audio", "frameset"),
}
"""Tags whose content goes with them; of all others the words stay."""
_SHAPE = {"align", "valign", "width", "height", "colspan", "rowspan", "cellpadding", "dir", "lang"}
_ATTRIBUTES = {
    "*": {"dir", "lang", "align", "style"},
    "a": {"href"},
    "img": {"src", "srcset", "alt", "width", "height"},
    "table": _SHAPE | {"border", "cellspacing", "bgcolor"},
    "td": _SHAPE | {"bgcolor"},
    "th": _SHAPE | {"bgcolor"},
    "tr": _SHAPE | {"bgcolor"},
    "font": {"color", "size"},
    "ol": {"start", "type"},
}
_STYLES = {
    *("color", "background-color", "font-weight", "font-style", "font-size", "text-align"),
    *("text-decoration", "border", "border-left", "padding", "padding-left", "margin", "width"),
}
_NAMED = {("a", "href"): "links to", ("img", "src"): "shows", ("img", "srcset"): "shows"}
_LOOK = (
    "body{margin:12px;background:#fff;color:#171b22;font:15px/1.5 system-ui,sans-serif;"
    "overflow-wrap:anywhere}img{display:inline-block;min-width:1em;min-height:1em;outline:1px "
    "dashed #828b99;max-width:100%}table{max-width:100%}a{text-decoration:underline}"
    "footer{margin-top:20px;border-top:1px solid #cdd3db;padding-top:8px;font-size:13px;"
    "color:#444d5b}ul.named{padding-left:18px}"
)


@dataclass
class SafePage:
    """The sender's page without anything that is loaded, run or sent."""

    html: str = ""
    named: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    """What it would load or open: in a word, and the address."""

    def note(self, element: str, attribute: str, value: str) -> str | None:
        """Take an address out of the page and remember it; other attributes stay.

        A style that calls anything, such as `url(...)`, goes.
        """
        if attribute == "style":
            return None if "(" in value or "\\" in value else value
        word = _NAMED.get((element, attribute))
        if word is None:
            return value
        address = (word, value.strip()[:_LONGEST_ADDRESS])
        if len(self.named) < MOST_ADDRESSES and address not in self.named and address[1]:
            self.named.append(address)
        return None


def safe_page(html: str) -> SafePage:
    """The page with its words, tables and emphasis; links and pictures name no address."""
    import nh3  # a part in Rust: only for those who look at a page

    page = SafePage()
    page.html = nh3.clean(
        html,
        tags=_TAGS,
        clean_content_tags=_WITHOUT_CONTENT,
        attributes=_ATTRIBUTES,
        attribute_filter=page.note,
        filter_style_properties=_STYLES,
        strip_comments=True,
        link_rel=None,
        url_schemes={"http", "https", "mailto", "tel", "cid"},
    )
    return page


def page_document(file: AttachedFile, heading: str) -> str:
    """A whole document for a frame: the page, and below it what it would have loaded or opened."""
    page = safe_page(file.content.decode(errors="replace"))
    lines = [f"<li>{word} <code>{escape(visible(url))}</code></li>" for word, url in page.named]
    footer = ""
    if lines:
        named = "".join(lines)
        footer = f"<footer><b>{escape(heading)}</b><ul class=named>{named}</ul></footer>"
    return (
        '<!doctype html><html><head><meta charset="utf-8"><title>Message</title>'
        f"<style>{_LOOK}</style></head><body>{page.html}{footer}</body></html>"
    )
