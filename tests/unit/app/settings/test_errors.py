"""Settings in code: invalid values and misspelt names are errors that say what to do."""

from pathlib import Path
from typing import Any

import pytest
from signalbox.app import Settings, SettingsError
from signalbox.app.settings.errors import check_names


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"signalbox_max_runs": "ten"}, 'MAX_RUNS is "ten" and cannot be used: must be a whole number.'),
        ({"signalbox_max_runs": 0}, "MAX_RUNS cannot be used: must be at least 1."),
        ({"signalbox_max_runs": [5]}, "MAX_RUNS cannot be used: must be a whole number."),
        ({"signalbox_data_dir": 5}, "DATA_DIR cannot be used: must be a path."),
        ({"signalbox_root_path": 5}, "ROOT_PATH cannot be used: must be a string."),
        ({"signalbox_allowed_hosts": 5}, "ALLOWED_HOSTS cannot be used: must be a list of strings."),
        ({"signalbox_require_token": None}, "REQUIRE_TOKEN cannot be used: must be true or false."),
        ({"signalbox_drain_seconds": None}, "DRAIN_SECONDS cannot be used: must be a number."),
    ],
)
def test_an_invalid_value_in_code(given: dict[str, Any], words: str) -> None:
    """The error is a SettingsError that names the setting, the reason and the place."""
    with pytest.raises(SettingsError) as raised:
        Settings(**given)
    assert str(raised.value) == f"The setting SIGNALBOX_{words} Correct it in the call of Settings."


def test_an_invalid_value_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Settings that the call does not name come from the environment, and the error says so."""
    monkeypatch.setenv("SIGNALBOX_PORT", "many")
    with pytest.raises(SettingsError, match=r"Correct it in \.env or in the environment\.$"):
        Settings(signalbox_max_runs=5)
    with pytest.raises(SettingsError, match=r"Correct them in the call of Settings, in \.env or in the environment\.$"):
        Settings(signalbox_max_runs=0)


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("signalbox_data_dri", "signalbox_data_dir"),
        ("data_dir", "signalbox_data_dir"),
        ("require_token", "signalbox_require_token"),
        ("openrouter_key", "openrouter_api_key"),
        ("_env_fil", "_env_file"),
    ],
)
def test_a_misspelt_name_is_an_error(name: str, near: str) -> None:
    """It would have no effect, and an app without a token would be open."""
    given: dict[str, Any] = {name: None}
    with pytest.raises(SettingsError) as raised:
        Settings(**given)
    assert str(raised.value) == f"{name} is not a setting. Did you mean {near}?"


def test_a_name_without_a_near_one() -> None:
    """The error says where all settings are listed."""
    with pytest.raises(SettingsError, match=r"^zzz is not a setting\. All settings are listed in "):
        check_names(["zzz"], ["signalbox_data_dir"])


@pytest.mark.parametrize("name", ["signalbox_data_dir", "SIGNALBOX_DATA_DIR"])
def test_names_in_upper_case(name: str) -> None:
    """They are those of the environment."""
    given: dict[str, Any] = {name: "here"}
    assert Settings(**given).signalbox_data_dir == Path("here")
