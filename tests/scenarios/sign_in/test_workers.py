"""Two workers on one database share sessions."""

from pathlib import Path

from signalbox.simulator.http.server import BackgroundSimulator

from tests.scenarios.sign_in.browser import Browser, browser
from tests.support.oidc_provider import OidcProvider
from tests.support.running_app import RunningApp, settings_for


def test_a_session_holds_at_every_worker_until_its_end(
    provider: OidcProvider, simulator: BackgroundSimulator, tmp_path: Path, postgres_url: str
) -> None:
    """A sign-in that one worker starts ends at the other; after signing out at one, the other follows in a second."""
    given = provider.settings(openrouter_base_url=simulator.base_url, database_url=postgres_url)
    with (
        RunningApp(settings_for(tmp_path / "one", **given)) as one,
        RunningApp(settings_for(tmp_path / "two", **given)) as two,
        browser(one.url) as ada,
    ):
        back = ada.at_provider(ada.begin().replace(f"127.0.0.1%3A{one.port}", f"127.0.0.1%3A{two.port}"))
        at_two = Browser(two.url)
        at_two.client.cookies = ada.client.cookies
        assert at_two.finish(back).status_code == 303
        ada.client.cookies = at_two.client.cookies
        now = 100.0
        for app in (one, two):
            app.app.state.sign_in.provider.sessions.ticks = lambda: now
        assert ada.state == at_two.state
        assert ada.state["signed_in"] is True
        run_id = ada.ask().headers["x-run-id"]
        assert at_two.client.get(f"/api/runs/{run_id}").status_code == 200
        assert ada.send("POST", "/auth/logout").status_code == 204
        now += 1.0
        assert at_two.client.get("/api/runs").status_code == 401
        at_two.client.close()
