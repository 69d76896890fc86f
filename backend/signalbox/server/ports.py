"""The ports of the server: the public one, and that of the metrics. Both are bound before anything else starts."""

import errno
import socket
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass

from signalbox.app.config import Settings, SettingsError

_LAST_PORT = 65535


@dataclass(frozen=True, slots=True)
class Ports:
    """The listening sockets; `metrics` is None if the metrics have no port."""

    host: str
    public: socket.socket
    metrics: socket.socket | None = None

    @property
    def address(self) -> str:
        """The URL of the server."""
        return _url(self.host, self.public)

    @property
    def metrics_address(self) -> str:
        """The URL of the metrics."""
        assert self.metrics is not None
        return f"{_url(self.metrics.getsockname()[0], self.metrics)}/metrics"

    def close(self) -> None:
        """Stop listening."""
        self.public.close()
        if self.metrics is not None:
            self.metrics.close()


@contextmanager
def open_ports(settings: Settings, host: str, port: int) -> Generator[Ports]:
    """Listen until the block ends; raises SettingsError."""
    with _listen(host, port, "--port", "--host") as public:
        if settings.signalbox_metrics_port is None:
            yield Ports(host, public)
            return
        names = ("SIGNALBOX_METRICS_PORT", "SIGNALBOX_METRICS_HOST")
        with _listen(settings.signalbox_metrics_host, settings.signalbox_metrics_port, *names) as metrics:
            yield Ports(host, public, metrics)


def _listen(host: str, port: int, port_name: str, host_name: str) -> socket.socket:
    """Bind a port; raises SettingsError, which names the option or the setting to change."""
    if not 0 <= port <= _LAST_PORT:
        raise SettingsError(f"{port} is not a valid port. Choose one from 0 to {_LAST_PORT} with {port_name}.")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        host.encode("idna")
        return socket.create_server((host, port), family=family, backlog=2048)
    except UnicodeError:  # a label is empty or too long
        raise SettingsError(f"{host} is not a valid host name. Choose another with {host_name}.") from None
    except OSError as error:
        reason = "is already in use" if error.errno == errno.EADDRINUSE else f"cannot be used ({error.strerror})"
        raise SettingsError(f"{host}:{port} {reason}. Stop what uses it, or choose another with {port_name}.") from None


def _url(host: str, listener: socket.socket) -> str:
    port = listener.getsockname()[1]
    shown = f"[{host}]" if ":" in host else host
    return f"http://{shown}:{port}"
