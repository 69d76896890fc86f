"""docs/settings.md lists every setting, and docs/logs.md every log event."""

import re
from typing import get_args

from signalbox.app.config import Settings
from signalbox.app.openapi.request_bodies import FlagOverride

from tests.project.docs.pages import ROOT, codes_in, page, rows

SETTINGS = page("settings.md").section("Settings")


def test_every_setting_is_in_the_table_with_its_default() -> None:
    """The table lists exactly the fields of Settings, with each default that is not empty."""
    table = {cells[0].strip("`"): cells[1].strip("`") for cells in rows(SETTINGS)}
    assert set(table) == {name.upper() for name in Settings.model_fields}
    for name, field in Settings.model_fields.items():
        if field.default not in (None, ()):
            default = str(field.default).lower() if isinstance(field.default, bool) else str(field.default)
            assert table[name.upper()] == default.removesuffix(".0"), name


def test_every_setting_of_the_example_file_is_one() -> None:
    """`.env.example` and the table have the same names."""
    lines = (ROOT / ".env.example").read_text(encoding="utf-8").splitlines()
    assert {line.partition("=")[0] for line in lines if re.match(r"[A-Z_0-9]+=", line)} == {
        cells[0].strip("`") for cells in rows(SETTINGS)
    }


def test_every_state_of_the_override_is_named() -> None:
    """With the one that removes it."""
    states = get_args(FlagOverride.model_fields["state"].annotation)
    text = (ROOT / "docs/settings.md").read_text("utf-8")
    named = f"{', '.join(f'`{state}`' for state in states[:-1])} or `{states[-1]}`"
    assert f"`state` is {named}." in text
    assert 'remove an override, send `{"state": "default"}`' in text


def test_every_line_of_the_log_is_in_the_table() -> None:
    """The table lists exactly the log events of the code."""
    sources = [path.read_text(encoding="utf-8") for path in ROOT.glob("backend/signalbox/**/*.py")]
    call = re.compile(r'(?:_log(?:\(\))?\.\w+\(|_at\([\w., ]+\)\()\s*(?:_level\(\w+\),\s*)?"([\w.]+)"')
    written = {name for text in sources for name in call.findall(text)}
    listed = {code for cells in rows(page("logs.md").section("Log lines by event")) for code in codes_in(cells[0])}
    assert listed == written
