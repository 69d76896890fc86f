"""The row `metrics` has a figure for each load and each way to store values."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from tests.bench import metrics
from tests.bench.goals import GOALS
from tests.bench.loads import Load
from tests.bench.outcome import Outcome, Percentiles
from tests.bench.rig import Rig

_COST = {"metrics-off": 1.0, "metrics-memory": 1.01, "metrics-files": 1.1}


class EmptyRig:
    """A rig without processes, on which a load costs what `_COST` says."""

    def __init__(self, folder: Path, failed: int = 0) -> None:
        self.folder, self.failed = folder, failed
        self.settings: dict[str, dict[str, str]] = {}
        self.spent = dict.fromkeys(_COST, 0.0)
        self.ended: list[str] = []

    def server(self, name: str, **settings: str) -> Any:
        self.settings[name] = settings
        return SimpleNamespace(name=name, port=1, cpu=lambda: self.spent[name])

    def end(self, child: Any) -> None:
        self.ended.append(child.name)

    def run_client(self, child: Any, load: Load, body: dict[str, Any], streams: int, path: str) -> Outcome:
        assert ("tools" in body) == (load.row == "tools")
        self.spent[child.name] += _COST[child.name]
        return Outcome(streams, self.failed, 0, 1.0, *[Percentiles(0.0, 0.0)] * 3)


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:  # pyright: ignore[reportUnusedFunction]
    monkeypatch.setattr(metrics, "SETTLE", 0)
    monkeypatch.setattr(metrics, "_scrape", lambda server: 2.0)


def test_each_load_is_compared_with_the_server_without(tmp_path: Path) -> None:
    """Only the measured servers have metrics, and one of them shares its values in files."""
    rig = EmptyRig(tmp_path)
    found = {figure.name: figure for figure in metrics.metrics_figures(cast("Rig", rig), 2, quick=True)}
    ratios = {name for row, name in GOALS if row == "metrics"}
    assert ratios | {"a scrape, values in memory", "a scrape, values in files"} == set(found)
    for name in ratios:
        assert found[name].values == pytest.approx((1.01, 1.01) if "memory" in name else (1.1, 1.1))
    has_token, has_files = "SIGNALBOX_METRICS_TOKEN", "PROMETHEUS_MULTIPROC_DIR"
    assert {name: (has_token in given, has_files in given) for name, given in rig.settings.items()} == {
        "metrics-off": (False, False),
        "metrics-memory": (True, False),
        "metrics-files": (True, True),
    }
    assert set(rig.ended) == set(_COST)


def test_a_failed_stream_ends_the_row(tmp_path: Path) -> None:
    """Its CPU time would be of another load."""
    rig = EmptyRig(tmp_path, failed=1)
    with pytest.raises(RuntimeError, match="1 streams failed"):
        metrics.metrics_figures(cast("Rig", rig), 1, quick=True)
    assert set(rig.ended) == set(_COST)
