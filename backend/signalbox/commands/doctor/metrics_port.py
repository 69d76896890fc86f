"""Checks the port of the metrics: free, used by a Signalbox server, or used by another program."""

import asyncio

from signalbox.app.config import Settings
from signalbox.commands.doctor.finding import Finding, fail, ok
from signalbox.commands.doctor.port import SECONDS, ask, free_port, reached, shown_address

# A part of the answer of Signalbox's port, with and without the right token.
_OURS = (b"signalbox_", b"SIGNALBOX_METRICS_TOKEN")
_ANOTHER = "Stop that program, or choose another port (SIGNALBOX_METRICS_PORT)."


async def check_metrics_port(settings: Settings) -> list[Finding]:
    """Identify the server on the port of the metrics; if there is none, check whether the port can be bound."""
    host, port = settings.signalbox_metrics_host, settings.signalbox_metrics_port
    if port is None:
        return []
    shown = shown_address(host, port)
    if port == 0:
        return [ok("metrics", f"{host}: any free port will be used (SIGNALBOX_METRICS_PORT=0).")]
    if (host, port) == (settings.signalbox_host, settings.signalbox_port):
        words = f"SIGNALBOX_METRICS_PORT and SIGNALBOX_PORT are both {port}."
        return [fail("metrics", words, "Choose another port for the metrics (SIGNALBOX_METRICS_PORT).")]
    try:
        async with asyncio.timeout(SECONDS):
            answer = await ask(reached(host), port, _request(settings))
    except TimeoutError:
        return [fail("metrics", f"A program accepts connections at {shown} but does not answer.", _ANOTHER)]
    except UnicodeError:  # a label is empty or too long
        return [fail("metrics", f"{host} is not a valid host name.", "Correct SIGNALBOX_METRICS_HOST.")]
    except OSError:
        return [await asyncio.to_thread(free_port, host, port, shown, "metrics")]
    if any(one in answer for one in _OURS):
        return [ok("metrics", f"Signalbox serves its metrics at http://{shown}/metrics.")]
    return [fail("metrics", f"Another program answers at {shown}.", _ANOTHER)]


def _request(settings: Settings) -> bytes:
    token = settings.signalbox_metrics_token
    access = f"Authorization: Bearer {token.get_secret_value()}\r\n" if token else ""
    return f"GET /metrics HTTP/1.1\r\nHost: localhost\r\n{access}Connection: close\r\n\r\n".encode()
