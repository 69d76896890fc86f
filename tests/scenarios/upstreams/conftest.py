"""Starts an app with two scripted upstreams."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.scenarios.upstreams.two_upstreams import FILE, FIRST_KEY, SECOND_KEY, TwoUpstreams
from tests.support.running_app import RunningApp, settings_for
from tests.support.scripted_upstream import Script, ScriptedUpstream

Serve = Callable[..., TwoUpstreams]


@pytest.fixture
def serve(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Serve]:
    """Start an app over the scripts of the first and of the second upstream."""
    monkeypatch.setenv("FIRST_KEY", FIRST_KEY)
    (tmp_path / "second.key").write_text(f"{SECOND_KEY}\n", encoding="utf-8")
    with ExitStack() as stack:

        def started(
            first: Sequence[Script],
            second: Sequence[Script],
            *,
            file: str = FILE,
            models: Script | None = None,
            settings: dict[str, Any] | None = None,
            **app_settings: Any,
        ) -> TwoUpstreams:
            one = stack.enter_context(ScriptedUpstream(*first, path="/v1", models=models))
            two = stack.enter_context(ScriptedUpstream(*second, path="/api/v1", models=models))
            path = tmp_path / "upstreams.toml"
            path.write_text(file.format(first=one.base_url, second=two.base_url), encoding="utf-8")
            made = settings_for(tmp_path / "data", signalbox_upstreams=path, **(settings or {}))
            app = stack.enter_context(RunningApp(made, **app_settings))
            return TwoUpstreams(app, one, two, path)

        yield started
