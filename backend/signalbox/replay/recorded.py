"""Tools that return the recorded results of a journal and are never executed."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from signalbox.core.codes import CODES, Code
from signalbox.core.messages import JsonObject, JsonValue
from signalbox.core.ports import ToolRunner
from signalbox.core.tools import Tool, ToolContext, ToolOutcome, ToolSpec
from signalbox.replay.outcome import Called
from signalbox.wire.json_text import dumps

# Results that a loop gave instead of a tool: the replay decides again whether a call is cut, limited or dropped.
_OF_THE_LOOP = frozenset(
    (Code.ARGUMENTS_CUT, Code.TOOL_CLAMP, Code.SUPERSEDED, Code.STEP_FAILED, Code.CANCELLED, Code.NOT_RECORDED)
)


class RecordedTools:
    """A ToolRunner over the calls of a journal; `known` checks arguments, and knows the tools' specs.

    Equal calls get their results in the order of then, and the last one again when there are more of them. Searches are
    equal by their tool's own rule. `unknown` names the calls that the journal does not know.
    """

    def __init__(self, calls: Iterable[Called], known: ToolRunner) -> None:
        self._known = known
        self._results: defaultdict[str, list[Called]] = defaultdict(list)
        self.unknown: list[str] = []
        for call in calls:
            if call.success or (call.code and call.code not in _OF_THE_LOOP):
                self._results[self._key(call.name, call.arguments)].append(call)

    def spec(self, name: str) -> ToolSpec | None:
        """Return the spec of a tool."""
        return self._known.spec(name)

    def check(self, name: str, arguments: Mapping[str, JsonValue]) -> ToolOutcome | None:
        """Return a failure if the arguments are invalid."""
        return self._known.check(name, arguments)

    async def run(self, name: str, arguments: Mapping[str, JsonValue], context: ToolContext) -> ToolOutcome:
        """Return the recorded result of this call."""
        found = self._results.get(self._key(name, arguments))
        if not found:
            self.unknown.append(name)
            return ToolOutcome.failed(Code.NOT_RECORDED, f"{name}: {CODES[Code.NOT_RECORDED].sentence}")
        return self._again(found.pop(0) if len(found) > 1 else found[0], context)

    def _key(self, name: str, arguments: Mapping[str, JsonValue]) -> str:
        """Return the key of a call: its arguments, or the search key of a search."""
        spec = self._known.spec(name)
        same = spec.search_key(arguments) if spec is not None and spec.search_key is not None else None
        return f"{name} {_canonical(arguments) if same is None else same}"

    def _again(self, call: Called, context: ToolContext) -> ToolOutcome:
        spec = self._known.spec(call.name)
        untrusted = spec is None or spec.untrusted
        if not call.success:
            code = Code(call.code) if call.code in CODES else Code.TOOL_FAILED
            outside = untrusted and not (spec and spec.own_failures)
            return ToolOutcome(success=False, error=str(call.result), code=code, outside=outside)
        if untrusted:
            context.url_allowlist.add_result(
                call.result, call.name, call.arguments, spec.url_argument if spec else None
            )
        _note_sources(call.result, context)
        return ToolOutcome(success=True, result=call.result, outside=untrusted)


def _canonical(arguments: Mapping[str, JsonValue]) -> str:
    """Normalize arguments; null means "not given", as in execution."""
    given: JsonObject = {name: arguments[name] for name in sorted(arguments) if arguments[name] is not None}
    return dumps(_sorted(given)).decode()


def _sorted(value: JsonValue) -> JsonValue:
    if isinstance(value, dict):
        return {name: _sorted(value[name]) for name in sorted(value)}
    return [_sorted(item) for item in value] if isinstance(value, list) else value


def _note_sources(result: JsonValue, context: ToolContext) -> None:
    """Register the sources of a recorded search under their numbers, for the synthetic answer."""
    results = result.get("results") if isinstance(result, dict) else None
    for one in results if isinstance(results, list) else []:
        if isinstance(one, dict) and isinstance(url := one.get("url"), str):
            context.sources.number(url, str(one.get("title") or ""))


def stand_ins(names: Iterable[str], known: Sequence[Tool]) -> list[Tool]:
    """Return tools of these names that may be offered and are never run; of one that is not known here any arguments.

    A tool that could not be used here can be replayed all the same.
    """
    specs = {tool.spec.name: tool.spec for tool in known}
    return [Tool(specs.get(name) or _stranger(name), _never) for name in dict.fromkeys(names)]


def _stranger(name: str) -> ToolSpec:
    words = "A tool of the server that made this run; what it takes is not known here."
    return ToolSpec(name, words, {"type": "object", "additionalProperties": True})


async def _never(arguments: JsonObject, context: ToolContext) -> JsonValue:
    raise AssertionError("a tool that is answered from a journal is never run")
