"""Arguments that cannot be sent, and responses that cannot be read: each is an error of the client, not of httpx."""

from contextlib import ExitStack
from typing import Any

import httpx
import pytest
from signalbox_client import AsyncSignalbox, Signalbox, SignalboxError

from tests.scenarios.python_client.conftest import open_client, rejecting
from tests.support.running_app import RunningApp

UNSENDABLE: dict[str, dict[str, Any]] = {
    "prompt": {"prompt": "\ud800"},
    "temperature": {"temperature": float("nan")},
    "messages": {"messages": [object()]},
    "idempotency_key": {"idempotency_key": "two\nlines"},
}


@pytest.mark.parametrize("token", ["secret\n", " secret", "sécret", 5])
def test_a_token_is_checked_at_once(token: Any) -> None:
    """The error names the argument and does not contain the token."""
    for made in (Signalbox, AsyncSignalbox):
        with pytest.raises(SignalboxError, match=r"^token: the value ") as wrong:
            made("http://127.0.0.1:9", token)
        assert "cret" not in str(wrong.value)


def test_an_empty_token_is_no_token(app: RunningApp, stack: ExitStack) -> None:
    """A program may read it from a variable that is not set."""
    assert open_client(stack, app.url, "").ask("Hello!", model="openai/sim").text


@pytest.mark.parametrize("argument", UNSENDABLE)
def test_a_question_that_cannot_be_sent_is_an_error(argument: str, stack: ExitStack) -> None:
    """It is raised before any request."""
    client: Any = open_client(stack, "http://127.0.0.1:9")
    with pytest.raises(SignalboxError) as wrong:
        client.stream(model="openai/sim", **UNSENDABLE[argument])
    assert wrong.value.code == "INVALID_REQUEST"


def test_a_damaged_response_is_requested_again(app: RunningApp, stack: ExitStack, slept: list[float]) -> None:
    """A proxy says that it has compressed the stream, and has not."""
    headers = {"x-chat-contract": "1.1", "content-encoding": "gzip"}
    damaged = httpx.Response(200, headers=headers, stream=httpx.ByteStream(b"id: 1\n"))
    assert rejecting(app, stack, damaged).ask("Hello!", model="openai/sim").text
    assert len(slept) == 1


def test_deeply_nested_json_is_no_answer_of_signalbox(app: RunningApp, stack: ExitStack) -> None:
    """Python cannot parse it."""
    deep = httpx.Response(400, text="[" * 100_000)
    with pytest.raises(SignalboxError) as wrong:
        rejecting(app, stack, deep).ask("Hello!", model="openai/sim")
    assert wrong.value.code == "NOT_SIGNALBOX"
