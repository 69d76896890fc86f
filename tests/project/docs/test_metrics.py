"""docs/metrics.md, the dashboard and the alerts name metrics, labels and alerts that exist."""

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from prometheus_client.metrics import MetricWrapperBase
from signalbox.metrics.instruments import Instruments

from tests.project.docs.pages import ROOT, codes_in, page, rows
from tests.support.promtool import ALERTS, program

DASHBOARD = ROOT / "deploy/grafana/signalbox.json"
# Labels that Prometheus adds to every series.
TARGET = {"job", "instance"}
NAME = re.compile(r"\b(signalbox_\w+|up)\b(?:\{([^}]*)\})?")
GROUPED = re.compile(r"\b(?:sum|min|max|count|avg) by \(([^)]*)\) \(")


def metrics() -> dict[str, tuple[str, set[str]]]:
    """Return the type and the labels of each sample that a scrape can have."""
    found: dict[str, tuple[str, set[str]]] = {"up": ("gauge", set())}
    for metric in vars(Instruments()).values():
        if not isinstance(metric, MetricWrapperBase):
            continue
        name, kind, labels = metric._name, str(metric._type), {*metric._labelnames}  # pyright: ignore[reportPrivateUsage]
        match kind:
            case "counter":
                found[f"{name}_total"] = (kind, labels)
            case "histogram":
                found |= {f"{name}_{part}": (kind, labels) for part in ("sum", "count")}
                found[f"{name}_bucket"] = (kind, labels | {"le"})
            case _:
                found[name] = (kind, labels)
    return found


METRICS = metrics()


def closed(expression: str, start: int) -> str:
    """Return the text from `start` to the bracket that closes it."""
    depth = 1
    for place in range(start, len(expression)):
        depth += {"(": 1, ")": -1}.get(expression[place], 0)
        if not depth:
            return expression[start:place]
    raise AssertionError(f"a bracket is open in {expression}")


def names_in(labels: str) -> set[str]:
    """Return the names of a list."""
    return {name.strip() for name in labels.split(",") if name.strip()}


def faults(expression: str) -> Iterator[str]:
    """Yield what an expression names that does not exist."""
    for name, selector in NAME.findall(expression):
        if name not in METRICS:
            yield f"no metric {name}"
            continue
        for label in re.findall(r"(\w+)\s*(?:=~|!~|!=|=)", selector):
            if label not in METRICS[name][1] | TARGET:
                yield f"{name} has no label {label}"
    for match in GROUPED.finditer(expression):
        inside = closed(expression, match.end())
        for name in {found for found, _ in NAME.findall(inside)} & set(METRICS):
            for label in names_in(match[1]) - METRICS[name][1] - TARGET:
                yield f"{name} has no label {label}"


def panels() -> list[dict[str, Any]]:
    """Return the panels of the dashboard without the titles of rows."""
    return [panel for panel in json.loads(DASHBOARD.read_text("utf-8"))["panels"] if panel["type"] != "row"]


def queries() -> dict[str, tuple[str, str]]:
    """Return the expression and the legend of every query of the dashboard, by panel and letter."""
    return {
        f"{panel['title']} {target['refId']}": (target["expr"], target["legendFormat"])
        for panel in panels()
        for target in panel["targets"]
    }


def alerts() -> dict[str, dict[str, Any]]:
    """Return the rules by name."""
    groups = yaml.safe_load(ALERTS.read_text("utf-8"))["groups"]
    return {rule["alert"]: rule for group in groups for rule in group["rules"]}


def test_the_table_lists_every_metric() -> None:
    """With its type and its labels."""
    listed = {
        f"signalbox_{cells[0].strip('`')}": (cells[1], {*codes_in(cells[3])})
        for cells in rows(page("metrics.md").section("List of metrics"))
    }
    made = {
        name.removesuffix("_sum") if kind == "histogram" else name: (kind, labels)
        for name, (kind, labels) in METRICS.items()
        if name != "up" and not (kind == "histogram" and name.endswith(("_count", "_bucket")))
    }
    assert listed == made


def test_labels_are_bounded() -> None:
    """The table lists every label: none is for users, runs, conversations or texts."""
    allowed = {cells[0].strip("`") for cells in rows(page("metrics.md").section("Labels"))}
    assert {label for _, labels in METRICS.values() for label in labels} == allowed


@pytest.mark.parametrize("name", queries())
def test_every_query_of_the_dashboard_names_what_exists(name: str) -> None:
    """Metrics, labels in selectors and groups, and labels in the legend."""
    expression, legend = queries()[name]
    assert list(faults(expression)) == []
    assert "signalbox_" in expression
    grouped = {label for match in GROUPED.finditer(expression) for label in names_in(match[1])}
    assert {*re.findall(r"{{(\w+)}}", legend)} <= grouped


@pytest.mark.parametrize("name", alerts())
def test_every_alert_names_what_exists(name: str) -> None:
    """Metrics and labels of the rule, and labels in its summary."""
    rule = alerts()[name]
    assert list(faults(rule["expr"])) == []
    labels = {label for match in GROUPED.finditer(rule["expr"]) for label in names_in(match[1])} | {"instance"}
    assert {*re.findall(r"\$labels\.(\w+)", rule["annotations"]["summary"])} <= labels


def test_wrong_names_are_found() -> None:
    """The check itself: names, selectors and groups."""
    assert list(faults('sum by (loop) (rate(signalbox_run_total{user="x"}[5m]))')) == ["no metric signalbox_run_total"]
    assert list(faults('rate(signalbox_runs_total{user="x"}[5m])')) == ["signalbox_runs_total has no label user"]
    assert list(faults("sum by (user, job) (rate(signalbox_runs_total[5m]))")) == [
        "signalbox_runs_total has no label user"
    ]
    assert list(faults("sum by (le) (signalbox_runs_total)")) == ["signalbox_runs_total has no label le"]


def test_the_dashboard_shows_every_metric() -> None:
    """So that no metric is counted for nothing."""
    shown = " ".join(expression for expression, _ in queries().values())
    missing = [name for name in METRICS if name != "up" and not name.endswith(("_sum", "_count")) and name not in shown]
    assert missing == []


def test_no_two_panels_overlap() -> None:
    """Each panel has a title, a description and a place within the 24 columns."""
    taken: set[tuple[int, int]] = set()
    for panel in panels():
        place = panel["gridPos"]
        cells = {
            (x, y)
            for x in range(place["x"], place["x"] + place["w"])
            for y in range(place["y"], place["y"] + place["h"])
        }
        assert panel["title"]
        assert panel["description"]
        assert not cells & taken, panel["title"]
        assert max(x for x, _ in cells) < 24
        taken |= cells
    assert len({panel["id"] for panel in panels()}) == len(panels())


def test_the_page_lists_every_alert() -> None:
    """The table says what to do."""
    listed = {cells[0].strip("`") for cells in rows(page("metrics.md").section("Alerts"))}
    assert listed == set(alerts())


def test_promtool_accepts_rules_queries_and_configuration(tmp_path: Path) -> None:
    """The expressions of the dashboard are checked as rules, too."""
    rules = [
        {"record": f"query:{number}", "expr": expression.replace("$__rate_interval", "5m").replace("$job", "signalbox")}
        for number, (expression, _) in enumerate(queries().values())
    ]
    dashboard = tmp_path / "dashboard.yml"
    dashboard.write_text(yaml.safe_dump({"groups": [{"name": "dashboard", "rules": rules}]}))
    for words in (["rules", str(ALERTS), str(dashboard)], ["config", str(ALERTS.parent / "prometheus.yml")]):
        checked = subprocess.run([program(), "check", *words], capture_output=True, text=True, check=False)
        assert checked.returncode == 0, checked.stdout + checked.stderr
