"""People sign in at a provider, and then own what they ask."""

from tests.scenarios.sign_in.browser import COOKIE, Browser, browser
from tests.support.running_app import RunningApp, error_of


def test_a_person_signs_in_and_chats(app: RunningApp, ada: Browser) -> None:
    """The session says who it is; the answer belongs to the person."""
    before = ada.state
    assert before == {
        "signed_in": False,
        "name": "",
        "role": None,
        "method": None,
        "csrf_token": None,
        "sign_in": "oidc",
    }
    assert ada.client.get("/api/runs").status_code == 401
    answer = ada.sign_in("/?chat=1")
    assert answer.headers["location"] == "/?chat=1"
    state = ada.state
    assert (state["signed_in"], state["name"], state["role"], state["method"]) == (True, "Ada Lovelace", "user", "oidc")
    asked = ada.ask()
    assert ada.client.get(f"/api/runs/{asked.headers['x-run-id']}").status_code == 200
    assert error_of(app.client.get(f"/api/runs/{asked.headers['x-run-id']}"))["code"] == "UNAUTHORIZED"
    with browser(app.url) as other:
        assert COOKIE in ada.client.cookies
        assert other.state["signed_in"] is False
