"""The loop of a run from a flag provider: shown in `done.flag`, below the override, and checked at the start."""

import importlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from openfeature import api
from signalbox.app.settings.errors import SettingsError
from signalbox.app.shared_settings import open_flag_provider

from tests.support.fixtures import StartApp
from tests.support.running_app import RunningApp, settings_for
from tests.support.scripted_upstream import says
from tests.support.stream_reader import check_stream

ADMIN = {"authorization": "Bearer admin-token-of-a-test"}


@pytest.fixture(autouse=True)
def _no_provider() -> Iterator[None]:  # pyright: ignore[reportUnusedFunction]
    yield
    api.clear_providers()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return a file that selects the legacy loop for everything but one family."""
    rule = {"if": [{"==": [{"var": "family"}, "anthropic"]}, "canary", None]}
    flag = {"state": "ENABLED", "variants": {"canary": True, "stable": False}, "defaultVariant": "stable"}
    found = tmp_path / "flags.json"
    found.write_text(json.dumps({"flags": {"tool_loop_v2": {**flag, "targeting": rule}}}))
    return found


def ended(app: RunningApp, model: str = "openai/sim") -> tuple[str, dict[str, Any]]:
    """Ask a question; return the loop and the flag of its `done`."""
    response = app.client.post("/api/chat/stream", json={"model": model, "prompt": "Hi", "tools": []})
    done = check_stream(response.content).done
    return done["loop"], done["flag"]


def put(app: RunningApp, state: str) -> dict[str, Any]:
    """Set the override; return the flag."""
    return app.client.put("/api/flags/tool_loop_v2", json={"state": state}, headers=ADMIN).raise_for_status().json()


def test_the_provider_chooses_the_loop(start_app: StartApp, path: Path) -> None:
    """Variant and reason are the provider's; an override takes V2 back at once and can be removed."""
    settings = {
        "signalbox_flag_provider": "flagd",
        "signalbox_flag_file": path,
        "signalbox_admin_token": "admin-token-of-a-test",
    }
    app, _ = start_app(*[says("Hello.")] * 4, settings=settings)
    assert ended(app) == ("legacy", {"variant": "stable", "reason": "DEFAULT"})
    assert ended(app, "anthropic/sim") == ("v2", {"variant": "canary", "reason": "TARGETING_MATCH"})
    assert "SIGNALBOX_FLAG_PROVIDER" in app.client.get("/api/flags/tool_loop_v2").json()["effective"]
    assert app.client.get("/health/ready").json()["loop"] == "percent"
    put(app, "off")
    assert app.client.get("/health/ready").json()["loop"] == "legacy"
    assert ended(app, "anthropic/sim") == ("legacy", {"variant": "legacy", "reason": "STATIC"})
    assert put(app, "default")["state"] is None
    assert ended(app, "anthropic/sim") == ("v2", {"variant": "canary", "reason": "TARGETING_MATCH"})


@pytest.mark.parametrize(("text", "why"), [(None, "cannot be read"), ("[]", "is not in flagd's format")])
def test_a_file_that_cannot_be_used_stops_the_start(tmp_path: Path, text: str | None, why: str) -> None:
    """The message names the setting."""
    path = tmp_path / "flags.json"
    if text is not None:
        path.write_text(text)
    with pytest.raises(SettingsError, match=f"SIGNALBOX_FLAG_FILE .*{why}"):
        open_flag_provider(settings_for(tmp_path, signalbox_flag_provider="flagd", signalbox_flag_file=path))


def test_flagd_needs_a_file(tmp_path: Path) -> None:
    """The setting that is missing is named."""
    with pytest.raises(SettingsError, match=r"SIGNALBOX_FLAG_FILE .*must be the path"):
        settings_for(tmp_path, signalbox_flag_provider="flagd")


def test_a_missing_package_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The message says what to install."""
    monkeypatch.delitem(sys.modules, "signalbox.flags.openfeature", raising=False)
    monkeypatch.setitem(sys.modules, "openfeature", None)
    with pytest.raises(SettingsError, match=r"needs the package openfeature: .*\.\[openfeature\]"):
        open_flag_provider(settings_for(tmp_path, signalbox_flag_provider="openfeature"))
    monkeypatch.undo()
    importlib.import_module("signalbox.flags.openfeature")
