"""Starts Chromium for one use, in a temporary profile, and ends it with all its processes."""

import asyncio
import contextlib
import fcntl
import os
import signal
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from tempfile import TemporaryDirectory
from typing import BinaryIO

from signalbox.services.browser.devtools import DevTools
from signalbox.services.browser.installed import Chromium

# Chromium expects the pipes at the descriptors 3 and 4. `preexec_fn` is not safe in a process with threads, so a small
# program sets the descriptors.
_LAUNCH = (
    "import os, sys; os.dup2(int(sys.argv[1]), 3); os.dup2(int(sys.argv[2]), 4); os.execv(sys.argv[3], sys.argv[3:])"
)
_FIRST_FREE = 10
# Its messages contain whole screenshots.
_LONGEST_MESSAGE = 64 * 1024 * 1024
_FLAGS = (
    "--headless",
    "--remote-debugging-pipe",
    "--proxy-bypass-list=<-loopback>",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--disable-quic",
    "--dns-prefetch-disable",
    "--no-pings",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-extensions",
    "--disable-default-apps",
    "--disable-breakpad",
    "--disable-crash-reporter",
    "--disable-domain-reliability",
    "--disable-features=OptimizationHints,MediaRouter,Translate,AutofillServerCommunication,CertificateTransparencyComponentUpdater",
    "--block-new-web-contents",
    "--deny-permission-prompts",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
    "--mute-audio",
    "--no-first-run",
    "--no-default-browser-check",
    "--password-store=basic",
    "--use-mock-keychain",
)


@asynccontextmanager
async def running(chromium: Chromium, proxy: str) -> AsyncGenerator[DevTools, None]:
    """Run Chromium with this proxy, and yield its DevTools; raises BrowserEndedError if it does not start."""
    folder = TemporaryDirectory(prefix="signalbox-browser-", ignore_cleanup_errors=True)
    try:
        async with _process(chromium, proxy, folder.name) as devtools:
            yield devtools
    finally:
        await asyncio.shield(asyncio.to_thread(folder.cleanup))


@asynccontextmanager
async def _process(chromium: Chromium, proxy: str, folder: str) -> AsyncGenerator[DevTools, None]:
    (reads, sends), (receives, writes) = _pipe(), _pipe()
    with os.fdopen(receives, "rb", buffering=0) as incoming, os.fdopen(sends, "wb", buffering=0) as outgoing:
        try:
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-I", "-S", "-c", _LAUNCH, str(reads), str(writes), chromium.path),
                *(*_FLAGS, f"--proxy-server={proxy}", f"--user-data-dir={folder}"),
                *(() if chromium.is_sandboxed else ("--no-sandbox",)),
                "about:blank",
                pass_fds=(reads, writes),
                start_new_session=True,
                cwd=folder,
                env=_environment(folder),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.DEVNULL,
                stderr=asyncio.subprocess.DEVNULL,
            )
        finally:
            os.close(reads)
            os.close(writes)
        try:
            async with _connected(incoming, outgoing) as devtools:
                yield devtools
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            await process.wait()


def _pipe() -> tuple[int, int]:
    """Return a pipe whose descriptors are not 3 or 4."""
    made = os.pipe()
    try:
        reads, writes = (fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, _FIRST_FREE) for end in made)
    finally:
        for end in made:
            os.close(end)
    return reads, writes


@asynccontextmanager
async def _connected(incoming: BinaryIO, outgoing: BinaryIO) -> AsyncGenerator[DevTools, None]:
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=_LONGEST_MESSAGE)
    receiving, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), incoming)
    sending, _ = await loop.connect_write_pipe(asyncio.BaseProtocol, outgoing)
    devtools = DevTools(reader, sending.write)
    try:
        yield devtools
    finally:
        await devtools.aclose()
        sending.close()
        receiving.close()


def _environment(folder: str) -> dict[str, str]:
    """Return an environment without the server's keys and proxies."""
    own = dict.fromkeys(("HOME", "TMPDIR", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR"), folder)
    return {"PATH": os.environ.get("PATH", os.defpath), "LANG": "C.UTF-8", **own}
