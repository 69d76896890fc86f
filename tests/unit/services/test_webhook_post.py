"""Requests to receivers of webhooks: which addresses are reached, and how a request fails."""

import ssl
from typing import Any

import pytest
from signalbox.services import webhook_post
from signalbox.services.addresses import Allowance
from signalbox.services.http.connection import Connection
from signalbox.services.http.errors import ConnectFailed
from signalbox.services.http.request import Origin
from signalbox.services.webhook_post import Posted, WebhookPost

from tests.conftest import ROOT
from tests.support.http_server import Peer, Server
from tests.support.web_server import reply, site
from tests.unit.services.scripted_resolver import Names

pytestmark = pytest.mark.anyio
LOOPBACK = Allowance.of(["127.0.0.1"])


async def test_a_request_has_its_body_and_headers():
    """The receiver gets a POST with the JSON body and the given headers."""
    async with site(reply(status=204)) as there:
        posted = await WebhookPost(LOOPBACK).post(f"{there.url}/hook?a=b", {"webhook-id": "msg_1"}, b'{"a":1}')
    assert posted == Posted(204)
    assert (there.asked[0].line, there.asked[0].json) == ("POST /hook?a=b HTTP/1.1", {"a": 1})
    assert there.asked[0].headers["webhook-id"] == "msg_1"


@pytest.mark.parametrize(
    "addresses",
    [
        ["127.0.0.1"],
        ["10.0.0.1"],
        ["169.254.169.254"],
        ["::1"],
        ["::ffff:127.0.0.1"],
        ["fe80::1%eth0"],
        ["64:ff9b::7f00:1"],
        ["93.184.216.34", "127.0.0.1"],
        [],
    ],
)
async def test_g01_a_name_must_not_lead_to_a_private_address(addresses: list[str]):
    """One private address in the answer of DNS rejects the host, and nothing is connected to."""
    names = Names(hooks_example=[addresses])
    assert await WebhookPost(resolve=names).post("https://hooks.example/", {}, b"") == Posted(
        error="ADDRESS_NOT_ALLOWED"
    )


async def test_g01_a_name_is_connected_to_what_was_checked(monkeypatch: pytest.MonkeyPatch):
    """A name that resolves to a private address the second time (rebinding) is resolved once."""
    dialled: list[tuple[str, str]] = []

    async def refuse(origin: Origin, *, server_hostname: str, **_: Any) -> Connection:
        dialled.append((origin.host, server_hostname))
        raise ConnectFailed("refused")

    monkeypatch.setattr(webhook_post, "connect", refuse)
    names = Names(hooks_example=[["93.184.216.34"], ["127.0.0.1"]])
    assert await WebhookPost(resolve=names).post("https://hooks.example/", {}, b"") == Posted(error="UNREACHABLE")
    assert (names.asked, dialled) == (["hooks.example"], [("93.184.216.34", "hooks.example")])


@pytest.mark.parametrize(
    "url",
    [
        "http://hooks.example/",
        "https://hooks.example:8443/",
        "https://127.0.0.1/",
        "https://[::1]/",
        "https://[::ffff:10.0.0.1]/",
        "https://2130706433/",
        "https://user:pass@hooks.example/",
        "https://hooks.example/a b",
        "https://hooks.example:99999/",
        "ftp://hooks.example/",
        "hooks.example",
        "https://",
        "",
    ],
)
def test_g01_such_a_url_is_rejected_at_once(url: str):
    """Without an exception in the settings, receivers have https, the standard port and no private address."""
    with pytest.raises(ValueError, match=r"^(must|is not)"):
        WebhookPost().target(url)


def test_g01_the_operator_allows_private_hosts_by_name_and_network():
    """Such a host may have http and any port; others still may not."""
    post = WebhookPost(Allowance.of(["receiver.internal", "10.1.0.0/16"]))
    assert post.target("http://receiver.internal:8080/x").url == "http://receiver.internal:8080/x"
    assert post.target("http://10.1.2.3:99/").port == 99
    with pytest.raises(ValueError, match="SIGNALBOX_WEBHOOK_ALLOWED_HOSTS"):
        post.target("http://other.internal:8080/")


async def test_g01_metadata_services_are_never_reached():
    """Even an allowed name is refused if it leads to a link-local address."""
    post = WebhookPost(Allowance.of(["receiver.internal"]), resolve=Names(receiver_internal=[["169.254.169.254"]]))
    assert await post.post("http://receiver.internal/", {}, b"") == Posted(error="ADDRESS_NOT_ALLOWED")


async def test_a_redirect_is_not_followed():
    """The target of a redirect gets no request."""
    async with site(reply()) as target, site(reply(status=307, location=f"{target.url}/x")) as there:
        posted = await WebhookPost(LOOPBACK).post(there.url, {}, b"{}")
        assert (posted.status, posted.error, target.asked) == (307, "REDIRECT", [])


@pytest.mark.parametrize(
    ("status", "error"), [(200, None), (204, None), (400, "HTTP_STATUS"), (410, "GONE"), (500, "HTTP_STATUS")]
)
async def test_only_a_2xx_is_a_delivery(status: int, error: str | None):
    """Any other status has an error; Retry-After is returned."""
    async with site(reply(status=status, retry_after="7")) as there:
        assert await WebhookPost(LOOPBACK).post(there.url, {}, b"{}") == Posted(status, error, "7")  # type: ignore[arg-type]


async def test_a_receiver_that_hangs_times_out():
    """It never answers; the connection is closed after the limit."""
    async with site(None) as there:
        assert await WebhookPost(LOOPBACK, seconds=0.05).post(there.url, {}, b"{}") == Posted(error="TIMEOUT")
        await there.left.wait()


async def test_a_receiver_that_stops_in_the_middle_times_out():
    """The limit is for the whole request, so a response that has begun does not extend it."""

    async def begin(peer: Peer) -> None:
        await peer.request()
        await peer.send(b"HTTP/1.1 200 OK\r\nx: ")
        await peer.gone()

    async with Server(begin) as there:
        assert await WebhookPost(LOOPBACK, seconds=0.05).post(there.url, {}, b"{}") == Posted(error="TIMEOUT")
        await there.left.wait()


async def test_a_huge_body_is_not_read():
    """A body without end delivers the event: it is not read, and the connection is closed."""

    async def endless(peer: Peer) -> None:
        await peer.request()
        await peer.send(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n")
        try:
            while True:
                await peer.send(b"10000\r\n" + b"x" * 65536 + b"\r\n")
        except ConnectionError:
            peer.server.left.set()

    async with Server(endless) as there:
        assert await WebhookPost(LOOPBACK).post(there.url, {}, b"{}") == Posted(200)
        await there.left.wait()


@pytest.mark.parametrize(
    "answer", [b"", b"HTTP/1.1 200", b"SSH-2.0-OpenSSH\r\n", b"HTTP/1.1 200 OK\r\n" + b"a: b\r\n" * 20_000]
)
async def test_a_response_that_is_not_http_fails(answer: bytes):
    """A closed connection, another protocol and endless headers are failures."""
    async with site(answer) as there:
        assert await WebhookPost(LOOPBACK).post(there.url, {}, b"{}") == Posted(error="BROKEN_RESPONSE")


async def test_a_port_without_a_server_is_unreachable():
    """So is a name that does not exist."""
    async with site(reply()) as there:
        url = there.url
    assert await WebhookPost(LOOPBACK).post(url, {}, b"") == Posted(error="UNREACHABLE")
    assert await WebhookPost(resolve=Names()).post("https://nowhere.example/", {}, b"") == Posted(error="UNREACHABLE")


async def test_a_certificate_that_cannot_be_verified_fails():
    """A server without TLS, or with a certificate of an unknown authority, gets nothing."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(ROOT / "tests/support/data/loopback.pem")
    async with site(reply(), tls=context) as there:
        posted = await WebhookPost(LOOPBACK).post(there.url.replace("http:", "https:"), {}, b"")
        assert (posted, there.asked) == (Posted(error="TLS_FAILED"), [])


async def test_a_setting_that_was_removed_stops_requests():
    """A receiver that was registered while its host was allowed is not reached later."""
    async with site(reply()) as there:
        assert await WebhookPost().post(there.url, {}, b"") == Posted(error="ADDRESS_NOT_ALLOWED")
        assert there.asked == []
