"""Paths and media types of files, and the checks of a content."""

import re
import unicodedata

from signalbox.core.codes import Code
from signalbox.core.errors import RequestError
from signalbox.core.security.image_types import image_type
from signalbox.core.workspace import SVG, is_image

LONGEST_PATH = 200
PLAIN = "text/plain"
_TEXT = {
    "html": "text/html",
    "htm": "text/html",
    "css": "text/css",
    "js": "text/javascript",
    "mjs": "text/javascript",
    "cjs": "text/javascript",
    "ts": "text/typescript",
    "tsx": "text/typescript",
    "jsx": "text/javascript",
    "json": "application/json",
    "md": "text/markdown",
    "csv": "text/csv",
    "svg": SVG,
    "xml": "application/xml",
    "yaml": "application/yaml",
    "yml": "application/yaml",
    "py": "text/x-python",
    "sh": "text/x-sh",
    "sql": "application/sql",
    "toml": "application/toml",
}
_IMAGES = {"png": "image/png", "jpg": "image/jpeg", "jpeg": "image/jpeg", "webp": "image/webp", "gif": "image/gif"}
_KNOWN = _TEXT | _IMAGES
_DRIVE = re.compile(r"[A-Za-z]:")


def checked_path(path: str) -> str:
    """Return the path of a file; raises RequestError if it is not relative, too long or contains odd parts."""
    if fault := _fault_of(path):
        raise RequestError(Code.INVALID_REQUEST, f"path: {fault}, such as css/style.css.", "path")
    return path


def _fault_of(path: str) -> str:
    """Return what a path must be instead, empty for a valid one."""
    if not path or len(path) > LONGEST_PATH:
        return f"use 1 to {LONGEST_PATH} characters"
    if path.startswith("/") or "\\" in path or _DRIVE.match(path):
        return "use a relative path with / between its parts"
    if any(part in ("", ".", "..") or part != part.strip() for part in path.split("/")):
        return "use a path without empty parts, without . and .. and without spaces around a part"
    if any(unicodedata.category(character) in ("Cc", "Cf", "Cs", "Zl", "Zp") for character in path):
        return "use a path without control characters"
    return ""


def media_type_of(path: str) -> str:
    """Return the media type that the ending of a path stands for; text/plain for unknown endings."""
    _, dot, ending = path.rpartition("/")[2].rpartition(".")
    return _KNOWN.get(ending.lower(), PLAIN) if dot else PLAIN


def checked_media_type(path: str, content: bytes, media_type: str = "") -> str:
    """Return the media type of a content; raises RequestError if the content is neither text nor a known image.

    Without a media type, the ending decides. For an image, its first bytes decide which image it is.
    """
    wanted = media_type or media_type_of(path)
    if is_image(wanted):
        found = f"image/{image_type(content)}"
        if found not in _IMAGES.values():
            raise RequestError(Code.INVALID_REQUEST, f"{path}: the content is no PNG, JPEG, WebP or GIF image.", "path")
        return found
    try:
        content.decode()
    except UnicodeDecodeError:
        words = f"{path}: the content is not UTF-8 text. Give an image an ending such as .png."
        raise RequestError(Code.INVALID_REQUEST, words, "path") from None
    return wanted
