"""The table of quirks is complete, and every quirk has a test."""

import re

from signalbox.simulator import quirks
from signalbox.simulator.faults.scripted import example_ids, fault_of

from tests.unit.simulator.quirks.test_call_contents import CONTENTS
from tests.unit.simulator.quirks.test_call_deltas import CALLS
from tests.unit.simulator.quirks.test_final_answers import STREAMED as FINAL_ANSWERS
from tests.unit.simulator.quirks.test_leaked_calls import MARKUPS
from tests.unit.simulator.quirks.test_limits import CUT, REJECTED
from tests.unit.simulator.quirks.test_limits import STREAMED as LIMITS
from tests.unit.simulator.quirks.test_reasoning import STREAMED as REASONING
from tests.unit.simulator.quirks.test_transport import STREAMED as TRANSPORT


def test_the_table_names_every_quirk() -> None:
    """The table in the docstring, the code and the catalogue have the same quirks."""
    rows = [line.split("|")[1].strip() for line in (quirks.__doc__ or "").splitlines() if re.match(r"\| [a-f]\d", line)]
    documented = {name.replace("-D", f"-{markup}") for name in rows for markup in MARKUPS}
    assert documented == set(quirks.QUIRKS)
    assert {f"sim-quirk-{name}" for name in quirks.QUIRKS} <= set(example_ids())
    assert all(fault_of(f"qwen/sim-quirk-{name}:free") for name in quirks.QUIRKS)
    assert fault_of("openai/sim-quirk-a99") is None


def test_every_quirk_has_a_test() -> None:
    """Each quirk is in a table or in a test of this folder."""
    tables = {*CALLS, *CONTENTS, *REASONING, *FINAL_ANSWERS, *TRANSPORT, *LIMITS, *REJECTED, CUT}
    leaks = {f"a11-{name}{end}" for name in MARKUPS for end in ("", "-split")} | {"a11-finalize", "a11-finalize-bare"}
    always = {name for name in quirks.QUIRKS if name.startswith("a13") and name.endswith("-always")}
    assert tables | leaks | always == set(quirks.QUIRKS)
