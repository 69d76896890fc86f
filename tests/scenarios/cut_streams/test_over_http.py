"""The whole app over HTTP: ten streams cut between frames and at a sample of bytes, with errors and silences."""

import random
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest
from msgspec.structs import replace
from signalbox.chat.loops.base import BaseLoop
from signalbox.chat.loops.registry import LOOPS
from signalbox.chat.loops.stepper import LoopInputs

from tests.scenarios.cut_streams.oracle import Expected, after, always
from tests.scenarios.cut_streams.over_http import CutStreamApp, How, Plan, Provider, fault
from tests.scenarios.cut_streams.streams import STREAMS, Stream, broken_off
from tests.support.loop_runs import no_wait
from tests.support.running_app import RunningApp, settings_for
from tests.support.scripted_upstream import ScriptedUpstream

SEED = 4
SAMPLE = 4
PATIENT, STALL = 30.0, 1.0
each_stream = pytest.mark.parametrize("name", STREAMS)
each_end = pytest.mark.parametrize("how", ["clean", "broken"])


def _without_delays(loop: type[BaseLoop], inputs: LoopInputs) -> BaseLoop:
    return loop(replace(inputs, sleep=no_wait))


@contextmanager
def _staged(folder: Path, timeout: float) -> Iterator[CutStreamApp]:
    """Run one app over one provider, without retry delays."""
    provider, notes = Provider(), folder / "notes"
    with pytest.MonkeyPatch.context() as patch, ScriptedUpstream(provider) as upstream:
        for name, loop in LOOPS.items():
            patch.setitem(LOOPS, name, partial(_without_delays, loop))
        settings = settings_for(
            folder / "data",
            openrouter_base_url=upstream.base_url,
            openrouter_timeout=timeout,
            signalbox_allow_loop_header=True,
            signalbox_notes_dir=notes,
            search_backend="docs",
        )
        with RunningApp(settings) as app:
            yield CutStreamApp(app, provider, notes)


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[CutStreamApp]:
    """Run one app for all tests of cuts, with a long idle timeout so that a busy machine causes no stall."""
    with _staged(tmp_path_factory.mktemp("endings"), PATIENT) as staged:
        yield staged


def _cuts(stream: Stream) -> list[int]:
    """Return every position between two frames, and a sample of other bytes."""
    rng = random.Random(f"{SEED} {stream.name}")
    return sorted({*stream.borders(), *rng.sample(range(len(stream.raw)), SAMPLE)})


def _hold(stage: CutStreamApp, plan: Plan, expected: Expected, loop: str, *, tools: bool = True) -> None:
    heard, notes = stage.play(plan, loop, tools=tools)
    wrong = fault(heard, notes, plan, expected)
    assert wrong is None, f"{loop}, {plan.how} behind {sum(map(len, plan.reads))} bytes: {wrong}"


@each_stream
@each_end
def test_a_cut_stream_ends_honestly_over_http(stage: CutStreamApp, name: str, how: How) -> None:
    """A stream that is cut between frames or at some bytes keeps the contract and ends with what arrived."""
    stream = STREAMS[name]
    for cut in _cuts(stream):
        expected = after(stream, stream.raw[:cut])
        _hold(stage, Plan(stream, stream.reads(cut), how), expected, "v2")
        if not stream.has_calls:
            _hold(stage, Plan(stream, stream.reads(cut), how), expected, "legacy", tools=False)


@each_stream
@each_end
def test_a_cut_body_is_asked_for_again_over_http(stage: CutStreamApp, name: str, how: How) -> None:
    """The legacy loop retries a cut body and repeats nothing."""
    stream = STREAMS[name]
    rng = random.Random(f"{SEED} {name}")
    for cut in (0, 1, *rng.sample(range(len(stream.body)), SAMPLE), len(stream.body) - 1):
        expected = after(stream, stream.body[:cut], streamed=False)
        _hold(stage, Plan(stream, [stream.body[:cut]] if cut else [], how), expected, "legacy")


@each_stream
@each_end
def test_a_body_that_is_always_cut_ends_interrupted_over_http(stage: CutStreamApp, name: str, how: How) -> None:
    """If every body is cut, the number of requests is limited and the run ends as interrupted."""
    stream = STREAMS[name]
    for cut in (0, *random.Random(f"{SEED} {name}").sample(range(1, len(stream.body)), SAMPLE)):
        plan = Plan(stream, [stream.body[:cut]] if cut else [], how, always=True)
        _hold(stage, plan, always(stream.body[:cut], streamed=False), "legacy")


@each_stream
def test_an_error_chunk_ends_honestly_over_http(stage: CutStreamApp, name: str) -> None:
    """An error chunk between frames ends the run with what arrived, or is retried."""
    stream = STREAMS[name]
    for place in range(len(stream.frames) + 1):
        reads = [*stream.frames[:place], broken_off(stream.model)]
        expected = after(stream, b"".join(reads))
        _hold(stage, Plan(stream, reads, "clean"), expected, "v2")
        if not stream.has_calls:
            _hold(stage, Plan(stream, reads, "clean"), expected, "legacy", tools=False)


def _stalls() -> Iterator[tuple[Plan, Expected, str]]:
    """Return silences before, in and after each stream, and in the middle of each body."""
    for stream in STREAMS.values():
        last = len(stream.frames)
        for place in (0, 1, last // 2, last - 1):
            cut = stream.borders()[place]
            yield Plan(stream, stream.reads(cut), "stalled"), after(stream, stream.raw[:cut]), "v2"
        body = stream.body[: len(stream.body) // 2]
        yield Plan(stream, [body], "stalled"), after(stream, body, streamed=False), "legacy"


def test_a_host_that_falls_silent_is_left_over_http(tmp_path: Path) -> None:
    """After the idle timeout a run is retried or ends as interrupted, with its own code and what arrived.

    All run at once: each takes as long as the timeout, which is long enough for a busy machine.
    """
    stalls = list(_stalls())
    with _staged(tmp_path, STALL) as stage, ThreadPoolExecutor(len(stalls)) as pool:
        heard = list(pool.map(lambda stall: stage.ask(stall[0], stall[2]), stalls))
        assert stage.written() == sum(expected.notes for _, expected, _ in stalls)
    for (plan, expected, loop), result in zip(stalls, heard, strict=True):
        wrong = fault(result, expected.notes, plan, expected)
        assert wrong is None, f"{loop}, {plan.stream.name} behind {sum(map(len, plan.reads))} bytes: {wrong}"
        if expected.status == "interrupted":
            assert result.done["code"] == "UPSTREAM_STALLED"
            assert result.warnings == ["UPSTREAM_STALLED"]
