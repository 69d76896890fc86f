"""`signalbox doctor` starts the browser for screenshots."""

import os
from pathlib import Path

import pytest
from signalbox.commands.doctor.browser import check_browser

from tests.support.fake_browser import fake_browser
from tests.support.running_app import settings_for

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize(
    ("mode", "state", "words"), [("works", "ok", "starts: Fake/1."), ("ends", "warn", "does not start")]
)
async def test_a_browser_is_started(
    tmp_path: Path, mode: str, state: str, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only a start shows whether it works here."""
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    browser = str(fake_browser(tmp_path, mode))
    (found,) = await check_browser(settings_for(tmp_path, signalbox_chromium=browser))
    assert (found.state, words in found.found) == (state, True)


async def test_as_root_the_sandbox_must_be_switched_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The report names the setting, and says so if the sandbox is off."""
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    browser = str(fake_browser(tmp_path))
    (found,) = await check_browser(settings_for(tmp_path, signalbox_chromium=browser))
    assert found.state == "warn"
    assert "SIGNALBOX_CHROMIUM_SANDBOX=false" in found.found
    settings = settings_for(tmp_path, signalbox_chromium=browser, signalbox_chromium_sandbox=False)
    (found,) = await check_browser(settings)
    assert found.state == "ok"
    assert "without its sandbox" in found.found


async def test_no_browser_is_fine(tmp_path: Path) -> None:
    """Screenshots are optional."""
    (found,) = await check_browser(settings_for(tmp_path, signalbox_chromium="none"))
    assert (found.state, "is not offered" in found.found) == ("ok", True)
