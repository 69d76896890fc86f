"""The tables of names: what the conventions call the same thing."""

import pytest
from signalbox.core.parts import Usage
from signalbox.tracing.attributes import usage_attributes
from signalbox.tracing.names import CONVENTIONS


@pytest.mark.parametrize(
    ("convention", "name"),
    [
        ("latest", "gen_ai.usage.cache_write.input_tokens"),
        ("1.41", "gen_ai.usage.cache_creation.input_tokens"),
        ("openinference", "llm.token_count.prompt_details.cache_write"),
    ],
)
def test_tokens_written_to_a_cache(convention: str, name: str) -> None:
    """`latest` has renamed them."""
    found = usage_attributes(CONVENTIONS[convention], Usage(20, 5, cached=8, cache_written=4))
    assert found[name] == 4
    assert len([one for one in found if "cache_" in one]) == 2


def test_tokens_that_are_zero_are_left_out() -> None:
    """Only the two totals are always there; an unknown cost is none."""
    found = usage_attributes(CONVENTIONS["latest"], Usage(20, 0))
    assert found == {"gen_ai.usage.input_tokens": 20, "gen_ai.usage.output_tokens": 0}
