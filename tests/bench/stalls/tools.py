"""Hostile results of tools: of built-in tools and of a plugin in its thread."""

from collections.abc import Callable

from tests.bench.stalls.shapes import SHAPES, Shape, Target
from tests.support.hostile.tool_results import RESULTS


def _calling(name: str, kind: str) -> Callable[[Target, int], str]:
    """Return a function that asks a model to call a tool with this result."""

    def drive(target: Target, size: int) -> str:
        return target.ask({"model": f"tool/{name}/{kind}-{size}", "prompt": "Go on.", "tools": [name]})

    return drive


for _label, _name in (("tool", "returns"), ("plugin", "plugin_returns")):
    for _kind in RESULTS:
        SHAPES[f"{_label} returns: {_kind}"] = Shape(f"{_label} returns: {_kind}", _calling(_name, _kind))
