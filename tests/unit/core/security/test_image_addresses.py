"""Signed addresses of images: only what was signed with the same secret is valid."""

import pytest
from signalbox.core.security.image_addresses import PREFIX, ImageAddresses

SOURCE = "https://shop.example/ü.jpg?size=1&x=/..#a"
ADDRESSES = ImageAddresses(b"k" * 32)


def test_every_worker_with_the_secret_signs_and_verifies_alike() -> None:
    """The address is the same bytes in each worker and after a restart."""
    path = ADDRESSES.sign(SOURCE)
    assert path == ImageAddresses(b"k" * 32).sign(SOURCE)
    assert path.startswith(PREFIX)
    assert path.removeprefix(PREFIX).replace("-", "").replace("_", "").replace(".", "").isalnum()
    assert ADDRESSES.source_of(path.removeprefix(PREFIX)) == SOURCE


def test_another_secret_or_address_is_not_valid() -> None:
    """A signature allows exactly one address."""
    mac, _, address = ADDRESSES.sign(SOURCE).removeprefix(PREFIX).partition(".")
    other = ADDRESSES.sign("https://other.example/").partition(".")[2]
    for signed in (f"{mac}.{other}", f"{mac[:-4]}.{address}", f".{address}", mac, "", ".", "ü.ü", f"{mac}.{address}A"):
        assert ADDRESSES.source_of(signed) is None, signed
    assert ImageAddresses(b"other").source_of(f"{mac}.{address}") is None


@pytest.mark.parametrize("size", range(1, 9))
def test_addresses_of_every_length_come_back(size: int) -> None:
    """The encoding has no padding in the path."""
    source = "https://a.example/" + "x" * size
    path = ADDRESSES.sign(source)
    assert "=" not in path
    assert ADDRESSES.source_of(path.removeprefix(PREFIX)) == source
