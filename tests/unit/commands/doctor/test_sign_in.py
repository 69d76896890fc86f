"""What the doctor says about sign-in."""

from pathlib import Path

import pytest
from signalbox.commands.doctor.access import check_access

from tests.support.running_app import settings_for

ISSUER = {"signalbox_oidc_issuer": "https://login.example.org", "signalbox_oidc_client_id": "chat"}
PROXY = {"signalbox_proxy_user_header": "x-forwarded-user", "signalbox_trusted_proxies": "10.0.0.7"}


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (ISSUER, "Everyone with an account at the provider may sign in"),
        ({**ISSUER, "signalbox_oidc_operators": "groups=ops"}, "Operators: groups=ops."),
        (PROXY, "Proxies at 10.0.0.7 name users in x-forwarded-user."),
        ({**ISSUER, **PROXY}, "two ways to sign in"),
        (ISSUER, "a sign-in or a token is required"),
    ],
)
def test_the_doctor_says_how_people_sign_in(tmp_path: Path, given: dict[str, str], words: str) -> None:
    """And what is wrong with the settings."""
    found = check_access(settings_for(tmp_path, **given))
    assert words in " ".join(one.found for one in found)


def test_without_sign_in_the_doctor_says_nothing_of_it(tmp_path: Path) -> None:
    """No line more than before."""
    assert [one for one in check_access(settings_for(tmp_path)) if one.about == "sign-in"] == []
