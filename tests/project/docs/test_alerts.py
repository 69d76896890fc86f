"""When the alerts of deploy/prometheus/alerts.yml fire; promtool evaluates them."""

import json
import re
from pathlib import Path
from typing import get_args

import pytest
from signalbox.core.bounds.run_limits import has_failed
from signalbox.core.codes import Code
from signalbox.core.events import Status

from tests.project.docs.pages import ROOT
from tests.support.promtool import ALERTS, assert_firing

# Over 30 minutes: 4 and 1 per minute. An increase needs a sample before the first event.
MANY, FEW = "0+1x120", "0 0+0.25x120"
RUNS = 'signalbox_runs_total{loop="%s",status="%s",code="%s"}'
TOOLS = 'signalbox_tool_calls_total{tool="%s",outcome="%s"}'
FAILED_RUNS = re.compile(r'signalbox_runs_total\{[^}]*status=~"([^"]+)",code!~"([^"]+)"')


@pytest.mark.parametrize(
    ("status", "code", "fires"),
    [
        ("error", "UPSTREAM_ERROR", 1),
        ("interrupted", "STREAM_CUT", 1),
        ("interrupted", "BUDGET_REACHED", 0),
        ("interrupted", "DETACHED_TIMEOUT", 0),
        ("cancelled", "ok", 0),
    ],
)
def test_runs_fail(tmp_path: Path, status: str, code: str, fires: int) -> None:
    """Runs that a set limit has ended are no failures."""
    series = {RUNS % ("v2", "complete", "ok"): MANY, RUNS % ("v2", status, code): FEW}
    assert_firing(tmp_path, "SignalboxRunsFail", series, {20: fires})


@pytest.mark.parametrize(("code", "fires"), [("STREAM_CUT", 1), ("BUDGET_REACHED", 0)])
def test_v2_is_worse_than_legacy(tmp_path: Path, code: str, fires: int) -> None:
    """The same rule for both loops."""
    faster = "0+3x120"
    series = {
        RUNS % ("v2", "complete", "ok"): faster,
        RUNS % ("v2", "interrupted", code): FEW,
        RUNS % ("legacy", "complete", "ok"): faster,
        RUNS % ("legacy", "interrupted", "BUDGET_REACHED"): MANY,
    }
    assert_firing(tmp_path, "SignalboxV2WorseThanLegacy", series, {20: fires})


def test_failed_runs_are_those_of_the_log_and_of_traces() -> None:
    """In every alert and panel that selects them."""
    panels = json.loads((ROOT / "deploy/grafana/signalbox.json").read_text("utf-8"))["panels"]
    queries = [target["expr"] for panel in panels for target in panel.get("targets", [])]
    selected = FAILED_RUNS.findall(" ".join([ALERTS.read_text("utf-8"), *queries]))
    assert len(selected) == 5
    for status in get_args(Status):
        for code in [None, *Code]:
            failed = {status in statuses.split("|") and code not in codes.split("|") for statuses, codes in selected}
            assert failed == {has_failed(status, code)}, (status, code)


@pytest.mark.parametrize(
    ("tool", "outcome", "fires"),
    [
        ("web_search", "TOOL_FAILED", 1),
        ("web_search", "TIMEOUT", 1),
        ("web_search", "RATE_LIMIT", 1),
        ("web_search", "INVALID_ARGUMENTS", 0),
        ("web_search", "ARGUMENTS_CUT", 0),
        ("web_search", "STEP_FAILED", 0),
        ("web_search", "DENIED", 0),
        ("web_search", "BUDGET_REACHED", 0),
        ("unknown", "UNKNOWN_TOOL", 0),
        ("unknown", "TOOL_FAILED", 0),
    ],
)
def test_a_tool_fails(tmp_path: Path, tool: str, outcome: str, fires: int) -> None:
    """Half of its calls. Mistakes of the model and names that no tool has are no failures of a tool."""
    series = {TOOLS % (tool, "ok"): MANY, TOOLS % (tool, outcome): MANY}
    assert_firing(tmp_path, "SignalboxToolFails", series, {25: fires})


def test_mistakes_of_the_model_hide_no_failure(tmp_path: Path) -> None:
    """They are left out of the share, too."""
    series = {
        TOOLS % ("web_search", "INVALID_ARGUMENTS"): "0+20x120",
        TOOLS % ("web_search", "TIMEOUT"): MANY,
        TOOLS % ("web_search", "ok"): MANY,
    }
    assert_firing(tmp_path, "SignalboxToolFails", series, {25: 1})


def test_an_upstream_that_does_not_answer(tmp_path: Path) -> None:
    """After two minutes, however rarely a request probes it; a short outage does not."""
    dead = 'signalbox_upstream_available{instance="a",upstream="dead"}'
    brief = 'signalbox_upstream_available{instance="a",upstream="brief"}'
    elsewhere = 'signalbox_upstream_available{instance="b",upstream="dead"}'
    series = {dead: "1x39 0x40 1x40", brief: "1x39 0x4 1x80", elsewhere: "1x120"}
    assert_firing(tmp_path, "SignalboxUpstreamUnavailable", series, {9: 0, 11: 0, 13: 1, 19: 1, 21: 0})


def test_shadow_mode_is_in_the_cost_of_an_hour(tmp_path: Path) -> None:
    """Also if there are no other runs."""
    user, shadow = 'signalbox_cost_usd_total{model="a"}', 'signalbox_shadow_cost_usd_total{loop="v2"}'
    assert_firing(tmp_path, "SignalboxCost", {user: "0+0.1x240", shadow: "0+0.15x240"}, {15: 0, 59: 1})
    assert_firing(tmp_path, "SignalboxCost", {shadow: "0+0.25x240"}, {15: 0, 59: 1})
    assert_firing(tmp_path, "SignalboxCost", {user: "0+0.1x240"}, {59: 0})
