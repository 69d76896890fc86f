"""The goals of the figures: `reach` must be met, `aim` is stricter."""

from dataclasses import dataclass
from typing import Literal

from tests.bench.dialects import NATIVE, figure_name
from tests.bench.dialects import ROW as DIALECTS
from tests.bench.figures import PER_V1, Figure
from tests.bench.growth import MARKED_ABOVE
from tests.bench.loads import PAGES
from tests.bench.metrics import LOADS as MEASURED
from tests.bench.metrics import ROW as METRICS
from tests.bench.metrics import STORED
from tests.bench.metrics import figure_name as metrics_figure
from tests.bench.variants import PER_TEXT, WIRE
from tests.bench.variants import ROW as VARIANTS

Rating = Literal["aimed", "reached", "missed", "grows", ""]


@dataclass(frozen=True, slots=True)
class Goal:
    """The largest allowed value of a figure, and the value to aim at."""

    reach: float
    aim: float | None = None

    def rating(self, value: float) -> Rating:
        """Return which part of the goal a value meets."""
        if value > self.reach:
            return "missed"
        return "aimed" if self.aim is not None and value <= self.aim else "reached"


# By row and figure, in the figure's unit. Ratios to the Python relay have no goal.
GOALS = {
    ("burst", "CPU-s per 100k events"): Goal(0.75, 0.6),
    ("burst", "CPU ÷ nginx"): Goal(9.0),
    ("burst", PER_V1): Goal(1.3),
    ("paced", PER_V1): Goal(1.3),
    **{("pages", f"{page} CPU ÷ v1.1"): Goal(1.5) for page in PAGES},
    ("encoders", "ai-sdk ÷ v1.1, batches of 40"): Goal(1.5),
    ("encoders", "ai-sdk ÷ v1.1, batches of 1"): Goal(1.5),
    ("encoders", "assistant-ui ÷ v1.1, batches of 40"): Goal(1.5),
    ("encoders", "assistant-ui ÷ v1.1, batches of 1"): Goal(1.5),
    ("encoders", "assistant-transport ÷ v1.1, batches of 40"): Goal(1.5),
    ("encoders", "assistant-transport ÷ v1.1, batches of 1"): Goal(1.5),
    ("encoders", "ag-ui ÷ v1.1, batches of 40"): Goal(1.5),
    ("encoders", "ag-ui ÷ v1.1, batches of 1"): Goal(1.5),
    **{(DIALECTS, figure_name(name, load)): Goal(1.3) for name in NATIVE for load in ("burst", "paced")},
    **{(METRICS, metrics_figure(stored, load)): Goal(1.05, 1.02) for stored in STORED for load in MEASURED},
    (VARIANTS, PER_TEXT): Goal(1.2, 1.0),
    (VARIANTS, WIRE): Goal(1.2),
    ("runner", "library CPU ÷ server loop"): Goal(1.2, 1.0),
    ("paced", "CPU-s per 100k events"): Goal(6.0, 4.0),
    ("paced", "CPU ÷ nginx"): Goal(4.0, 3.0),
    ("paced", "added p50"): Goal(0.4, 0.3),
    ("paced", "added p99"): Goal(2.0, 1.3),
    ("one", "first event over upstream's"): Goal(1.5, 1.0),
    ("tools", "run over upstream's"): Goal(3.0, 2.5),
    ("args", "whole run"): Goal(0.3, 0.25),
    ("eager", "whole run"): Goal(520, 510),
    ("memory", "per open stream"): Goal(60, 45),
    ("churn", "failed"): Goal(0, 0),
    ("churn", "first event p99"): Goal(30, 20),
    ("start", "ready"): Goal(2.0, 1.0),
    ("start", "idle memory"): Goal(110, 80),
}


def goal_of(figure: Figure) -> Goal | None:
    """Return the goal of a figure, or None."""
    return GOALS.get((figure.row, figure.name))


def rating_of(figure: Figure) -> Rating:
    """Return how a figure meets its goal; `grows` marks a cost that grows faster than linearly."""
    goal = goal_of(figure)
    if goal is not None:
        return goal.rating(figure.value)
    return "grows" if figure.row.startswith("grow-") and figure.unit == "×" and figure.value > MARKED_ABOVE else ""
