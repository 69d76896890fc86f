"""The reference pages of the Python packages, from docstrings; `python -m tests.project.docs.reference` writes them."""

import sys
import types
from dataclasses import dataclass
from itertools import starmap
from typing import Any

import signalbox
import signalbox_client
from signalbox.core import events, messages, tools
from signalbox.core.messages import AssistantMessage, ImagePart, SystemMessage, ToolMessage, UserMessage
from signalbox.core.tools import ToolSpec
from signalbox.runner import run
from signalbox.runner.options import ModelOptions
from signalbox.runs.trace import RunTrace
from signalbox.services.search.pages import slug
from signalbox.tools.functions.decorator import FunctionTool
from signalbox_client import bodies
from signalbox_client._sync import conversations, files, runs, saves

from tests.project.docs.descriptions import definition, described
from tests.project.docs.pages import DOCS


@dataclass(frozen=True)
class Reference:
    """One page: its file, its introduction, and the names of each section.

    `aliases` and `types` are what public signatures name; an alias is looked up in its module.
    """

    file: str
    package: types.ModuleType
    title: str
    introduction: str
    sections: dict[str, tuple[str, ...]]
    aliases: tuple[tuple[str, types.ModuleType], ...] = ()
    types: tuple[type[Any], ...] = ()

    @property
    def names(self) -> list[str]:
        """The names in their order on the page."""
        return [name for names in self.sections.values() for name in names]

    @property
    def exported(self) -> list[str]:
        """The names that the package exports: its `__all__`, or what it imports besides modules."""
        imported = [name for name, one in vars(self.package).items() if not isinstance(one, types.ModuleType)]
        return getattr(self.package, "__all__", [name for name in imported if not name.startswith("_")])

    def _contents(self) -> str:
        """Return a table of the sections, with a link to each name."""
        taken: dict[str, int] = {slug(self.title, {}): 0}
        anchors = {name: slug(name, taken) for name in self.names}
        rows = [
            f"| {section} | {', '.join(f'[`{name}`](#{anchors[name]})' for name in names)} |"
            for section, names in self.sections.items()
        ]
        return "\n".join(["| for | names |", "|---|---|", *rows])

    def text(self) -> str:
        """Return the page."""
        blocks = [f"# {self.title}", self.introduction, self._contents()]
        for name in self.names:
            blocks += described(name, getattr(self.package, name))
        blocks += ["## Types in signatures", f"The package `{self.package.__name__}` does not export these types."]
        if self.aliases:
            blocks.append("\n".join(["```text", *starmap(definition, self.aliases), "```"]))
        for one in self.types:
            blocks += described(one.__name__, one)
        return "\n\n".join(blocks) + "\n"


RUNNER = Reference(
    "runner-api.md",
    signalbox,
    "Reference: signalbox",
    "This page lists the public names of the package `signalbox`. [runner.md](runner.md) shows how to use these names. "
    "[sse-contract.md](sse-contract.md) describes when each event is emitted. If an event lacks a field, the value of "
    "this field is `msgspec.UNSET`, which is falsy. This page is generated from docstrings. After you change a "
    "docstring, run `./just docs`.",
    {
        "runs": ("Runner", "RunnerSync", "Upstream", "Answer", "Usage"),
        "steps": ("Step", "StepSync", "StepCall", "CallResult"),
        "tools": ("tool", "Tool", "ToolContext", "ToolReturn"),
        "messages": ("user", "system", "assistant", "image", "Message"),
        "events": ("Content", "Reasoning", "ToolCalls", "ToolExecuting", "ToolResult", "Warning", "Done"),
        "errors": ("SignalboxError", "RequestError", "RunError", "ToolError", "UsageError", "Code"),
    },
    (
        ("Question", run),
        ("JsonValue", messages),
        ("Status", events),
        ("AnyEvent", events),
        ("Category", tools),
        ("Visibility", tools),
        ("ToolFunction", tools),
    ),
    (
        ModelOptions,
        FunctionTool,
        ToolSpec,
        tools.Owner,
        tools.SourceNumbers,
        RunTrace,
        UserMessage,
        SystemMessage,
        AssistantMessage,
        ToolMessage,
        ImagePart,
    ),
)
_BODIES = tuple(
    one
    for module in (runs, conversations, files, saves, bodies)
    for one in vars(module).values()
    if isinstance(one, type) and one.__module__.startswith(module.__name__)
)
CLIENT = Reference(
    "clients/python-client-api.md",
    signalbox_client,
    "Reference: signalbox_client",
    "This page lists the public names of the package `signalbox_client`. [python-client.md](python-client.md) shows "
    "how to use these names. `AsyncSignalbox` and `AsyncRun` have the methods of `Signalbox` and `Run` as async "
    "methods. This page is generated from docstrings. After you change a docstring, run `./just docs`.",
    {
        "clients": ("Signalbox", "AsyncSignalbox", "Backoff"),
        "runs": ("Run", "AsyncRun", "Answer", "AnsweredCall", "Previews"),
        "files": ("FileContent",),
        "events": (
            *(
                "Event",
                "Content",
                "Reasoning",
                "Preview",
                "ToolCalls",
                "Call",
                "ToolExecuting",
                "ToolResult",
                "Outcome",
            ),
            *("Image", "Source", "Flag", "Unsaved", "Warning", "Done", "Usage"),
        ),
        "errors": (
            *("SignalboxError", "RequestRejected", "InvalidRequest", "AccessDenied", "NotFound", "Conflict"),
            *("RateLimited", "ServerError", "ConnectionLost", "NotSignalbox", "InvalidBaseUrl", "RunFailed"),
        ),
    },
    types=_BODIES,
)
REFERENCES = (RUNNER, CLIENT)


if __name__ == "__main__":
    for reference in REFERENCES:
        (DOCS / reference.file).write_text(reference.text(), encoding="utf-8")
        sys.stdout.write(f"wrote {reference.file}\n")
