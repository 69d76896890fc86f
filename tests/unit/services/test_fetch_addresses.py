"""Which addresses the page fetcher connects to: every resolved address is checked, and each name is resolved once."""

import asyncio
import ssl
from ipaddress import ip_address
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from signalbox.core.codes import Code
from signalbox.services import fetch
from signalbox.services.addresses import Allowance
from signalbox.services.fetch import PageFetcher
from signalbox.services.http.connection import Connection
from signalbox.services.http.errors import ConnectFailed
from signalbox.services.http.parser import ResponseParser
from signalbox.services.http.request import Origin

from tests.conftest import ROOT
from tests.support.web_server import reply, site
from tests.unit.services.scripted_resolver import Names, failure

pytestmark = pytest.mark.anyio
PEM = ROOT / "tests/support/data/loopback.pem"


@pytest.mark.parametrize(
    "addresses",
    [
        ["127.0.0.1"],
        ["10.0.0.1"],
        ["169.254.169.254"],
        ["::1"],
        ["::ffff:127.0.0.1"],
        ["::ffff:7f00:1"],
        ["fe80::1%eth0"],
        ["64:ff9b::7f00:1"],
        ["2002:7f00:1::"],
        ["93.184.216.34", "127.0.0.1"],
        ["2606:4700::1111", "fd00::1"],
        [],
        ["nonsense"],
    ],
)
async def test_g01_every_address_of_a_host_must_be_public(addresses: list[str]):
    """One private address among public ones rejects the host, and none is connected to."""
    async with site(reply("secret")) as there:
        error = await failure(PageFetcher(resolve=Names(rebind_example=[addresses])), "https://rebind.example/")
        assert there.asked == []
    assert error.code is Code.TOOL_FAILED
    assert error.message == "rebind.example is not on the public internet; only public pages can be read."


@pytest.fixture
def dialled(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int, str]]:
    """Refuse every connection, and record its address, port and TLS name."""
    made: list[tuple[str, int, str]] = []

    async def refuse(origin: Origin, *, server_hostname: str, **_: Any) -> Connection:
        made.append((origin.host, origin.port, server_hostname))
        raise ConnectFailed("refused")

    monkeypatch.setattr(fetch, "connect", refuse)
    return made


async def test_g01_a_name_is_looked_up_once_and_connected_to_what_was_checked(dialled: list[tuple[str, int, str]]):
    """A name that resolves to a private address the second time (rebinding) is resolved once."""
    names = Names(rebind_example=[["93.184.216.34", "2606:4700::1111"], ["127.0.0.1"]])
    error = await failure(PageFetcher(resolve=names), "https://rebind.example/")
    assert error.message == "rebind.example cannot be reached."
    assert names.asked == ["rebind.example"]
    assert dialled == [("93.184.216.34", 443, "rebind.example"), ("2606:4700::1111", 443, "rebind.example")]


PUBLIC = st.sampled_from(["93.184.216.34", "1.1.1.1", "2606:4700::1111", "::ffff:8.8.8.8", "64:ff9b::808:808"])
INNER_V4 = ["127.0.0.1", "10.0.0.1", "169.254.169.254", "100.64.0.1", "0.0.0.0", "1.1", ""]
INNER_V6 = ["::1", "::", "fd00::1", "fe80::1", "fe80::1%eth0", "64:ff9b::a00:1", "64:ff9b:1::7f00:1", "2002:7f00:1::"]
WRAPPED = ["::ffff:10.0.0.1", "::ffff:a9fe:a9fe", "::7f00:1"]
INNER = st.sampled_from([*INNER_V4, *INNER_V6, *WRAPPED])
ANSWERS = st.lists(st.lists(PUBLIC | INNER, max_size=5), min_size=1, max_size=4)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(ANSWERS)
async def test_g01_only_public_addresses_are_connected_to(
    dialled: list[tuple[str, int, str]], answers: list[list[str]]
):
    """For any order of public and private answers, each fetch resolves once and connects to checked addresses."""
    names = Names(rebind_example=answers)
    fetcher = PageFetcher(resolve=names)
    for turn in list(answers):
        dialled.clear()
        names.asked.clear()
        await failure(fetcher, "https://rebind.example/")
        assert names.asked == ["rebind.example"]
        allowed = bool(turn) and all(one in PUBLIC_TEXTS for one in turn)
        assert [host for host, *_ in dialled] == ([str(ip_address(one)) for one in turn[:4]] if allowed else [])


PUBLIC_TEXTS = {"93.184.216.34", "1.1.1.1", "2606:4700::1111", "::ffff:8.8.8.8", "64:ff9b::808:808"}


async def test_g01_each_redirect_is_resolved_and_checked(monkeypatch: pytest.MonkeyPatch):
    """A redirect to the same name that now resolves to a private address is rejected."""
    made: list[str] = []

    async def redirecting(origin: Origin, **_: Any) -> "Redirecting":
        made.append(origin.host)
        return Redirecting(origin)

    class Redirecting(Connection):
        async def exchange(self, method: str, message: bytes, idle_timeout: float) -> ResponseParser:
            response = ResponseParser(b"GET")
            response.feed(b"HTTP/1.1 302 Found\r\nlocation: /again\r\ncontent-length: 0\r\n\r\n")
            return response

    monkeypatch.setattr(fetch, "connect", redirecting)
    names = Names(rebind_example=[["93.184.216.34"], ["93.184.216.34"], ["127.0.0.1"]])
    error = await failure(PageFetcher(resolve=names), "https://rebind.example/")
    assert error.message == "rebind.example is not on the public internet; only public pages can be read."
    assert made == ["93.184.216.34"] * 2
    assert names.asked == ["rebind.example"] * 3


async def test_g01_connecting_resolves_no_name(monkeypatch: pytest.MonkeyPatch):
    """The socket gets only the address; the event loop resolves no name."""
    asked: list[object] = []
    loop = asyncio.get_running_loop()
    real = loop.getaddrinfo

    async def watched(host: object, *given: Any, **more: Any) -> Any:
        asked.append(host)
        return await real(host, *given, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(loop, "getaddrinfo", watched)
    async with site(reply("x")) as there:
        fetcher = PageFetcher(Allowance.of(["pages.test"]), resolve=Names(pages_test=[["127.0.0.1"]]))
        assert (await fetcher.fetch(f"http://pages.test:{there.port}/")).text == "x"
        assert there.asked[0].headers["host"] == f"pages.test:{there.port}"
    assert "pages.test" not in asked


async def test_the_next_address_is_tried_after_a_refusal():
    """A host whose first address is dead is still fetched."""
    async with site(reply("x")) as there:
        fetcher = PageFetcher(Allowance.of(["pages.test"]), resolve=Names(pages_test=[["127.0.0.2", "127.0.0.1"]]))
        assert (await fetcher.fetch(f"http://pages.test:{there.port}/")).text == "x"


def tls_of(server: bool) -> ssl.SSLContext:
    """Return one side's TLS context for the test certificate of upstream.test."""
    if not server:
        return ssl.create_default_context(cafile=str(PEM))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(PEM)
    return context


async def test_g01_tls_checks_the_host_name():
    """A certificate of another host at the same address is rejected."""
    names = Names(upstream_test=[["127.0.0.1"]], other_test=[["127.0.0.1"]])
    fetcher = PageFetcher(Allowance.of(["upstream.test", "other.test"]), resolve=names, tls=tls_of(server=False))
    async with site(reply("x"), tls=tls_of(server=True)) as there:
        assert (await fetcher.fetch(f"https://upstream.test:{there.port}/")).text == "x"
        error = await failure(fetcher, f"https://other.test:{there.port}/")
    assert error.message == "The TLS certificate of other.test is not valid."


async def test_an_unknown_host_is_an_error():
    """The error does not quote the resolver."""
    error = await failure(PageFetcher(resolve=Names()), "https://nowhere.example/")
    assert (error.code, error.message) == (Code.TOOL_FAILED, "There is no host nowhere.example.")
