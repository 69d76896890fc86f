"""The golden streams: scripted models run through the real loop and encoder, with fixed ids and times."""

from collections.abc import Awaitable, Callable
from pathlib import Path

from signalbox.chat.context import Limits
from signalbox.core.codes import Code
from signalbox.core.data_table import Column, CurrencyFormat, DataTable
from signalbox.core.errors import ToolError, UpstreamError
from signalbox.core.events import Stamped
from signalbox.core.messages import JsonObject
from signalbox.core.parts import (
    CallDelta,
    Citation,
    HiddenReasoning,
    ImageDelta,
    ReasoningDelta,
    RefusalDelta,
    TextDelta,
)
from signalbox.core.records import RunRecord
from signalbox.core.tools import ToolContext, ToolReturn
from signalbox.encoders.sse_v1 import SseV1Encoder
from signalbox.tools.calculate import calculate
from signalbox.tools.search_web import search_web

from tests.support.fakes import SERVED, FakeSearch, ScriptedClient, answer, call, calls, ending, make_tool
from tests.support.loop_runs import RUN_ID, Outcome, context_for, run
from tests.support.previews import writer

FIXTURES = Path(__file__).parent / "fixtures"
_START = 1_790_000_000_000


def encode(outcome: Outcome) -> bytes:
    """Encode a run's batches as they were emitted, 7 ms apart."""
    has_previews = outcome.context.streamed_arguments == "previews"
    echo: JsonObject = {"previews": True} if has_previews else {}
    encoder = SseV1Encoder(RunRecord(RUN_ID, "openai/sim", "v2", echo=echo))
    seq = 0
    frames: list[bytes] = []
    for place, batch in enumerate(outcome.batches):
        stamped = [Stamped(seq + n, _START + 7 * place, event) for n, event in enumerate(batch, 1)]
        seq += len(batch)
        frames.append(encoder.encode(stamped))
    return b"".join(frames)


async def _plain() -> Outcome:
    script = [[SERVED], [ReasoningDelta("Easy.", "reasoning")], [TextDelta("Grüße, "), TextDelta("日本 🚦.")], ending()]
    return await run(ScriptedClient(script))


async def _search() -> Outcome:
    script = calls(call(0, "search_web", '{"query":"tool loop"}'), call(1, "calculate", '{"expression":"2**64"}'))
    client = ScriptedClient(script, answer("The loop merges deltas [1]. ", "2^64 is 18446744073709551616."))
    return await run(client, [search_web(FakeSearch(), None), calculate()])


async def _steps() -> Outcome:
    first = [[SERVED], [TextDelta("Let me look.")], [call(0, "search_web", '{"query":"one"}')], ending("tool_calls")]
    second = calls(call(0, "search_web", '{"query":"two"}'), call(1, "search_web", '{"query":" ONE "}'))
    return await run(ScriptedClient(first, second, answer("Found both [1][2].")), [search_web(FakeSearch(), None)])


async def _clamp() -> Outcome:
    script = calls(*(call(n, "search_web", f'{{"query":"q{n}"}}') for n in range(3)))
    client = ScriptedClient(script, answer("Two were enough [1]."))
    return await run(client, [search_web(FakeSearch(), None)], limits=Limits(max_searches=2))


async def _failures() -> Outcome:
    broken = calls(
        call(0, "nothing", "{}"),
        call(1, "search_web", '{"query":3}'),
        CallDelta(index=2, id="c", name="search_web", arguments='{"qu'),
    )
    return await run(ScriptedClient(broken, answer("I could not search.")), [search_web(FakeSearch(), None)])


async def _hidden_reasoning() -> Outcome:
    return await run(ScriptedClient([[SERVED], [HiddenReasoning()], [TextDelta("Forty-two.")], ending()]))


async def _refusal() -> Outcome:
    return await run(ScriptedClient([[SERVED], [RefusalDelta("I can't help with that.")], ending()]))


async def _length() -> Outcome:
    return await run(ScriptedClient([[SERVED], [TextDelta("A long answer that")], ending("length")]))


async def _interrupted() -> Outcome:
    return await run(ScriptedClient([[SERVED], [TextDelta("Half an ans")], UpstreamError(Code.STREAM_CUT)]))


async def _rate_limit() -> Outcome:
    error = UpstreamError(Code.RATE_LIMIT, status=429, retry_after=42.0)
    return await run(ScriptedClient([error]))


async def _empty_final() -> Outcome:
    script = calls(call(0, "search_web", '{"query":"silence"}'))
    client = ScriptedClient(script, answer(), answer(), answer())
    return await run(client, [search_web(FakeSearch(), None)])


async def _attachments() -> Outcome:
    """Script a search, then an answer that cites the page found and another one, with an image in its text."""
    cited = [
        Citation("https://example.org/tides", "Tides", "All about tides.", 0, 5),
        Citation("https://example.org/sea"),
    ]
    script = [[SERVED], [TextDelta("Twice.")], [ImageDelta("data:image/png;base64,iVBORw0KGgo=")], [*cited], ending()]
    client = ScriptedClient(calls(call(0, "search_web", '{"query":"tides"}')), script)
    return await run(client, [search_web(FakeSearch(), None)])


async def _write_tool() -> Outcome:
    client = ScriptedClient(calls(call(0, "save", '{"text":"hi"}')), answer("Saved."))
    return await run(client, [make_tool("save")])


async def _artifact() -> Outcome:
    """Script a tool whose result has a DataTable for people, and one that fails with a table of its reason."""
    price = Column("price", "Price", CurrencyFormat("USD"))

    def mugs(arguments: object, context: ToolContext) -> ToolReturn:
        table = DataTable(surface_id=context.surface_id("mugs"), columns=[price], data=[{"price": 12.5}])
        return ToolReturn({"prices": [12.5]}, table)

    def plates(arguments: object, context: ToolContext) -> None:
        why = "The shop is closed."
        table = DataTable(surface_id=context.surface_id("plates"), columns=[price], data=[], error=why)
        raise ToolError(Code.TOOL_FAILED, why, artifact=table)

    client = ScriptedClient(calls(call(0, "mugs", "{}")), calls(call(0, "plates", "{}")), answer("Only mugs."))
    return await run(client, [make_tool("mugs", mugs), make_tool("plates", plates)])


async def _previews() -> Outcome:
    """Script a file that the model begins, loses with the connection, and writes again."""
    pieces = '{"path": "index.html", ', '"content": "<h1>Hel', "lo \\ud83d", '\\ude00</h1>\\n"}'
    first = call(0, "write_file", "", "up-1")
    reads = [[first], *([CallDelta(0, arguments=text)] for text in pieces)]
    broken = [[SERVED], *reads[:3], UpstreamError(Code.UPSTREAM_OVERLOADED)]
    tools = [writer()]
    context = context_for(tools)
    context.streamed_arguments = "previews"
    client = ScriptedClient(broken, [[SERVED], *reads, ending("tool_calls")], answer("The page is ready."))
    return await run(client, tools, context=context)


SCENARIOS: dict[str, Callable[[], Awaitable[Outcome]]] = {
    "plain": _plain,
    "search-and-calculate": _search,
    "steps-cached": _steps,
    "clamp": _clamp,
    "failed-calls": _failures,
    "hidden-reasoning": _hidden_reasoning,
    "refusal": _refusal,
    "length": _length,
    "interrupted": _interrupted,
    "rate-limit": _rate_limit,
    "final-empty": _empty_final,
    "other-tool": _write_tool,
    "attachments": _attachments,
    "artifact": _artifact,
    "previews": _previews,
}


async def golden_streams() -> dict[str, bytes]:
    """Return every golden stream by name."""
    return {name: encode(await scenario()) for name, scenario in SCENARIOS.items()}
