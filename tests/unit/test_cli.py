"""The command `signalbox`: its subcommands, exit statuses and output."""

import json
import os
import subprocess
import sys
from pathlib import Path

import httpx
import pytest
from signalbox import __version__
from signalbox.cli import main

from tests.support.processes import WAIT, command, environment
from tests.support.scripted_upstream import DONE, chunk
from tests.support.stream_reader import parse_stream

GOOD = (
    b'data: {"type":"content","content":"Hi.","v":"1.1","run_id":"a1","loop":"v2"}\nid: a1:1\n\n'
    b'data: {"type":"done","done":true,"status":"complete"}\nid: a1:2\n\n'
)
SECOND = b'data: {"type":"done"'
CAPTURE = chunk({"role": "assistant", "content": "Hi"}) + chunk({"content": "."}) + chunk({}, finish="stop") + DONE


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Name a file to check or decode."""
    return tmp_path / "capture.sse"


def test_the_version(capsys: pytest.CaptureFixture[str]) -> None:
    """It says what it is."""
    with pytest.raises(SystemExit) as ended:
        main(["--version"])
    assert ended.value.code == 0
    assert capsys.readouterr().out == f"signalbox {__version__}\n"


def test_without_a_subcommand_help_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    """Without a subcommand it prints the help and exits with status 2, because it did nothing."""
    assert main([]) == 2
    told = capsys.readouterr().err
    assert [verb for verb in ("serve", "doctor", "token", "replay") if f"\n    {verb} " not in told] == []


@pytest.mark.parametrize("arguments", [["fly"], ["decode"], ["decode", "x"], ["decode", "--dialect", "x", "y"]])
def test_a_wrong_command_line(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """Usage and exit 2, no traceback."""
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2
    assert "usage: signalbox" in capsys.readouterr().err


def test_a_good_stream_is_good(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A stream that keeps the contract: exit 0 and how many frames were read."""
    file.write_bytes(GOOD)
    assert main(["check-stream", str(file)]) == 0
    assert "2 frames, a valid v1.1 stream" in capsys.readouterr().out


STARTS = b'{"type":"tool_executing","id":"c","name":"n","category":"other","visibility":"hidden"'
BROKEN = [
    (b"", "ends without done"),
    (GOOD[: GOOD.index(SECOND)], "ends without done"),
    (GOOD + GOOD[GOOD.index(SECOND) :].replace(b"a1:2", b"a1:3"), "frame 3: done after done"),
    (GOOD[:-1], "in the middle of a frame"),
    (GOOD.replace(b"id: a1:2", b"id: a1:1"), "frame 2: seq 1 follows 1"),
    (GOOD.replace(b"id: a1:2", b"id: b2:2"), "frame 2: its id names run b2"),
    (GOOD.replace(b"\nid: a1:1", b""), "frame 1: its id None"),
    (GOOD.replace(b"data: {", b"event: x\ndata: {", 1), "frame 1: it is a named event"),
    (GOOD.replace(b'"Hi."', b"NaN"), "not strict JSON"),
    (GOOD.replace(b'"content":"Hi."', b'"content":5'), "frame 1: content"),
    (GOOD.replace(b'"v":"1.1"', b'"v":"1.0"'), '"v": "1.1"'),
    (GOOD.replace(b'"status":"complete"', b'"status":"great"'), "frame 2: done: status"),
    (GOOD.replace(b'"Hi."', b'" "'), "without content"),
    (
        GOOD.replace(b'"status":"complete"', b'"status":"error","code":"INTERNAL","error":"x"'),
        "without its warning just before",
    ),
    (GOOD.replace(b'{"type":"content","content":"Hi."', STARTS), "never announced"),
]


@pytest.mark.parametrize(("stream", "said"), BROKEN)
def test_a_broken_stream_is_named(file: Path, capsys: pytest.CaptureFixture[str], stream: bytes, said: str) -> None:
    """The first fault is named with its frame, and the exit status is 1."""
    file.write_bytes(stream)
    assert main(["check-stream", str(file)]) == 1
    assert said in capsys.readouterr().out


def test_what_grows_is_no_fault(file: Path) -> None:
    """Unknown types, fields and comments are growth."""
    grown = (
        GOOD.replace(b'"v":', b'"new":{"a":[1]},"v":')
        .replace(SECOND, b': ping\n\ndata: {"type":"map","x":1}\nid: a1:5\n\n' + SECOND)
        .replace(b"a1:2", b"a1:6")
    )
    file.write_bytes(grown)
    assert main(["check-stream", str(file)]) == 0


def test_a_resumed_stream_begins_in_the_middle(file: Path) -> None:
    """Only with --resumed may the first frame lack the head."""
    file.write_bytes(GOOD[GOOD.index(SECOND) :])
    assert main(["check-stream", str(file)]) == 1
    assert main(["check-stream", "--resumed", str(file)]) == 0


def test_a_capture_is_decoded(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One JSON object with what the stream meant."""
    file.write_bytes(CAPTURE)
    assert main(["decode", "--dialect", "openrouter-chat", str(file)]) == 0
    meaning = json.loads(capsys.readouterr().out)
    assert (meaning["content"], meaning["finish_reason"], meaning["tool_calls"], meaning["error"]) == (
        "Hi.",
        "stop",
        [],
        None,
    )
    assert {"refusal", "reasoning", "reasoning_details", "native_finish_reason", "usage"} <= set(meaning)


@pytest.mark.parametrize("verb", [["check-stream"], ["decode", "--dialect", "openrouter-chat"]])
def test_a_file_that_is_not_there(verb: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One sentence and exit 2."""
    assert main([*verb, str(tmp_path / "none")]) == 2
    assert main([*verb, str(tmp_path)]) == 2
    err = capsys.readouterr().err
    assert err.count("signalbox: ") == err.count("\n") == 2


def test_half_a_body_is_told(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A JSON body that is cut cannot be decoded."""
    file.write_bytes(b'{"choices": [')
    assert main(["decode", "--dialect", "openrouter-chat", str(file)]) == 2
    assert "neither a stream nor a JSON body" in capsys.readouterr().err


def test_replaying_what_is_not_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A folder that does not exist is named before a port is taken."""
    assert main(["simulate", "--replay", str(tmp_path / "none"), "--port", "0"]) == 2
    assert "none" in capsys.readouterr().err


@pytest.mark.e2e
def test_standard_input_is_a_file_too(tmp_path: Path) -> None:
    """`-` reads what is piped in, and `python -m signalbox` is the command."""
    check_stream = command("check-stream", "-", cwd=tmp_path, data=GOOD)
    assert (check_stream.returncode, b"2 frames" in check_stream.stdout) == (0, True)
    decoded = command("decode", "--dialect", "openrouter-chat", "-", cwd=tmp_path, data=CAPTURE)
    assert json.loads(decoded.stdout)["content"] == "Hi."


@pytest.mark.e2e
def test_a_reader_who_leaves_is_no_crash(tmp_path: Path, file: Path) -> None:
    """`signalbox decode … | head` ends without a traceback."""
    file.write_bytes(chunk({"content": "x" * 500_000}) + DONE)
    reading, writing = os.pipe()
    os.close(reading)
    try:
        ended = subprocess.run(
            [sys.executable, "-m", "signalbox", "decode", "--dialect", "openrouter-chat", str(file)],
            cwd=tmp_path,
            env=environment(),
            stdout=writing,
            stderr=subprocess.PIPE,
            timeout=WAIT,
            check=False,
        )
    finally:
        os.close(writing)
    assert b"Traceback" not in ended.stderr
    assert b"Exception ignored" not in ended.stderr
    assert ended.returncode == 1


@pytest.mark.e2e
def test_the_simulator_as_a_program(tmp_path: Path) -> None:
    """`signalbox simulate` prints its base URLs, OpenRouter's first, and answers there."""
    process = subprocess.Popen(
        [sys.executable, "-m", "signalbox", "simulate", "--port", "0", "--pace", "0"],
        cwd=tmp_path,
        env=environment(),
        stdout=subprocess.PIPE,
    )
    try:
        assert process.stdout is not None
        address = process.stdout.readline().decode().split()[-1]
        assert httpx.get(f"{address}/models", trust_env=False).json()["data"]
        dialect, native = process.stdout.readline().decode().split()
        assert dialect == "anthropic-messages:"
        claude = {"x-api-key": "unused", "anthropic-version": "2023-06-01"}
        assert httpx.get(f"{native}/v1/models", headers=claude, trust_env=False).json()["data"]
        *dialects, _ = process.stdout.readline().decode().split()
        assert dialects == ["openai-responses,", "openai-chat:"]
    finally:
        process.terminate()
        process.communicate(timeout=WAIT)


def test_the_stream_of_these_tests_is_read_alike() -> None:
    """The example above is what the slow reader takes it for."""
    assert parse_stream(GOOD).done["status"] == "complete"
