"""How scripts/bruno.py reads Bruno's report: every kind of failure counts, whatever Bruno's exit status is."""

import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tests.conftest import ROOT


@pytest.fixture(scope="module")
def script() -> ModuleType:
    """Load the script, which imports page.py from its folder."""
    spec = importlib.util.spec_from_file_location("bruno_script", ROOT / "scripts/bruno.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    before = list(sys.path)
    sys.path.insert(0, str(ROOT / "scripts"))
    sys.modules["bruno_script"] = module  # dataclasses look up their module
    try:
        spec.loader.exec_module(module)
    finally:
        sys.path[:] = before
    return module


def outcome_of(script: ModuleType, folder: Path, **result: Any) -> Any:
    """Return the outcome of a report with one request."""
    report = folder / "report.json"
    one = {"test": {"filename": "a.bru"}, **result}
    report.write_text(json.dumps([{"results": [one]}]), encoding="utf-8")
    return script.outcome(report)


def test_a_good_report_counts_requests_and_checks(script: ModuleType, tmp_path: Path) -> None:
    """Assertions and tests of every kind are counted together."""
    passed = {"status": "pass"}
    got = outcome_of(
        script, tmp_path, assertionResults=[passed, passed], testResults=[passed], postResponseTestResults=[passed]
    )
    assert (got.requests, got.checks, got.failures) == (1, 4, ())


@pytest.mark.parametrize(
    "kind", ["assertionResults", "testResults", "preRequestTestResults", "postResponseTestResults"]
)
def test_a_failed_check_of_any_kind_is_a_failure(script: ModuleType, tmp_path: Path, kind: str) -> None:
    """It is reported with its request, its title and its reason."""
    got = outcome_of(script, tmp_path, **{kind: [{"status": "fail", "description": "one done", "error": "two"}]})
    assert got.failures == ("a.bru: one done: two",)


def test_a_request_that_was_not_sent_is_a_failure(script: ModuleType, tmp_path: Path) -> None:
    """Bruno skips a file that it cannot parse and exits with 0; the script counts a failure."""
    got = outcome_of(script, tmp_path, status="skipped", error="Expected end of input")
    assert got.failures == ("a.bru: Expected end of input",)


def test_the_flag_is_tried_in_all_its_standings(script: ModuleType) -> None:
    """On by default, off by an override, and locked by the kill switch despite an override."""
    assert {one.name: (one.environment, one.pulled, one.loop) for one in script.STANDINGS} == {
        "on": ({}, None, "v2"),
        "off": ({}, "off", "legacy"),
        "locked": ({"TOOL_LOOP_V2": "false"}, "on", "legacy"),
    }


def test_an_unknown_standing_is_told(script: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    """An unknown name runs nothing."""
    assert script.main(["sideways"]) == 2
    assert "on] [off] [locked" in capsys.readouterr().err
