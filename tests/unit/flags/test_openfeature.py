"""The flag from an OpenFeature provider: a file in flagd's format, or the provider of this process."""

import json
import os
from collections import Counter
from collections.abc import Iterator, MutableMapping
from pathlib import Path
from typing import Any

import pytest
from openfeature import api
from openfeature.provider.in_memory_provider import InMemoryFlag, InMemoryProvider
from signalbox.flags.choice import choose_loop
from signalbox.flags.openfeature import OpenFeatureFlags, flags_of_file
from signalbox.flags.override import Override
from signalbox.flags.provider import Target
from structlog.testing import capture_logs

Log = list[MutableMapping[str, Any]]
ONE = Target("conversation-1", "v1.1", "anthropic", "token-1")


@pytest.fixture(autouse=True)
def _no_provider() -> Iterator[None]:  # pyright: ignore[reportUnusedFunction]
    yield
    api.clear_providers()


@pytest.fixture
def log() -> Iterator[Log]:
    """Return the lines that are logged."""
    with capture_logs() as lines:
        yield lines


def write(path: Path, *, default: str = "on", state: str = "ENABLED", targeting: object = None) -> None:
    """Write a file with the flag; its time differs from that of each earlier one."""
    flag = {"state": state, "variants": {"on": True, "off": False}, "defaultVariant": default}
    rule = {} if targeting is None else {"targeting": targeting}
    before = path.stat().st_mtime_ns if path.exists() else 0
    path.write_text(json.dumps({"flags": {"tool_loop_v2": {**flag, **rule}}}))
    os.utime(path, ns=(before + 10**9, before + 10**9))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return the path of a file with the flag on."""
    found = tmp_path / "flags.json"
    write(found)
    return found


def chosen(flags: OpenFeatureFlags, target: Target = ONE) -> tuple[str, str, str] | None:
    """Return loop, variant and reason."""
    choice = flags.choose(target)
    return (choice.loop, choice.flag.variant, choice.flag.reason) if choice else None


def test_variant_and_reason_are_the_providers(path: Path) -> None:
    """`done.flag` shows them."""
    flags = flags_of_file(path)
    assert chosen(flags) == ("v2", "on", "STATIC")
    write(path, default="off")
    assert chosen(flags) == ("legacy", "off", "STATIC")


def test_rules_may_use_protocol_family_and_owner(path: Path) -> None:
    """The names of the evaluation context are part of the documentation."""
    both = {"and": [{"==": [{"var": "family"}, "anthropic"]}, {"==": [{"var": "owner"}, "token-1"]}]}
    write(path, default="off", targeting={"if": [both, "on", None]})
    flags = flags_of_file(path)
    assert chosen(flags) == ("v2", "on", "TARGETING_MATCH")
    assert chosen(flags, Target("conversation-1", "v1.1", "google", "token-1")) == ("legacy", "off", "DEFAULT")
    write(path, default="off", targeting={"if": [{"==": [{"var": "protocol"}, "ag-ui"]}, "on", None]})
    assert chosen(flags, Target("conversation-1", "ag-ui")) == ("v2", "on", "TARGETING_MATCH")


def test_a_share_is_sticky_per_conversation(path: Path) -> None:
    """Flagd's `fractional` uses the targeting key: the conversation."""
    write(path, targeting={"fractional": [["on", 25], ["off", 75]]})
    flags = flags_of_file(path)
    first = [chosen(flags, Target(f"conversation-{n}")) for n in range(400)]
    assert first == [chosen(flags, Target(f"conversation-{n}")) for n in range(400)]
    loops = Counter(one[0] for one in first if one is not None)
    assert 60 < loops["v2"] < 140


@pytest.mark.parametrize("default", ["on", "off"])
def test_a_disabled_flag_is_legacy(path: Path, default: str) -> None:
    """Who disables the flag does not turn V2 on."""
    write(path, default=default, state="DISABLED")
    assert chosen(flags_of_file(path)) == ("legacy", "legacy", "DISABLED")


def test_an_unknown_default_is_an_invalid_file(path: Path, log: Log) -> None:
    """At the start it is an error; after a change, the last flags stay."""
    write(path, default="off")
    flags = flags_of_file(path)
    write(path, default="nosuch")
    assert chosen(flags) == ("legacy", "off", "STATIC")
    assert [line["event"] for line in log] == ["flag.file_unreadable"]
    with pytest.raises(ValueError, match="not one of its variants"):
        flags_of_file(path)


def test_a_broken_file_keeps_the_last_flags(path: Path, log: Log) -> None:
    """It is logged once; a corrected file counts again."""
    write(path, default="off")
    flags = flags_of_file(path)
    path.write_text("{")
    assert [chosen(flags), chosen(flags)] == [("legacy", "off", "STATIC")] * 2
    path.unlink()
    assert chosen(flags) == ("legacy", "off", "STATIC")
    assert [line["event"] for line in log] == ["flag.file_unreadable"]
    write(path)
    assert chosen(flags) == ("v2", "on", "STATIC")


@pytest.mark.parametrize("text", ["", "[]", '{"flags": []}', '{"flags": {"tool_loop_v2": {"state": "?"}}}'])
def test_an_invalid_file_is_an_error_at_the_start(tmp_path: Path, text: str) -> None:
    """The server must not start with a flag that it cannot evaluate."""
    path = tmp_path / "flags.json"
    path.write_text(text)
    with pytest.raises(ValueError):  # noqa: PT011 - the setting's message says it in our words
        flags_of_file(path)


def test_a_missing_flag_is_a_failure(tmp_path: Path, log: Log) -> None:
    """The run uses legacy then, with the reason ERROR; logged at the start and once later, and again when it works."""
    path = tmp_path / "flags.json"
    path.write_text('{"flags": {}}')
    flags = flags_of_file(path)
    assert [chosen(flags), chosen(flags)] == [None, None]
    choice = choose_loop(None, None, "key", provided=lambda: flags.choose(ONE))
    assert (choice.loop, choice.flag.reason) == ("legacy", "ERROR")
    os.utime(path, ns=(0, 0))
    write(path)
    assert chosen(flags) == ("v2", "on", "STATIC")
    assert [line["event"] for line in log] == [
        "flag.not_in_file",
        "flag.provider_failed",
        "flag.provider_available",
    ]
    assert log[1]["error"] == "FLAG_NOT_FOUND"


def test_the_provider_of_the_process(log: Log) -> None:
    """A program that embeds Signalbox sets it, like for its other flags."""
    api.set_provider(InMemoryProvider({"tool_loop_v2": InMemoryFlag("no", {"yes": True, "no": False})}))
    assert chosen(OpenFeatureFlags()) == ("legacy", "no", "STATIC")


def test_a_flag_of_another_type_is_a_failure(log: Log) -> None:
    """A string is not a boolean."""
    api.set_provider(InMemoryProvider({"tool_loop_v2": InMemoryFlag("a", {"a": "v2"})}))
    assert chosen(OpenFeatureFlags()) is None


@pytest.mark.parametrize(
    ("environment", "override", "expected"),
    [
        (False, None, ("legacy", "DISABLED")),
        (None, Override("off"), ("legacy", "STATIC")),
        (None, Override("percent", 0), ("legacy", "SPLIT")),
        (True, None, ("v2", "TARGETING_MATCH")),
    ],
)
def test_kill_switch_and_override_precede_the_provider(
    environment: bool | None, override: Override | None, expected: tuple[str, str]
) -> None:
    """Taking V2 back never waits for another system."""
    provided = choose_loop(None, None, "", "v2")
    choice = choose_loop(environment, override, "key", provided=lambda: provided)
    assert (choice.loop, choice.flag.reason) == expected
