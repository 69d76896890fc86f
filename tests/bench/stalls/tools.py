"""Hostile results of tools: of the app's own, and of a plugin on its thread."""

from collections.abc import Callable

from tests.bench.stalls.shapes import SHAPES, Shape, Target
from tests.support.hostile.tool_results import RESULTS


def _calling(name: str, kind: str) -> Callable[[Target, int], str]:
    """Ask a model that calls the tool which returns this."""

    def drive(target: Target, size: int) -> str:
        return target.ask({"model": f"tool/{name}/{kind}-{size}", "prompt": "Go on.", "tools": [name]})

    return drive


for _label, _name in (("tool", "returns"), ("plugin", "plugin_returns")):
    for _kind in RESULTS:
        SHAPES[f"{_label} returns: {_kind}"] = Shape(f"{_label} returns: {_kind}", _calling(_name, _kind))
