"""How an HTTP request fails."""


class HttpError(Exception):
    """A request failed. Each subclass names the cause."""


class InvalidRequest(HttpError):
    """The request cannot be sent: a wrong URL, or a character that would break out of its header line."""


class ConnectFailed(HttpError):
    """No connection: name lookup, TCP or TLS failed, or the client is closed."""


class ProxyFailed(HttpError):
    """The proxy of the environment refused to connect."""


class HttpTimeout(HttpError):
    """A time limit was reached."""


class ConnectTimeout(HttpTimeout):
    """Name lookup, TCP and TLS took longer than the connect timeout."""


class PoolFull(HttpTimeout):
    """All connections stayed in use for the connect timeout."""


class ReadTimeout(HttpTimeout):
    """The server sent nothing for the idle timeout."""


class NoProgress(HttpTimeout):
    """The server sent only keep-alives for the progress timeout."""


class WriteTimeout(HttpTimeout):
    """The server took no bytes for the idle timeout."""


class Broken(HttpError):
    """The connection was reset, or closed on this side, during the exchange."""


class ProtocolError(HttpError):
    """The response is not valid HTTP/1.1, exceeds a limit, or ended early."""


class DecodingFailed(HttpError):
    """The body does not match its content-encoding."""
