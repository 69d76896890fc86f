"""A browser without a screen: it keeps cookies, follows the sign-in, and sends what a page would send."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx

from tests.support.oidc_provider import OidcProvider
from tests.support.running_app import WAIT

COOKIE = "signalbox-session"


class Browser:
    """One browser at the pages of a server."""

    def __init__(self, url: str, **given: Any) -> None:
        self.url = url
        self.client = httpx.Client(base_url=url, timeout=WAIT, trust_env=False, verify=False, **given)

    def begin(self, next_: str = "") -> str:
        """Open /auth/login; return the address at the provider."""
        answer = self.client.get("/auth/login", params={"next": next_} if next_ else {})
        assert answer.status_code == 303, answer.text
        return answer.headers["location"]

    def at_provider(self, address: str) -> str:
        """Sign in at the provider; return where it sends the browser."""
        with httpx.Client(timeout=WAIT, trust_env=False, verify=False) as outside:
            answer = outside.get(address)
        assert answer.status_code == 302, answer.text
        return answer.headers["location"]

    def finish(self, address: str, **given: Any) -> httpx.Response:
        """Come back from the provider."""
        return self.client.get(address, **given)

    def sign_in(self, next_: str = "") -> httpx.Response:
        """Sign in; return the last response, which shows the page."""
        answer = self.finish(self.at_provider(self.begin(next_)))
        assert answer.status_code == 303, answer.text
        return answer

    @property
    def state(self) -> dict[str, Any]:
        answer = self.client.get("/api/session")
        assert answer.status_code == 200, answer.text
        return answer.json()

    def headers(self) -> dict[str, str]:
        """Return the headers that the page sends with a request that changes something."""
        return {"origin": self.url, "sec-fetch-site": "same-origin", "x-csrf-token": self.state["csrf_token"] or ""}

    def send(self, method: str, path: str, **given: Any) -> httpx.Response:
        return self.client.request(method, path, headers=self.headers(), **given)

    def ask(self, prompt: str = "Hello!", **body: Any) -> httpx.Response:
        answer = self.send("POST", "/api/chat", json={"model": "openai/sim", "prompt": prompt, "tools": [], **body})
        assert answer.status_code == 200, answer.text
        return answer


@contextmanager
def browser(url: str, **given: Any) -> Iterator[Browser]:
    """Open a browser."""
    made = Browser(url, **given)
    with made.client:
        yield made


def with_person(provider: OidcProvider, **claims: Any) -> None:
    """Change who signs in next."""
    provider.person = {**provider.person, **claims}
