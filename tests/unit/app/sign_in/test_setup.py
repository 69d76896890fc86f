"""Settings of sign-in: what is invalid fails the start with a sentence that says what to do."""

from pathlib import Path
from typing import Any

import pytest
from signalbox.app.config import SettingsError
from signalbox.app.embedding import signalbox_app
from signalbox.app.main import create_app
from signalbox.app.sign_in import setup
from signalbox.server.serve import token_for

from tests.support.running_app import settings_for

ISSUER = {"signalbox_oidc_issuer": "https://login.example.org/realms/x", "signalbox_oidc_client_id": "chat"}
PROXY = {"signalbox_proxy_user_header": "x-forwarded-user", "signalbox_trusted_proxies": "127.0.0.1"}


def fault_of(data: Path, given: dict[str, Any]) -> str:
    """Return why an app cannot be made with these settings."""
    with pytest.raises(SettingsError) as caught:
        create_app(settings_for(data, **given))
    return str(caught.value)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"signalbox_oidc_issuer": "https://x.example"}, "needs SIGNALBOX_OIDC_CLIENT_ID"),
        ({"signalbox_oidc_client_id": "chat"}, "no effect without SIGNALBOX_OIDC_ISSUER"),
        ({"signalbox_oidc_client_secret": "x"}, "SIGNALBOX_OIDC_CLIENT_SECRET has no effect"),
        ({"signalbox_oidc_operators": "groups=x"}, "SIGNALBOX_OIDC_OPERATORS has no effect"),
        ({**ISSUER, **PROXY}, "two ways to sign in"),
        ({"signalbox_proxy_user_header": "x-user"}, "needs SIGNALBOX_TRUSTED_PROXIES"),
        ({"signalbox_trusted_proxies": "127.0.0.1"}, "no effect without SIGNALBOX_PROXY_USER_HEADER"),
        ({**ISSUER, "signalbox_oidc_issuer": "http://login.example.org"}, "must begin with https://"),
        ({**ISSUER, "signalbox_oidc_issuer": "login.example.org"}, "issuer URL"),
        ({**ISSUER, "signalbox_oidc_issuer": "https://u:secret@x.example"}, "without a user"),
        ({**ISSUER, "signalbox_oidc_issuer": "https://x.example:port"}, "valid host and port"),
        ({**ISSUER, "signalbox_oidc_scopes": "profile"}, "must contain openid"),
        ({**ISSUER, "signalbox_oidc_operators": "admins"}, "groups=operators"),
        ({**ISSUER, "signalbox_oidc_users": "groups="}, "groups=operators"),
        ({**ISSUER, "signalbox_session_hours": 0}, "SIGNALBOX_SESSION_HOURS"),
        ({**PROXY, "signalbox_proxy_user_header": "x user"}, "name of a header"),
        ({**PROXY, "signalbox_proxy_user_header": "Authorization"}, "another meaning"),
        ({**PROXY, "signalbox_trusted_proxies": "10.0.0.0/99"}, "takes IP addresses and networks"),
        ({**PROXY, "signalbox_trusted_proxies": "proxy.example"}, "takes IP addresses and networks"),
        ({**PROXY, "signalbox_proxy_operators": "boss"}, "groups=operators"),
    ],
)
def test_invalid_settings_fail_the_start(tmp_path: Path, given: dict[str, Any], words: str) -> None:
    """The sentence names the setting; no secret is in it."""
    message = fault_of(tmp_path, given)
    assert words in message
    assert "SIGNALBOX_" in message
    assert "secret@" not in message


def test_without_the_package_the_start_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Authlib belongs to an extra."""
    monkeypatch.setattr(setup, "find_spec", lambda name: None)
    assert "pip install '.[oidc]'" in fault_of(tmp_path, ISSUER)


def test_an_embedded_app_has_one_way_to_know_its_users(tmp_path: Path) -> None:
    """`owner_of` replaces both; headers of a proxy need the address of the connection, which only our server knows."""
    with pytest.raises(SettingsError, match="both identify users"):
        signalbox_app(settings_for(tmp_path, **ISSUER), owner_of=lambda request: "ada")
    with pytest.raises(SettingsError, match="Pass owner_of"):
        signalbox_app(settings_for(tmp_path, **PROXY))


@pytest.mark.parametrize("given", [ISSUER, PROXY])
def test_with_sign_in_no_token_is_needed_to_listen_everywhere(tmp_path: Path, given: dict[str, Any]) -> None:
    """Requests without a login are rejected, so a stranger cannot spend the key."""
    with pytest.raises(SettingsError, match="SIGNALBOX_OIDC_ISSUER"):
        token_for(settings_for(tmp_path), "0.0.0.0")
    assert token_for(settings_for(tmp_path, **given), "0.0.0.0") is None


def test_the_client_secret_is_hidden(tmp_path: Path) -> None:
    """As all keys are, in logs and traces."""
    assert "hush-hush" in settings_for(tmp_path, **ISSUER, signalbox_oidc_client_secret="hush-hush").secrets
