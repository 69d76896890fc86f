"""Which loop, and why: the order of who decides, and shares that stay with whom they fell on."""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from signalbox.core.events import LoopName
from signalbox.flags.choice import bucket, choose_loop
from signalbox.flags.override import Override

OFF, ON = Override("off"), Override("on")
LEVERS = [None, OFF, ON, Override("percent", 0), Override("percent", 50), Override("percent", 100)]
ASKED: list[LoopName | None] = [None, "v2", "legacy"]
KEYS = [f"conversation-{n}" for n in range(20_000)]


def chosen(environment: bool | None, lever: Override | None, asked: LoopName | None = None) -> tuple[str, str]:
    """Return loop and reason of some key, having checked that the variant is the loop."""
    choice = choose_loop(environment, lever, "some-key", asked)
    assert choice.flag.variant == choice.loop
    return choice.loop, str(choice.flag.reason)


@pytest.mark.parametrize(("lever", "asked"), [*product(LEVERS, ASKED)])
def test_the_kill_switch_beats_everything(lever: Override | None, asked: LoopName | None) -> None:
    """`TOOL_LOOP_V2=false`: legacy, whatever the lever or a header says."""
    assert chosen(False, lever, asked) == ("legacy", "DISABLED")


@pytest.mark.parametrize(("environment", "lever"), [*product([None, True], LEVERS)])
@pytest.mark.parametrize("asked", ["v2", "legacy"])
def test_then_comes_the_header(environment: bool | None, lever: Override | None, asked: LoopName) -> None:
    """Where headers count, the request's word goes before the lever."""
    assert chosen(environment, lever, asked) == (asked, "TARGETING_MATCH")


@pytest.mark.parametrize("environment", [None, True])
def test_then_comes_the_lever(environment: bool | None) -> None:
    """The lever goes before the environment's `true`."""
    assert chosen(environment, OFF) == ("legacy", "STATIC")
    assert chosen(environment, ON) == ("v2", "STATIC")
    assert chosen(environment, Override("percent", 0)) == ("legacy", "SPLIT")
    assert chosen(environment, Override("percent", 100)) == ("v2", "SPLIT")


def test_then_comes_the_environment_and_then_the_default() -> None:
    """Without a lever `true` means V2, and so does unset: the reason says which it was."""
    assert chosen(True, None) == ("v2", "STATIC")
    assert chosen(None, None) == ("v2", "DEFAULT")


def on_v2(percent: int) -> set[str]:
    """Return the keys that a share puts on V2."""
    return {key for key in KEYS if choose_loop(None, Override("percent", percent), key).loop == "v2"}


@pytest.mark.parametrize("percent", [0, 1, 5, 10, 25, 50, 75, 90, 99, 100])
def test_a_share_is_about_what_it_says(percent: int) -> None:
    """Over 20,000 conversations a share misses its number by less than one in a hundred; 0 and 100 are exact."""
    share = len(on_v2(percent)) / len(KEYS) * 100
    assert abs(share - percent) < (1 if 0 < percent < 100 else 1e-9)


def test_raising_the_share_takes_nobody_off_v2() -> None:
    """Each larger share holds the smaller one, so a growing rollout never moves anybody back."""
    before: set[str] = set()
    for percent in range(0, 101, 5):
        now = on_v2(percent)
        assert before <= now
        before = now
    assert before == set(KEYS)


@given(st.text(), st.integers(0, 100))
def test_a_conversation_keeps_its_loop(key: str, percent: int) -> None:
    """Any key, any share: asked again, the same."""
    lever = Override("percent", percent)
    assert choose_loop(None, lever, key) == choose_loop(True, lever, key)
    assert 0 <= bucket(key) < 10_000


def test_places_are_the_same_for_ever() -> None:
    """A change of these numbers would move running conversations to another loop."""
    assert [bucket(key) for key in ("", "conversation-1", "é")] == PLACES


PLACES = [4659, 9686, 4548]
