"""Checks the port: free, used by a Signalbox server, or used by another program."""

import asyncio
import errno
import socket
from contextlib import suppress
from ipaddress import ip_address
from typing import cast

import orjson

from signalbox import __version__
from signalbox.app.config import Settings
from signalbox.commands.doctor.finding import Finding, fail, ok, warn
from signalbox.core.messages import JsonValue

SECONDS = 5.0
_MOST = 65_536
_ASK = b"GET /health/live HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"


async def check_port(settings: Settings) -> list[Finding]:
    """Identify the server on the port; if there is none, check whether the port can be bound."""
    host, port = settings.signalbox_host, settings.signalbox_port
    try:
        return [await _identify(host, port)]
    except UnicodeError:  # a label is empty or too long
        return [fail("port", f"{host} is not a valid host name.", "Choose another with --host or SIGNALBOX_HOST.")]


async def _identify(host: str, port: int) -> Finding:
    shown = shown_address(host, port)
    if port == 0:
        found = await asyncio.to_thread(free_port, host, port, shown)
        return ok("port", f"{host}: any free port will be used (SIGNALBOX_PORT=0).") if found.state == "ok" else found
    another = "Stop that program, or choose another port (SIGNALBOX_PORT, --port)."
    try:
        async with asyncio.timeout(SECONDS):
            version = await _version_at(reached(host), port)
    except TimeoutError:
        return fail("port", f"A program accepts connections at {shown} but does not answer.", another)
    except OSError:
        return await asyncio.to_thread(free_port, host, port, shown)
    if version is None:
        return fail("port", f"Another program answers at {shown}.", another)
    if version != __version__:
        words = f"Signalbox {version} answers at {shown}, but {__version__} is installed."
        return warn("port", words, "Restart it to use the installed version.")
    return ok("port", f"Signalbox {version} answers at {shown}.")


def shown_address(host: str, port: int) -> str:
    """Return an address as in a URL."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def reached(host: str) -> str:
    """Return the loopback address for a wildcard address, and any other host unchanged."""
    with suppress(ValueError):
        address = ip_address(host)
        if address.is_unspecified:
            return "::1" if address.version == 6 else "127.0.0.1"
    return host


async def _version_at(host: str, port: int) -> str | None:
    """Return the version of the Signalbox server there, None for another program; raises OSError if none listens.

    The HTTP client is not used, because it would go through a proxy of the environment.
    """
    return _version_in((await ask(host, port, _ASK)).partition(b"\r\n\r\n")[2])


async def ask(host: str, port: int, request: bytes) -> bytes:
    """Return the beginning of what a server answers; raises OSError if none listens."""
    reader, writer = await asyncio.open_connection(host, port)
    answer = b""
    try:
        writer.write(request)
        with suppress(ConnectionError):
            while len(answer) < _MOST and (piece := await reader.read(_MOST)):
                answer += piece
    finally:
        writer.close()
    return answer


def _version_in(body: bytes) -> str | None:
    try:
        value = cast(JsonValue, orjson.loads(body))
    except orjson.JSONDecodeError:
        return None
    if not isinstance(value, dict) or value.get("status") != "live":
        return None
    version = value.get("version")
    return version if isinstance(version, str) else None


def free_port(host: str, port: int, shown: str, about: str = "port") -> Finding:
    """Check whether an address can be bound, without listening on it."""
    names = "SIGNALBOX_HOST, SIGNALBOX_PORT" if about == "port" else "SIGNALBOX_METRICS_HOST, SIGNALBOX_METRICS_PORT"
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind, protocol) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            words = f"{shown} is in use by a program that accepts no connections."
        else:
            words = f"{shown} cannot be used ({(error.strerror or type(error).__name__).lower()})."
        return fail(about, words, f"Choose another address or port ({names}).")
    return ok(about, f"{shown} is free.")
