"""Screenshots with the installed Chromium: what a page shows, and that nothing leaves the browser."""

import os
import socket
from base64 import b64decode
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from signalbox.core.tools import ToolContext, ToolOutcome
from signalbox.services.browser import page_camera
from signalbox.services.browser.installed import Chromium, find_chromium
from signalbox.services.browser.page_camera import ChromiumCamera
from signalbox.services.tool_executor import ToolExecutor
from signalbox.tools.images.screenshot_preview import screenshot_preview

from tests.support.memory_workspace import MemoryWorkspace

FOUND = find_chromium(None, is_sandboxed=os.geteuid() != 0)
pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(isinstance(FOUND, str), reason=f"needs Chromium: {FOUND}"),
]
NO_NETWORK = "screenshots have no network"


class Listener:
    """Sockets of TCP and UDP on one loopback port, which must not receive anything."""

    def __init__(self, stack: ExitStack) -> None:
        self._tcp = stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_STREAM))
        self._udp = stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
        self._tcp.bind(("127.0.0.1", 0))
        self._tcp.listen()
        self.port: int = self._tcp.getsockname()[1]
        self._udp.bind(("127.0.0.1", self.port))
        self._tcp.setblocking(False)
        self._udp.setblocking(False)

    @property
    def received(self) -> list[str]:
        found: list[str] = []
        for name, read in (("tcp", self._tcp.accept), ("udp", lambda: self._udp.recvfrom(1500))):
            try:
                read()
            except BlockingIOError:
                continue
            found.append(name)
        return found


@pytest.fixture
def listener() -> Iterator[Listener]:
    """Listen on a port of this machine."""
    with ExitStack() as stack:
        yield Listener(stack)


async def screenshot(workspace: MemoryWorkspace, **arguments: Any) -> ToolOutcome:
    """Call the tool as a loop does."""
    assert isinstance(FOUND, Chromium)
    executor = ToolExecutor([screenshot_preview(ChromiumCamera(FOUND), None)])
    return await executor.run("screenshot_preview", arguments, ToolContext(workspace=workspace))


def result_of(outcome: ToolOutcome) -> dict[str, Any]:
    """Return the result of a call that succeeded."""
    assert outcome.success, outcome.error
    assert isinstance(outcome.result, dict)
    return outcome.result


def size_of(png: bytes) -> tuple[int, int]:
    """Return width and height from the header of a PNG."""
    return int.from_bytes(png[16:20]), int.from_bytes(png[20:24])


async def test_sc_12_a_page_on_desktop_and_phone() -> None:
    """The model gets both images, and what is wrong with the page; people get the files."""
    page = (
        '<!doctype html><meta name="viewport" content="width=device-width"><link rel="stylesheet" href="css/site.css">'
        '<h1>Hello</h1><img src="images/none.png"><script>console.error("broken", 1); missing();</script>'
        '<script src="https://cdn.example.com/x.js"></script><div style="height: 6000px"></div>'
    )
    workspace = MemoryWorkspace({"index.html": page, "css/site.css": "h1 { color: green }"})
    outcome = await screenshot(workspace)
    result = result_of(outcome)
    assert [(one["device"], one["width"], one["height"]) for one in result["screenshots"]] == [
        ("desktop", 1280, 4000),
        ("phone", 390, 4000),
    ]
    assert all(one["page_height"] > 6000 for one in result["screenshots"])
    images = [b64decode(image.url.partition(",")[2]) for image in outcome.images]
    assert [size_of(image) for image in images] == [(1280, 4000), (390, 4000)]
    assert [one.path for one in await workspace.files() if one.path.startswith("screenshots/")] == [
        "screenshots/index-desktop.png",
        "screenshots/index-phone.png",
    ]
    assert "error: broken 1" in result["console"]
    assert any("missing is not defined" in one for one in result["console"])
    assert "images/none.png: there is no such file" in result["not_loaded"]
    assert any(one.startswith("https://cdn.example.com/x.js: ") for one in result["not_loaded"])
    assert not any("site.css" in one for one in result["not_loaded"])


ESCAPES = {
    "fetch": "fetch('http://HOST/a').catch(() => 0)",
    "image": "new Image().src = 'http://HOST/a'",
    "iframe": "document.write('<iframe src=\"http://HOST/a\"></iframe>')",
    "redirect": "location = 'http://HOST/a'",
    "websocket": "new WebSocket('ws://HOST/a')",
    "https": "fetch('https://HOST/a').catch(() => 0)",
    "beacon": "navigator.sendBeacon('http://HOST/a', 'x')",
    "event source": "new EventSource('http://HOST/a')",
    "popup": "window.open('http://HOST/a')",
    "form": "document.write('<form action=\"http://HOST/a\"></form>'); document.forms[0].submit()",
    "name": "fetch('http://localhost:PORT/a').catch(() => 0)",
    "prefetch": 'document.write(\'<link rel="preconnect" href="http://HOST"><link rel="prefetch" href="http://HOST/a">\')',
    "worker": ('new Worker(URL.createObjectURL(new Blob([\'fetch("http://HOST/a"); new WebSocket("ws://HOST")\'])))'),
    "webrtc": (
        "const make = w => { const c = new w.RTCPeerConnection({iceServers: [{urls: 'stun:HOST'},"
        " {urls: 'turn:HOST?transport=tcp', username: 'a', credential: 'b'}]}); c.createDataChannel('x');"
        " c.createOffer().then(o => c.setLocalDescription(o)); };"
        " try { make(window) } catch { }"
        " const f = document.createElement('iframe'); document.documentElement.append(f);"
        " try { make(f.contentWindow) } catch { }"
    ),
    "webrtc in sandboxed frames": (
        "const s = `<script>const c = new RTCPeerConnection({iceServers: [{urls: 'stun:HOST'}]});"
        " c.createDataChannel('x'); c.createOffer().then(o => c.setLocalDescription(o))</scr` + `ipt>`;"
        " for (const [name, value] of [['srcdoc', s], ['src', 'data:text/html,' + s]]) {"
        " const g = document.createElement('iframe'); g.sandbox = 'allow-scripts'; g[name] = value;"
        " document.documentElement.append(g); }"
    ),
    "webtransport": "try { new WebTransport('https://HOST/a').ready.catch(() => 0) } catch { }",
    "file": 'document.write(\'<iframe src="file:///etc/passwd"></iframe><img src="file:///etc/passwd">\')',
}


# These replace the page.
LEAVING = ("redirect", "form")


async def test_sc_12_nothing_leaves_the_browser(listener: Listener) -> None:
    """Pages that try to reach a server of this machine, one way each, reach nothing; all are screenshots."""
    host = f"127.0.0.1:{listener.port}"
    together = "".join(f"<script>{script}</script>" for name, script in ESCAPES.items() if name not in LEAVING)
    alone = [f"<script>{ESCAPES[name]}</script>" for name in LEAVING]
    for scripts in (together, *alone):
        page = scripts.replace("HOST", host).replace("PORT", str(listener.port))
        outcome = await screenshot(MemoryWorkspace({"index.html": f"<!doctype html><p>Hi</p>{page}"}), device="phone")
        assert outcome.success, outcome.error
        assert listener.received == [], scripts


async def test_other_files_of_the_machine_are_not_served() -> None:
    """Paths outside of the workspace do not exist."""
    scripts = "".join(
        f"fetch('{path}').then(r => console.error('status', r.status));" for path in ("/../../etc/passwd", "/%2e%2e/x")
    )
    result = result_of(await screenshot(MemoryWorkspace({"index.html": f"<script>{scripts}</script>"}), device="phone"))
    assert result["console"] == ["error: status 404"]


async def test_a_page_that_never_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """The error names the likely cause, and the next screenshot works."""
    monkeypatch.setattr(page_camera, "_LOAD_SECONDS", 3.0)
    outcome = await screenshot(MemoryWorkspace({"index.html": "<script>for (;;);</script>"}), device="phone")
    assert "endless loop" in outcome.error
    assert (await screenshot(MemoryWorkspace({"index.html": "<p>Fine"}), device="phone")).success


async def test_dialogs_are_closed() -> None:
    """A page that opens them is shown."""
    page = "<p>Hi<script>alert(1); confirm(2); prompt(3)</script>"
    assert (await screenshot(MemoryWorkspace({"index.html": page}), device="phone")).success
