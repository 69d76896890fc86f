"""The app over HTTP, on a data folder that remains."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.scenarios.resume.restartable_app import RestartableApp
from tests.support.scripted_upstream import Script, ScriptedUpstream

StartApp = Callable[..., RestartableApp]


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[StartApp]:
    """Run a restartable app over a scripted provider: `stage(script, …, loop="legacy", settings={…})`."""
    with ExitStack() as stack:

        def start(
            *scripts: Script, loop: str = "v2", settings: dict[str, Any] | None = None, **given: Any
        ) -> RestartableApp:
            upstream = stack.enter_context(ScriptedUpstream(*scripts))
            chosen = {"tool_loop_v2": loop == "v2", **(settings or {})}
            return stack.enter_context(RestartableApp(upstream, tmp_path / "data", chosen, given))

        yield start
