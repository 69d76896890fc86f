"""The authorization code flow with PKCE: the address of the sign-in page, and the claims for the returned code."""

import hmac
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import structlog
from authlib.oauth2.client import OAuth2Client  # pyright: ignore[reportMissingTypeStubs] - Authlib has no types
from authlib.oauth2.rfc6749 import parameters  # pyright: ignore[reportMissingTypeStubs] - as above

from signalbox.core.codes import Code
from signalbox.core.errors import RequestError
from signalbox.services.http.client import HttpClient
from signalbox.services.http.errors import InvalidRequest
from signalbox.services.http.request import PreparedRequest
from signalbox.services.oidc.attempt import Attempt
from signalbox.services.oidc.id_token import UnknownKey, claims_of, invalid
from signalbox.services.oidc.metadata import Metadata, exchange, unavailable

_FORM = {"accept": "application/json", "content-type": "application/x-www-form-urlencoded"}
_LONGEST_ERROR = 60
_Client: Any = OAuth2Client
_parameters: Any = parameters

_log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Registration:
    """How this server is registered at the provider; a public client has no secret."""

    issuer: str
    client_id: str
    secret: str | None = field(repr=False)
    scopes: str


class CodeFlow:
    """Signs people in at one provider. Raises RequestError SIGN_IN_FAILED and SIGN_IN_UNAVAILABLE.

    Tokens of the provider are read once and not kept.
    """

    def __init__(self, registration: Registration, http: HttpClient, metadata: Metadata | None = None) -> None:
        self._registration = registration
        self._http = http
        self._metadata = metadata or Metadata(registration.issuer, http)

    async def sign_in_url(self, attempt: Attempt, redirect_uri: str) -> str:
        """Return the address of the provider's sign-in page."""
        endpoint = (await self._metadata.endpoints())["authorization_endpoint"]
        url, _ = self._client(redirect_uri).create_authorization_url(
            endpoint, state=attempt.state, nonce=attempt.nonce, code_verifier=attempt.verifier
        )
        return url

    async def claims(self, answer: Mapping[str, str], attempt: Attempt, redirect_uri: str) -> dict[str, object]:
        """Return the claims about the person, for the query with which the browser came back."""
        endpoints = await self._metadata.endpoints()
        issuer = str(endpoints["issuer"])
        self._check(answer, attempt, issuer)
        id_token = await self._redeem(answer["code"], attempt, redirect_uri, endpoints)
        expected = {"issuer": issuer, "client_id": self._registration.client_id, "nonce": attempt.nonce}
        try:
            return claims_of(id_token, await self._metadata.keys(), **expected)
        except UnknownKey:
            pass  # the provider may have replaced its keys
        try:
            return claims_of(id_token, await self._metadata.keys(fresh=True), **expected)
        except UnknownKey as error:
            raise invalid(str(error)) from None

    def _check(self, answer: Mapping[str, str], attempt: Attempt, issuer: str) -> None:
        """Raise RequestError for an answer to another request, of another issuer, or without a code."""
        if not hmac.compare_digest(answer.get("state", "").encode(), attempt.state.encode()):
            raise RequestError(Code.SIGN_IN_FAILED, "This sign-in was started elsewhere, or twice.", "state")
        if answer.get("iss", issuer) != issuer:
            raise RequestError(Code.SIGN_IN_FAILED, "Another sign-in service answered.", "iss")
        if "error" in answer:
            _log.info("sign_in.denied", reason=_short(answer["error"]))
            is_denied = answer["error"] == "access_denied"
            words = "was cancelled or denied" if is_denied else f"failed ({_short(answer['error'])})"
            raise RequestError(Code.SIGN_IN_FAILED, f"The sign-in {words}.", "error")
        if not answer.get("code"):
            raise RequestError(Code.SIGN_IN_FAILED, "The sign-in service sent no code.", "code")

    async def _redeem(self, code: str, attempt: Attempt, redirect_uri: str, endpoints: dict[str, Any]) -> str:
        """Exchange the code for an ID token."""
        client = self._client(redirect_uri)
        form = _parameters.prepare_token_request(
            "authorization_code", redirect_uri=redirect_uri, code=code, code_verifier=attempt.verifier
        )
        method = self._method(endpoints.get("token_endpoint_auth_methods_supported"))
        url: str
        url, headers, body = client.client_auth(method).prepare(
            "POST", str(endpoints["token_endpoint"]), dict(_FORM), form
        )
        try:
            request = PreparedRequest("POST", url, headers)
        except InvalidRequest:
            raise unavailable("has no usable addresses", "token_endpoint") from None
        reply = await exchange(self._http, request, body.encode())
        if isinstance(error := reply.value.get("error"), str):
            raise _refused(error)
        id_token = reply.value.get("id_token")
        if reply.status != 200 or not isinstance(id_token, str):
            path = urlsplit(url).path
            raise unavailable("does not answer as expected", f"{path}: status {reply.status}, without an ID token")
        return id_token

    def _client(self, redirect_uri: str) -> Any:
        own = self._registration
        return _Client(
            None, own.client_id, own.secret, scope=own.scopes, redirect_uri=redirect_uri, code_challenge_method="S256"
        )

    def _method(self, supported: object) -> str:
        """Return how to send the client secret: `client_secret_basic`, unless the provider does not support it."""
        if self._registration.secret is None:
            return "none"
        is_basic = not isinstance(supported, list) or "client_secret_basic" in supported
        return "client_secret_basic" if is_basic else "client_secret_post"


def _refused(error: str) -> RequestError:
    """Return the error for a refused code; an expired or reused one is a fault of the sign-in, others of the set-up."""
    name = _short(error)
    if error == "invalid_grant":
        return RequestError(Code.SIGN_IN_FAILED, "The sign-in has expired or was used already.", "code")
    _log.error("sign_in.refused", reason=name)
    words = f"The sign-in service rejects this server ({name}). Ask the operator to check SIGNALBOX_OIDC_CLIENT_ID and "
    return RequestError(Code.SIGN_IN_UNAVAILABLE, f"{words}SIGNALBOX_OIDC_CLIENT_SECRET.", retry_after=None)


def _short(text: str) -> str:
    """Return an error code of the provider, without anything that is no code."""
    return "".join(sign for sign in text[:_LONGEST_ERROR] if sign.isascii() and (sign.isalnum() or sign in "_-. "))
