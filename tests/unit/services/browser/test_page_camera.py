"""Screenshots with a scripted browser: how it is started, ended and waited for."""

import asyncio
import json
import os
from pathlib import Path
from typing import Any

import pytest
from signalbox.core.codes import Code
from signalbox.core.errors import ToolError
from signalbox.core.images import Screenshot
from signalbox.core.messages import JsonValue
from signalbox.services.browser import page_camera
from signalbox.services.browser.installed import NOT_INSTALLED, SWITCHED_OFF, Chromium, find_chromium
from signalbox.services.browser.page_camera import HIGHEST, ChromiumCamera
from signalbox.services.browser.page_log import MOST, PageLog
from structlog.testing import capture_logs

from tests.support.fake_browser import fake_browser
from tests.support.memory_workspace import MemoryWorkspace

pytestmark = pytest.mark.anyio

PNG = b"\x89PNG\r\n\x1a\n"
ORIGIN = "http://0123.invalid"


def lines(folder: Path) -> list[dict[str, Any]]:
    """Return what the browser recorded."""
    return [json.loads(line) for line in (folder / "log").read_text().splitlines()]


def profile_is_gone(folder: Path) -> bool:
    """Return whether the profile that the browser got is removed."""
    (profile,) = [one for one in lines(folder)[0]["arguments"] if one.startswith("--user-data-dir=")]
    return not Path(profile.partition("=")[2]).exists()


def has_opened_a_page(folder: Path) -> bool:
    """Return whether the browser was told to load the page."""
    log = folder / "log"
    return log.exists() and "Page.navigate" in log.read_text()


def camera(folder: Path, mode: str = "works", *, is_sandboxed: bool = True) -> ChromiumCamera:
    """Make a camera with a scripted browser."""
    return ChromiumCamera(Chromium(str(fake_browser(folder, mode)), is_sandboxed))


async def test_screenshots_of_both_devices(tmp_path: Path) -> None:
    """Each has its width; a page that is very high is cut."""
    view = await camera(tmp_path).view(MemoryWorkspace(), "index.html", ("desktop", "phone"))
    assert view.screenshots == (
        Screenshot("desktop", 1280, HIGHEST, 9000, PNG),
        Screenshot("phone", 390, HIGHEST, 9000, PNG),
    )
    sizes = [one["params"] for one in lines(tmp_path)[1:] if one["method"] == "Emulation.setDeviceMetricsOverride"]
    assert [(one["width"], one["mobile"]) for one in sizes] == [(1280, False), (390, True)]


async def test_the_browser_is_confined(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It gets no key of the server, uses the proxy for all hosts, and keeps its sandbox; its profile is removed."""
    monkeypatch.setenv("OPENROUTER_API_KEY", "sk-or-v1-canary")
    monkeypatch.setenv("https_proxy", "http://127.0.0.1:1")
    assert await camera(tmp_path).check() == "Fake/1"
    started = lines(tmp_path)[0]
    arguments: list[str] = started["arguments"]
    assert "canary" not in json.dumps(started)
    assert "https_proxy" not in started["environment"]
    assert "--no-sandbox" not in arguments
    assert "--proxy-bypass-list=<-loopback>" in arguments
    assert any(one.startswith("--proxy-server=http://127.0.0.1:") for one in arguments)
    assert profile_is_gone(tmp_path)


async def test_the_sandbox_is_switched_off_on_request_only(tmp_path: Path) -> None:
    """The setting becomes a flag."""
    await camera(tmp_path, is_sandboxed=False).check()
    assert "--no-sandbox" in lines(tmp_path)[0]["arguments"]


@pytest.mark.parametrize(
    ("mode", "code", "words"),
    [
        ("ends", Code.TOOL_UNAVAILABLE, "does not start"),
        ("ends_later", Code.TOOL_FAILED, "The browser ended"),
        ("rejects", Code.TOOL_FAILED, "The browser ended"),
        ("hangs", Code.TIMEOUT, "did not finish loading"),
    ],
)
async def test_a_browser_that_fails(
    tmp_path: Path, mode: str, code: Code, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The error says what happened, and nothing of the browser is left."""
    monkeypatch.setattr(page_camera, "_LOAD_SECONDS", 0.05)
    with pytest.raises(ToolError) as failed:
        await camera(tmp_path, mode).view(MemoryWorkspace(), "index.html", ("phone",))
    assert failed.value.code is code
    assert words in failed.value.message
    assert profile_is_gone(tmp_path)


async def test_a_file_that_is_no_program(tmp_path: Path) -> None:
    """It counts as a browser that does not start."""
    (tmp_path / "browser").write_bytes(b"\0\0\0")
    (tmp_path / "browser").chmod(0o755)
    with pytest.raises(ToolError) as failed:
        await ChromiumCamera(Chromium(str(tmp_path / "browser"))).check()
    assert failed.value.code is Code.TOOL_UNAVAILABLE


async def test_a_failed_start_is_remembered(tmp_path: Path) -> None:
    """For five minutes, calls fail without another start, also those that were waiting. Then it is tried again."""
    now = [0.0]
    subject = ChromiumCamera(Chromium(str(fake_browser(tmp_path, "ends"))), clock=lambda: now[0])

    async def failure() -> str:
        with pytest.raises(ToolError, match="does not start") as failed:
            await subject.view(MemoryWorkspace(), "index.html", ("phone",))
        return str(failed.value.code)

    with capture_logs() as logged:
        codes = await asyncio.gather(failure(), failure(), failure())
    now[0] = 299.0
    assert [*codes, await failure()] == ["TOOL_UNAVAILABLE"] * 4
    assert len(lines(tmp_path)) == 1
    assert [one["event"] for one in logged] == ["browser.not_started"]
    now[0] = 301.0
    await failure()
    assert len(lines(tmp_path)) == 2


async def test_few_screenshots_wait(tmp_path: Path) -> None:
    """One is taken at a time, and a long queue is refused at once."""
    subject = camera(tmp_path)
    views = (subject.view(MemoryWorkspace(), "index.html", ("phone",)) for _ in range(6))
    outcomes = await asyncio.gather(*views, return_exceptions=True)
    refused = [one for one in outcomes if isinstance(one, ToolError)]
    assert [one.code for one in refused] == [Code.RATE_LIMIT, Code.RATE_LIMIT]
    methods = [one["method"] for one in lines(tmp_path) if "method" in one]
    opened = [one for one in methods if one in ("Target.createTarget", "Target.closeTarget")]
    assert opened == ["Target.createTarget", "Target.closeTarget"] * 4


async def test_a_stop_ends_the_browser(tmp_path: Path) -> None:
    """The process is gone when the call has ended."""
    task = asyncio.create_task(camera(tmp_path, "hangs").view(MemoryWorkspace(), "index.html", ("phone",)))
    while not await asyncio.to_thread(has_opened_a_page, tmp_path):
        pass
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert profile_is_gone(tmp_path)


def test_the_page_log() -> None:
    """Errors, warnings and missing files are listed once and shortened; addresses lose the made-up host."""
    log = PageLog(ORIGIN)
    for _ in range(2):
        log.on_event("Runtime.exceptionThrown", {"exceptionDetails": {"exception": {"description": "Error: x"}}})
    said: list[JsonValue] = [{"type": "string", "value": f"{ORIGIN}/a.js"}, {"type": "object", "description": "Object"}]
    log.on_event("Runtime.consoleAPICalled", {"type": "error", "args": said})
    log.on_event("Runtime.consoleAPICalled", {"type": "log", "args": said})
    log.on_event("Log.entryAdded", {"entry": {"level": "error", "source": "security", "text": "y" * 500}})
    log.on_event("Network.responseReceived", {"response": {"status": 404, "url": f"{ORIGIN}/a.png"}})
    log.on_event("Network.responseReceived", {"response": {"status": 404, "url": f"{ORIGIN}/favicon.ico"}})
    log.on_event("Network.requestWillBeSent", {"requestId": "1", "request": {"url": "https://cdn.example.com/x.js"}})
    log.on_event("Network.loadingFailed", {"requestId": "1", "errorText": "net::ERR_TUNNEL_CONNECTION_FAILED"})
    assert log.console == ["Error: x", "error: /a.js Object", "y" * 300]
    assert log.not_loaded == [
        "a.png: there is no such file",
        "https://cdn.example.com/x.js: screenshots have no network; only files of the conversation are loaded",
    ]
    for number in range(50):
        log.on_event("Runtime.consoleAPICalled", {"type": "warning", "args": [{"value": number}]})
    assert len(log.console) == MOST


def test_which_browser_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Chromium of the setting or of PATH; for root only without its sandbox, which a setting must allow."""
    found = fake_browser(tmp_path)
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert find_chromium("none", is_sandboxed=True) == SWITCHED_OFF
    assert find_chromium(None, is_sandboxed=True) == NOT_INSTALLED
    assert find_chromium(str(found), is_sandboxed=True) == Chromium(str(found))
    assert find_chromium("/no/such", is_sandboxed=True) == "SIGNALBOX_CHROMIUM is no executable file: /no/such"
    found.rename(tmp_path / "chromium")
    assert find_chromium(None, is_sandboxed=True) == Chromium(str(tmp_path / "chromium"))
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert "SIGNALBOX_CHROMIUM_SANDBOX=false" in str(find_chromium(None, is_sandboxed=True))
    assert find_chromium(None, is_sandboxed=False) == Chromium(str(tmp_path / "chromium"), is_sandboxed=False)
