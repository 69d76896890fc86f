"""A run at a wrong base URL fails with the URL that was requested, and a hint."""

import pytest
from signalbox import Code, RunError, Runner, Upstream
from signalbox.chat.loops import retry

from tests.support.scripted_upstream import Exchange, Script, ScriptedUpstream

pytestmark = pytest.mark.anyio

HINT = "Base URLs of OpenAI-compatible servers usually end in /v1 (OpenRouter's in /api/v1)."
KEY = "sk-test-secret"


def replies(status: int, body: bytes, kind: str = "text/html") -> Script:
    """Reply to each request with this body."""

    async def reply(exchange: Exchange) -> None:
        await exchange.whole(status, body, kind)

    return reply


async def failure_at(url: str) -> RunError:
    """Return how a run fails at a base URL."""
    with pytest.raises(RunError) as caught:
        await Runner(Upstream(url, KEY), "openai/sim", "Hello.").answer()
    assert KEY not in caught.value.message
    return caught.value


@pytest.mark.parametrize(
    ("path", "script", "code", "has_hint"),
    [
        ("/", replies(404, b"<html>Not found</html>"), Code.UPSTREAM_NOT_FOUND, True),
        ("/v1", replies(404, b"<html>Not found</html>"), Code.UPSTREAM_NOT_FOUND, True),
        ("", replies(404, b'{"detail": "Not Found"}', "application/json"), Code.UPSTREAM_NOT_FOUND, True),
        # The URL is right: the server does not have the model.
        (
            "/v1",
            replies(404, b'{"error": {"message": "No model"}}', "application/json"),
            Code.UPSTREAM_NOT_FOUND,
            False,
        ),
        ("/web", replies(405, b"<html>"), Code.UPSTREAM_REJECTED, True),
        (f"/{KEY}/v1", replies(404, b'{"detail": "Not Found"}', "application/json"), Code.UPSTREAM_NOT_FOUND, False),
    ],
)
async def test_the_error_names_the_url(path: str, script: Script, code: Code, *, has_hint: bool) -> None:
    """Host and path are those of the request; the hint is there if the path may be wrong."""
    with ScriptedUpstream(script, path="") as server:
        error = await failure_at(server.base_url + path)
        address = f"Request URL: {server.base_url}{path.rstrip('/').replace(KEY, '…')}/chat/completions."
    assert error.code is code
    assert error.message.endswith(f"{address} {HINT}" if has_hint else address)


async def test_an_unreachable_server_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """The error has no user name and no password."""
    monkeypatch.setattr(retry, "MAX_ATTEMPTS", 1)  # without the delays between the attempts
    with ScriptedUpstream(path="") as server:
        closed = server.port
    error = await failure_at(f"http://user:password@127.0.0.1:{closed}/v1")
    url = f"http://127.0.0.1:{closed}/v1/chat/completions"
    assert error.message == f"The upstream cannot be reached. Request URL: {url}."
    assert (await failure_at(f"http://127.0.0.1:{closed}")).message.endswith(HINT)


async def test_other_apis_have_other_base_urls() -> None:
    """Gemini's base URLs do not end in /v1, and its path contains no key."""
    with ScriptedUpstream(replies(404, b"<html>"), path="") as server, pytest.raises(RunError) as caught:
        await Runner(Upstream(server.base_url, KEY, dialect="gemini"), "gemini-sim", "Hello.").answer()
    url = f"{server.base_url}/v1beta/models/gemini-sim:streamGenerateContent"
    assert caught.value.message.endswith(f"Request URL: {url}.")


async def test_other_errors_are_as_the_upstream_reports_them() -> None:
    """A rejected key has nothing to do with the URL."""
    with ScriptedUpstream(replies(401, b'{"error": {"message": "Wrong key"}}', "application/json")) as server:
        error = await failure_at(server.base_url)
    assert "URL" not in error.message
