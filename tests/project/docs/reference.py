"""The reference pages of the Python packages, from docstrings; `python -m tests.project.docs.reference` writes them.

A page lists each public name with its signature, its docstring, its fields and its public methods. Signatures are those
of the source, so that a type has the name that the source gives it.
"""

import ast
import inspect
import sys
import types
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import starmap
from textwrap import dedent
from typing import Any, NamedTuple

import signalbox
import signalbox_client
from signalbox.core import events, messages, tools
from signalbox.core.messages import AssistantMessage, ImagePart, SystemMessage, ToolMessage, UserMessage
from signalbox.core.tools import ToolSpec
from signalbox.runner import run
from signalbox.runner.options import ModelOptions
from signalbox.services.search.pages import slug
from signalbox.tools.functions.decorator import FunctionTool
from signalbox_client import bodies
from signalbox_client._async import stored

from tests.project.docs.pages import DOCS

_WIDTH = 100
_SHOWN_METHODS = ("__aiter__", "__iter__")
# Programs do not make these objects, and do not use these members: they are for the run.
_MADE_BY_RUNS = {"Step", "StepSync", "Run", "AsyncRun"}
_FOR_RUNS = {
    *("is_acting", "wait_for_caller", "wait_for_release", "release", "refuse_all", "settle"),
    *("for_conversation", "begin_step", "has_content", "has_side_effects", "outcome", "dialect"),
}
_Function = ast.FunctionDef | ast.AsyncFunctionDef


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
            blocks += _described(name, getattr(self.package, name))
        blocks += ["## Types in signatures", f"These types are not part of `{self.package.__name__}.__all__`."]
        if self.aliases:
            blocks.append("\n".join(["```text", *starmap(_alias, self.aliases), "```"]))
        for one in self.types:
            blocks += _described(one.__name__, one)
        return "\n\n".join(blocks) + "\n"


RUNNER = Reference(
    "runner-api.md",
    signalbox,
    "Reference: signalbox",
    "The public names of the package `signalbox`, from its docstrings. [runner.md](runner.md) shows how to use them. "
    "[sse-contract.md](sse-contract.md) describes when each event is emitted. A field that an event does not have is "
    "`msgspec.UNSET`, which is false. After a change of a docstring, run `./just docs`.",
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
        UserMessage,
        SystemMessage,
        AssistantMessage,
        ToolMessage,
        ImagePart,
    ),
)
_BODIES = tuple(
    one
    for module in (stored, bodies)
    for one in vars(module).values()
    if isinstance(one, type) and one.__module__ == module.__name__
)
CLIENT = Reference(
    "clients/python-client-api.md",
    signalbox_client,
    "Reference: signalbox_client",
    "The public names of the package `signalbox_client`, from its docstrings. [python-client.md](python-client.md) "
    "shows how to use them. After a change of a docstring, run `./just docs`.",
    {
        "clients": ("Signalbox", "AsyncSignalbox", "Backoff"),
        "runs": ("Run", "AsyncRun", "Answer", "AnsweredCall"),
        "events": (
            *("Event", "Content", "Reasoning", "ToolCalls", "Call", "ToolExecuting", "ToolResult", "Outcome"),
            *("Image", "Source", "Flag", "Unsaved", "Warning", "Done", "Usage"),
        ),
        "errors": (
            *("SignalboxError", "RequestRejected", "InvalidRequest", "AccessDenied", "NotFound", "Conflict"),
            *("RateLimited", "ServerError", "ConnectionLost", "NotSignalbox", "RunFailed"),
        ),
    },
    types=_BODIES,
)
REFERENCES = (RUNNER, CLIENT)


class _Row(NamedTuple):
    """An attribute, with its type and default; `words` are those of a property."""

    name: str
    kind: str
    words: str = ""


def _described(name: str, value: Any) -> Iterator[str]:
    yield f"## `{name}`"
    if isinstance(value, types.UnionType):
        yield "One of: " + ", ".join(f"`{kind.__name__}`" for kind in value.__args__) + "."
        return
    yield from _class(value) if isinstance(value, type) else _function(value)


def _alias(name: str, module: types.ModuleType) -> str:
    for statement in ast.parse(inspect.getsource(module)).body:
        targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
        if isinstance(statement, ast.Assign | ast.AnnAssign) and [_name(one) for one in targets] == [name]:
            return f"{name} = {_text(statement.value)}"
    raise LookupError(name)


def _name(node: ast.expr | None) -> str:
    return node.id if isinstance(node, ast.Name) else ""


def _function(function: Any) -> Iterator[str]:
    overloads = _overloads(function)
    node = overloads[-1] if overloads else _parsed(function)
    assert isinstance(node, _Function)
    yield f"```text\n{_signature(function.__name__, node, skip_self=False)}\n```"
    yield _doc(inspect.getdoc(function))


def _overloads(function: Any) -> list[_Function]:
    tree = ast.parse(inspect.getsource(inspect.getmodule(function) or function))
    same = [one for one in tree.body if isinstance(one, _Function) and one.name == function.__name__]
    return [one for one in same if any(ast.unparse(mark) == "overload" for mark in one.decorator_list)]


def _class(kind: type[Any]) -> Iterator[str]:
    own = [one for one in kind.__mro__ if one.__module__.startswith("signalbox")]
    nodes = [node for node in map(_parsed, own) if isinstance(node, ast.ClassDef)]
    members: dict[str, _Function] = {}
    for node in nodes:
        members = {one.name: one for one in node.body if isinstance(one, _Function)} | members
    members = {name: one for name, one in members.items() if name not in _FOR_RUNS}
    made = members.get("__init__")
    if made is not None and kind.__name__ not in _MADE_BY_RUNS:
        yield f"```text\n{_signature(kind.__name__, made)}\n```"
    yield _doc(inspect.getdoc(kind))
    fields = [*_fields(nodes), *(_attributes(made) if made is not None else ())]
    fields += [_property(one) for one in members.values() if _is_property(one)]
    yield from _table(fields)
    for method in filter(_is_shown, members.values()):
        yield f"```text\n{_signature(method.name, method)}\n```"
        yield _doc(ast.get_docstring(method) or "")


def _parsed(value: Any) -> ast.stmt:
    return ast.parse(dedent(inspect.getsource(value))).body[0]


def _is_property(method: _Function) -> bool:
    return not method.name.startswith("_") and any(ast.unparse(mark) == "property" for mark in method.decorator_list)


def _is_shown(method: _Function) -> bool:
    if any(ast.unparse(mark) in ("property", "asynccontextmanager") for mark in method.decorator_list):
        return False
    return method.name in _SHOWN_METHODS or not method.name.startswith("_")


def _fields(nodes: Iterable[ast.ClassDef]) -> Iterator[_Row]:
    for node in nodes:
        for member in node.body:
            if isinstance(member, ast.AnnAssign) and not ast.unparse(member.target).startswith("_"):
                default = f" = {_text(member.value)}" if member.value is not None else ""
                yield _Row(ast.unparse(member.target), f"{_text(member.annotation)}{default}")


def _attributes(made: _Function) -> Iterator[_Row]:
    """Return the public attributes that `__init__` sets, with a type if the source has one."""
    given = {one.arg: one.annotation for one in [*made.args.args, *made.args.kwonlyargs]}
    for statement in made.body:
        target = statement.targets[0] if isinstance(statement, ast.Assign) else None
        kind: ast.expr | None = None
        if isinstance(statement, ast.AnnAssign):
            target, kind = statement.target, statement.annotation
        elif isinstance(statement, ast.Assign):
            match statement.value:
                case ast.Name(id=name):
                    kind = given.get(name)
                case ast.Call(func=ast.Name() as made_by):
                    kind = made_by
                case ast.Constant(value=value):
                    kind = ast.Name(type(value).__name__)
                case _:
                    pass
        if isinstance(target, ast.Attribute) and not target.attr.startswith("_") and target.attr not in _FOR_RUNS:
            yield _Row(target.attr, _text(kind))


def _property(method: _Function) -> _Row:
    words = (ast.get_docstring(method) or "").partition("\n")[0]
    return _Row(method.name, _text(method.returns), words)


def _table(found: list[_Row]) -> Iterator[str]:
    rows = dict.fromkeys(found)
    if any(row.words for row in rows):
        lines = [f"| `{row.name}` | {_code(row.kind)} | {row.words} |" for row in rows]
        yield "\n".join(["| attribute | type | meaning |", "|---|---|---|", *lines])
    elif rows:
        lines = [f"| `{row.name}` | {_code(row.kind)} |" for row in rows]
        yield "\n".join(["| attribute | type |", "|---|---|", *lines])


def _code(kind: str) -> str:
    return f"`{kind}`".replace("|", "\\|") if kind else ""


def _text(node: ast.expr | None) -> str:
    """Return an annotation or a default as the source has it; quotes around a type are left out."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value[:1].isupper():
        return node.value
    return ast.unparse(node) if node is not None else ""


def _signature(name: str, node: _Function, *, skip_self: bool = True) -> str:
    """Return a signature on one line, or with one parameter per line if it is too long."""
    prefix = "async " if isinstance(node, ast.AsyncFunctionDef) else ""
    returns = f" -> {_text(node.returns)}" if node.returns is not None and node.name != "__init__" else ""
    parameters = list(_parameters(node.args))[1 if skip_self else 0 :]
    line = f"{prefix}{name}({', '.join(parameters)}){returns}"
    if len(line) <= _WIDTH:
        return line
    return "\n".join([f"{prefix}{name}(", *(f"    {one}," for one in parameters), f"){returns}"])


def _parameters(given: ast.arguments) -> Iterator[str]:
    positional = [*given.posonlyargs, *given.args]
    missing = len(positional) - len(given.defaults)
    for place, one in enumerate(positional):
        yield _parameter(one, given.defaults[place - missing] if place >= missing else None)
    if given.vararg is not None:
        yield f"*{_parameter(given.vararg)}"
    elif given.kwonlyargs:
        yield "*"
    for one, default in zip(given.kwonlyargs, given.kw_defaults, strict=True):
        yield _parameter(one, default)
    if given.kwarg is not None:
        yield f"**{_parameter(given.kwarg)}"


def _parameter(one: ast.arg, default: ast.expr | None = None) -> str:
    kind = f": {_text(one.annotation)}" if one.annotation is not None else ""
    value = f" = {ast.unparse(default)}" if default is not None else ""
    return f"{one.arg}{kind}{value}"


def _doc(text: str | None) -> str:
    return (text or "").replace("<", "&lt;")


if __name__ == "__main__":
    for reference in REFERENCES:
        (DOCS / reference.file).write_text(reference.text(), encoding="utf-8")
        sys.stdout.write(f"wrote {reference.file}\n")
