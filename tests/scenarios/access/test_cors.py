"""CORS with tokens: pages of allowed origins can send requests and read responses, others cannot."""

from collections.abc import Iterator

import pytest

from tests.scenarios.access.users import UserApp, serve_users
from tests.support.running_app import error_of

PAGE, EVIL = "https://page.example", "https://evil.example"
ALLOW = "access-control-allow-origin"


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
