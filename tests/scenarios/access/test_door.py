"""One door for all protocols: where a token may be, what is closed without one, and the format of the rejection."""

from collections.abc import Iterator

import httpx
import pytest

from tests.scenarios.access.users import ACCESS, ADMIN, UserApp, serve_users
from tests.support.running_app import RunningApp, error_of, openai_error_of, settings_for

PAGE = "https://page.example"
ALLOW = "access-control-allow-origin"
CHAT = {"model": "openai/sim", "messages": [{"role": "user", "content": "Hello!"}]}
# What openai-js 7 sends from a browser beside what a program of ours may add.
SDK_HEADERS = (
    "authorization,content-type,idempotency-key,openai-organization,openai-project,x-api-key,x-conversation-id,"
    "x-request-id,x-signalbox-tools,x-stainless-arch,x-stainless-helper-method,x-stainless-lang,x-stainless-os,"
    "x-stainless-package-version,x-stainless-retry-count,x-stainless-runtime,x-stainless-runtime-version,"
    "x-stainless-timeout"
)
OPENAI = [
    ("POST", "/v1/chat/completions"),
    ("GET", "/v1/chat/completions"),
    ("GET", "/v1/models"),
    ("GET", "/v1/models/openai/sim"),
    ("POST", "/v1/embeddings"),
    ("GET", "/v1/nothing"),
    ("GET", "/v1/"),
    ("GET", "/v1"),
    ("POST", "/api/v1/chat/completions"),
    ("GET", "/api/v1/models"),
    ("GET", "/api/v1/nothing"),
]
OURS = [("POST", "/api/chat"), ("GET", "/api/runs"), ("GET", "/api/v10"), ("GET", "/v2/models")]


@pytest.fixture(scope="module")
def users(tmp_path_factory: pytest.TempPathFactory) -> Iterator[UserApp]:
    """Serve an app that requires a token and allows one other origin."""
    with serve_users(tmp_path_factory.mktemp("data"), signalbox_allowed_origins=(PAGE,)) as made:
        yield made


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningApp]:
    """Serve an app that requires no token."""
    with RunningApp(settings_for(tmp_path_factory.mktemp("data"))) as app:
        yield app


@pytest.mark.parametrize("given", [None, "Bearer wrong", "Bearer sb-0123456789ab-wrong"])
@pytest.mark.parametrize(("method", "path"), OPENAI)
def test_every_path_of_openai_is_closed(users: UserApp, method: str, path: str, given: str | None) -> None:
    """Without a valid token each is a 401 as OpenAI's clients know it, even if nothing is there."""
    headers = {} if given is None else {"authorization": given}
    refused = users.app.client.request(method, path, json=CHAT, headers=headers)
    assert refused.status_code == 401
    error = openai_error_of(refused)
    code = 401 if path.startswith("/api/v1/") else "invalid_api_key"  # OpenRouter's is the status
    assert (error["type"], error["code"]) == ("invalid_request_error", code)


@pytest.mark.parametrize(("method", "path"), OURS)
def test_every_other_path_is_closed_in_our_format(users: UserApp, method: str, path: str) -> None:
    """Paths that only begin alike are not OpenAI's."""
    refused = users.app.client.request(method, path, json={})
    assert (refused.status_code, error_of(refused)["code"]) == (401, "UNAUTHORIZED")


@pytest.mark.parametrize(
    ("method", "path", "status", "code"),
    [
        ("GET", "/v1/nothing", 404, "not_found"),
        ("POST", "/v1/embeddings", 404, "not_found"),
        ("GET", "/api/v1/nothing", 404, 404),
        ("GET", "/v1/chat/completions", 405, "method_not_allowed"),
        ("DELETE", "/v1/models", 405, "method_not_allowed"),
    ],
)
def test_what_is_not_there_is_told_in_openais_format(
    users: UserApp, method: str, path: str, status: int, code: str | int
) -> None:
    """With a token a mistyped path is a 404, never a page."""
    refused = users["ada"].client.request(method, path)
    assert (refused.status_code, openai_error_of(refused)["code"]) == (status, code)


# --- x-api-key ---


def test_a_key_is_a_token(users: UserApp) -> None:
    """An API token, the access token and the operator token in `x-api-key` mean what they mean in Authorization."""
    app, ada = users.app, users["ada"]
    key = {"x-api-key": ada.client.headers["authorization"].removeprefix("Bearer ")}
    whole = app.client.post("/v1/chat/completions", json=CHAT, headers=key)
    assert whole.status_code == 200
    run_path = f"/api/runs/{whole.headers['x-run-id']}"
    assert ada.client.get(run_path).status_code == app.client.get(run_path, headers=key).status_code == 200
    assert app.client.get(run_path, headers={"x-api-key": ACCESS}).status_code == 404
    assert app.client.get(run_path, headers={"x-api-key": ADMIN}).status_code == 200
    operator = {"x-api-key": ADMIN}
    assert app.client.put("/api/flags/tool_loop_v2", json={"state": "on"}, headers=operator).status_code == 200


@pytest.mark.parametrize("key", ["wrong", "", "sb-0123456789ab-wrong", f"Bearer {ACCESS}"])
def test_a_wrong_key_is_refused(users: UserApp, key: str) -> None:
    """As a wrong token is; the key is bare, without a scheme."""
    refused = users.app.client.get("/v1/models", headers={"x-api-key": key})
    assert (refused.status_code, openai_error_of(refused)["code"]) == (401, "invalid_api_key")


@pytest.mark.parametrize("authorization", [f"Bearer {ACCESS}", f"bearer  {ACCESS}", ACCESS, "", "Bearer"])
def test_the_same_key_twice_is_one(users: UserApp, authorization: str) -> None:
    """SDKs send both headers, or an empty Authorization; that is no contradiction."""
    both = {"authorization": authorization, "x-api-key": ACCESS}
    assert users.app.client.get("/v1/models", headers=both).status_code == 200


def test_two_different_keys_are_refused(users: UserApp, bare: RunningApp) -> None:
    """Whose run would it be? Also if both are valid, and where no token is needed."""
    for app in (users.app, bare):
        for headers in (
            [("authorization", f"Bearer {ACCESS}"), ("x-api-key", ADMIN)],
            [("authorization", f"Bearer {ADMIN}"), ("x-api-key", "wrong")],
            [("x-api-key", ACCESS), ("x-api-key", ADMIN)],
        ):
            ours = app.client.get("/api/runs", headers=headers)
            assert (ours.status_code, error_of(ours)["code"]) == (400, "TOKENS_DIFFER")
            theirs = app.client.get("/v1/models", headers=headers)
            error = openai_error_of(theirs)
            assert (theirs.status_code, error["code"], error["param"]) == (400, "tokens_differ", "x-api-key")
            assert "two different tokens" in error["message"]


# --- CORS ---


@pytest.mark.parametrize("path", ["/v1/chat/completions", "/v1/models", "/api/v1/chat/completions", "/api/chat"])
def test_a_preflight_of_an_sdk_passes(users: UserApp, path: str) -> None:
    """It has no token; all headers of the SDK are allowed, for the configured origin only."""
    asked = {"access-control-request-method": "POST", "access-control-request-headers": SDK_HEADERS}
    told = users.app.client.options(path, headers={"origin": PAGE, **asked})
    assert (told.status_code, told.headers[ALLOW]) == (200, PAGE)
    allowed = {name.strip().lower() for name in told.headers["access-control-allow-headers"].split(",")}
    assert {*SDK_HEADERS.split(",")} <= allowed
    refused = users.app.client.options(path, headers={"origin": "https://evil.example", **asked})
    assert refused.status_code == 400
    assert ALLOW not in refused.headers


def test_a_page_reads_every_answer(users: UserApp) -> None:
    """Success, stream, 401, 400, 404 and 405 alike, with the headers that clients act on."""
    page = {"origin": PAGE, "sec-fetch-site": "cross-site"}
    ada, anonymous = users["ada"].client, users.app.client
    url = "/v1/chat/completions"

    def ask(client: httpx.Client, **body: object) -> httpx.Response:
        return client.post(url, json={**CHAT, **body}, headers=page)

    answers = [
        ask(ada),
        ask(ada, stream=True),
        ask(anonymous),
        ask(ada, n=2),
        ask(ada, model="no/such-model"),
        ada.get("/v1/nothing", headers=page),
        ada.get(url, headers=page),
    ]
    assert [one.status_code for one in answers] == [200, 200, 401, 400, 404, 404, 405]
    for one in answers:
        assert one.headers[ALLOW] == PAGE
        assert one.headers["x-request-id"]
        exposed = {name.strip() for name in one.headers["access-control-expose-headers"].split(",")}
        assert {"x-request-id", "x-run-id", "retry-after", "x-should-retry"} <= exposed
