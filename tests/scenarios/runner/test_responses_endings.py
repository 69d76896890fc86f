"""Each terminal event of the Responses API ends a run in its way."""

from typing import Any

import pytest
from signalbox import RunError, Runner, Upstream
from signalbox.core.codes import Code

from tests.support.scripted_upstream import ScriptedUpstream, sends
from tests.unit.wire.openai_responses.events import delta, done, ended, event, message, text

pytestmark = pytest.mark.anyio
HI = (delta("output_text", "Hi"), done(message(text("Hi"))))
QUOTA = {"code": "insufficient_quota", "message": "Pay."}


async def run(*frames: bytes) -> str:
    """Return the text of a run whose upstream sends these frames to the first request, and rejects others."""
    with ScriptedUpstream(sends(b"".join(frames)), path="") as server:
        upstream = Upstream(server.base_url, "key", dialect="openai-responses")
        return (await Runner(upstream, "gpt-5", "Hello!").answer()).text


async def test_a_completed_response_is_an_answer() -> None:
    """The text is the answer."""
    assert await run(*HI, ended()) == "Hi"


@pytest.mark.parametrize(
    ("frames", "code", "words"),
    [
        ([ended("incomplete", incomplete_details={"reason": "max_output_tokens"})], Code.LENGTH, "length limit"),
        ([ended("incomplete", incomplete_details={"reason": "content_filter"})], Code.CONTENT_FILTER, "withheld"),
        ([ended("incomplete", incomplete_details={"reason": "later"})], None, "does not know: incomplete"),
        ([ended("failed", error=QUOTA)], Code.UPSTREAM_CREDITS, "Pay."),
        ([event("error", error=QUOTA)], Code.UPSTREAM_CREDITS, "Pay."),
        ([ended("cancelled")], Code.UPSTREAM_ERROR, "cancelled the response"),
        ([], Code.STREAM_CUT, "broke off"),
        ([b"data: [DONE]\n\n"], Code.STREAM_CUT, "broke off"),
    ],
    ids=["length", "filter", "unknown", "failed", "error", "cancelled", "cut", "cut with [DONE]"],
)
async def test_other_endings_are_failures(frames: list[bytes], code: Code | None, words: str) -> None:
    """A response that is not completed is no answer, also if it has text."""
    with pytest.raises(RunError, match=words) as failed:
        await run(*HI, *frames)
    assert code is None or failed.value.code is code
    assert failed.value.answer.text == "Hi"


async def test_a_refusal() -> None:
    """A refusal completes the response and ends the run as withheld."""
    refusal: dict[str, Any] = {"type": "refusal", "refusal": "No."}
    with pytest.raises(RunError) as failed:
        await run(delta("refusal", "No."), done(message(refusal)), ended())
    assert failed.value.code is Code.CONTENT_FILTER
