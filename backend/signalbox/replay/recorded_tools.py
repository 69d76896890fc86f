"""Tools that return the results in a journal and are never executed."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from signalbox.core.codes import CODES, Code
from signalbox.core.messages import JsonObject, JsonValue
from signalbox.core.ports import ToolRunner
from signalbox.core.tools import Tool, ToolContext, ToolOutcome, ToolSpec
from signalbox.replay.outcome import CallOutcome
from signalbox.wire.json_text import dumps

# Codes of results that come from the loop, not from a tool. In a replay, the loop decides again about these calls.
_LOOP_CODES = frozenset(
    (Code.ARGUMENTS_CUT, Code.TOOL_CLAMP, Code.SUPERSEDED, Code.STEP_FAILED, Code.CANCELLED, Code.NOT_RECORDED)
)


class RecordedTools:
    """A ToolRunner that returns the results of `calls`; `known` has the specs of the tools and checks arguments.

    Equal calls return their results in the recorded order; further ones repeat the last. Searches are equal if their
    search keys are. `unknown` lists the names of calls that are not recorded.
    """

    def __init__(self, calls: Iterable[CallOutcome], known: ToolRunner) -> None:
        self._known = known
        self._results: defaultdict[str, list[CallOutcome]] = defaultdict(list)
        self.unknown: list[str] = []
        for call in calls:
            if call.success or (call.code and call.code not in _LOOP_CODES):
                self._results[self._key(call.name, call.arguments)].append(call)

    def spec(self, name: str) -> ToolSpec | None:
        """Return the spec of a tool."""
        return self._known.spec(name)

    def check(self, name: str, arguments: Mapping[str, JsonValue]) -> ToolOutcome | None:
        """Return the failure of a call with invalid arguments, else None."""
        return self._known.check(name, arguments)

    async def run(self, name: str, arguments: Mapping[str, JsonValue], context: ToolContext) -> ToolOutcome:
        """Return the recorded result of the call, or a failure with NOT_RECORDED."""
        found = self._results.get(self._key(name, arguments))
        if not found:
            self.unknown.append(name)
            return ToolOutcome.failed(Code.NOT_RECORDED, f"{name}: {CODES[Code.NOT_RECORDED].sentence}")
        return self._replayed(found.pop(0) if len(found) > 1 else found[0], context)

    def _key(self, name: str, arguments: Mapping[str, JsonValue]) -> str:
        """Return the key of a call: its arguments, or the search key of a search."""
        spec = self._known.spec(name)
        same = spec.search_key(arguments) if spec is not None and spec.search_key is not None else None
        return f"{name} {_canonical(arguments) if same is None else same}"

    def _replayed(self, call: CallOutcome, context: ToolContext) -> ToolOutcome:
        spec = self._known.spec(call.name)
        untrusted = spec is None or spec.untrusted
        if not call.success:
            code = Code(call.code) if call.code in CODES else Code.TOOL_FAILED
            quotes = untrusted and not (spec and spec.own_failures)
            return ToolOutcome(
                success=False, error=str(call.result), code=code, untrusted=quotes, artifact=call.artifact
            )
        if untrusted:
            context.url_allowlist.add_result(
                call.result, call.name, call.arguments, spec.url_argument if spec else None
            )
        _note_sources(call.result, context)
        return ToolOutcome(success=True, result=call.result, untrusted=untrusted, artifact=call.artifact)


def _canonical(arguments: Mapping[str, JsonValue]) -> str:
    """Return equal text for equal arguments; null counts as not given, as in execution."""
    given: JsonObject = {name: arguments[name] for name in sorted(arguments) if arguments[name] is not None}
    return dumps(_sorted(given)).decode()


def _sorted(value: JsonValue) -> JsonValue:
    if isinstance(value, dict):
        return {name: _sorted(value[name]) for name in sorted(value)}
    return [_sorted(item) for item in value] if isinstance(value, list) else value


def _note_sources(result: JsonValue, context: ToolContext) -> None:
    """Number the sources of a recorded search, for the synthetic answer."""
    results = result.get("results") if isinstance(result, dict) else None
    for one in results if isinstance(results, list) else []:
        if isinstance(one, dict) and isinstance(url := one.get("url"), str):
            context.sources.number(url, str(one.get("title") or ""))


def placeholder_tools(names: Iterable[str], known: Sequence[Tool]) -> list[Tool]:
    """Return tools that can be offered but not executed; a tool that is not in `known` accepts any arguments.

    Tools that are unavailable in this installation are included: a replay does not execute them. For the same reason,
    tools for files need no conversation.
    """
    specs = {tool.spec.name: replace(tool.spec, needs_workspace=False) for tool in known}
    return [Tool(specs.get(name) or _unknown_spec(name), _fail) for name in dict.fromkeys(names)]


def _unknown_spec(name: str) -> ToolSpec:
    words = "A tool that is not installed here. Its parameters are not known."
    return ToolSpec(name, words, {"type": "object", "additionalProperties": True})


async def _fail(arguments: JsonObject, context: ToolContext) -> JsonValue:
    raise AssertionError("a recorded tool was executed")
