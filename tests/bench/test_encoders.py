"""The row that compares encoders without a server."""

from signalbox.app.protocols import PROTOCOLS

from tests.bench.encoders import encoder_figures, figure_name
from tests.bench.goals import goal_of


def test_every_encoder_is_compared() -> None:
    """With both sizes of batches, and the AI SDK's with its goal."""
    figures = {figure.name: figure for figure in encoder_figures(1)}
    names = {protocol.name for protocol in PROTOCOLS} - {"v1.1"}
    assert figures.keys() == {figure_name(name, size) for name in names for size in (40, 1)}
    assert all(figure.value > 0 for figure in figures.values())
    goal = goal_of(figures[figure_name("ai-sdk", 40)])
    assert goal is not None
    assert goal.reach == 1.5
