"""What a file of 60 kB costs: bytes on the wire, and steps of Python."""

import json
from functools import cache

import pytest
from signalbox.chat.calls.assembly import OpenCall
from signalbox.chat.calls.previews import CallPreviews
from signalbox.core.events import Preview
from signalbox.core.parts import CallDelta

from tests.scenarios.contract.golden import encode
from tests.support.complexity import growth_of
from tests.support.fakes import SERVED, ScriptedClient, answer, call, ending
from tests.support.loop_runs import context_for, run
from tests.support.preview_client import PreviewClient
from tests.support.previews import PREVIEWED, writer
from tests.support.stream_reader import check_stream

pytestmark = pytest.mark.anyio


@cache
def page(size: int) -> str:
    """Return a page with as many quotes and lines as models write."""
    cards = (
        f'    <section class="card card-{n}">\n'
        f'      <h2>Product {n} für Größe {n % 40}</h2>\n'
        f'      <p>It has a description of some length, so that a line is as long as usual.</p>\n'
        f'      <button onclick="add({n})">Add to cart</button>\n'
        "    </section>\n"
        for n in range(size // 150)
    )  # fmt: skip
    return ("<!doctype html>\n<html>\n<body>\n" + "".join(cards))[: size - 50]


async def streamed(arguments: str, size: int) -> bytes:
    """Return the stream of a run whose call comes in deltas of this size, one per network read."""
    deltas = [[CallDelta(0, arguments=arguments[at : at + size])] for at in range(0, len(arguments), size)]
    client = ScriptedClient(
        [[SERVED], [call(0, "write_file", "", "up-1")], *deltas, ending("tool_calls")], answer("Done.")
    )
    tools = [writer()]
    context = context_for(tools)
    context.streamed_arguments = "previews"
    return encode(await run(client, tools, context=context))


@pytest.mark.parametrize("size", [1, 60, 4096], ids=["characters", "1,000 deltas", "4 kB deltas"])
@pytest.mark.parametrize("ascii_", [True, False], ids=["escaped", "raw"])
async def test_sc04_the_stream_has_at_most_1_2_times_the_file(size: int, ascii_: bool) -> None:
    """All frames of the run, from the first one to done; the seed sent 500 times the file."""
    file = page(60_000)
    stream = await streamed(json.dumps({"path": "index.html", "content": file}, ensure_ascii=ascii_), size)
    heard = check_stream(stream)
    kept = PreviewClient().add(heard.events)
    assert [*kept.calls.values()] == [{"path": "index.html", "content": file}]
    assert len(stream) <= 1.2 * len(file.encode())
    assert len(heard.of("preview")) >= (15 if size > 60 else 35)


async def test_the_first_pieces_appear_at_once() -> None:
    """A short file is not held back until its call is complete."""
    heard = check_stream(await streamed('{"path":"a.md","content":"Hello you"}', 3))
    texts = [event["text"] for event in heard.of("preview")]
    assert len(texts) >= 5
    assert "".join(texts) == "a.mdHello you"


async def test_the_beginning_of_a_file_appears_in_smaller_pieces() -> None:
    """The first 12 kB of a file have more than half as many previews as 60 kB."""
    counts = [
        len(check_stream(await streamed(json.dumps({"path": "a.html", "content": page(size)}), 20)).of("preview"))
        for size in (12_000, 60_000)
    ]
    assert 30 < counts[0] < counts[1] < 2 * counts[0]


async def test_many_short_strings_are_not_all_previewed() -> None:
    """A frame per string would be longer than the strings: those that were never shown are in the announced call."""
    edits = [{"old_text": f"a{n}", "new_text": f"b{n}"} for n in range(500)]
    arguments = json.dumps({"path": "a.js", "edits": edits})
    stream = await streamed(arguments, 50)
    heard = check_stream(stream)
    assert [*PreviewClient().add(heard.events).calls.values()] == [json.loads(arguments)]
    assert 2 < len(heard.of("preview")) < 30
    assert len(stream) < 2 * len(arguments)


@pytest.mark.parametrize("size", [1, 60, 4096])
def test_sc04_the_work_grows_with_the_size_of_the_file(size: int) -> None:
    """Twice the file is twice the steps, whatever the size of the deltas; the seed copied the file at each delta."""

    def work(characters: int) -> None:
        arguments = json.dumps({"path": "index.html", "content": page(characters)})
        previews = CallPreviews(frozenset({"write_file"}), {"write_file": PREVIEWED}, 1, lambda: "123456789")
        opened = OpenCall(0, 0, name="write_file")
        shown = 0
        for at in range(0, len(arguments), size):
            previews.feed(opened, arguments[at : at + size])
            shown += sum(len(event.text or "") for event in previews.events() if isinstance(event, Preview))
        assert shown > characters - 2_000

    work(1_000)
    assert growth_of(work, 20_000 if size < 4096 else 100_000) < 2.2
