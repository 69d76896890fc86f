"""Signalbox: one chat endpoint for every model, with tools that always work.

`from signalbox import Runner, Upstream, tool` runs a model and its tools in your program, as docs/runner.md describes.
The names of `__all__` are the public API. The server is the command `signalbox serve`.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from signalbox.core.codes import Code
    from signalbox.core.errors import RequestError, SignalboxError, ToolError
    from signalbox.core.events import Content, Done, Reasoning, ToolCalls, ToolExecuting, ToolResult, Warning
    from signalbox.core.messages import Message
    from signalbox.core.parts import Usage
    from signalbox.core.tools import Tool, ToolContext, ToolReturn
    from signalbox.runner.answer import Answer
    from signalbox.runner.errors import RunError, UsageError
    from signalbox.runner.messages import assistant, image, system, user
    from signalbox.runner.runner import Runner
    from signalbox.runner.step import CallResult, Step, StepCall
    from signalbox.runner.sync import RunnerSync, StepSync
    from signalbox.runner.upstream import Upstream
    from signalbox.tools.functions.decorator import tool

__version__ = "0.2.0"

__all__ = [
    "Answer",
    "CallResult",
    "Code",
    "Content",
    "Done",
    "Message",
    "Reasoning",
    "RequestError",
    "RunError",
    "Runner",
    "RunnerSync",
    "SignalboxError",
    "Step",
    "StepCall",
    "StepSync",
    "Tool",
    "ToolCalls",
    "ToolContext",
    "ToolError",
    "ToolExecuting",
    "ToolResult",
    "ToolReturn",
    "Upstream",
    "Usage",
    "UsageError",
    "Warning",
    "assistant",
    "image",
    "system",
    "tool",
    "user",
]

# Where the public names are. A module is imported with the first use of one of its names: `import signalbox` is fast.
_NAMES_OF = {
    "signalbox.core.codes": ("Code",),
    "signalbox.core.errors": ("RequestError", "SignalboxError", "ToolError"),
    "signalbox.core.events": ("Content", "Done", "Reasoning", "ToolCalls", "ToolExecuting", "ToolResult", "Warning"),
    "signalbox.core.messages": ("Message",),
    "signalbox.core.parts": ("Usage",),
    "signalbox.core.tools": ("Tool", "ToolContext", "ToolReturn"),
    "signalbox.runner.answer": ("Answer",),
    "signalbox.runner.errors": ("RunError", "UsageError"),
    "signalbox.runner.messages": ("assistant", "image", "system", "user"),
    "signalbox.runner.runner": ("Runner",),
    "signalbox.runner.step": ("CallResult", "Step", "StepCall"),
    "signalbox.runner.sync": ("RunnerSync", "StepSync"),
    "signalbox.runner.upstream": ("Upstream",),
    "signalbox.tools.functions.decorator": ("tool",),
}
_MODULE_OF = {name: module for module, names in _NAMES_OF.items() for name in names}


def __getattr__(name: str) -> object:
    """Import a public name with its first use."""
    if (module := _MODULE_OF.get(name)) is None:
        raise AttributeError(f"module 'signalbox' has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(module), name)
    return value
