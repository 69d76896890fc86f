"""A small OpenID Connect provider on loopback, with real keys and signatures, and faults that a test switches on.

`python -m tests.support.oidc_provider PORT` serves it alone, for tests in a browser.
"""

import json
import secrets
import sys
import threading
from base64 import b64decode, urlsafe_b64encode
from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from time import time
from typing import Any, Self
from urllib.parse import parse_qs, urlencode, urlsplit

from joserfc import jwt
from joserfc.jwk import ECKey, KeySet, RSAKey

CLIENT_ID, CLIENT_SECRET = "signalbox", "secret-of-the-client"
ADA = {"sub": "ada-1", "name": "Ada Lovelace", "email": "ada@example.org", "email_verified": True, "groups": ["staff"]}
_CODE_SECONDS = 60


@dataclass
class Code:
    """A code that the provider has issued."""

    redirect_uri: str
    nonce: str
    challenge: str


@dataclass
class OidcProvider:
    """The provider. `person` are the claims of the person who signs in next.

    `change` alters the claims of an ID token. `algorithm` may be "none". `denies` is the error that the sign-in page
    returns. `token_reply` and `documents` replace responses. `hides_key` leaves the newest key out of the JWKS.
    """

    person: dict[str, Any] = field(default_factory=lambda: dict(ADA))
    algorithm: str = "RS256"
    change: Callable[[dict[str, Any]], None] = lambda claims: None
    denies: str = ""
    token_reply: tuple[int, bytes] | None = None
    documents: dict[str, Any] = field(default_factory=dict[str, Any])
    auth_methods: list[str] | None = None
    hides_key: bool = False
    port: int = 0
    asked: list[str] = field(default_factory=list[str])
    token_forms: list[dict[str, str]] = field(default_factory=list[dict[str, str]])

    def __post_init__(self) -> None:
        self._keys: list[RSAKey | ECKey] = []
        self._codes: dict[str, Code] = {}
        self.rotate()

    def __enter__(self) -> Self:
        self._server = ThreadingHTTPServer(("127.0.0.1", self.port), self._handler())
        self.port = self._server.server_address[1]
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.stop()

    def stop(self) -> None:
        """Stop answering; the port is free afterwards."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    @property
    def issuer(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def rotate(self) -> None:
        """Replace the keys."""
        self._keys = [
            RSAKey.generate_key(2048, {"kid": f"rsa-{secrets.token_hex(4)}", "use": "sig"}),
            ECKey.generate_key("P-256", {"kid": f"ec-{secrets.token_hex(4)}", "use": "sig"}),
        ]

    def settings(self, **more: Any) -> dict[str, Any]:
        """Return the settings of a server that uses this provider."""
        return {
            "signalbox_oidc_issuer": self.issuer,
            "signalbox_oidc_client_id": CLIENT_ID,
            "signalbox_oidc_client_secret": CLIENT_SECRET,
            **more,
        }

    # --- the endpoints ----------------------------------------------------------------------------------------------

    def document(self, path: str) -> Any:
        """Return the JSON at a path."""
        if path in self.documents:
            return self.documents[path]
        if path == "/jwks":
            return KeySet([key for key in self._keys if not self.hides_key]).as_dict() if self._keys else {"keys": []}
        found: dict[str, Any] = {
            "issuer": self.issuer,
            "authorization_endpoint": f"{self.issuer}/authorize",
            "token_endpoint": f"{self.issuer}/token",
            "jwks_uri": f"{self.issuer}/jwks",
            "response_types_supported": ["code"],
            "id_token_signing_alg_values_supported": ["RS256", "ES256"],
        }
        if self.auth_methods is not None:
            found["token_endpoint_auth_methods_supported"] = self.auth_methods
        return found

    def authorize(self, query: dict[str, str]) -> str:
        """Check an authorization request; return the address to send the browser to."""
        assert query["client_id"] == CLIENT_ID
        assert query["response_type"] == "code"
        assert "openid" in query["scope"].split()
        assert query["code_challenge_method"] == "S256"
        back = query["redirect_uri"]
        if self.denies:
            return f"{back}?{urlencode({'error': self.denies, 'state': query['state']})}"
        code = secrets.token_urlsafe(16)
        self._codes[code] = Code(back, query["nonce"], query["code_challenge"])
        return f"{back}?{urlencode({'code': code, 'state': query['state'], 'iss': self.issuer})}"

    def redeem(self, form: dict[str, str], authorization: str) -> tuple[int, bytes]:
        """Exchange a code; each works once."""
        self.token_forms.append(form)
        if self.token_reply is not None:
            return self.token_reply
        if not self._is_client(form, authorization):
            return 401, b'{"error": "invalid_client"}'
        code = self._codes.pop(form.get("code", ""), None)
        digest = sha256(form.get("code_verifier", "").encode()).digest()
        challenge = urlsafe_b64encode(digest).rstrip(b"=").decode()
        if code is None or code.redirect_uri != form.get("redirect_uri") or code.challenge != challenge:
            return 400, b'{"error": "invalid_grant"}'
        reply = {"access_token": "provider-access-token", "token_type": "Bearer", "id_token": self.id_token(code.nonce)}
        return 200, json.dumps({**reply, "refresh_token": "provider-refresh-token"}).encode()

    def id_token(self, nonce: str) -> str:
        now = int(time())
        claims = {"iss": self.issuer, "aud": CLIENT_ID, "iat": now, "exp": now + _CODE_SECONDS, "nonce": nonce}
        claims |= self.person
        self.change(claims)
        if self.algorithm == "none":
            parts = ({"alg": "none", "typ": "JWT"}, claims)
            return ".".join([*(_b64(json.dumps(part).encode()) for part in parts), ""])
        if self.algorithm == "HS256":  # signed with what the client knows, too
            from joserfc.jwk import OctKey

            return jwt.encode({"alg": "HS256"}, claims, OctKey.import_key(CLIENT_SECRET), algorithms=["HS256"])
        key = self._keys[0 if self.algorithm == "RS256" else 1]
        return jwt.encode({"alg": self.algorithm, "kid": key.kid}, claims, key, algorithms=[self.algorithm])

    def _is_client(self, form: dict[str, str], authorization: str) -> bool:
        method = (self.auth_methods or ["client_secret_basic"])[0]
        if method == "none":
            return form.get("client_id") == CLIENT_ID
        if method == "client_secret_post":
            return (form.get("client_id"), form.get("client_secret")) == (CLIENT_ID, CLIENT_SECRET)
        given = b64decode(authorization.removeprefix("Basic ")).decode() if authorization else ""
        return given == f"{CLIENT_ID}:{CLIENT_SECRET}"

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        provider = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                url = urlsplit(self.path)
                provider.asked.append(url.path)
                if url.path != "/authorize":
                    self._send(200, json.dumps(provider.document(url.path)).encode())
                    return
                self.send_response(302)
                self.send_header("location", provider.authorize(_single(url.query)))
                self.send_header("content-length", "0")
                self.end_headers()

            def do_POST(self) -> None:
                provider.asked.append(self.path)
                form = _single(self.rfile.read(int(self.headers["content-length"])).decode())
                self._send(*provider.redeem(form, self.headers.get("authorization", "")))

            def _send(self, status: int, body: bytes) -> None:
                self.send_response(status)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the library's name
                """Print nothing."""

        return Handler


def _single(query: str) -> dict[str, str]:
    return {name: values[-1] for name, values in parse_qs(query, keep_blank_values=True).items()}


def _b64(data: bytes) -> str:
    return urlsafe_b64encode(data).rstrip(b"=").decode()


if __name__ == "__main__":
    with OidcProvider(port=int(sys.argv[1])) as served:
        print(served.issuer, flush=True)
        sys.stdin.read()
