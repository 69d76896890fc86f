"""Describes Python names in Markdown: signatures, docstrings, attributes and public methods.

Signatures are those of the source, so that a type has the name that the source gives it.
"""

import ast
import inspect
import sys
import types
from collections.abc import Iterable, Iterator
from itertools import chain
from textwrap import dedent
from typing import Any, NamedTuple, is_typeddict

from signalbox.core.codes import Code

_WIDTH = 100
_SHOWN_METHODS = ("__aiter__", "__iter__")
# Programs do not make these objects, and do not use these members: they are for the run.
_MADE_BY_RUNS = {"Step", "StepSync", "Run", "AsyncRun"}
_FOR_RUNS = {
    *("is_acting", "wait_for_caller", "wait_for_release", "release", "refuse_all", "settle"),
    "known_results",
    *(
        "for_conversation",
        "begin_step",
        "continue_from",
        "is_first",
        "has_content",
        "has_side_effects",
        "outcome",
        "dialect",
    ),
}
_Function = ast.FunctionDef | ast.AsyncFunctionDef


class _Row(NamedTuple):
    """An attribute, with its type and default; `words` are those of a property."""

    name: str
    kind: str
    words: str = ""


def described(name: str, value: Any) -> Iterator[str]:
    """Yield the blocks that describe a class, a function or a union."""
    yield f"## `{name}`"
    if isinstance(value, types.UnionType):
        yield "One of: " + ", ".join(f"`{kind.__name__}`" for kind in value.__args__) + "."
        return
    yield from _class(value) if isinstance(value, type) else _function(value)


def definition(name: str, module: types.ModuleType) -> str:
    """Return the definition of an alias; raises LookupError."""
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
    nodes = [node for node in map(_parsed, _lineage(kind)) if isinstance(node, ast.ClassDef)]
    members: dict[str, _Function] = {}
    for node in nodes:
        members = {one.name: one for one in node.body if isinstance(one, _Function)} | members
    members = {name: one for name, one in members.items() if name not in _FOR_RUNS}
    made = members.get("__init__")
    if made is not None and kind.__name__ not in _MADE_BY_RUNS:
        yield f"```text\n{_signature(kind.__name__, made)}\n```"
    yield _doc(inspect.getdoc(kind))
    if kind is Code:
        yield "[sse-contract.md](sse-contract.md#codes) lists all codes."
    fields = [*_fields(nodes), *(_attributes(made) if made is not None else ())]
    fields += [_property(one) for one in members.values() if _is_property(one)]
    yield from _table(fields)
    for method in filter(_is_shown, members.values()):
        yield f"```text\n{_signature(method.name, method)}\n```"
        yield _doc(ast.get_docstring(method) or "")


def _lineage(kind: type[Any]) -> list[type[Any]]:
    """Return a class and its bases in this package; those of a TypedDict are only in its source."""
    if not is_typeddict(kind):
        return [one for one in kind.__mro__ if one.__module__.startswith("signalbox")]
    node = _parsed(kind)
    assert isinstance(node, ast.ClassDef)
    names = [base.id for base in node.bases if isinstance(base, ast.Name) and base.id != "TypedDict"]
    return [kind, *chain.from_iterable(_lineage(vars(sys.modules[kind.__module__])[name]) for name in names)]


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
                kind, words = _described_type(member.annotation)
                yield _Row(ast.unparse(member.target), kind + default, words)


def _described_type(node: ast.expr) -> tuple[str, str]:
    """Return a type, and the description that `Annotated` gives it."""
    match node:
        case ast.Subscript(value=ast.Name(id="NotRequired"), slice=inner):
            kind, words = _described_type(inner)
            return kind, f"May be absent. {words}".strip()
        case ast.Subscript(value=ast.Name(id="Annotated"), slice=ast.Tuple(elts=[inner, ast.Call(keywords=[said])])):
            return _text(inner), ast.literal_eval(said.value)
        case _:
            return _text(node), ""


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
