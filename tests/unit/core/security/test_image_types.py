"""The type of an image by its first bytes."""

import pytest
from signalbox.core.security.image_types import image_type

IMAGES = {
    "png": b"\x89PNG\r\n\x1a\n",
    "jpeg": b"\xff\xd8\xff\xe0rest",
    "gif": b"GIF89arest",
    "webp": b"RIFF\x04\0\0\0WEBPrest",
    "avif": b"\0\0\0\x1cftypavifrest",
}


@pytest.mark.parametrize("kind", IMAGES)
def test_the_first_bytes_decide(kind: str) -> None:
    """Every type that browsers show."""
    assert image_type(IMAGES[kind]) == kind


def test_a_compatible_brand_is_enough() -> None:
    """The main brand of an AVIF file may be that of the container."""
    assert image_type(b"\0\0\0\x20ftypmif1\0\0\0\0mif1avifmiaf") == "avif"


@pytest.mark.parametrize(
    "other", [b"", b"<svg xmlns='http://www.w3.org/2000/svg'/>", b"<html>", b"RIFF\0\0\0\0WAVE", b"\0\0\0\x1cftypmp42"]
)
def test_other_files_are_no_images(other: bytes) -> None:
    """SVG and HTML can contain scripts."""
    assert image_type(other) is None
