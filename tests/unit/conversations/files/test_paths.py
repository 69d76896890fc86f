"""Paths, media types and contents of files."""

import pytest
from signalbox.conversations.files.paths import checked_media_type, checked_path, media_type_of
from signalbox.core.errors import RequestError
from signalbox.core.workspace import FileVersion, WorkspaceFile, is_image

PNG = b"\x89PNG\r\n\x1a\n" + bytes(8)


@pytest.mark.parametrize("path", ["index.html", "css/a b.css", "Äpfel/😀.txt", "a", ".env", "a" * 200])
def test_relative_paths_are_accepted(path: str) -> None:
    """A path may have folders, spaces and letters of all languages."""
    assert checked_path(path) == path


@pytest.mark.parametrize(
    "path",
    [
        *("", "/etc/passwd", "../a", "a/../b", "a//b", "a/", "./a", "a\\b", "C:/a", "c:a"),
        *("a\0b", "a\nb", "a\u202eb", "a\u200bb", "\ud800", " a", "a /b", "a" * 201),
    ],
)
def test_other_paths_are_rejected(path: str) -> None:
    """A path is relative, without empty parts, parents and invisible characters; the error says what to use."""
    with pytest.raises(RequestError, match=r"^path: use ") as caught:
        checked_path(path)
    assert caught.value.field == "path"


@pytest.mark.parametrize(
    ("path", "media_type"),
    [
        ("index.html", "text/html"),
        ("a/B.CSS", "text/css"),
        ("logo.svg", "image/svg+xml"),
        ("photo.JPG", "image/jpeg"),
        ("notes", "text/plain"),
        ("html", "text/plain"),
        ("x.unknown", "text/plain"),
        ("v1.2/readme", "text/plain"),
    ],
)
def test_the_ending_decides_the_media_type(path: str, media_type: str) -> None:
    """Unknown endings are plain text."""
    assert media_type_of(path) == media_type


def test_contents_are_text_or_images() -> None:
    """An image is what its first bytes say, and everything else must be UTF-8."""
    assert checked_media_type("a.jpg", PNG) == "image/png"
    assert checked_media_type("made", PNG, "image/png") == "image/png"
    assert checked_media_type("a.svg", b"<svg/>") == "image/svg+xml"
    assert checked_media_type("a.txt", "é\0".encode()) == "text/plain"
    with pytest.raises(RequestError, match="no PNG, JPEG, WebP or GIF image"):
        checked_media_type("a.png", b"<svg/>")
    with pytest.raises(RequestError, match="not UTF-8 text"):
        checked_media_type("a.txt", PNG)


def test_svg_is_text() -> None:
    """SVG is text for the model, and an image has no text."""
    assert not is_image("image/svg+xml")
    svg = FileVersion("a.svg", 1, "image/svg+xml", 6, "model", 0.0, "n")
    png = FileVersion("a.png", 1, "image/png", 16, "model", 0.0, "n")
    assert WorkspaceFile(svg, b"<svg/>").text == "<svg/>"
    assert WorkspaceFile(png, PNG).text is None
