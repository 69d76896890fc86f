"""The stored comparisons of shadow mode, for the report of `signalbox parity --shadow`."""

from typing import cast

from signalbox.core.messages import JsonObject
from signalbox.replay.differences import Difference, Kind
from signalbox.replay.parity import Comparison
from signalbox.store.shadow_runs import ShadowRun

# The outcomes of shadow runs that were compared.
COMPARED = frozenset({"same", "expected", "unexpected"})
_NOT_STORED = "not stored, because it quotes the run; see signalbox replay {}"


def comparison_of(run: ShadowRun) -> Comparison:
    """Return the comparison of a run with its repetition, named by the run's id and model."""
    found = [_difference(one, run.run_id) for one in run.differences]
    return Comparison(f"{run.run_id} {run.model}", run.model, found, about=f"made again on {run.loop}")


def _difference(stored: JsonObject, run_id: str) -> Difference:
    sides = [_NOT_STORED.format(run_id) if stored[loop] is None else str(stored[loop]) for loop in ("legacy", "v2")]
    why = cast("str | None", stored["why"])
    return Difference(cast("Kind", stored["kind"]), sides[0], sides[1], why)
