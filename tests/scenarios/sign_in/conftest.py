"""A provider, and an app whose people sign in there."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from signalbox.simulator.http.server import BackgroundSimulator

from tests.scenarios.access.users import ADMIN
from tests.scenarios.sign_in.browser import Browser, browser
from tests.support.oidc_provider import OidcProvider
from tests.support.running_app import RunningApp, settings_for


@pytest.fixture
def provider() -> Iterator[OidcProvider]:
    """Run a provider."""
    with OidcProvider() as running:
        yield running


@pytest.fixture
def app(provider: OidcProvider, simulator: BackgroundSimulator, tmp_path: Path) -> Iterator[RunningApp]:
    """Run an app over the simulator whose people sign in at the provider."""
    rules = {"signalbox_oidc_operators": "groups=operators", "signalbox_admin_token": ADMIN}
    settings = settings_for(tmp_path / "data", openrouter_base_url=simulator.base_url, **provider.settings(**rules))
    with RunningApp(settings) as running:
        yield running


@pytest.fixture
def ada(app: RunningApp) -> Iterator[Browser]:
    """Open a browser at the app."""
    with browser(app.url) as opened:
        yield opened
