"""What a provider, or somebody in its place, may send: everything that is not valid is rejected without a 500."""

import json
from collections.abc import Callable
from time import time
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

import httpx
import pytest

from tests.scenarios.sign_in.browser import COOKIE, Browser
from tests.support.oidc_provider import OidcProvider
from tests.support.running_app import RunningApp, error_of


def rejected(answer: httpx.Response, code: str = "SIGN_IN_FAILED", status: int = 400) -> str:
    """Check that a sign-in was rejected and started no session; return the message."""
    assert (answer.status_code, error_of(answer)["code"]) == (status, code), answer.text
    assert f"{COOKIE}=" not in " ".join(answer.headers.get_list("set-cookie"))
    assert answer.headers["cache-control"] == "no-store"
    return error_of(answer)["message"]


def changed(address: str, **query: str | None) -> str:
    """Return an address with other query parameters; None removes one."""
    parts = urlsplit(address)
    merged = {**dict(parse_qsl(parts.query)), **query}
    return parts._replace(
        query=urlencode({name: value for name, value in merged.items() if value is not None})
    ).geturl()


CHANGES: dict[str, tuple[Callable[[dict[str, Any]], Any], str]] = {
    "wrong nonce": (lambda claims: claims.update(nonce="of-another-request"), "nonce"),
    "no nonce": (lambda claims: claims.pop("nonce"), "nonce"),
    "wrong audience": (lambda claims: claims.update(aud="another-client"), "aud"),
    "audiences without ours": (lambda claims: claims.update(aud=["a", "b"]), "aud"),
    "several audiences without azp": (lambda claims: claims.update(aud=["signalbox", "b"]), "azp"),
    "for another party": (lambda claims: claims.update(azp="another-client"), "azp"),
    "wrong issuer": (lambda claims: claims.update(iss="https://evil.example"), "iss"),
    "expired": (lambda claims: claims.update(iat=1, exp=int(time()) - 120), "expired_token"),
    "without expiry": (lambda claims: claims.pop("exp"), "exp"),
    "expiry is no number": (lambda claims: claims.update(exp="tomorrow"), "exp"),
    "no subject": (lambda claims: claims.pop("sub"), "sub"),
    "empty subject": (lambda claims: claims.update(sub=""), "sub"),
    "long subject": (lambda claims: claims.update(sub="x" * 300), "sub"),
    "subject is no text": (lambda claims: claims.update(sub=7), "sub"),
}


@pytest.mark.parametrize("fault", CHANGES)
def test_an_id_token_with_wrong_claims_is_rejected(provider: OidcProvider, ada: Browser, fault: str) -> None:
    """The message names the claim, not its value."""
    provider.change, expected = CHANGES[fault]
    message = rejected(ada.finish(ada.at_provider(ada.begin())))
    assert expected in message
    assert ada.state["signed_in"] is False


@pytest.mark.parametrize("algorithm", ["none", "HS256"])
def test_an_id_token_without_a_signature_of_the_provider_is_rejected(
    provider: OidcProvider, ada: Browser, algorithm: str
) -> None:
    """Neither without a signature, nor with one that anyone with the client secret can make."""
    provider.algorithm = algorithm
    rejected(ada.finish(ada.at_provider(ada.begin())))


@pytest.mark.parametrize("algorithm", ["RS256", "ES256"])
def test_both_usual_signatures_are_accepted(provider: OidcProvider, ada: Browser, algorithm: str) -> None:
    """RS256 is required of every provider; ES256 is the usual alternative."""
    provider.algorithm = algorithm
    ada.sign_in()
    assert ada.state["signed_in"] is True


def test_keys_may_be_replaced(provider: OidcProvider, ada: Browser) -> None:
    """An unknown key is looked for once more: the provider may have new keys."""
    ada.sign_in()
    provider.rotate()
    ada.sign_in()
    assert provider.asked.count("/jwks") == 2
    assert provider.asked.count("/.well-known/openid-configuration") == 1


def test_one_answer_without_keys_breaks_one_sign_in(provider: OidcProvider, ada: Browser) -> None:
    """The next sign-in loads the keys again."""
    provider.documents["/jwks"] = {"keys": []}
    assert "no usable keys" in rejected(ada.finish(ada.at_provider(ada.begin())))
    del provider.documents["/jwks"]
    ada.sign_in()
    assert ada.state["signed_in"] is True


def test_keys_of_an_unknown_kind_are_skipped(provider: OidcProvider, ada: Browser) -> None:
    """A provider may publish new kinds of keys beside those that it signs with."""
    odd = [{"kty": "EC", "crv": "P-999", "x": "AA", "y": "AA", "kid": "new"}, {"kty": "??"}, {"kty": "RSA"}, 7, None]
    provider.documents["/jwks"] = {"keys": [*odd, *provider.document("/jwks")["keys"]]}
    ada.sign_in()
    assert ada.state["signed_in"] is True


def test_an_unknown_key_is_rejected(provider: OidcProvider, ada: Browser) -> None:
    """A signature by a key that the provider does not publish is worth nothing."""
    old = provider.document("/jwks")
    provider.rotate()
    provider.documents["/jwks"] = old
    message = rejected(ada.finish(ada.at_provider(ada.begin())))
    assert "invalid_key_id" in message


def test_a_forged_signature_is_rejected(provider: OidcProvider, ada: Browser) -> None:
    """The id of a known key does not help."""
    old = provider.document("/jwks")
    provider.rotate()
    names = [key["kid"] for key in provider.document("/jwks")["keys"]]
    provider.documents["/jwks"] = {"keys": [{**key, "kid": name} for key, name in zip(old["keys"], names, strict=True)]}
    assert "bad_signature" in rejected(ada.finish(ada.at_provider(ada.begin())))


def test_a_code_works_once(provider: OidcProvider, ada: Browser) -> None:
    """The cookie of the attempt is gone after its use; with a kept one, the provider rejects the code."""
    address = ada.at_provider(ada.begin())
    kept = dict(ada.client.cookies)
    assert ada.finish(address).status_code == 303
    ada.client.cookies.clear()
    assert "expired, or was started in another browser" in rejected(ada.finish(address))
    ada.client.cookies.update(kept)
    assert "used already" in rejected(ada.finish(address))
    assert len(provider.token_forms) == 2


@pytest.mark.parametrize("state", ["of-another-browser", "", None])
def test_a_wrong_state_is_rejected(provider: OidcProvider, ada: Browser, state: str | None) -> None:
    """A link cannot make a browser sign in with a code that it did not ask for."""
    address = changed(ada.at_provider(ada.begin()), state=state)
    rejected(ada.finish(address))
    assert provider.token_forms == []


def test_an_answer_for_another_browser_is_rejected(app: RunningApp, provider: OidcProvider, ada: Browser) -> None:
    """Without the cookie of the attempt, or with one that this server did not sign, the code is not sent."""
    address = ada.at_provider(ada.begin())
    rejected(httpx.get(f"{app.url}{urlsplit(address).path}", params=dict(parse_qsl(urlsplit(address).query))))
    (name, value), *_ = ada.client.cookies.items()
    for wrong in ("x", f"A{value}", value[:-2], "", "é"):
        rejected(ada.client.get(address, headers={b"cookie": f"{name}={wrong}".encode()}))
    assert provider.token_forms == []


def test_another_issuer_that_answers_is_rejected(provider: OidcProvider, ada: Browser) -> None:
    """A provider that names itself must be the configured one (RFC 9207)."""
    assert "Another sign-in service" in rejected(
        ada.finish(changed(ada.at_provider(ada.begin()), iss="https://evil.example"))
    )
    assert provider.token_forms == []


@pytest.mark.parametrize(
    ("error", "words"), [("access_denied", "cancelled or denied"), ("server_error", "server_error")]
)
def test_a_denied_sign_in_says_so(provider: OidcProvider, ada: Browser, error: str, words: str) -> None:
    """The person may have cancelled it."""
    provider.denies = error
    assert words in rejected(ada.finish(ada.at_provider(ada.begin())))


def test_a_browser_gets_a_page_with_a_way_back(provider: OidcProvider, ada: Browser) -> None:
    """What the provider sends is not interpreted as markup."""
    provider.denies = "<script>alert(1)</script>"
    page = ada.finish(ada.at_provider(ada.begin()), headers={"accept": "text/html"})
    assert (page.status_code, page.headers["content-type"]) == (400, "text/html; charset=utf-8")
    assert '<a href="/auth/login">Sign in again</a>' in page.text
    assert "<script" not in page.text
    assert "default-src 'self'" in page.headers["content-security-policy"]


def test_a_provider_that_is_down_is_said(provider: OidcProvider, ada: Browser) -> None:
    """Before and during the sign-in; people who are signed in do not notice."""
    ada.sign_in()
    address = ada.at_provider(ada.begin())
    provider.stop()
    rejected(ada.finish(address), "SIGN_IN_UNAVAILABLE", 503)
    assert ada.state["signed_in"] is True
    provider.__enter__()


def test_a_provider_that_was_never_up_is_said(ada: Browser, provider: OidcProvider) -> None:
    """The server has started without it; a retry-after says when to try again."""
    provider.stop()
    answer = ada.client.get("/auth/login")
    rejected(answer, "SIGN_IN_UNAVAILABLE", 503)
    assert answer.headers["retry-after"] == "2"
    page = ada.client.get("/auth/login", headers={"accept": "text/html"})
    assert (page.status_code, "does not answer" in page.text) == (503, True)
    provider.__enter__()
    ada.sign_in()


@pytest.mark.parametrize(
    "document",
    [
        {"issuer": "https://evil.example", "authorization_endpoint": "https://evil.example/a"},
        {},
        [],
        {"issuer": "ISSUER"},
        {"issuer": "ISSUER", "authorization_endpoint": "x", "token_endpoint": "y", "jwks_uri": "javascript:1"},
    ],
)
def test_an_unusable_discovery_document_is_said(provider: OidcProvider, ada: Browser, document: Any) -> None:
    """It must be for the configured issuer, and have addresses."""
    text = json.dumps(document).replace("ISSUER", provider.issuer)
    provider.documents["/.well-known/openid-configuration"] = json.loads(text)
    rejected(ada.client.get("/auth/login"), "SIGN_IN_UNAVAILABLE", 503)


@pytest.mark.parametrize("keys", [{}, {"keys": "none"}, []])
def test_unusable_keys_are_said(provider: OidcProvider, ada: Browser, keys: Any) -> None:
    """Without keys, no signature can be checked."""
    provider.documents["/jwks"] = keys
    rejected(ada.finish(ada.at_provider(ada.begin())), "SIGN_IN_UNAVAILABLE", 503)


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        ((200, b"<html>"), "does not answer as expected"),
        ((200, b'{"access_token": "x"}'), "does not answer as expected"),
        ((500, b""), "does not answer as expected"),
        ((401, b'{"error": "invalid_client"}'), "SIGNALBOX_OIDC_CLIENT_SECRET"),
        ((200, b"[" * 2_000_000), "does not answer"),
    ],
)
def test_an_unusable_token_response_is_said(
    provider: OidcProvider, ada: Browser, reply: tuple[int, bytes], words: str
) -> None:
    """A gateway's page, an answer without an ID token, a wrong client secret, and too much data."""
    provider.token_reply = reply
    assert words in rejected(ada.finish(ada.at_provider(ada.begin())), "SIGN_IN_UNAVAILABLE", 503)


@pytest.mark.parametrize("text", ["", "x", "a.b.c", "é.é.é", f"{'A' * 100}.{'A' * 100}.x"])
def test_text_that_is_no_id_token_is_rejected(provider: OidcProvider, ada: Browser, text: str) -> None:
    """Whatever it is."""
    provider.token_reply = (200, json.dumps({"id_token": text}).encode())
    rejected(ada.finish(ada.at_provider(ada.begin())))


@pytest.mark.parametrize("methods", [["client_secret_post"], ["client_secret_basic", "client_secret_post"]])
def test_the_client_secret_is_sent_as_the_provider_supports(
    provider: OidcProvider, ada: Browser, methods: list[str]
) -> None:
    """In the Authorization header, or in the body."""
    provider.auth_methods = methods
    ada.sign_in()
    assert ("client_secret" in provider.token_forms[0]) == (methods[0] == "client_secret_post")
