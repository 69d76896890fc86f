"""CORS with tokens: pages of allowed origins can send requests and read responses, others cannot."""

from collections.abc import Iterator

import pytest

from tests.scenarios.access.users import UserApp, serve_users
from tests.support.running_app import error_of

PAGE, EVIL = "https://page.example", "https://evil.example"
ALLOW = "access-control-allow-origin"
# Recorded: openai-js 7.55.0 in Chromium 156, a stream with the header for the server's tools.
OPENAI_JS = (
    "authorization,content-type,x-signalbox-tools,x-stainless-arch,x-stainless-helper-method,x-stainless-lang,"
    "x-stainless-os,x-stainless-package-version,x-stainless-retry-count,x-stainless-runtime,x-stainless-runtime-version"
)


@pytest.fixture(scope="module")
def users(tmp_path_factory: pytest.TempPathFactory) -> Iterator[UserApp]:
    """Serve an app that allows one other origin."""
    with serve_users(tmp_path_factory.mktemp("data"), signalbox_allowed_origins=(PAGE,)) as made:
        yield made


@pytest.mark.parametrize(
    ("method", "path"),
    [("POST", "/api/chat/stream"), ("GET", "/api/runs"), ("PATCH", "/api/conversations/x"), ("DELETE", "/api/runs/x")],
)
def test_a_preflight_needs_no_token(users: UserApp, method: str, path: str) -> None:
    """A preflight request needs no token, and fails for an origin that is not allowed."""
    asked = {
        "access-control-request-method": method,
        "access-control-request-headers": "authorization,content-type,idempotency-key,last-event-id,x-tool-loop",
    }
    told = users.app.client.options(path, headers={"origin": PAGE, **asked})
    assert (told.status_code, told.headers[ALLOW]) == (200, PAGE)
    assert method in told.headers["access-control-allow-methods"]
    assert "authorization" in told.headers["access-control-allow-headers"].lower()
    refused = users.app.client.options(path, headers={"origin": EVIL, **asked})
    assert refused.status_code == 400
    assert ALLOW not in refused.headers


@pytest.mark.parametrize("path", ["/v1/chat/completions", "/v1/models", "/api/v1/chat/completions"])
def test_a_preflight_allows_the_headers_of_openai_js(users: UserApp, path: str) -> None:
    """Every header that openai-js sends from a browser is allowed."""
    asked = {"access-control-request-method": "POST", "access-control-request-headers": OPENAI_JS}
    told = users.app.client.options(path, headers={"origin": PAGE, "sec-fetch-site": "cross-site", **asked})
    assert (told.status_code, told.headers[ALLOW]) == (200, PAGE)
    allowed = {name.strip().lower() for name in told.headers["access-control-allow-headers"].split(",")}
    assert set(OPENAI_JS.split(",")) <= allowed
    refused = users.app.client.options(path, headers={"origin": EVIL, **asked})
    assert (refused.status_code, ALLOW in refused.headers) == (400, False)


def test_a_page_on_the_list_reads_also_why_it_was_refused(users: UserApp) -> None:
    """An allowed page can read answers and rejections; no credentials are requested."""
    page = {"origin": PAGE, "sec-fetch-site": "cross-site"}
    ada = users["ada"].client
    answers = [
        ada.get("/api/runs", headers=page),
        users.app.client.get("/api/runs", headers=page),
        users.app.client.get("/api/runs", headers={**page, "authorization": "Bearer wrong"}),
    ]
    assert [one.status_code for one in answers] == [200, 401, 401]
    for one in answers:
        assert one.headers[ALLOW] == PAGE
        assert "origin" in one.headers["vary"].lower()
        assert "retry-after" in one.headers["access-control-expose-headers"]
        assert "access-control-allow-credentials" not in one.headers


def test_another_page_reads_nothing_even_with_a_token(users: UserApp) -> None:
    """A page that is not allowed reads no response, and its writes are rejected."""
    ada = users["ada"].client
    read = ada.get("/api/runs", headers={"origin": EVIL})
    assert ALLOW not in read.headers
    spent = ada.post("/api/chat/stream", json={"model": "openai/sim", "prompt": "x"}, headers={"origin": EVIL})
    assert (spent.status_code, error_of(spent)["code"]) == (403, "ORIGIN_NOT_ALLOWED")
    assert ALLOW not in spent.headers
