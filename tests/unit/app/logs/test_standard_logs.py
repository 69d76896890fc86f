"""Logs of the standard library and of other packages: JSON lines without keys, tokens and prompts."""

import asyncio
import logging
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import structlog
from signalbox.app.logs.redaction import without_values

from tests.support.processes import environment
from tests.unit.app.logs.conftest import Lines

KEY, PROMPT = "sk-or-v1-canary-0123456789", "my secret diary"


def breaks(words: str) -> None:
    """Raise an error whose message and cause quote the argument."""
    given: dict[str, str] = {}
    try:
        given[words]
    except KeyError as error:
        raise ValueError(f"cannot read {words!r} with {KEY}") from error


def test_a_record_of_another_library_is_a_json_line(logging_as: Callable[..., Lines]) -> None:
    """A line has logger and level; numeric arguments stay in the text, others are removed."""
    lines = logging_as()
    logging.getLogger("some.library").warning("Invalid request from %s after %d bytes", PROMPT, 12)
    [line] = lines()
    assert (line["logger"], line["level"]) == ("some.library", "warning")
    assert line["event"] == "Invalid request from … after 12 bytes"


def test_a_text_that_is_built_before_it_is_logged_stays(logging_as: Callable[..., Lines]) -> None:
    """docs/logs.md says so: what a plugin writes into its own text cannot be told from the text."""
    lines = logging_as()
    logging.getLogger("acme_plugin").warning(f"no result for {PROMPT}")  # noqa: G004 - as a plugin does
    logging.getLogger("acme_plugin").warning("no result for %s", PROMPT)
    assert [line["event"] for line in lines()] == [f"no result for {PROMPT}", "no result for …"]


def test_a_traceback_has_types_and_places_alone(logging_as: Callable[..., Lines]) -> None:
    """The types of an error and its causes are logged with the location, but not the messages."""
    lines = logging_as("info", [KEY])
    try:
        breaks(PROMPT)
    except ValueError:
        logging.getLogger("some.library").exception("Exception in ASGI application\n")
    [line] = lines()
    assert (line["event"], line["error"], line["causes"]) == (
        "Exception in ASGI application",
        "ValueError",
        ["KeyError"],
    )
    assert line["frames"][-1].startswith("logs/test_standard_logs.py:")
    assert line["frames"][-1].endswith(" breaks")
    assert PROMPT not in str(line)
    assert "canary" not in str(line)


def test_an_error_in_structlog_is_described_alike(logging_as: Callable[..., Lines]) -> None:
    """`exc_info` of our lines becomes type and location as well."""
    lines = logging_as()
    try:
        breaks(PROMPT)
    except ValueError as error:
        structlog.get_logger().error("probe", exc_info=True)
        structlog.get_logger().error("probe", exc_info=error, given=ValueError(PROMPT))
    for line in lines():
        assert line["error"] == "ValueError"
        assert PROMPT not in str(line)


def test_asyncios_unretrieved_exceptions_are_redacted(logging_as: Callable[..., Lines]) -> None:
    """A task whose error was never retrieved is logged with the error's type, without its repr."""
    lines = logging_as()

    async def fails() -> None:
        breaks(PROMPT)

    async def main() -> None:
        task = asyncio.get_running_loop().create_task(fails())
        await asyncio.wait({task})
        del task
        loop = asyncio.get_running_loop()
        loop.call_soon(breaks, PROMPT)
        await asyncio.sleep(0)

    asyncio.run(main())
    told = {line["event"]: line for line in lines()}
    assert told["Task exception was never retrieved"]["error"] == "ValueError"
    [callback] = [line for event, line in told.items() if event.startswith("Exception in callback breaks(")]
    assert callback["logger"] == "asyncio"
    assert PROMPT not in str(told)
    assert "canary" not in str(told)


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("It can't be read", "It can't be read"),
        ("got 'it\\'s mine' and \"more\"", "got … and …"),
        ("cut b'half of it", "cut …"),
        ("first line\nsecond line", "first line"),
    ],
)
def test_what_a_text_quotes_is_left_out(text: str, left: str) -> None:
    """Quoted strings are removed, truncated ones too; an apostrophe within a word is no quote."""
    assert without_values(text) == left


@pytest.mark.parametrize(
    "credential",
    [
        "sb-0123456789ab-abcdefghijklmnop_-12",
        "sk-proj-0123456789abcdef0123",
        "Bearer abcdefgh.ijkl",
        "postgresql://me:hunter2@db/box",
        "AIzaSy-0123456789abcdef0123456789",
        "x-api-key: abcdefgh-ijkl",
        "{'X-Api-Key': 'abcdefgh-ijkl'}",
        "(b'x-goog-api-key', b'abcdefgh-ijkl')",
        '{"api-key": "abcdefgh-ijkl"}',
        "Authorization: Basic abcdefgh=",
        "authorization=abcdefgh-ijkl",
    ],
)
def test_credentials_that_are_no_settings_are_struck_out(credential: str, logging_as: Callable[..., Lines]) -> None:
    """API tokens, keys of other services, headers and passwords in URLs are recognized by their form."""
    lines = logging_as()
    structlog.get_logger().info("probe", given=f"was {credential} here")
    [line] = lines()
    assert "[secret]" in line["given"]
    assert not any(word in line["given"] for word in ("abcdefgh", "0123456789abcdef", "hunter2"))


def test_a_secret_is_struck_out_in_each_of_its_forms(logging_as: Callable[..., Lines]) -> None:
    """A secret is also removed when it is JSON-escaped or URL-encoded."""
    secret = 'pass"word\\with/signs'
    lines = logging_as("info", [secret])
    structlog.get_logger().info("probe", plain=secret, address="https://x/?key=pass%22word%5Cwith%2Fsigns")
    [line] = lines()
    assert (line["plain"], line["address"]) == ("[secret]", "https://x/?key=[secret]")


def test_a_level_holds_for_all_loggers(logging_as: Callable[..., Lines]) -> None:
    """Other packages log from warnings up, or from a higher configured level."""
    lines = logging_as("error")
    logging.getLogger("probe").warning("warned")
    logging.getLogger("probe").error("failed")
    structlog.get_logger().warning("warned")
    assert [line["event"] for line in lines()] == ["failed"]
    lines = logging_as("debug")
    logging.getLogger("probe").info("a request with its headers")
    assert lines() == []


def test_a_text_that_is_no_utf8_is_logged_all_the_same(logging_as: Callable[..., Lines]) -> None:
    """A file name may contain any bytes; a line with it is still logged."""
    lines = logging_as()
    structlog.get_logger().info("probe", file="\udcff.txt")
    [line] = lines()
    assert "udcff" in line["file"]


def test_a_standard_error_that_cannot_be_written_breaks_nothing(
    logging_as: Callable[..., Lines], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A full disk or a closed pipe does not raise."""

    class Full:
        tried = 0

        def write(self, text: str) -> None:
            self.tried += 1
            raise OSError(28, "No space left on device")

        def flush(self) -> None:
            raise ValueError("I/O operation on closed file")

    logging_as()
    full = Full()
    monkeypatch.setattr(sys, "stderr", full)
    structlog.get_logger().info("probe")
    assert full.tried


HOOKS = f"""
import sys, threading, warnings
from signalbox.app.logs.setup import configure_logs, log_what_python_prints
configure_logs("info")
log_what_python_prints()
warnings.warn("odd value {PROMPT!r}", UserWarning)
def breaks():
    raise ValueError({PROMPT!r})
thread = threading.Thread(target=breaks, name="worker")
thread.start(); thread.join()
class Unraisable:
    def __del__(self):
        breaks()
Unraisable()
breaks()
"""


def test_what_python_itself_prints_is_logged_without_values(tmp_path: Path) -> None:
    """Uncaught errors of process, threads and finalizers, and warnings are one line each, without traceback."""
    ended = subprocess.run(
        [sys.executable, "-c", HOOKS], cwd=tmp_path, env=environment(), capture_output=True, text=True, check=False
    )
    assert ended.returncode == 1
    for event in (
        "python.warning",
        "thread.uncaught_exception",
        "process.unraisable_exception",
        "process.uncaught_exception",
    ):
        assert f'"event":"{event}"' in ended.stderr
    assert len(ended.stderr.splitlines()) == 4
    assert PROMPT not in ended.stderr
