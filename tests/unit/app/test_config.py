"""Settings: each is in `.env.example`, has limits, and is named in the error for an invalid value."""

import os
import re
from pathlib import Path
from typing import Any

import pytest
from signalbox.app.config import (
    DATA_SETTINGS,
    OPENROUTER,
    Settings,
    SettingsError,
    load_settings,
    unknown_in_environment,
    unknown_in_file,
)

from tests.conftest import ROOT
from tests.support.running_app import settings_for

NAMES = {name.upper() for name in Settings.model_fields}


@pytest.fixture(autouse=True)
def bare(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Remove the settings of the test run's environment."""
    for name in NAMES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)


def test_the_example_has_every_setting_once() -> None:
    """`.env.example` and Settings have the same names, each in one line with a comment."""
    lines = (ROOT / ".env.example").read_text().splitlines()
    named = [match[1] for line in lines if (match := re.match(r"^(?:#\s?)?([A-Z][A-Z0-9_]+)=", line))]
    assert sorted(named) == sorted(NAMES)


def test_the_example_can_be_used_as_it_is(tmp_path: Path) -> None:
    """A copy as `.env` is valid and equals the defaults."""
    (tmp_path / ".env").write_text((ROOT / ".env.example").read_text())
    copied, default = load_settings(), Settings(_env_file=None)  # type: ignore[call-arg]
    changed = {name for name in Settings.model_fields if getattr(copied, name) != getattr(default, name)}
    assert changed == set()
    assert unknown_in_file() == {}


def test_unknown_settings_are_reported(tmp_path: Path) -> None:
    """A typo is reported with the setting that it resembles, an unknown name with our prefix without one."""
    names = "SIGNALBOX_PROT", "OPENROUTER_KEY", "TOOL_LOP_V2", "SIGNALBOX_ELSE", "PATH_TO", "SIGNALBOX_PORT"
    (tmp_path / ".env").write_text("".join(f"{name}=1\n" for name in names))
    assert unknown_in_file() == {
        "SIGNALBOX_PROT": "SIGNALBOX_PORT",
        "OPENROUTER_KEY": "OPENROUTER_API_KEY",
        "TOOL_LOP_V2": "TOOL_LOOP_V2",
        "SIGNALBOX_ELSE": None,
    }


def test_typos_in_the_environment_are_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    """A misspelt kill switch is reported; DATABASE_URI may belong to another program."""
    for name in ("TOOL_LOOPV2", "OPENROUTR_API_KEY", "SINGALBOX_PORT", "DATABASE_URI", "SIGNALBOX_ELSE"):
        monkeypatch.setenv(name, "1")
    assert (
        unknown_in_environment().items()
        >= {
            "TOOL_LOOPV2": "TOOL_LOOP_V2",
            "OPENROUTR_API_KEY": "OPENROUTER_API_KEY",
            "SINGALBOX_PORT": "SIGNALBOX_PORT",
            "SIGNALBOX_ELSE": None,
        }.items()
    )
    assert "DATABASE_URI" not in unknown_in_environment()


def test_only_a_regular_file_is_read(tmp_path: Path) -> None:
    """A pipe as `.env` is rejected at once; reading it would block."""
    os.mkfifo(tmp_path / ".env")
    with pytest.raises(SettingsError, match="is not a regular file"):
        load_settings()


def test_an_empty_value_is_no_value(tmp_path: Path) -> None:
    """`NAME=` in the file means the default."""
    (tmp_path / ".env").write_text("".join(f"{name}=\n" for name in NAMES))
    assert load_settings() == Settings(_env_file=None)  # type: ignore[call-arg]


def test_the_environment_wins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The environment takes precedence over the file."""
    (tmp_path / ".env").write_text("SIGNALBOX_PORT=1111\nOPENROUTER_X_TITLE=File\n")
    monkeypatch.setenv("SIGNALBOX_PORT", "2222")
    settings = load_settings()
    assert (settings.signalbox_port, settings.openrouter_x_title) == (2222, "File")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("SIGNALBOX_PORT", "65536"),
        ("SIGNALBOX_PORT", "-1"),
        ("SIGNALBOX_MAX_BODY_MB", "0"),
        ("SIGNALBOX_MAX_RUNS", "0"),
        ("SIGNALBOX_DETACHED_SECONDS", "-1"),
        ("SIGNALBOX_DRAIN_SECONDS", "-1"),
        ("OPENROUTER_TIMEOUT", "0"),
        ("OPENROUTER_TIMEOUT", "nan"),
        ("OPENROUTER_BASE_URL", "ftp://example.org"),
        ("OPENROUTER_BASE_URL", "http://"),
        ("SEARXNG_URL", "localhost:8080"),
        ("OPENROUTER_BASE_URL", "http://a:b"),
        ("OPENROUTER_BASE_URL", "http://a:99999/v1"),
        ("SEARXNG_URL", "http://[a"),
        ("BRAVE_BASE_URL", "http://a:-1"),
        ("TAVILY_BASE_URL", "http://ä..b"),
        ("TOOL_LOOP_V2", "2"),
        ("SIGNALBOX_ALLOWED_ORIGINS", "https://Page.example"),
        ("SIGNALBOX_ALLOWED_ORIGINS", "HTTPS://page.example"),
        ("SIGNALBOX_ALLOWED_ORIGINS", "https://page.example/"),
        ("SIGNALBOX_ALLOWED_ORIGINS", "https://page.example?a=b"),
        ("SIGNALBOX_ALLOWED_ORIGINS", "https://page.example#a"),
        ("SIGNALBOX_ALLOWED_ORIGINS", "https://page.example:443"),
        ("SIGNALBOX_ALLOWED_ORIGINS", "http://page.example:80"),
        ("SIGNALBOX_ALLOWED_ORIGINS", "https://page.example:"),
        ("SIGNALBOX_ALLOWED_ORIGINS", "https://b\xfccher.example"),
        ("SIGNALBOX_ALLOWED_ORIGINS", "null"),
        ("OPENROUTER_X_TITLE", "Z\u00fcrich"),
        ("OPENROUTER_X_TITLE", "two\nlines"),
        ("OPENROUTER_HTTP_REFERER", "https://b\u00fccher.example"),
    ],
)
def test_a_value_out_of_bounds_names_its_setting(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    """The error has the setting's name and what to do."""
    monkeypatch.setenv(name, value)
    with pytest.raises(SettingsError) as refused:
        load_settings()
    assert name in str(refused.value)
    assert ".env" in str(refused.value)


@pytest.mark.parametrize(
    ("given", "simulated"),
    [
        ({}, True),
        ({"openrouter_base_url": OPENROUTER + "/"}, True),
        ({"openrouter_api_key": "sk-or-x"}, False),
        ({"openrouter_base_url": "http://127.0.0.1:11434/v1"}, False),
        ({"openrouter_base_url": "https://notopenrouter.ai/api/v1"}, False),
        ({"openrouter_base_url": "https://openrouter.ai.example/api/v1"}, False),
    ],
)
def test_the_simulator_answers_without_a_key(tmp_path: Path, given: dict[str, Any], simulated: bool) -> None:
    """The simulator is used without a key for OpenRouter; other upstreams may need no key."""
    assert settings_for(tmp_path, **given).is_simulated is simulated


def test_settings_do_not_print_secrets(tmp_path: Path) -> None:
    """The repr of settings contains no secret."""
    secrets = {
        "openrouter_api_key": "sk-or-v1-canary",
        "signalbox_admin_token": "canary-a",
        "signalbox_access_token": "canary-b",
    }
    settings = settings_for(tmp_path, **secrets)
    assert "canary" not in repr(settings) + str(settings) + settings.model_dump_json()


def test_a_database_password_is_a_secret_in_each_form(tmp_path: Path) -> None:
    """Logs contain the password neither encoded nor decoded."""
    for address in ("postgresql://u:can%2Fary@h/x", "postgresql://u@h/x?password=can%2Fary"):
        settings = settings_for(tmp_path, database_url=address)
        assert "can/ary" in settings.secrets
        assert {address} < {*settings.secrets}
        assert "ary" not in repr(settings)


def test_allowed_origins_have_the_browsers_form(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Ports and addresses are accepted; a password in an invalid origin is not quoted."""
    origins = ("https://page.example", "http://page.example:443", "http://10.0.0.7:8080", "http://[::1]:5173")
    assert settings_for(tmp_path, signalbox_allowed_origins=",".join(origins)).signalbox_allowed_origins == origins
    monkeypatch.setenv("SIGNALBOX_ALLOWED_ORIGINS", "https://ada:hush-hush@page.example")
    with pytest.raises(SettingsError, match="as browsers send them") as refused:
        load_settings()
    assert "hush" not in str(refused.value)


def test_lists_are_written_with_commas(tmp_path: Path) -> None:
    """Spaces and empty items are ignored."""
    settings = settings_for(tmp_path, signalbox_allowed_hosts=" a.example ,, b.example,")
    assert settings.signalbox_allowed_hosts == ("a.example", "b.example")


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("SIGNALBOX_MAX_RUNS", "ten", 'is "ten" and cannot be used: must be a whole number.'),
        ("OPENROUTER_TIMEOUT", "0", 'is "0" and cannot be used: must be more than 0.'),
        ("SIGNALBOX_PORT", "65536", 'is "65536" and cannot be used: must be at most 65535.'),
        ("SIGNALBOX_MAX_RUN_COST", "much", 'is "much" and cannot be used: must be a number.'),
        ("TOOL_LOOP_V2", "2", 'is "2" and cannot be used: must be true or false.'),
        ("SEARXNG_URL", "ftp://me:hush@host", "cannot be used: must be a URL that begins with http:// or https://."),
        ("SIGNALBOX_ADMIN_TOKEN", "hush hush", "cannot be used: must be one word of printable ASCII."),
        ("SIGNALBOX_MAX_RUNS", "sk-or-v1-" + "0" * 64, "cannot be used: must be a whole number."),
    ],
)
def test_an_invalid_value_is_described(monkeypatch: pytest.MonkeyPatch, name: str, value: str, words: str) -> None:
    """The value is quoted unless it may contain a secret."""
    monkeypatch.setenv(name, value)
    with pytest.raises(SettingsError) as refused:
        load_settings()
    assert str(refused.value) == f"The setting {name} {words} Correct it in .env or in the environment."


def test_all_invalid_values_are_reported_at_once(tmp_path: Path) -> None:
    """One start reports all invalid values."""
    (tmp_path / ".env").write_text("SIGNALBOX_MAX_RUNS=ten\nSIGNALBOX_PORT=many\n")
    with pytest.raises(SettingsError, match=r"SIGNALBOX_PORT.*SIGNALBOX_MAX_RUNS.*Correct them in"):
        load_settings()


def test_only_required_settings_must_be_valid(tmp_path: Path) -> None:
    """With `only`, an invalid value of another setting counts as not set."""
    (tmp_path / ".env").write_text("SIGNALBOX_MAX_RUNS=ten\nSEARCH_BACKEND=gone\nSIGNALBOX_DATA_DIR=here\n")
    settings = load_settings(only=DATA_SETTINGS)
    assert (settings.signalbox_data_dir, settings.signalbox_max_runs) == (Path("here"), 1000)
    (tmp_path / ".env").write_text("SIGNALBOX_MAX_RUNS=ten\nDATABASE_URL=mysql://here\n")
    with pytest.raises(SettingsError, match="DATABASE_URL") as refused:
        load_settings(only=DATA_SETTINGS)
    assert "MAX_RUNS" not in str(refused.value)


def test_the_rest_of_the_file_is_for_plugins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Other names are exported to the environment, which takes precedence; settings, typos and empty values are not."""
    kept = dict(os.environ)
    monkeypatch.setattr(os, "environ", kept)
    monkeypatch.setitem(kept, "ACME_HOST", "around")
    lines = "ACME_KEY=file", "ACME_HOST=file", "ACME_EMPTY=", "SIGNALBOX_PROT=1", "SIGNALBOX_PORT=1"
    (tmp_path / ".env").write_text("\n".join(lines))
    load_settings()
    found = {name: kept.get(name) for name in ("ACME_KEY", "ACME_HOST", "ACME_EMPTY", "SIGNALBOX_PROT")}
    assert found == {"ACME_KEY": "file", "ACME_HOST": "around", "ACME_EMPTY": None, "SIGNALBOX_PROT": None}
    assert "SIGNALBOX_PORT" not in kept
