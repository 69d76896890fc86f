"""The request id: sent by the client or generated, in every response, and in the log lines of the request."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import orjson
import pytest
from signalbox.core.codes import Code
from signalbox.runs.manager import RunManager
from signalbox.services.upstream import UpstreamClient
from structlog.testing import capture_logs

from tests.support.processes import serving
from tests.support.running_app import RunningApp, settings_for
from tests.support.scripted_upstream import says
from tests.support.stream_reader import check_stream

HEADER = "x-request-id"
GIVEN = "Root=1-67891233-abcdef012345678912345678"


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/health/live", 200),
        ("GET", "/api/runs", 200),
        ("GET", "/api/runs/none", 404),
        ("GET", "/nowhere", 404),
        ("DELETE", "/api/models", 405),
        ("POST", "/api/chat/stream", 400),
        ("PUT", "/api/flags/tool_loop_v2", 401),
        ("GET", "/openapi.json", 200),
        ("GET", "/guide/README.md", 200),
    ],
)
def test_every_answer_says_its_requests_id(app: RunningApp, method: str, path: str, status: int) -> None:
    """A client's id is returned unchanged by every response; without one each response has a new id."""
    given = app.client.request(method, path, headers={HEADER: GIVEN})
    assert (given.status_code, given.headers.get_list(HEADER)) == (status, [GIVEN])
    made = [app.client.request(method, path).headers[HEADER] for _ in range(2)]
    assert len({*made, GIVEN}) == 3
    assert all(len(one) == 32 for one in made)


@pytest.mark.parametrize("odd", ["", "a b", "x" * 129, 'a"b', "ä", "a\tb", "<script>"])
def test_an_odd_id_is_replaced(app: RunningApp, odd: str) -> None:
    """An id that is too long or has other characters is neither returned nor logged."""
    answer = app.client.get("/health/live", headers=[(HEADER.encode(), odd.encode())])
    assert len(answer.headers[HEADER]) == 32


def test_a_stream_and_a_crash_say_it_too(app: RunningApp, monkeypatch: pytest.MonkeyPatch) -> None:
    """The route bypass of questions and the handler of uncaught errors return the id too."""
    answer = app.client.post("/api/chat/stream", json={"model": "openai/sim", "prompt": "Hi!"}, headers={HEADER: GIVEN})
    assert check_stream(answer.content).done["status"] == "complete"
    assert answer.headers.get_list(HEADER) == [GIVEN]

    def breaks(*_: Any, **__: Any) -> None:
        raise RuntimeError("a secret")

    monkeypatch.setattr(RunManager, "recent", breaks)
    with capture_logs() as lines:
        answer = app.client.get("/api/runs", headers={HEADER: GIVEN})
    assert (answer.status_code, answer.headers[HEADER]) == (500, GIVEN)
    [line] = lines
    assert (line["event"], line["request_id"], line["log_level"]) == ("request.internal_error", GIVEN, "error")


def test_a_page_of_an_allowed_origin_may_send_and_read_it(tmp_path: Path) -> None:
    """CORS allows the header in requests and exposes it in responses."""
    origin = {"origin": "https://chat.example.org"}
    with RunningApp(settings_for(tmp_path, signalbox_allowed_origins="https://chat.example.org")) as app:
        asked = {"access-control-request-method": "POST", "access-control-request-headers": HEADER}
        allowed = app.client.options("/api/chat/stream", headers={**origin, **asked})
        assert allowed.status_code == 200
        assert HEADER in allowed.headers["access-control-allow-headers"]
        assert HEADER in app.client.get("/api/models", headers=origin).headers["access-control-expose-headers"]


def test_a_runs_lines_have_its_requests_id(app: RunningApp) -> None:
    """The lines at the start and at the end have the ids of run, request and conversation."""
    with capture_logs() as lines:
        app.client.post(
            "/api/chat/stream",
            json={"model": "openai/sim", "prompt": "Hi!", "conversation_id": "mine"},
            headers={HEADER: GIVEN},
        )
    assert [line["event"] for line in lines] == ["run.started", "run.finished"]
    for line in lines:
        assert (line["request_id"], line["conversation_id"], line["owner"]) == (GIVEN, "mine", None)
        assert line["log_level"] == "info"
    assert lines[0]["run_id"] == lines[1]["run_id"]


def test_a_run_that_breaks_names_its_request(
    start_app: Callable[..., tuple[RunningApp, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """An internal error is logged with the request id."""
    app, _ = start_app(says("Hello."))

    def breaks(*_: Any, **__: Any) -> None:
        raise RuntimeError("a secret")

    monkeypatch.setattr(UpstreamClient, "stream", breaks)
    with capture_logs() as lines:
        answer = app.client.post(
            "/api/chat/stream", json={"model": "openai/sim", "prompt": "Hi!"}, headers={HEADER: GIVEN}
        )
    assert check_stream(answer.content).done["code"] == Code.INTERNAL
    told = {line["event"]: line for line in lines}
    assert told["run.internal_error"]["request_id"] == told["run.finished"]["request_id"] == GIVEN
    assert told["run.finished"]["log_level"] == "error"


@pytest.mark.e2e
def test_a_process_writes_them_as_json(tmp_path: Path) -> None:
    """Each line on standard error is JSON with level and time, and contains neither prompt nor answer."""
    with serving(tmp_path) as process, httpx.Client(base_url=process.url, trust_env=False, verify=False) as client:
        body = {"model": "openai/sim", "prompt": "What is 17 * 23 canary?"}
        assert client.post("/api/chat/stream", json=body, headers={HEADER: GIVEN}).status_code == 200
        assert client.post("/api/chat/stream", json={"prompt": "canary"}, headers={HEADER: "bad-1"}).status_code == 422
    lines = [orjson.loads(line) for line in process.errors().splitlines()]
    by_event = {line["event"]: line for line in lines}
    assert by_event["run.started"]["request_id"] == by_event["run.finished"]["request_id"] == GIVEN
    assert by_event["request.rejected"]["request_id"] == "bad-1"
    assert all({"level", "timestamp"} <= line.keys() for line in lines)
    assert "canary" not in process.errors()
