"""Where API keys are read from, and that no message quotes one."""

import os
from pathlib import Path

import pytest
from signalbox.services.upstreams.file import UpstreamsFileError, load_upstreams
from signalbox.services.upstreams.keys import KeyFault, read_key

NO_VARIABLES: dict[str, str] = {}


def test_a_key_of_the_environment() -> None:
    """Whitespace around it is ignored."""
    assert read_key("env:ACME_KEY", {"ACME_KEY": " key-1\n"}.get, Path()) == "key-1"


def test_a_key_file_is_found_beside_the_toml_file(tmp_path: Path) -> None:
    """A relative path begins in the folder of upstreams.toml; an absolute one works, too."""
    (tmp_path / "acme.key").write_text("key-2\n", encoding="utf-8")
    assert read_key("file:acme.key", NO_VARIABLES.get, tmp_path) == "key-2"
    assert read_key(f"file:{tmp_path / 'acme.key'}", NO_VARIABLES.get, Path()) == "key-2"


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("env:ACME_KEY", "the environment variable ACME_KEY is not set"),
        ("env:TWO_WORDS", "the key in TWO_WORDS must be one word of printable ASCII"),
        ("env:EMPTY", "the environment variable EMPTY is not set"),
        ("file:missing.key", "the key file missing.key cannot be read: No such file or directory"),
        ("file:empty.key", "the key file empty.key is empty"),
        ("file:binary.key", "the key file binary.key is not UTF-8"),
        ("file:large.key", "the key file large.key is larger than 64 KiB"),
        ("file:folder", "the key file folder cannot be read: Is a directory"),
        ("file:pipe.key", "the key file pipe.key cannot be read: it is not a regular file"),
        ("file:a\0b", "file: takes the path of a file"),
    ],
)
def test_a_fault_is_a_clause_without_the_key(tmp_path: Path, source: str, words: str) -> None:
    """It names the variable or the file."""
    (tmp_path / "empty.key").write_text("\n", encoding="utf-8")
    (tmp_path / "binary.key").write_bytes(b"\xff\xfe")
    (tmp_path / "large.key").write_bytes(b"k" * (64 * 1024 + 1))
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe.key")
    variables = {"TWO_WORDS": "secret-1 secret-2", "EMPTY": " "}
    with pytest.raises(KeyFault) as raised:
        read_key(source, variables.get, tmp_path)
    assert str(raised.value).startswith(words)
    assert "secret" not in str(raised.value)


def test_the_file_names_the_line_of_a_missing_key(tmp_path: Path) -> None:
    """The keys that are found are kept by upstream, and are not shown."""
    entry = '[[upstream]]\nname = "{0}"\ndialect = "openai-chat"\nbase_url = "http://127.0.0.1:9/v1"\nkey = "env:{1}"\n'
    path = tmp_path / "upstreams.toml"
    path.write_text(entry.format("a", "A_KEY") + entry.format("b", "B_KEY"), encoding="utf-8")
    with pytest.raises(UpstreamsFileError, match=r"^upstreams\.toml, line 10: the environment variable B_KEY"):
        load_upstreams(path, {"A_KEY": "key-a"}.get)
    loaded = load_upstreams(path, {"A_KEY": "key-a", "B_KEY": "key-b"}.get)
    assert loaded.keys == {"a": "key-a", "b": "key-b"}
    assert "key-a" not in repr(loaded)
