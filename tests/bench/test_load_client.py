"""The benchmark's upstream and load client: scripts, timestamps, results."""

import asyncio
from typing import cast

import orjson
import pytest
from signalbox.chat.answer.response import parse_completion_response
from signalbox.core.parts import Completion, StreamPart
from signalbox.services.http.parser import ResponseParser
from signalbox.wire.openrouter.stream import ChatStreamDecoder

from tests.bench.frames import COMMENT, HEAD, deltas_of_file, script_named
from tests.bench.load_client import LoadClient, Stream, encode_request
from tests.bench.loads import churn, loads
from tests.bench.outcome import Outcome, Percentiles, read_outcome
from tests.bench.upstream import Upstream, script_name

NOW = 1_234_567_890_123


def answer_bytes(name: str) -> bytes:
    """Return the bytes of a script's response."""
    script = script_named(name)
    return HEAD + COMMENT + script.encode(0, len(script.deltas), NOW) + script.ending


def decode_answer(name: str) -> Completion:
    """Decode a script's response with the server's parser and decoder."""
    response = ResponseParser(b"POST")
    response.feed(answer_bytes(name))
    assert response.complete
    decoder = ChatStreamDecoder()
    parts: list[StreamPart] = [*decoder.feed(response.take_body()), *decoder.close()]
    return parse_completion_response(parts, known_names={"work", "write"})


def test_each_stream_has_a_chat() -> None:
    """A page begins another conversation, so a server stores as many as there are streams."""
    request = encode_request(1, "/agui", orjson.dumps(loads(quick=True)[1].question("ag-ui")))
    client = LoadClient(1, request, 1, 2)
    first, second = client.next_request(), client.next_request()
    assert first != second
    assert len(first) == len(request)
    assert b"chat-00000000" not in first


@pytest.mark.parametrize("name", ["fast-200", "paced-50-200"])
def test_text_scripts_send_timestamps(name: str) -> None:
    """A text has the number of deltas in its name, about 340 bytes each, each with the time of its write."""
    script, answer = script_named(name), decode_answer(name)
    assert len(script.deltas) == 200
    assert 320 <= len(script.deltas[0]) <= 360
    assert answer.content == f"@{NOW:016}@ " * 200
    assert (answer.finish.word, answer.ended) == ("stop", True)
    assert answer.usage is not None


@pytest.mark.parametrize(
    ("name", "calls", "size"),
    [("longargs-1000000", 1, 1_000_000), ("tools", 2, 2_000), ("calls-30", 30, 0), ("overlap-300-0", 2, 0)],
)
def test_scripts_of_calls(name: str, calls: int, size: int) -> None:
    """A script has the expected number and size of calls, with distinct ids."""
    made = decode_answer(name).calls
    assert [(call.name, call.status) for call in made] == [("work", "ok")] * calls
    assert len({call.id for call in made}) == calls
    assert len(made[0].arguments) == size + len('{"ms":0,"text":""}') + 2 * name.startswith("overlap")


def test_a_file_is_one_call_whose_deltas_are_counted() -> None:
    """Its content has exactly the given size, and the text that it is compared with has as many deltas."""
    [call] = decode_answer("file-2000-60000").calls
    arguments = orjson.loads(call.arguments)
    assert (call.name, arguments["path"], len(arguments["content"])) == ("create_file", "index.html", 60_000)
    assert arguments["content"].count("\n") > 500
    script = script_named("file-2000-60000")
    assert len(script.deltas) == deltas_of_file(60_000) == 3_003
    assert script.period == 1 / 2_000


def test_a_text_is_one_call_of_a_tool_with_previews() -> None:
    """Its text has the size that the name gives, in deltas of 20 bytes."""
    [made] = decode_answer("write-60000").calls
    assert (made.name, made.status, len(made.arguments)) == ("write", "ok", 60_000 + len('{"ms":0,"text":""}'))
    assert len(script_named("write-60000").deltas) == 3_000 + 3


def test_the_second_call_of_an_overlap_streams_for_half_a_second() -> None:
    """The first call is complete at once and takes 300 ms; the last delta is sent after 500 ms."""
    script = script_named("overlap-300-0")
    assert decode_answer("overlap-300-0").calls[0].arguments == '{"ms":300,"text":""}'
    assert script.at_once == 4
    assert script.period * (len(script.deltas) - 1) == pytest.approx(0.5)


def test_the_upstream_answers_tool_results_with_text() -> None:
    """A request with tool results gets a short text; a text script does not change."""
    load = next(load for load in loads(quick=True) if load.row == "tools")
    first, second = (orjson.dumps(body) for body in (load.question("relay"), load.second_step()))
    assert (script_name(first), script_name(second)) == ("tools", "fast-20")
    assert script_name(b'{"model": "bench/fast-3", "messages": [{"role": "tool"}]}') == "fast-3"
    with pytest.raises(ValueError, match="no script is called"):
        script_named("slow-3")


@pytest.mark.parametrize("quick", [True, False])
def test_loads_have_the_events_of_their_scripts(quick: bool) -> None:
    """The number of events in a load is the number of deltas in its script, within 3."""
    for load in (*loads(quick=quick), churn(quick=quick)):
        assert load.events == pytest.approx(len(script_named(load.script).deltas), abs=3)


class Line:
    """A transport that records what is written."""

    written = b""

    def write(self, data: bytes) -> None:
        self.written += data

    def close(self) -> None:
        """Do nothing."""


@pytest.mark.anyio
@pytest.mark.parametrize("size", [1, 2, 3, 7, 10_000])
async def test_the_client_finds_split_timestamps(size: int) -> None:
    """A timestamp or the end of an answer that is split between two reads counts once."""
    client = LoadClient(1, encode_request(1, "/x", b"{}"), connections=1, streams=1)
    stream = Stream(client)
    line = Line()
    stream.connection_made(cast("asyncio.BaseTransport", line))
    answer = answer_bytes("fast-20")
    for at in range(0, len(answer), size):
        stream.data_received(answer[at : at + size])
    assert line.written.startswith(b"POST /x HTTP/1.1\r\n")
    assert (len(client.times["added"]), len(client.times["tte"]), len(client.times["total"])) == (20, 1, 1)
    assert client.blank_lines == 1 + 20 + 3  # the comment, the deltas; the last delta, the usage and [DONE]
    assert client.bad_status == 0


@pytest.mark.anyio
async def test_the_client_reads_the_upstream() -> None:
    """Over a real socket, the Python client receives every event of the Python upstream."""
    loop = asyncio.get_running_loop()
    server = await loop.create_server(Upstream, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    request = encode_request(port, "/x", orjson.dumps({"model": "bench/paced-1000-5", "messages": []}))
    result = await LoadClient(port, request, connections=3, streams=7).run(ramp=0.0, limit=60.0)
    server.close()
    outcome = read_outcome(orjson.dumps(result), stamps=5)
    assert (outcome.streams, outcome.failed, outcome.events) == (7, 0, 35)
    assert outcome.total.p50 >= outcome.first.p50 > 0


def test_parsing_the_clients_result() -> None:
    """Times are converted to milliseconds; streams with too few events or another status than 200 count as failed."""
    result = {"streams": 10, "failed": 0, "bad_status": 0, "events": 195, "wall_s": 2.5, "added_us": {"n": 0}}
    result |= {"tte_us": {"n": 10, "p50": 1500, "p99": 9000}, "total_us": {"n": 10, "p50": 2500, "p99": 9500}}
    outcome = read_outcome(orjson.dumps(result), stamps=20)
    assert outcome == Outcome(10, 1, 195, 2.5, Percentiles(), Percentiles(1.5, 9), Percentiles(2.5, 9.5))
    assert read_outcome(orjson.dumps(result), stamps=19).failed == 0
    assert read_outcome(orjson.dumps(result | {"bad_status": 10}), stamps=0).failed == 10
