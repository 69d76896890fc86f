"""Hostile answers of an upstream: frames, text, calls, reasoning and errors that are expensive to process."""

from collections.abc import Callable

from tests.bench.stalls.shapes import SHAPES, Shape, Target
from tests.support.hostile.shapes import SHAPES as HOSTILE

# Approximate bytes of a call, detail or frame, for shapes that count those.
_EACH = 100
_OFFERED = ["search_web"]


def _answer_shape(name: str) -> Callable[[Target, int], str]:
    """Return a function that asks a model whose upstream answers in this shape."""
    family = "qwen" if name.startswith("think") else "hostile"
    unit = 1 if HOSTILE[name].unit == "bytes" else _EACH

    def drive(target: Target, size: int) -> str:
        # The upstream would take a minute to write a megabyte byte by byte.
        most = size // 100 if HOSTILE[name].by_byte else size // unit
        return target.ask({"model": f"{family}/{name}-{most}", "prompt": "Go on.", "tools": _OFFERED})

    return drive


for _name in HOSTILE:
    SHAPES[f"upstream: {_name}"] = Shape(f"upstream: {_name}", _answer_shape(_name))
