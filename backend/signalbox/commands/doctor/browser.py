"""Checks that the browser for screenshots starts."""

from signalbox.app.config import Settings
from signalbox.app.tool_setup import chromium_of
from signalbox.commands.doctor.finding import Finding, ok, warn
from signalbox.core.errors import ToolError
from signalbox.services.browser.installed import NOT_INSTALLED, SWITCHED_OFF
from signalbox.services.browser.page_camera import ChromiumCamera

_TODO = "Run it in a terminal to see why: --headless --dump-dom about:blank. In a container, it needs user namespaces."


async def check_browser(settings: Settings) -> list[Finding]:
    """Start Chromium once, without a page."""
    chromium = chromium_of(settings)
    if isinstance(chromium, str):
        if chromium in (NOT_INSTALLED, SWITCHED_OFF):
            return [ok("browser", f"screenshot_preview is not offered: {chromium}.")]
        words = f"screenshot_preview is not offered: {chromium}."
        return [warn("browser", words, "Change the setting, or ignore this if you need no screenshots.")]
    try:
        version = await ChromiumCamera(chromium).check()
    except ToolError:
        return [warn("browser", f"{chromium.path} does not start, so screenshot_preview fails.", _TODO)]
    sandbox = "" if chromium.is_sandboxed else " without its sandbox (SIGNALBOX_CHROMIUM_SANDBOX=false)"
    return [ok("browser", f"{chromium.path} starts{sandbox}: {version}.")]
