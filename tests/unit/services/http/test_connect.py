"""Opening connections: refused, hanging, cancelled, IPv6, several addresses, and TLS."""

import asyncio
import socket
import ssl
from typing import Any

import pytest
from signalbox.core.errors import ToolError
from signalbox.services.addresses import Allowance
from signalbox.services.fetch import PageFetcher
from signalbox.services.http import connect
from signalbox.services.http.client import HttpClient
from signalbox.services.http.errors import ConnectFailed, ConnectTimeout, ProtocolError

from tests.conftest import ROOT
from tests.support.http_server import STREAM, TWO, Peer, Server, answering, fetched, turn_until

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("nothing_left_open")]

PEM = ROOT / "tests/support/data/loopback.pem"


async def test_a_refused_connection_fails() -> None:
    """No server listens: ConnectFailed, and the slot in the pool is free."""
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        async with HttpClient() as client:
            with pytest.raises(ConnectFailed):
                await fetched(client, f"http://127.0.0.1:{sock.getsockname()[1]}/")
            assert client.open_connections == 0


async def test_an_unknown_host_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    """A name without an address is ConnectFailed, as is one whose look-up fails."""

    async def none(host: str, port: int) -> list[Any]:
        return []

    async def fails(host: str, port: int) -> list[Any]:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    async with HttpClient() as client:
        for look_up in (none, fails):
            monkeypatch.setattr(connect, "_addresses", look_up)
            with pytest.raises(ConnectFailed):
                await fetched(client, "http://provider.test/")
        assert client.open_connections == 0


async def mute(peer: Peer) -> None:
    """Accept a connection and send nothing."""
    await peer.gone()


async def test_a_handshake_that_hangs_is_a_connect_timeout() -> None:
    """The connect timeout covers TLS, and the half-open socket is closed."""
    async with Server(mute) as server, HttpClient(connect_timeout=0.05) as client:
        with pytest.raises(ConnectTimeout):
            await fetched(client, f"https://127.0.0.1:{server.port}/")
        await asyncio.wait_for(server.left.wait(), 30)
        assert client.open_connections == 0


async def test_a_cancelled_handshake_closes_the_socket() -> None:
    """A client that leaves while TLS is being set up leaves no socket behind."""
    async with Server(mute) as server, HttpClient() as client:
        task = asyncio.create_task(fetched(client, f"https://127.0.0.1:{server.port}/"))
        await turn_until(lambda: server.connections == 1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await asyncio.wait_for(server.left.wait(), 30)
        assert client.open_connections == 0


async def test_a_dead_address_does_not_delay_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    """If the first address refuses and the second never answers, the third is used."""
    connect_socket = connect._connect_socket
    hung = asyncio.Event()

    async def addresses(host: str, port: int) -> list[Any]:
        return [(socket.AF_INET, (address, port)) for address in ("dead", "hanging", "127.0.0.1")]

    async def connect_or_hang(family: socket.AddressFamily, address: tuple[str | int, ...]) -> socket.socket:
        if address[0] == "dead":
            raise ConnectionRefusedError("dead")
        if address[0] == "hanging":
            try:
                await asyncio.get_running_loop().create_future()
            finally:
                hung.set()
        return await connect_socket(family, address)

    monkeypatch.setattr(connect, "_addresses", addresses)
    monkeypatch.setattr(connect, "_connect_socket", connect_or_hang)
    monkeypatch.setattr(connect, "ATTEMPT_DELAY", 0.01)
    async with Server(answering(TWO)) as server, HttpClient() as client:
        assert (await fetched(client, server.url)).body == b"ok"
        await asyncio.wait_for(hung.wait(), 30)


async def test_families_alternate(monkeypatch: pytest.MonkeyPatch) -> None:
    """Addresses keep the resolver's order, but a second one of a family waits for the first of the other."""
    loop = asyncio.get_running_loop()
    six, four = socket.AF_INET6, socket.AF_INET

    async def resolved(*_: object, **__: object) -> list[Any]:
        return [(family, 0, 0, "", (name, 1)) for family, name in [(six, "a"), (six, "b"), (four, "c"), (four, "d")]]

    monkeypatch.setattr(asyncio, "get_running_loop", lambda: Resolver(loop, resolved))
    assert [name for _, (name, _) in await connect._addresses("host.test", 1)] == ["a", "c", "b", "d"]


class Resolver:
    """The running loop with another resolver."""

    def __init__(self, loop: asyncio.AbstractEventLoop, getaddrinfo: Any) -> None:
        self._loop = loop
        self.getaddrinfo = getaddrinfo

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loop, name)


def has_ipv6() -> bool:
    """Return whether ::1 can be bound."""
    try:
        with socket.socket(socket.AF_INET6) as sock:
            sock.bind(("::1", 0))
    except OSError:
        return False
    return True


@pytest.mark.skipif(not has_ipv6(), reason="this machine has no IPv6 loopback")
async def test_an_ipv6_address() -> None:
    """A literal address in brackets is connected to, and the Host header keeps the brackets."""
    async with Server(answering(TWO), host="::1") as server, HttpClient() as client:
        assert (await fetched(client, server.url)).body == b"ok"
        assert f"host: [::1]:{server.port}".encode() in server.requests[0]


# --- TLS ---


def server_tls(names: list[str | None]) -> ssl.SSLContext:
    """Return a server's context that records requested names and prefers HTTP/2."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(PEM)
    context.set_alpn_protocols(["h2", "http/1.1"])
    context.sni_callback = lambda _, name, __: names.append(name)
    return context


async def test_tls() -> None:
    """Over TLS: certificate checked, name sent, HTTP/1.1 agreed on, connection reused, and a cut body is an error."""
    names: list[str | None] = []
    agreed: list[str | None] = []

    async def script(peer: Peer) -> None:
        agreed.append(peer.writer.get_extra_info("ssl_object").selected_alpn_protocol())
        await peer.request()
        await peer.send(TWO)
        await peer.request()
        await peer.send(STREAM + b"2\r\nok\r\n")

    trusting = ssl.create_default_context(cafile=str(PEM))
    async with Server(script, server_tls(names)) as server, HttpClient(tls=trusting) as client:
        url = server.url.replace("127.0.0.1", "localhost")
        assert (await fetched(client, url)).body == b"ok"
        with pytest.raises(ProtocolError):
            await fetched(client, url)
        assert (server.connections, names, agreed) == (1, ["localhost"], ["http/1.1"])


async def test_an_unknown_certificate_is_refused() -> None:
    """A certificate of an unknown authority is rejected before a request is sent."""
    async with Server(answering(TWO), server_tls([])) as server, HttpClient() as client:
        with pytest.raises(ConnectFailed, match="certificate"):
            await fetched(client, server.url)
        assert server.requests == []


async def test_the_authorities_are_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """All clients share one TLS context for HTTP/1.1, unless another one is given."""
    used: list[object] = []

    async def no_socket(host: str, port: int) -> socket.socket:
        raise OSError("none")

    shared, own = connect.default_tls(), ssl.create_default_context()
    monkeypatch.setattr(connect, "default_tls", lambda: used.append(shared) or shared)
    monkeypatch.setattr(connect, "_open_socket", no_socket)
    fetcher = PageFetcher(Allowance(), resolve=public)
    with pytest.raises(ToolError, match=r"cannot be reached"):
        await fetcher.fetch("https://provider.test/")
    assert used == [shared]
    async with HttpClient() as one, HttpClient() as two, HttpClient(tls=own) as three:
        assert [client._pool._tls for client in (one, two, three)] == [shared, shared, own]


async def public(host: str, port: int) -> list[str]:
    """Resolve every name to a public address."""
    return ["93.184.216.34"]
