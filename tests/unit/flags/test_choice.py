"""The order in which kill switch, header, override and environment choose the loop; percentages are sticky."""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from signalbox.core.events import LoopName
from signalbox.flags.choice import bucket, choose_loop
from signalbox.flags.override import Override

OFF, ON = Override("off"), Override("on")
OVERRIDES = [None, OFF, ON, Override("percent", 0), Override("percent", 50), Override("percent", 100)]
ASKED: list[LoopName | None] = [None, "v2", "legacy"]
KEYS = [f"conversation-{n}" for n in range(20_000)]


def chosen(environment: bool | None, override: Override | None, asked: LoopName | None = None) -> tuple[str, str]:
    """Return the loop and reason for any key, after checking that the variant is the loop."""
    choice = choose_loop(environment, override, "some-key", asked)
    assert choice.flag.variant == choice.loop
    return choice.loop, str(choice.flag.reason)


@pytest.mark.parametrize(("override", "asked"), [*product(OVERRIDES, ASKED)])
def test_the_kill_switch_overrides_everything(override: Override | None, asked: LoopName | None) -> None:
    """`TOOL_LOOP_V2=false` means legacy, whatever the override or a header says."""
    assert chosen(False, override, asked) == ("legacy", "DISABLED")


@pytest.mark.parametrize(("environment", "override"), [*product([None, True], OVERRIDES)])
@pytest.mark.parametrize("asked", ["v2", "legacy"])
def test_the_header_precedes_the_override(environment: bool | None, override: Override | None, asked: LoopName) -> None:
    """If headers count, the request's header has priority over the override."""
    assert chosen(environment, override, asked) == (asked, "TARGETING_MATCH")


@pytest.mark.parametrize("environment", [None, True])
def test_the_override_precedes_the_environment(environment: bool | None) -> None:
    """The override has priority over `TOOL_LOOP_V2=true`."""
    assert chosen(environment, OFF) == ("legacy", "STATIC")
    assert chosen(environment, ON) == ("v2", "STATIC")
    assert chosen(environment, Override("percent", 0)) == ("legacy", "SPLIT")
    assert chosen(environment, Override("percent", 100)) == ("v2", "SPLIT")


def test_the_environment_precedes_the_default() -> None:
    """Without an override, `true` and an unset variable both mean V2; the reason shows which it was."""
    assert chosen(True, None) == ("v2", "STATIC")
    assert chosen(None, None) == ("v2", "DEFAULT")


def on_v2(percent: int) -> set[str]:
    """Return the keys that a percentage puts on V2."""
    return {key for key in KEYS if choose_loop(None, Override("percent", percent), key).loop == "v2"}


@pytest.mark.parametrize("percent", [0, 1, 5, 10, 25, 50, 75, 90, 99, 100])
def test_a_percentage_is_accurate(percent: int) -> None:
    """Over 20,000 conversations a percentage is accurate to within one point; 0 and 100 are exact."""
    share = len(on_v2(percent)) / len(KEYS) * 100
    assert abs(share - percent) < (1 if 0 < percent < 100 else 1e-9)


def test_raising_the_percentage_moves_no_conversation_off_v2() -> None:
    """A larger percentage includes the smaller one, so a growing rollout never moves a conversation back."""
    before: set[str] = set()
    for percent in range(0, 101, 5):
        now = on_v2(percent)
        assert before <= now
        before = now
    assert before == set(KEYS)


@given(st.text(), st.integers(0, 100))
def test_a_conversation_keeps_its_loop(key: str, percent: int) -> None:
    """A key always gets the same loop at the same percentage."""
    override = Override("percent", percent)
    assert choose_loop(None, override, key) == choose_loop(True, override, key)
    assert 0 <= bucket(key) < 10_000


def test_buckets_never_change() -> None:
    """A change of these numbers would move active conversations to the other loop."""
    assert [bucket(key) for key in ("", "conversation-1", "é")] == PLACES


PLACES = [4659, 9686, 4548]
