"""Files of others, handed to a browser so that nothing in them can run."""

import re
from urllib.parse import quote

from starlette.responses import Response

from deskhand.model.attached_files import ANY_TYPE, AttachedFile, safe_file_name, safe_type

_SHOWN = {
    "image/png": (b"\x89PNG\r\n\x1a\n",),
    "image/jpeg": (b"\xff\xd8\xff",),
    "image/gif": (b"GIF87a", b"GIF89a"),
    "image/webp": (b"RIFF",),
}
"""Images that a page shows, and how their bytes begin."""
_ACTIVE = re.compile(r".*(?:/x?html|/xml|\+xml|javascript|ecmascript|vbscript|/css)$")
"""Types that a browser might run: they are sent as bytes of no type."""
_HEADERS = {
    "Cache-Control": "private, no-store",
    "Content-Security-Policy": "default-src 'none'; sandbox; frame-ancestors 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
}


def is_shown(file_type: str) -> bool:
    """Whether a page shows a file of this type as an image."""
    return safe_type(file_type) in _SHOWN


def file_response(file: AttachedFile, *, inline: bool = False) -> Response:
    """The file as a download; with `inline`, an image that is one is shown in its place."""
    file_type = safe_type(file.type)
    is_image = file.content.startswith(_SHOWN.get(file_type, ()))
    if _ACTIVE.match(file_type):
        file_type = ANY_TYPE
    how = "inline" if inline and is_image else "attachment"
    name = safe_file_name(file.name)
    plain = name.encode("ascii", "replace").decode().replace("?", "_")
    disposition = f"{how}; filename=\"{plain}\"; filename*=UTF-8''{quote(name, safe='')}"
    headers = {**_HEADERS, "Content-Disposition": disposition, "Content-Type": file_type}
    return Response(file.content, headers=headers)
