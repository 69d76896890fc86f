"""Evaluates the rules of Prometheus with promtool, over series that a test gives."""

import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest
import yaml

ALERTS = Path(__file__).parents[2] / "deploy/prometheus/alerts.yml"


def program() -> str:
    """Return the path of promtool, or skip the test."""
    found = shutil.which("promtool")
    if found is None:
        pytest.skip("promtool is not installed (Debian's package is prometheus)")
    return found


def assert_firing(folder: Path, alert: str, series: Mapping[str, str], minutes: Mapping[int, int]) -> None:
    """Assert how many alerts of a rule fire at these minutes.

    `series` are values every 15 seconds in promtool's notation: `0+2x80` rises by 2, `1x40 0x40` falls to 0.
    """
    firing = f'count(ALERTS{{alertname="{alert}",alertstate="firing"}}) or vector(0)'
    test = {
        "interval": "15s",
        "input_series": [{"series": name, "values": values} for name, values in series.items()],
        "promql_expr_test": [
            {"expr": firing, "eval_time": f"{minute}m", "exp_samples": [{"labels": "{}", "value": count}]}
            for minute, count in minutes.items()
        ],
    }
    file = folder / "rule_test.yml"
    file.write_text(
        yaml.safe_dump({"rule_files": [str(ALERTS)], "evaluation_interval": "15s", "tests": [test]}), "utf-8"
    )
    ran = subprocess.run([program(), "test", "rules", str(file)], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
