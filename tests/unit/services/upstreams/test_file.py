"""upstreams.toml: what it may contain, and that each fault is reported with its line."""

import os
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from signalbox.services.upstreams.file import LoadedUpstreams, UpstreamsFileError, parse_upstreams, read_upstreams

GOOD = """\
# Our upstreams.
[[upstream]]
name = "local"
dialect = "openai-chat"
base_url = "http://127.0.0.1:11434/v1"
models = ["llama*"]
listed = ["llama3.3"]
timeout = 60

[[upstream]]
name = "openrouter"
dialect = "openrouter-chat"
base_url = "https://openrouter.ai/api/v1"
key = "env:OPENROUTER_API_KEY"
headers = { x-team = "chat" }
rename = { "fast" = "openai/gpt-4o-mini", "or/*" = "*" }

[upstream.prices]
"openai/gpt-4o-mini" = { prompt = 0.15, completion = 0.6, cached = 0.075 }

[[route]]
models = "llama*"
use = ["local", "openrouter"]
"""


def test_a_whole_file() -> None:
    """Every field has its value, and patterns match as a shell's do."""
    file = parse_upstreams(GOOD.encode(), "upstreams.toml")
    local, openrouter = file.upstream
    assert (local.serves("llama3.3"), local.serves("openai/gpt-4o")) == (True, False)
    assert (openrouter.serves("anything/else"), local.timeout, local.listed) == (True, 60.0, ("llama3.3",))
    assert [openrouter.name_of(model) for model in ("fast", "or/openai/o3", "x")] == [
        "openai/gpt-4o-mini",
        "openai/o3",
        "x",
    ]
    assert openrouter.prices["openai/gpt-4o-mini"].cached == 0.075
    assert file.route[0].use == ("local", "openrouter")


def test_models_are_listed_under_the_ids_of_clients() -> None:
    """Every id that is renamed to the upstream's, and its own id if clients may use it."""
    _, openrouter = parse_upstreams(GOOD.encode(), "upstreams.toml").upstream
    assert openrouter.models_of("openai/gpt-4o-mini") == ["fast", "or/openai/gpt-4o-mini", "openai/gpt-4o-mini"]
    assert openrouter.models_of("openai/o3") == ["or/openai/o3", "openai/o3"]
    price = openrouter.prices_of("fast")
    assert price is not None
    assert (price.prompt, openrouter.prices_of("openai/o3")) == (0.15 / 1_000_000, None)


@pytest.mark.parametrize(
    ("old", "new", "line", "words"),
    [
        ('dialect = "openai-chat"', 'dialect = "ollama"', 4, "there is no dialect 'ollama'; there are"),
        ('name = "openrouter"', 'name = "local"', 11, "two upstreams have the name 'local'"),
        ('name = "local"', 'name = "My Host"', 3, "matching regex"),
        ('name = "local"\n', "", 2, "missing required field 'name'"),
        ('base_url = "https://openrouter.ai/api/v1"', 'base_url = "openrouter.ai"', 13, "base_url must be a URL"),
        ("https://openrouter", "https://me:secret@openrouter", 13, "base_url must not contain credentials"),
        ('"env:OPENROUTER_API_KEY"', '"sk-or-v1-secret"', 14, "do not write the key itself"),
        ("timeout = 60", "timeout = 0", 8, "timeout: expected number > 0"),
        ("timeout = 60", 'timeout = "60"', 8, "timeout: expected number, got text"),
        ("timeout = 60", "timeuot = 60", 8, "unknown field 'timeuot'"),
        ("prompt = 0.15", "prompt = -1", 19, "prices[...].prompt: expected number >= 0"),
        ('x-team = "chat"', 'x-team = "a\\nb"', 15, "one line of printable ASCII"),
        ("x-team", "Content-Length", 15, "Signalbox sets the header 'Content-Length'"),
        ("x-team", "transfer-encoding", 15, "Signalbox sets the header 'transfer-encoding'"),
        ('"or/*" = "*"', '"o*r" = "x"', 16, "only the last character may be *"),
        ('"or/*" = "*"', '"or/*" = "\\u001b[2J*"', 16, "contains a character that cannot be shown"),
        ('listed = ["llama3.3"]', 'listed = ["llama\\u00073.3"]', 7, "contains a character that cannot be shown"),
        (
            'use = ["local", "openrouter"]',
            'use = ["local", "azure"]',
            23,
            "there is no upstream 'azure'",
        ),
        ('use = ["local", "openrouter"]', 'use = ["local", "local"]', 23, "twice"),
        ('use = ["local", "openrouter"]', "use = []", 23, "use: expected list of length >= 1"),
        ("[[route]]", "[[routes]]", 21, "unknown field 'routes'"),
        ("[[route]]", "[route]", 21, "write [[route]], in double brackets"),
    ],
)
def test_a_fault_has_its_line(old: str, new: str, line: int, words: str) -> None:
    """The sentence names the file, the line, the fault and what is possible, and never shows a key."""
    assert old in GOOD
    with pytest.raises(UpstreamsFileError) as caught:
        parse_upstreams(GOOD.replace(old, new, 1).encode(), "upstreams.toml")
    assert str(caught.value).startswith(f"upstreams.toml, line {line}: "), caught.value
    assert words in str(caught.value)
    assert "secret" not in str(caught.value)


def test_a_byte_order_mark_is_ignored() -> None:
    """Some editors write one at the beginning of a file."""
    assert parse_upstreams(b"\xef\xbb\xbf" + GOOD.encode(), "upstreams.toml").upstream


def test_what_is_no_such_file(tmp_path: Path) -> None:
    """A missing file, a large one, other encodings and other formats are sentences, too."""
    faults = {
        "cannot be read": None,
        "is not UTF-8": b"\xff\xfe",
        "is not TOML": b"[[upstream]\n",
        "larger than 256 KiB": b"#" * 300_000,
        "missing required field 'upstream'": b"",
    }
    for number, (words, data) in enumerate(faults.items()):
        path = tmp_path / f"{number}.toml"
        if data is not None:
            path.write_bytes(data)
        with pytest.raises(UpstreamsFileError, match=words):
            read_upstreams(path)


def test_a_pipe_blocks_nothing(tmp_path: Path) -> None:
    """Opening a pipe without a writer would wait for one, so only regular files are read."""
    os.mkfifo(tmp_path / "upstreams.toml")
    with pytest.raises(UpstreamsFileError, match=r"^upstreams\.toml cannot be read: it is not a regular file\.$"):
        read_upstreams(tmp_path / "upstreams.toml")
    with pytest.raises(UpstreamsFileError, match="cannot be read: Is a directory"):
        read_upstreams(tmp_path)


def test_secrets_are_keys_and_credentials_in_headers() -> None:
    """Values of other headers, and short ones, are no secrets."""
    text = GOOD.replace(
        'x-team = "chat"', 'x-team = "chat-team-1", "X-Api-Key" = "header-secret", authorization = "Basic dXNlcjpwYXNz"'
    )
    loaded = LoadedUpstreams(parse_upstreams(text.encode(), "upstreams.toml"), {"openrouter": "key-1"})
    assert loaded.secrets == ["key-1", "header-secret", "Basic dXNlcjpwYXNz", "dXNlcjpwYXNz"]


@given(st.binary(max_size=200) | st.text(max_size=200).map(str.encode))
def test_any_bytes(data: bytes) -> None:
    """Anything is a file or a sentence."""
    with suppress(UpstreamsFileError):
        parse_upstreams(b"[[upstream]]\n" + data, "upstreams.toml")
