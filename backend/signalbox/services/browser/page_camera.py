"""Takes screenshots of pages, one page at a time."""

import asyncio
from base64 import b64decode
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from math import inf
from time import monotonic
from urllib.parse import quote

import structlog

from signalbox.core.codes import Code
from signalbox.core.errors import ToolError
from signalbox.core.images import PageView, Screenshot
from signalbox.core.messages import JsonObject
from signalbox.core.workspace import Workspace
from signalbox.services.browser.devtools import BrowserEndedError, CommandError, DevTools
from signalbox.services.browser.installed import Chromium
from signalbox.services.browser.page_log import PageLog
from signalbox.services.browser.process import running
from signalbox.services.browser.workspace_proxy import WorkspaceProxy

_log = structlog.get_logger()

SIZES = {"desktop": (1280, 800), "phone": (390, 844)}
HIGHEST = 4_000
# Characters of base64. A larger screenshot becomes a JPEG, because a file of a conversation has at most 5 MB.
_LARGEST_PNG = 1_500_000
_START_SECONDS, _LOAD_SECONDS, SECONDS = 20.0, 10.0, 50.0
_MOST_WAITING = 4
# After a failed start, calls fail at once for this long: the next start would most likely fail too, after seconds.
_FAILED_SECONDS = 300.0
_SETTLED = "document.fonts.ready.then(() => new Promise(done => setTimeout(done, 300)))"

# Only WebRTC does not use the proxy. Chromium's flags already keep it from the network; pages do not see it at all.
_WITHOUT_WEBRTC = "delete globalThis.RTCPeerConnection; delete globalThis.webkitRTCPeerConnection;"

_NO_START = (
    "Chromium does not start. The operator can find the reason with `signalbox doctor`. Answer without a screenshot."
)
_ENDED = "The browser ended while it loaded the page. Make the page simpler, or answer without a screenshot."
_BUSY = "Too many screenshots are waiting. Answer without a screenshot, or try again later."


class ChromiumCamera:
    """The PageCamera of this process."""

    def __init__(self, chromium: Chromium, clock: Callable[[], float] = monotonic) -> None:
        self._chromium = chromium
        self._clock = clock
        self._fails_until = -inf
        self._turn = asyncio.Lock()
        self._waiting = 0

    async def view(self, workspace: Workspace, path: str, devices: Sequence[str]) -> PageView:
        """Load a page on each device; raises ToolError."""
        async with self._one_at_a_time():
            if self._clock() < self._fails_until:
                raise ToolError(Code.TOOL_UNAVAILABLE, _NO_START)
            try:
                return await self._viewed(workspace, path, devices)
            except ToolError as error:
                if error.code is Code.TOOL_UNAVAILABLE:
                    self._fails_until = self._clock() + _FAILED_SECONDS
                    _log.warning("browser.not_started", path=self._chromium.path)
                raise

    async def _viewed(self, workspace: Workspace, path: str, devices: Sequence[str]) -> PageView:
        try:
            async with (
                asyncio.timeout(SECONDS),
                WorkspaceProxy(workspace) as proxy,
                running(self._chromium, proxy.address) as devtools,
            ):
                await _started(devtools)
                return await _view(devtools, proxy.origin, path, devices)
        except TimeoutError:
            raise ToolError(Code.TIMEOUT, f"The screenshot was not ready within {SECONDS:g} s.") from None
        except (BrowserEndedError, CommandError):
            raise ToolError(Code.TOOL_FAILED, _ENDED) from None
        except OSError:
            raise ToolError(Code.TOOL_UNAVAILABLE, _NO_START) from None

    async def check(self) -> str:
        """Start the browser once and return its version; raises ToolError if it does not start."""
        try:
            async with running(self._chromium, "http://127.0.0.1:9") as devtools:
                return await _started(devtools)
        except OSError:
            raise ToolError(Code.TOOL_UNAVAILABLE, _NO_START) from None

    @asynccontextmanager
    async def _one_at_a_time(self) -> AsyncGenerator[None, None]:
        if self._waiting >= _MOST_WAITING:
            raise ToolError(Code.RATE_LIMIT, _BUSY)
        self._waiting += 1
        try:
            async with self._turn:
                yield
        finally:
            self._waiting -= 1


async def _started(devtools: DevTools) -> str:
    """Wait until the browser has started, and return its version; raises ToolError."""
    try:
        async with asyncio.timeout(_START_SECONDS):
            version = await devtools.send("Browser.getVersion")
            await devtools.send("Browser.setDownloadBehavior", behavior="deny")
    except (BrowserEndedError, CommandError, TimeoutError):
        raise ToolError(Code.TOOL_UNAVAILABLE, _NO_START) from None
    return str(version.get("product"))


async def _view(devtools: DevTools, origin: str, path: str, devices: Sequence[str]) -> PageView:
    log = PageLog(origin)
    shots = [await _shoot(devtools, log, f"{origin}/{quote(path)}", device) for device in devices]
    return PageView(tuple(shots), tuple(log.console), tuple(log.not_loaded))


async def _shoot(devtools: DevTools, log: PageLog, url: str, device: str) -> Screenshot:
    """Load a page on a device and take its screenshot from top to bottom."""
    target = await devtools.send("Target.createTarget", url="about:blank")
    attached = await devtools.send("Target.attachToTarget", targetId=target["targetId"], flatten=True)
    session = str(attached["sessionId"])
    devtools.listen(session, log.on_event)
    width, height = SIZES[device]
    for domain in ("Page", "Runtime", "Log", "Network"):
        await devtools.send(f"{domain}.enable", session)
    await devtools.send("Page.addScriptToEvaluateOnNewDocument", session, source=_WITHOUT_WEBRTC)
    is_phone = device == "phone"
    metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": is_phone}
    await devtools.send("Emulation.setDeviceMetricsOverride", session, **metrics)
    await devtools.send("Emulation.setTouchEmulationEnabled", session, enabled=is_phone)
    await _load(devtools, log, session, url)
    layout = await devtools.send("Page.getLayoutMetrics", session)
    full = _whole_height(layout, height)
    shown = min(full, HIGHEST)
    content = await _captured(devtools, session, width, shown)
    await devtools.send("Target.closeTarget", targetId=target["targetId"])
    return Screenshot(device, width, shown, full, content)


async def _load(devtools: DevTools, log: PageLog, session: str, url: str) -> None:
    """Load a page and wait for its files and fonts. Dialogs are closed. Raises ToolError if it does not end."""
    log.loaded.clear()
    closing = asyncio.create_task(_close_dialogs(devtools, log, session))
    try:
        async with asyncio.timeout(_LOAD_SECONDS):
            await devtools.send("Page.navigate", session, url=url)
            await log.loaded.wait()
            await devtools.send("Runtime.evaluate", session, expression=_SETTLED, awaitPromise=True)
    except TimeoutError:
        said = f" Its console says: {log.console[-1]}" if log.console else ""
        words = f"The page did not finish loading within {_LOAD_SECONDS:g} s. Look for an endless loop.{said}"
        raise ToolError(Code.TIMEOUT, words) from None
    finally:
        closing.cancel()
        await asyncio.gather(closing, return_exceptions=True)


async def _close_dialogs(devtools: DevTools, log: PageLog, session: str) -> None:
    while True:
        await log.dialog_opened.wait()
        log.dialog_opened.clear()
        await devtools.send("Page.handleJavaScriptDialog", session, accept=False)


def _whole_height(layout: JsonObject, least: int) -> int:
    size = layout.get("cssContentSize")
    height = size.get("height") if isinstance(size, dict) else None
    return max(least, round(height)) if isinstance(height, int | float) else least


async def _captured(devtools: DevTools, session: str, width: int, height: int) -> bytes:
    clip = {"x": 0, "y": 0, "width": width, "height": height, "scale": 1}
    options = {"clip": clip, "captureBeyondViewport": True}
    shot = await devtools.send("Page.captureScreenshot", session, format="png", **options)
    if len(str(shot["data"])) > _LARGEST_PNG:
        shot = await devtools.send("Page.captureScreenshot", session, format="jpeg", quality=80, **options)
    return b64decode(str(shot["data"]))
