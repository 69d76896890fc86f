"""Names of files that all systems can store."""

import pytest
from signalbox.tools.files.portable_names import path_key, unportable_part


@pytest.mark.parametrize(
    "path", ["index.html", "css/a b.css", "Äpfel/😀.txt", ".env", "console.log", "com.txt", "a.con"]
)
def test_ordinary_paths_are_portable(path: str) -> None:
    """Names that only resemble a device are allowed."""
    assert unportable_part(path) == ""


@pytest.mark.parametrize(
    ("path", "words"),
    [
        *((f"a/b{character}c.txt", f"contains {character}") for character in '<>:"|?*'),
        *((name, "is the name of a device") for name in ("CON", "aux.txt", "a/Nul.tar.gz", "com1", "LPT9.md", "com¹")),
        *((name, "ends with a dot") for name in ("a.", "a./b", "...", "a ")),
    ],
)
def test_other_paths_are_not(path: str, words: str) -> None:
    """The reason names the part."""
    assert words in unportable_part(path)


def test_keys_ignore_case_and_the_form_of_accents() -> None:
    """Windows and macOS take these names for the same file."""
    assert len({path_key(path) for path in ("Caf\u00e9.md", "caf\u00e9.MD", "cafe\u0301.md")}) == 1
    assert path_key("a/b.md") != path_key("a/c.md")
