"""The reference pages of the Python packages are current, and lack no public name."""

import pytest

from tests.project.docs.pages import page
from tests.project.docs.reference import REFERENCES, Reference

EACH = pytest.mark.parametrize("reference", REFERENCES, ids=lambda one: one.file)


@EACH
def test_a_reference_is_current(reference: Reference) -> None:
    """`./just docs` would change nothing."""
    assert reference.text() == page(reference.file).text


@EACH
def test_a_reference_has_every_public_name(reference: Reference) -> None:
    """Each name is in one section, and each attribute of a class has a type."""
    assert sorted(reference.names) == sorted(reference.exported)
    rows = [line.split(" | ") for line in page(reference.file).text.splitlines() if line.startswith("| `")]
    assert [row[0] for row in rows if not row[1].startswith("`")] == []
