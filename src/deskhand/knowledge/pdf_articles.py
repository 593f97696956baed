"""PDF to sections: one a page, so that a citation names the page."""

import io
import logging
from pathlib import Path

from deskhand.errors import ConfigError
from deskhand.knowledge.article_sections import ArticleSection, ParsedArticle
from deskhand.knowledge.text_normalization import clean

_MOST_PAGES = 3000


def read_pdf(path: Path, raw: bytes) -> ParsedArticle:
    """The text that is in the file; a scan, a protected or a damaged one is a ConfigError that
    says so."""
    from pypdf import PdfReader

    logging.getLogger("pypdf").setLevel(
        logging.CRITICAL
    )  # it comments on every oddity it can live with
    try:
        reader = PdfReader(io.BytesIO(raw), strict=False)
        if reader.is_encrypted and not reader.decrypt(""):
            fix = "save it without a password"
            raise ConfigError("this PDF is protected by a password", file=path, fix=fix)
        if len(reader.pages) > _MOST_PAGES:
            raise ConfigError(
                f"this PDF has more than {_MOST_PAGES} pages", file=path, fix="split it"
            )
        pages = [clean(page.extract_text()) for page in reader.pages]
        title = (
            clean(str(reader.metadata.title)) if reader.metadata and reader.metadata.title else ""
        )
    except ConfigError:
        raise
    except Exception as error:  # whatever a damaged file makes pypdf stumble over
        words = " ".join(str(error).split())[:200] or type(error).__name__
        fix = "open it and save it again as PDF"
        raise ConfigError(f"this PDF is damaged: {words}", file=path, fix=fix) from None
    if not any(text.strip() for text in pages):
        fix = "run it through text recognition (OCR), or write the article as Markdown"
        raise ConfigError("this PDF holds no text, only pictures", file=path, fix=fix)
    sections = [
        ArticleSection((f"page {number}",), text.strip())
        for number, text in enumerate(pages, 1)
        if text.strip()
    ]
    return ParsedArticle(sections, " ".join(title.split())[:500] or None)
