"""The row `variants`: which loads it compares, and its figures."""

from types import SimpleNamespace
from typing import Any, cast

import pytest

from tests.bench import variants
from tests.bench.goals import GOALS
from tests.bench.rig import Rig

# CPU seconds and bytes of four streams, by kind of load.
COSTS = {"text": (0.2, 400_000), "plain": (0.1, 300_000), "files": (0.15, 280_000)}


def test_files_are_compared_with_text_and_with_runs_without_previews(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only one load asks for previews, and each round asks in new conversations."""
    asked: dict[str, dict[str, Any]] = {}

    def run(server: object, conversation: str, question: dict[str, Any]) -> tuple[float, int]:
        assert conversation not in asked
        asked[conversation] = question
        kind = "files" if question.get("previews") else "plain" if question["tools"] else "text"
        return COSTS[kind]

    monkeypatch.setattr(variants, "_run", run)
    ended: list[object] = []
    rig = SimpleNamespace(python_upstream=lambda: None, server=lambda *_, **__: "server", end=ended.append)
    figures = {figure.name: figure for figure in variants.variants_figures(cast("Rig", rig), 3)}
    assert {name: figure.values for name, figure in figures.items()} == {
        "CPU of a file": pytest.approx((37.5,) * 3),
        variants.PER_TEXT: pytest.approx((0.75,) * 3),
        variants.PER_PLAIN: pytest.approx((1.5,) * 3),
        variants.WIRE: pytest.approx((280_000 / 240_000,) * 3),
    }
    assert {name for row, name in GOALS if row == variants.ROW} <= set(figures)
    assert len(asked) == 1 + 3 * len(COSTS)
    assert {question["model"] for name, question in asked.items() if "-text-" in name} == {"bench/paced-2000-3003"}
    assert ended == ["server"]
