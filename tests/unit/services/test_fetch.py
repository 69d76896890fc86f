"""The page fetcher over real sockets on loopback; only the resolver is scripted."""

import asyncio
import gzip
import zlib
from contextlib import suppress

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from signalbox.core.codes import Code
from signalbox.core.errors import ToolError
from signalbox.core.tools import WebPage
from signalbox.services.addresses import Allowance
from signalbox.services.charsets import decoded
from signalbox.services.fetch import LARGEST_BODY, PageFetcher, Target

from tests.support.web_server import reply, site
from tests.unit.services.scripted_resolver import Names, failure

pytestmark = pytest.mark.anyio
OPEN = Allowance.of(["127.0.0.0/8"])


# --- what is asked ---


async def test_a_request_has_no_credentials():
    """A request has no cookie, credential or referrer, asks for no compression, and closes the connection."""
    async with site(reply("<p>Hello</p>", kind="text/html; charset=utf-8", set_cookie="a=b")) as there:
        url = f"{there.url}/a%20b/ü?q=ü&x=1#part"
        page = await PageFetcher(OPEN).fetch(url)
        assert page == WebPage(f"{there.url}/a%20b/%C3%BC?q=%C3%BC&x=1", "text/html", "<p>Hello</p>")
        asked = there.asked[0]
    assert asked.path == "/a%20b/%C3%BC?q=%C3%BC&x=1"
    assert set(asked.headers) == {"host", "user-agent", "accept", "accept-language", "accept-encoding", "connection"}
    assert asked.headers["accept-encoding"] == "identity"
    assert asked.headers["host"] == f"127.0.0.1:{there.port}"


async def test_no_proxy_of_the_environment_is_used(monkeypatch: pytest.MonkeyPatch):
    """A proxy would resolve the name itself and could reach private addresses."""
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "HTTPS_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    async with site(reply("here")) as there:
        assert (await PageFetcher(OPEN).fetch(there.url)).text == "here"


@pytest.mark.parametrize(
    "url",
    [
        "",
        "example.org",
        "ftp://example.org/",
        "file:///etc/passwd",
        "javascript:alert(1)",
        "https://",
        "https:///path",
        "https://user:secret@example.org/",
        "https://user@example.org/",
        "https://@example.org/",
        "https://example.org:8080/",
        "http://example.org:443/",
        "https://example.org:80/",
        "https://example.org:99999/",
        "https://exa mple.org/",
        "https://example.org/a b",
        "https://example.org\\@127.0.0.1/",
        "https://example.org/\r\nx: y",
        "https://2130706433/",
        "https://0x7f.1/",
        "https://0177.0.0.1/",
        "https://①②⑦.⓪.⓪.①/",
        "https://[fe80::1%25eth0]/",
        "https://[::1",
        "gopher://x/",
        "https://example.org/" + "a" * 2000,
        "data:text/html,x",
        "https://exa\x00mple.org/",
    ],
)
async def test_g01_an_invalid_url_is_rejected_before_a_lookup(url: str):
    """The error says what is wrong with the argument."""
    names = Names()
    error = await failure(PageFetcher(resolve=names), url)
    assert error.code is Code.INVALID_ARGUMENTS
    assert error.message.startswith("url: ")
    assert "secret" not in error.message
    assert names.asked == []


def test_http_becomes_https_unless_the_operator_allowed_the_host():
    """Public hosts are fetched only by https."""
    plain = PageFetcher(Allowance.of(["wiki.intern"]))
    assert plain.target("http://example.org/a") == Target("https", "example.org", 443, "/a")
    assert plain.target("http://example.org:80/a") == Target("https", "example.org", 443, "/a")
    assert plain.target("http://wiki.intern:8080/a") == Target("http", "wiki.intern", 8080, "/a")
    assert plain.target("https://wiki.intern").url == "https://wiki.intern/"
    assert plain.target("https://[2606:4700::1111]/").authority == "[2606:4700::1111]"


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(max_size=40) | st.text(max_size=40).map("https://".__add__))
def test_any_text_is_a_url_or_an_error(text: str):
    """No text raises another exception, and the requested URL is one line of ASCII."""
    target = None
    with suppress(ToolError):
        target = PageFetcher().target(text)
    if target is not None:
        assert target.url.isascii()
        assert target.url.isprintable()
        assert " " not in target.url
        assert target.port == 443


# --- redirects ---


async def test_redirects_are_followed():
    """Relative redirects too; the page has its final URL."""
    async with site(
        reply(status=301, location="/b"), reply(status=307, location="//127.0.0.1:{port}/c"), reply("x")
    ) as there:
        there.answers[1] = reply(status=307, location=f"//127.0.0.1:{there.port}/c")
        page = await PageFetcher(OPEN).fetch(f"{there.url}/a")
        assert [asked.path for asked in there.asked] == ["/a", "/b", "/c"]
        assert (page.url, page.text) == (f"{there.url}/c", "x")


@pytest.mark.parametrize(
    ("location", "code"),
    [
        ("http://10.0.0.1/", Code.TOOL_FAILED),
        ("http://169.254.169.254/latest/meta-data/", Code.TOOL_FAILED),
        ("https://[::1]/", Code.TOOL_FAILED),
        ("https://inner.example/", Code.TOOL_FAILED),
        ("file:///etc/passwd", Code.INVALID_ARGUMENTS),
        ("https://user:pw@example.org/", Code.INVALID_ARGUMENTS),
        ("http://2130706433/", Code.INVALID_ARGUMENTS),
    ],
)
async def test_g01_a_redirect_is_checked_like_the_first_address(location: str, code: Code):
    """A redirect from a public page to a private address is rejected without a request."""

    async def resolve(host: str, port: int) -> list[str]:
        return ["10.0.0.7"] if host == "inner.example" else [host.strip("[]")]

    async with site(reply(status=302, location=location), reply("secret")) as there:
        error = await failure(PageFetcher(OPEN, resolve=resolve), there.url)
        assert len(there.asked) == 1
    assert error.code is code


async def test_redirects_end():
    """A sixth redirect is not followed."""
    async with site(reply(status=302, location="/again")) as there:
        error = await failure(PageFetcher(OPEN), there.url)
        assert len(there.asked) == 6
    assert "more than 5 times" in error.message


async def test_an_invalid_redirect_is_an_error():
    """A redirect without a location or to itself ends."""
    async with site(reply(status=302)) as there:
        assert (await failure(PageFetcher(OPEN), there.url)).code is Code.TOOL_FAILED


# --- how much ---


async def test_g05_a_body_is_read_up_to_its_cap():
    """A larger body is cut, also without a content length, and the rest is not read."""
    whole = b"x" * (LARGEST_BODY + 100_000)
    for answer in (reply(whole, kind="text/plain"), reply(whole, kind="text/plain", content_length="")):
        async with site(answer) as there:
            page = await PageFetcher(OPEN).fetch(there.url)
        assert (len(page.text), page.cut) == (LARGEST_BODY, True)


async def test_a_decompression_bomb_is_limited():
    """10 MB of zeros in 10 kB stop at the limit."""
    bomb = gzip.compress(b"\0x" * (5 * LARGEST_BODY))
    async with site(reply(bomb, kind="text/plain", content_encoding="gzip")) as there:
        assert (await failure(PageFetcher(OPEN), there.url)).message.startswith("This is not text")
    bomb = gzip.compress(b"x" * (5 * LARGEST_BODY))
    async with site(reply(bomb, kind="text/plain", content_encoding="gzip")) as there:
        page = await PageFetcher(OPEN).fetch(there.url)
    assert (len(page.text), page.cut) == (LARGEST_BODY, True)


async def test_an_unrequested_compression_is_decoded():
    """Gzip and zlib are decoded; other codings and damaged bodies are errors."""
    for coding, body in (("gzip", gzip.compress(b"hello")), ("deflate", zlib.compress(b"hello"))):
        async with site(reply(body, kind="text/plain", content_encoding=coding)) as there:
            assert (await PageFetcher(OPEN).fetch(there.url)).text == "hello"
    for coding, body in (("br", b"\x0b\x02\x80"), ("gzip", b"no gzip")):
        async with site(reply(body, kind="text/plain", content_encoding=coding)) as there:
            assert "compressed in a way" in (await failure(PageFetcher(OPEN), there.url)).message


async def test_a_silent_server_times_out():
    """The limit covers the whole fetch, and the connection is closed."""
    async with site(None) as there:
        error = await failure(PageFetcher(OPEN, seconds=0.2), there.url)
        assert (error.code, error.message) == (Code.TIMEOUT, "The page did not load within 0.2 s.")
        await asyncio.wait_for(there.left.wait(), 5)


async def test_a_cancelled_fetch_closes_its_connection():
    """Stopping a run closes the connection at once."""
    async with site(None) as there:
        task = asyncio.create_task(PageFetcher(OPEN).fetch(there.url))
        await asyncio.wait_for(there.arrived.wait(), 5)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await asyncio.wait_for(there.left.wait(), 5)


# --- what comes ---


@pytest.mark.parametrize(
    ("answer", "code", "words"),
    [
        (reply(status=404), Code.TOOL_FAILED, "There is no page at this address."),
        (reply("secret", status=403), Code.TOOL_FAILED, "does not allow reading this page (status 403)"),
        (reply(status=429), Code.RATE_LIMIT, "received too many requests"),
        (reply(status=500), Code.TOOL_FAILED, "answered with status 500"),
        (reply(status=204), Code.TOOL_FAILED, "answered with status 204"),
        (reply(b"%PDF-1.7", kind="application/pdf"), Code.TOOL_FAILED, "This is a PDF; only web pages and text"),
        (reply(b"x", kind="image/png"), Code.TOOL_FAILED, "of the type image/png; only web pages and text"),
        (reply(b"\x7fELF\x00\x00", kind="text/plain"), Code.TOOL_FAILED, "This is not text"),
        (b"nonsense\r\n\r\n", Code.TOOL_FAILED, "closed"),
        (b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 99\r\n\r\nx", Code.TOOL_FAILED, "closed"),
        (b"", Code.TOOL_FAILED, "closed"),
    ],
)
async def test_other_responses_are_errors(answer: bytes, code: Code, words: str):
    """Errors do not quote the server's text."""
    async with site(answer) as there:
        error = await failure(PageFetcher(OPEN), there.url)
    assert error.code is code
    assert words in error.message
    assert "secret" not in error.message


@pytest.mark.parametrize(
    ("kind", "body", "read_as"),
    [
        ("application/json; charset=utf-8", b'{"a": 1}', "application/json"),
        ("application/ld+json", b"{}", "application/ld+json"),
        ("text/markdown", b"# A", "text/markdown"),
        ("application/xhtml+xml", b"<p>a</p>", "text/html"),
        ("", b"\n<!doctype html><p>a</p>", "text/html"),
        ("", b"plain", "text/plain"),
    ],
)
async def test_kinds_of_text_are_distinguished(kind: str, body: bytes, read_as: str):
    """Web pages, text, JSON and XML are read; the type of a body without one is detected."""
    async with site(reply(body, kind=kind)) as there:
        page = await PageFetcher(OPEN).fetch(there.url)
    assert (page.kind, page.text) == (read_as, body.decode())


@pytest.mark.parametrize(
    ("body", "content_type", "is_html", "text"),
    [
        ("ü".encode(), "text/html", True, "ü"),
        ("ü".encode("latin-1"), "text/html", True, "ü"),
        ("“ü”".encode("cp1252"), "text/html; charset=ISO-8859-1", True, "“ü”"),
        ("привет".encode("koi8-r"), 'text/plain; charset="koi8-r"', False, "привет"),
        ("日本".encode("shift_jis"), "text/html; charset=Shift_JIS", True, "日本"),
        (
            b'<meta charset="windows-1251">' + "да".encode("cp1251"),
            "text/html",
            True,
            '<meta charset="windows-1251">да',
        ),
        ("\ufeffü".encode("utf-16-le"), "text/plain; charset=latin-1", False, "ü"),
        ("\ufeffü".encode(), "", False, "ü"),
        ("aü".encode()[:-1], "", False, "a"),
        (b"a+AGE-", "text/plain; charset=utf-7", False, "a+AGE-"),
        (b"xn--a-", "text/plain; charset=punycode", False, "xn--a-"),
        (b"a\\u0041", "text/plain; charset=unicode_escape", False, "a\\u0041"),
        ("ü".encode(), "text/plain; charset=nonsense", False, "ü"),
    ],
)
def test_the_character_set_is_declared_or_detected(body: bytes, content_type: str, is_html: bool, text: str):
    """Byte order mark, header, meta tag, UTF-8, Windows-1252, in this order; other codecs are not used."""
    assert decoded(body, content_type, is_html=is_html) == text
