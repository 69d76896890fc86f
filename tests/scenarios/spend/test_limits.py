"""Budgets, rates, concurrent runs, models and tools of tokens and groups, over HTTP."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest
from signalbox.app.access import Caller

from tests.scenarios.access.users import bearer
from tests.scenarios.limits.test_budget import listing, talks
from tests.scenarios.tool_loop.script import Called, answers, calls
from tests.support.fixtures import StartApp
from tests.support.running_app import RunningApp, error_of, read_until
from tests.support.scripted_upstream import Script, ScriptedUpstream, holds, says
from tests.support.stream_reader import check_stream

ADMIN = "operator-operator"
ASK = {"model": "openai/sim", "prompt": "Hi", "tools": []}
# A prompt costs nothing, and a token of output a cent.
CENTS = {"prompt": "0", "completion": "0.01"}


class App:
    """An app with a scripted upstream, and a token with limits."""

    def __init__(self, app: RunningApp, upstream: ScriptedUpstream, **limits: Any) -> None:
        self.app, self.upstream = app, upstream
        self.token = self.create(**limits)

    def call(self, method: str, path: str, **body: Any) -> dict[str, Any]:
        """Call the API as the operator."""
        response = self.app.client.request(method, f"/api/{path}", headers=bearer(ADMIN), json=body)
        assert response.status_code < 300, response.text
        return response.json()

    def create(self, **limits: Any) -> dict[str, Any]:
        """Create a token."""
        return self.call("POST", "tokens", name="Ada", **limits)

    def post(self, token: dict[str, Any] | None = None, path: str = "/api/chat/stream", **body: Any) -> httpx.Response:
        """Ask as a token."""
        headers = bearer((token or self.token)["token"])
        return self.app.client.post(path, json={**ASK, **body}, headers=headers)

    def start(self, token: dict[str, Any] | None = None, **body: Any) -> int:
        """Start a run that continues without its client; return the status."""
        headers, asked = bearer((token or self.token)["token"]), {**ASK, "on_disconnect": "continue", **body}
        with (
            httpx.Client(base_url=self.app.url, trust_env=False, timeout=20, verify=False) as alone,
            alone.stream("POST", "/api/chat/stream", json=asked, headers=headers) as response,
        ):
            return response.status_code

    def stop_only_run(self) -> None:
        """Stop the one run of the token."""
        headers = bearer(self.token["token"])
        (run,) = self.app.client.get("/api/runs?status=running", headers=headers).json()["runs"]
        self.app.client.post(f"/api/runs/{run['run_id']}/stop", headers=headers)

    def refusal(self, **body: Any) -> tuple[int, dict[str, str]]:
        """Ask what is refused; return status and error. Nothing was sent upstream, and no run was stored."""
        before = len(self.upstream.asked), self.runs()
        response = self.post(**body)
        assert (len(self.upstream.asked), self.runs()) == before
        return response.status_code, error_of(response)

    def runs(self) -> int:
        """Return how many runs are stored."""
        return len(self.app.client.get("/api/runs?limit=200", headers=bearer(ADMIN)).json()["runs"])

    def reserved(self) -> list[int]:
        """Return what is reserved in each row of the budgets."""
        self.app.within(self.app.parts.runs.store.flush())

        def amounts(connection: Any) -> list[int]:
            return [row[0] for row in connection.exec_driver_sql("SELECT reserved FROM budgets ORDER BY reserved")]

        return self.app.within(self.app.parts.database.read(amounts))


Limited = Callable[..., App]


@pytest.fixture
def limited(start_app: StartApp) -> Limited:
    """Serve an app with a token that has these limits."""

    def start(*scripts: Script, pricing: Any = CENTS, settings: dict[str, Any] | None = None, **limits: Any) -> App:
        given = {"signalbox_admin_token": ADMIN, **(settings or {})}
        return App(*start_app(*scripts, models=listing(pricing), settings=given), **limits)

    return start


# --- budgets ---


def test_a_run_over_budget_is_refused_before_anything_is_spent(limited: Limited) -> None:
    """The message says which budget, what is used, and when it begins anew."""
    app = limited(says("Hi."), budget_day=0.02)
    status, error = app.refusal()
    assert (status, error["code"]) == (402, "BUDGET_EXHAUSTED")
    assert error["message"].startswith(
        "The daily budget of this token of $0.02 has too little left for this run, which needs at least $2.56: "
        "$0 is spent. It begins anew on 20"
    )
    assert app.reserved() == []


def test_a_budget_pays_until_it_is_spent(limited: Limited) -> None:
    """The reported cost of 0.001 counts, not what was reserved; the last run is refused."""
    app = limited(answers("Hi."), pricing=None, budget_month=0.0035)
    assert [app.post(max_cost=0.0015).status_code for _ in range(4)] == [200, 200, 200, 402]
    assert {*app.reserved()} == {0}
    spent = app.app.client.get("/api/spend", headers=bearer(app.token["token"])).json()["total"]
    assert (spent["runs"], spent["cost"]) == (3, 0.003)


@pytest.mark.parametrize(
    ("path", "body", "shape"),
    [
        ("/api/chat", {}, {"code": "BUDGET_EXHAUSTED"}),
        (
            "/v1/chat/completions",
            {"prompt": None, "tools": None, "messages": [{"role": "user", "content": "Hi"}]},
            {"code": "insufficient_quota", "type": "insufficient_quota"},
        ),
    ],
)
def test_every_protocol_says_so_in_its_shape(
    limited: Limited, path: str, body: dict[str, Any], shape: dict[str, str]
) -> None:
    """With the status 402, which clients of OpenAI do not retry."""
    app = limited(says("Hi."), budget_day=0)
    sent = {name: value for name, value in {**ASK, **body}.items() if value is not None}
    response = app.app.client.post(path, json=sent, headers=bearer(app.token["token"]))
    assert response.status_code == 402
    error = response.json()["error"]
    assert error | shape == error


def test_a_group_pays_together(limited: Limited) -> None:
    """The message names the group, and says that active runs are in the way; a token outside of it is not affected."""
    app = limited(holds)
    app.call("PUT", "groups/team", budget_day=1)
    tokens = [app.create(group="team") for _ in range(3)]
    with ThreadPoolExecutor(3) as many:
        statuses = [*many.map(lambda token: app.start(token, max_cost=0.5), tokens)]
    assert sorted(statuses) == [200, 200, 402]
    refused = app.post(tokens[0], max_cost=0.5)
    assert (refused.status_code, refused.headers["retry-after"]) == (402, "2")
    assert error_of(refused) == {
        "code": "BUDGET_EXHAUSTED",
        "message": "The daily budget of the group 'team' of $1 has too little left for this run, "
        "which needs at least $0.5, until active runs end: $0 is spent and $1 is reserved by active runs. "
        "Wait, or ask the operator for a higher one.",
    }
    assert app.start(max_cost=0.5) == 200


def test_a_stopped_run_releases_what_it_has_reserved(limited: Limited) -> None:
    """Its cost is not known, so its estimate counts."""
    app = limited(holds, budget_day=1)
    assert app.start(max_cost=1) == 200
    assert app.post(max_cost=1).status_code == 402
    app.stop_only_run()
    assert {*app.reserved()} == {0}
    assert app.start(max_cost=0.9) == 200


@pytest.mark.parametrize("path", ["runs/{run_id}", "conversations/deleted"])
def test_deleting_an_active_run_does_not_make_it_free(limited: Limited, path: str) -> None:
    """If its model has no known price, what it has reserved counts: $0.05 of a budget for two such runs."""
    app = limited(talks, pricing=None, budget_day=0.1)
    headers = bearer(app.token["token"])
    for _ in range(2):
        asked = {**ASK, "on_disconnect": "continue", "conversation_id": "deleted"}
        if path.startswith("runs"):
            del asked["conversation_id"]
        with app.app.client.stream("POST", "/api/chat/stream", json=asked, headers=headers) as response:
            read_until(response.iter_raw(), b"at all")
            deleted = app.app.client.delete(f"/api/{path.format(run_id=response.headers['x-run-id'])}", headers=headers)
        assert deleted.status_code == 200, deleted.text
    assert {*app.reserved()} == {0}
    spent = app.app.client.get("/api/spend", headers=headers).json()["total"]
    assert (spent["cost"], spent["estimated_runs"]) == (0.1, 2)
    assert app.post().status_code == 402


def test_a_start_that_fails_reserves_nothing(limited: Limited) -> None:
    """Here the server has too many runs."""
    app = limited(holds, budget_day=9, settings={"signalbox_max_runs": 1})
    assert app.start(max_cost=1) == 200
    assert app.post(max_cost=1).status_code == 503
    assert app.reserved() == [1, 10**9, 10**9]


def test_each_step_reserves_more(limited: Limited) -> None:
    """Each call to the model costs 0.001, and its prompt is not free; the run ends when the budget is used up."""
    sums = Called("calculate", '{"expression": "6 * 7"}')
    app = limited(calls(sums), calls(sums), answers("42."), budget_day=0.3)
    asked = {"tools": ["calculate"], "max_tokens": 20}
    assert check_stream(app.post(**asked).content).done["status"] == "complete"
    assert {*app.reserved()} == {0}


def test_a_long_run_is_stopped_by_the_budget_of_its_owner(limited: Limited) -> None:
    """Its own limit is not reached; the code says that the budget is used up."""
    app = limited(talks, budget_day=0.03)
    done = check_stream(app.post(max_tokens=3).content).done
    assert (done["status"], done["code"]) == ("interrupted", "BUDGET_EXHAUSTED")


@pytest.mark.parametrize("stream", [False, True])
def test_a_client_of_openai_gets_the_answer_so_far(limited: Limited, stream: bool) -> None:
    """It was paid for: the finish reason is `length`, as for the run's own cost limit, and not an error."""
    app = limited(talks, budget_day=0.03)
    sent = {"model": "openai/sim", "messages": [{"role": "user", "content": "Hi"}], "max_tokens": 3, "stream": stream}
    response = app.app.client.post("/v1/chat/completions", json=sent, headers=bearer(app.token["token"]))
    assert response.status_code == 200, response.text
    assert "Anything" in response.text
    assert '"finish_reason":"length","native_finish_reason":"budget_exhausted"' in response.text.replace(": ", ":")
    assert "error" not in response.text


def test_variants_reserve_one_by_one(limited: Limited) -> None:
    """The budget pays for two of three; the third has the error."""
    app = limited(holds, budget_day=1)
    response = app.post(path="/api/chat/variants", max_cost=0.5, conversation_id="c", variants=[{}, {}, {}])
    assert response.status_code == 200, response.text
    codes = [one.get("error", {}).get("code") for one in response.json()["variants"]]
    assert sorted(map(str, codes)) == ["BUDGET_EXHAUSTED", "None", "None"]


def test_a_changed_budget_applies_to_the_next_run(limited: Limited) -> None:
    """Within a second."""
    app = limited(says("Hi."), budget_day=0)
    assert app.post().status_code == 402
    app.call("PATCH", f"tokens/{app.token['id']}", budget_day=None)
    app.app.app.state.tokens.ticks = lambda: 1e9
    assert app.post().status_code == 200


# --- rates, runs, models, tools ---


def test_a_rate_of_a_token(limited: Limited) -> None:
    """A 429 with the seconds to wait; rejected questions do not count."""
    app = limited(says("Hi."), rate_limit="2/minute")
    assert app.post(tools=["no_such_tool"]).status_code == 422
    assert [app.post().status_code for _ in range(3)] == [200, 200, 429]
    refused = app.post()
    assert error_of(refused)["code"] == "TOO_MANY_QUESTIONS"
    assert 1 <= int(refused.headers["retry-after"]) <= 60
    assert app.post(app.create()).status_code == 200


def test_runs_at_once_of_a_token(limited: Limited) -> None:
    """A stopped run makes room."""
    app = limited(holds, max_runs=1)
    assert app.start() == 200
    refused = app.post()
    assert (refused.status_code, error_of(refused)["code"]) == (429, "TOO_MANY_RUNS")
    app.stop_only_run()
    assert app.start() == 200


def test_models_of_a_token_and_of_its_group(limited: Limited) -> None:
    """Both have to allow the model."""
    app = limited(says("Hi."), models=["openai/*"])
    app.call("PUT", "groups/team", models=["anthropic/*"])
    assert app.post().status_code == 200
    for limits in ({"models": ["anthropic/*"]}, {"group": "team"}):
        refused = app.post(app.create(**limits))
        assert (refused.status_code, error_of(refused)["code"]) == (403, "MODEL_NOT_ALLOWED")


@pytest.mark.parametrize("path", ["/api/chat/stream", "/v1/chat/completions"])
def test_each_fallback_must_be_allowed(limited: Limited, path: str) -> None:
    """The provider answers with a fallback if the first model fails."""
    app = limited(says("Hi."), models=["openai/*"])
    body = {"messages": [{"role": "user", "content": "Hi"}], "prompt": None} if path.startswith("/v1") else {}
    asked = {name: value for name, value in {**ASK, **body}.items() if value is not None}
    headers = bearer(app.token["token"])
    refused = app.app.client.post(path, json={**asked, "models": ["openai/b", "anthropic/a"]}, headers=headers)
    assert refused.status_code == 403
    assert refused.json()["error"]["code"] in ("MODEL_NOT_ALLOWED", "model_not_allowed")
    assert "anthropic/a" in refused.text


def test_tools_of_a_token(limited: Limited) -> None:
    """A tool that is named is refused; tools that are offered unasked are left out."""
    app = limited(says("Hi."), tools=["get_*"])
    status, error = app.refusal(tools=["get_current_time", "calculate"])
    assert (status, error["code"], error["field"]) == (403, "TOOL_NOT_ALLOWED", "tools.1")
    sent = {"model": "openai/sim", "messages": [{"role": "user", "content": "Hi"}]}
    assert app.app.client.post("/v1/chat/completions", json=sent, headers=bearer(app.token["token"])).is_success
    offered = [tool["function"]["name"] for tool in app.upstream.asked[-1].body["tools"]]
    assert offered == ["get_current_time"]


def test_only_what_is_allowed_is_listed(limited: Limited) -> None:
    """Of models and tools: what the token and its group both allow. The operator sees all."""
    app = limited(says("Hi."), models=["openai/*"], tools=["get_*"])
    app.call("PUT", "groups/team", models=["anthropic/*"], tools=[])

    def listed(path: str, field: str, key: str, token: str) -> list[str]:
        return [one[key] for one in app.app.client.get(path, headers=bearer(token)).json()[field]]

    lists = [
        ("/api/models", "models", "id"),
        ("/v1/models", "data", "id"),
        ("/v1/models?offset=0&limit=9", "data", "id"),
    ]
    for path, field, key in lists:
        assert listed(path, field, key, app.token["token"]) == listed(path, field, key, ADMIN) == ["openai/sim"]
        assert listed(path, field, key, app.create(models=["openai/*"], group="team")["token"]) == []
    assert listed("/api/tools", "tools", "name", app.token["token"]) == ["get_current_time"]
    assert listed("/api/tools", "tools", "name", app.create(group="team")["token"]) == []
    assert "calculate" in listed("/api/tools", "tools", "name", ADMIN)
    headers = bearer(app.create(group="team")["token"])
    assert app.app.client.get("/v1/models/openai/sim", headers=headers).status_code == 403
    assert app.app.client.get("/v1/models/openai/sim", headers=bearer(app.token["token"])).status_code == 200


# --- people ---


def test_people_belong_to_the_group_users(start_app: StartApp) -> None:
    """Unless their sign-in names another one."""
    app = App(*start_app(says("Hi."), settings={"signalbox_admin_token": ADMIN}))
    app.call("PUT", "groups/users", max_runs=1)
    app.call("PUT", "groups/staff", max_runs=9)
    cache = app.app.app.state.tokens
    found = [app.app.within(cache.with_group(Caller("user:ada", group=group))) for group in ("", "staff", "no-such")]
    assert [(one.group, one.group_policy.max_runs) for one in found] == [("users", 1), ("staff", 9), ("no-such", None)]
