"""The document /preview-frame and its content security policy."""

from base64 import b64encode
from hashlib import sha256
from pathlib import Path

import httpx
import pytest
from signalbox.app.asgi import static_files

from tests.support.running_app import RunningApp, settings_for

SCRIPT = "let frame = 1;"


@pytest.fixture
def page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a built page with a frame."""
    folder = tmp_path / "page"
    folder.mkdir()
    (folder / "index.html").write_text("<!doctype html><title>Signalbox</title>")
    (folder / "preview-frame.html").write_text(f"<!doctype html><script>{SCRIPT}</script>")
    monkeypatch.setattr(static_files, "page_folder", lambda: folder)
    return folder


def policy_of(response: httpx.Response) -> dict[str, str]:
    """Parse the only content security policy of a response."""
    (policy,) = response.headers.get_list("content-security-policy")
    return {name: sources for name, _, sources in (part.partition(" ") for part in policy.split("; "))}


@pytest.mark.usefixtures("page")
def test_the_frame_has_a_separate_origin_and_no_requests(tmp_path: Path) -> None:
    """Its policy has a sandbox without an origin, and no source from the network. No token is needed, no cookie set."""
    with RunningApp(settings_for(tmp_path / "data", signalbox_require_token=True)) as app:
        assert app.client.get("/api/tools").status_code == 401
        response = app.client.get("/preview-frame")
        assert response.status_code == 200
        assert SCRIPT in response.text
        policy = policy_of(response)
        assert policy["sandbox"] == "allow-scripts"
        assert policy["default-src"] == policy["base-uri"] == policy["form-action"] == "'none'"
        assert policy["frame-ancestors"] == "'self'"
        assert policy["script-src"] == "'unsafe-inline' data: blob:"
        sources = " ".join(value for name, value in policy.items() if name.endswith("-src")).split()
        assert set(sources) == {"'none'", "'unsafe-inline'", "data:", "blob:"}
        assert response.headers["x-content-type-options"] == "nosniff"
        assert "set-cookie" not in response.headers


@pytest.mark.usefixtures("page")
def test_a_draft_runs_only_the_frames_own_script(tmp_path: Path) -> None:
    """Its policy allows the script by its hash; only the mode for printing may open dialogs."""
    own = f"'sha256-{b64encode(sha256(SCRIPT.encode()).digest()).decode()}'"
    with RunningApp(settings_for(tmp_path / "data")) as app:
        modes = {mode: policy_of(app.client.get(f"/preview-frame?mode={mode}")) for mode in ("draft", "print", "odd")}
        assert modes["draft"]["script-src"] == modes["print"]["script-src"] == own
        assert modes["draft"]["sandbox"] == modes["odd"]["sandbox"] == "allow-scripts"
        assert modes["print"]["sandbox"] == "allow-scripts allow-modals"
        assert modes["odd"]["script-src"] == "'unsafe-inline' data: blob:"
        fresh = app.client.get("/preview-frame?mode=draft")
        again = app.client.get("/preview-frame?mode=draft", headers={"if-none-match": fresh.headers["etag"]})
        assert again.status_code == 304
        assert policy_of(again) == policy_of(fresh)


@pytest.mark.usefixtures("page")
def test_the_chat_page_may_show_only_this_frame(tmp_path: Path) -> None:
    """Its policy names the frame's address, also under a prefix and behind a proxy; other pages may show no frame."""
    with RunningApp(settings_for(tmp_path / "data", signalbox_allowed_hosts=("chat.example",))) as app:
        host = {"host": "chat.example:8443"}
        assert policy_of(app.client.get("/", headers=host))["frame-src"] == "http://chat.example:8443/preview-frame"
        assert (
            policy_of(app.client.get("/", headers={"host": "[::1]:80"}))["frame-src"] == "http://[::1]:80/preview-frame"
        )
        for path in ("/api/tools", "/nothing"):
            assert policy_of(app.client.get(path))["frame-src"] == "'none'"
    settings = settings_for(
        tmp_path / "more", signalbox_root_path="/team", signalbox_allowed_origins=("https://chat.example",)
    )
    with RunningApp(settings) as app:
        sources = policy_of(app.client.get("/team/", headers={"host": "127.0.0.1:9"}))["frame-src"]
        assert sources == "http://127.0.0.1:9/team/preview-frame https://chat.example/team/preview-frame"
        assert app.client.get("/team/preview-frame").status_code == 200


@pytest.mark.usefixtures("page")
def test_a_host_that_is_no_host_is_no_source(tmp_path: Path) -> None:
    """A Host header cannot add sources to the policy."""
    with RunningApp(settings_for(tmp_path / "data")) as app:
        response = app.client.get("/", headers={"host": "localhost:1; script-src *"})
        assert policy_of(response)["frame-src"] == "'none'"
        assert "*" not in response.headers["content-security-policy"]


@pytest.mark.usefixtures("page")
def test_hosts_that_may_show_the_page_may_show_its_frame(tmp_path: Path) -> None:
    """The frame's ancestors include the pages in which the chat is shown."""
    settings = settings_for(tmp_path / "data", signalbox_frame_ancestors=("self", "https://app.example"))
    with RunningApp(settings) as app:
        assert policy_of(app.client.get("/preview-frame"))["frame-ancestors"] == "'self' https://app.example"


def test_a_page_that_is_not_built_has_no_frame(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The response says how to build it."""
    monkeypatch.setattr(static_files, "page_folder", lambda: None)
    with RunningApp(settings_for(tmp_path / "data")) as app:
        response = app.client.get("/preview-frame")
        assert "./just start" in response.text
        assert policy_of(response)["default-src"] == "'self'"
