"""Upstream and Runner reject what could never be sent, where it is given, and show no key."""

from typing import Any

import pytest
from signalbox import Code, RequestError, Runner, Upstream

URL = "http://127.0.0.1:9/v1"


@pytest.mark.parametrize(
    ("url", "words"),
    [
        (None, "expected a base URL with http:// or https://"),
        ("", "expected a base URL with http:// or https://"),
        ("localhost:8000/v1", "expected a base URL with http:// or https://"),
        ("open-router", "or one of 'anthropic', 'gemini', 'openai', 'openrouter'"),
        ("sk-secret", "expected a base URL"),
        ("ftp://secret.example/v1", "must begin with http:// or https://"),
        ("http://", "has no valid host"),
        ("http://?secret", "has no valid host"),
        ("http://a..b/v1", "has no valid host"),
        ("http://[::1/v1", "has no valid host and port"),
        ("http://u:secret@a:port/v1", "has no valid host and port"),
        ("http://u:secret@a:99999/v1", "a port from 1 to 65535"),
        ("http://a:0/v1", "a port from 1 to 65535"),
        ("http://a/v1?key=secret", "has a query or a fragment"),
        ("http://a/v1?", "has a query or a fragment"),
        ("http://a/v1#secret", "has a query or a fragment"),
        ("http://a b/v1", "contains a space"),
        (" http://a/v1", "contains a space"),
        ("http://a/v1\n", "contains a space, a line break"),
        ("http://a/v1/chat/completions/", "ends in /chat/completions, which Signalbox appends"),
    ],
)
def test_a_wrong_base_url_is_rejected_at_once(url: Any, words: str) -> None:
    """The error says what is wrong, and quotes nothing: the text may contain a key or a password."""
    with pytest.raises(RequestError, match=words) as caught:
        Upstream(url)
    assert (caught.value.code, caught.value.field) == (Code.INVALID_REQUEST, "at")
    assert caught.value.message.startswith("at: ")
    assert "secret" not in caught.value.message


@pytest.mark.parametrize(
    "url", [URL, "https://a.example/v1/", "http://[::1]:8000/v1", "HTTP://a/v1", "http://ü.example/v1", "http://a_b"]
)
def test_other_base_urls_are_accepted(url: str) -> None:
    """Also an address of IPv6, a name beyond ASCII, and a container's name with an underscore."""
    assert "Upstream('" in repr(Upstream(url))


def test_a_password_in_the_base_url_is_not_shown() -> None:
    """It is sent as basic authentication."""
    assert repr(Upstream("http://user:secret@a:8000/v1")) == "Upstream('http://a:8000/v1', dialect='openai-chat')"


@pytest.mark.parametrize(
    ("key", "words"),
    [
        ("", "key: the API key is empty: pass None for a server without keys"),
        ("sk-sécret", "contains a space, a line break or a character that is not ASCII"),
        ("sk-secret\n", "contains a space, a line break"),
        ("Bearer sk-secret", "without 'Bearer'"),
        (b"sk-secret", "expected a text or None, got bytes"),
        ("env:", "expected the name of an environment variable after env:"),
        ("env:sk-secret", "expected the name of an environment variable after env:"),
        ("env:NO_SUCH_KEY", "key: the environment variable NO_SUCH_KEY is not set"),
        ("env:WRONG_KEY", "key: the environment variable WRONG_KEY contains a space"),
    ],
)
def test_a_wrong_key_is_rejected_at_once(key: Any, words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The error does not contain the key."""
    monkeypatch.setenv("WRONG_KEY", "sk-secret with spaces")
    with pytest.raises(RequestError, match=words) as caught:
        Upstream(URL, key)
    assert caught.value.field == "key"
    assert "sk-s" not in caught.value.message


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("max_connections", 0, "max_connections: expected an integer of at least 1, got 0"),
        ("max_connections", 1.5, "max_connections: expected an integer"),
        ("max_connections", True, "max_connections: expected an integer"),
        ("connect_timeout", 0, "connect_timeout: expected a number of seconds greater than 0, got 0"),
        ("connect_timeout", None, "connect_timeout: expected a number of seconds"),
        ("idle_timeout", float("nan"), "idle_timeout: expected a number of seconds"),
        ("idle_timeout", "5", "idle_timeout: expected a number of seconds"),
        ("referer", "a\nb", "referer: expected one line of text"),
        ("title", 3, "title: expected one line of text"),
        ("prices", [("m", 1, 2)], "prices: expected a dict of models and prices, got list"),
        ("dialect", "smtp", "dialect: there is no dialect 'smtp'; there are: "),
    ],
)
def test_another_wrong_argument_is_rejected_at_once(field: str, value: Any, words: str) -> None:
    """The error names the argument and what it expects."""
    with pytest.raises(RequestError, match=words) as caught:
        Upstream(URL, **{field: value})
    assert caught.value.field == field


@pytest.mark.parametrize("model", [None, "", " ", 3])
def test_a_run_needs_the_name_of_a_model(model: Any) -> None:
    """A Runner without a model is rejected before a request, and so is a change to none."""
    with pytest.raises(RequestError, match="model: expected the name of a model") as caught:
        Runner(Upstream(URL), model, "Hello.")
    assert caught.value.field == "model"
    if model is not None:  # None changes nothing
        with pytest.raises(RequestError, match="model: expected the name of a model"):
            Runner(Upstream(URL), "openai/sim", "Hello.").set(model=model)
