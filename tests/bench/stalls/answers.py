"""Hostile answers of an upstream: frames, text, calls, reasoning and errors, each as dear as they can be made."""

from collections.abc import Callable

from tests.bench.stalls.shapes import SHAPES, Shape, Target
from tests.support.hostile.shapes import SHAPES as HOSTILE

# What a shape counts, calls or details or frames, takes about so many bytes each.
_EACH = 100
_OFFERED = ["search_web"]


def _answer_shape(name: str) -> Callable[[Target, int], str]:
    """Ask a model whose upstream answers in this shape."""
    family = "qwen" if name.startswith("think") else "hostile"
    unit = 1 if HOSTILE[name].unit == "bytes" else _EACH

    def drive(target: Target, size: int) -> str:
        # Written byte by byte a megabyte would take a minute, of the upstream.
        most = size // 100 if HOSTILE[name].by_byte else size // unit
        return target.ask({"model": f"{family}/{name}-{most}", "prompt": "Go on.", "tools": _OFFERED})

    return drive


for _name in HOSTILE:
    SHAPES[f"upstream: {_name}"] = Shape(f"upstream: {_name}", _answer_shape(_name))
