"""Rate limits, and failures after the first text (F)."""

import time

import httpx
import pytest

from tests.unit.simulator.quirks.answers import PARAGRAPH, Answer, Check, is_search, post, resets_after
from tests.unit.simulator.requests import ask
from tests.unit.simulator.test_faults import collect

STREAMED: dict[str, Check] = {
    "f02": lambda a: a.error["code"] == 502 and a.text.startswith(PARAGRAPH),
    "f02-tool": lambda a: is_search(a) and a.error["code"] == 502 and not any(a.finishes),
}
REJECTED = ("f01", "f01-always", "f01-day", "f01-header")
CUT = "f02-cut"


@pytest.mark.parametrize("quirk", STREAMED)
def test_streams(client: httpx.Client, quirk: str) -> None:
    """The first answer of a stream shows the quirk."""
    answer = post(client, quirk, f"Search for streams of {quirk}", max_tokens=800)
    assert STREAMED[quirk](answer), answer.body.decode()


@pytest.mark.parametrize("quirk", REJECTED)
def test_rate_limits(client: httpx.Client, quirk: str) -> None:
    """A 429 names the end of the limit in its body or in a header; transient limits pass at the second attempt (F1)."""
    body = ask(f"openai/sim-quirk-{quirk}", f"Search for limits {quirk}")
    sent_at = time.time()
    first = client.post("/chat/completions", json=body)
    answer = Answer(first.content, whole=True, sent_at=sent_at, received_at=time.time())
    second = client.post("/chat/completions", json=body)
    assert first.status_code == 429
    assert second.status_code == (200 if quirk in ("f01", "f01-header") else 429)
    if quirk == "f01-header":
        assert first.headers["retry-after"] == "1"
    elif quirk == "f01-day":
        assert resets_after(5 * 3600, answer.error["metadata"], answer)
        assert "per-day" in answer.error["message"]
    else:
        assert resets_after(0.3, answer.error["metadata"], answer)
        assert "retry-after" not in first.headers


def test_fallback_models_after_a_rate_limit(client: httpx.Client) -> None:
    """If the request has fallback models, the next one answers (F6)."""
    body = ask("openai/sim-quirk-f01-day", "Hello!", models=["openai/sim-quirk-f01-day", "qwen/sim"])
    assert Answer(client.post("/chat/completions", json=body).content, whole=False).chunks[0]["model"] == "qwen/sim"


def test_a_connection_that_closes_once(client: httpx.Client) -> None:
    """The connection closes in the middle of the text at the first attempt, and the second is answered (F2)."""
    read = bytearray()
    body = ask("qwen/sim-quirk-f02-cut", "Search for cuts")
    with client.stream("POST", "/chat/completions", json=body) as response, pytest.raises(httpx.RemoteProtocolError):
        collect(response, read)
    assert Answer(bytes(read), whole=False).text.startswith(PARAGRAPH)
    assert is_search(post(client, "f02-cut", "Search for cuts", family="qwen"))
